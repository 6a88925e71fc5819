"""What each check, class of bug and verdict is, why it matters, an example, and the fix: the texts of `tailproof explain`.

One Markdown file each, in a folder for each kind: `checks/`, `bugs/`, `verdicts/`.  The first line is the name, and a paragraph
that begins with `Also called:` lists further names.  Lines have at most 79 characters, so that a terminal shows them as they are.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tailproof.refimpl.validation import InputError

KINDS = ("checks", "bugs", "verdicts")


@dataclass(frozen=True)
class Explanation:
    """A text about the thing of this name; `kind` is one of `KINDS`, `slug` the name of its page."""

    name: str
    kind: str
    slug: str
    also: tuple[str, ...]
    text: str

    @property
    def summary(self) -> str:
        """The sentence below the title."""
        return self.text.split("\n\n")[1]


def names(kind: str | None = None) -> list[str]:
    """The names that `explain` knows, of one kind or of all, without the further ones."""
    return [found.name for found in explanations() if kind in (None, found.kind)]


def explain(name: str) -> str:
    """The text about a check, a class of bug or a verdict, as Markdown."""
    return find(name).text


def find(name: str) -> Explanation:
    """Case, hyphens and underscores do not matter; an unknown name raises `InputError` with the nearest known one."""
    known = {_plain(one): found for found in explanations() for one in (found.name, *found.also)}
    wanted = _plain(name.removeprefix("exact: ").partition(", tiny")[0])
    if wanted in known:
        return known[wanted]
    near = difflib.get_close_matches(wanted, known, n=1)
    hint = f"; did you mean {known[near[0]].name!r}?" if near else ""
    raise InputError(f"name = {name!r}: must be a check, a class of bug or a verdict (`tailproof explain` lists them){hint}")


@cache
def explanations() -> tuple[Explanation, ...]:
    """All of them, by kind and name."""
    found = []
    for kind in KINDS:
        folder = files(__name__) / kind
        texts = {entry.name: entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".md")}
        found += [_read(kind, name.removesuffix(".md"), texts[name]) for name in sorted(texts)]
    return tuple(found)


def _read(kind: str, slug: str, text: str) -> Explanation:
    title = text.partition("\n")[0].removeprefix("# ").strip()
    listed = re.search(r"^Also called: (.*?)\n\n", text, re.M | re.S)
    also = tuple(" ".join(listed[1].split()).split(", ")) if listed else ()
    return Explanation(title, kind, slug, also, text)


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[-_]", " ", name).casefold().split())
