"""What is kept of every edit, and the table that is made of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FRAME = Path(__file__).resolve().parent.parent / "mutation_frame.jsonl"
JUDGE = Path(__file__).resolve().parent
APART = ("crashed", "timeout", "died", "moved")


def drawn() -> list[Json]:
    """The edits, as they were drawn before anything was judged by them; each with its name."""
    edits = [json.loads(line) for line in FRAME.read_text(encoding="utf-8").splitlines()]
    parts = ("module", "function", "text", "number", "operator", "variant")
    return [edit | {"edit": "|".join(str(edit[part]) for part in parts)} for edit in edits]


def digest(tree: Path, folders: Iterable[str], judges: Iterable[str]) -> str:
    """Of all code in these folders of a tree, and of these files of the judge."""
    found = hashlib.sha256()
    for folder in folders:
        for file in sorted((tree / folder).rglob("*.py")):
            found.update(str(file.relative_to(tree)).encode() + b"\0" + file.read_bytes())
    for name in judges:
        found.update((JUDGE / f"{name}.py").read_bytes())
    return found.hexdigest()[:16]


@dataclass
class Kept:
    """A line for every answer, of verify, of the random settings or of the tests; the last one of an edit and a question counts."""

    file: Path
    answers: dict[tuple[str, str, str], Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        for line in lines:
            self._enter(json.loads(line))

    def _enter(self, answer: Json) -> None:
        self.answers[answer["row"], answer["edit"], answer["asked"]] = answer

    def get(self, row: str, edit: str, asked: str, by: str | None = None) -> Json | None:
        """None also where something else than `by` judged."""
        answer = self.answers.get((row, edit, asked))
        return answer if answer is not None and by in (None, answer["by"]) else None

    def add(self, row: str, edit: str, asked: str, by: str, answer: Json) -> Json:
        line = {"row": row, "edit": edit, "asked": asked, "by": by, **answer}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._enter(line)
        return line

    def stale(self, edits: Iterable[Json], by: dict[str, str]) -> int:
        """How many answers about these edits were given by other code than this."""
        wanted = {(edit["row"], edit["edit"]) for edit in edits}
        return sum(answer["by"] != by[key[2]] for key, answer in self.answers.items() if key[:2] in wanted)

    def tidy(self) -> None:
        """Without answers that were given again."""
        lines = [json.dumps(self.answers[key]) for key in sorted(self.answers)]
        self.file.write_text("\n".join([*lines, ""]), encoding="utf-8")


@dataclass(frozen=True)
class Fate:
    """Of one edit: what the random settings, verify and the tests said; empty what was not asked.

    `within`: verify misses it, and it does what is published.
    """

    edit: Json
    equivalent: bool
    verify: str
    killer: str
    tests: str
    within: bool = False
    rounding: float = 0.0
    detail: str = ""

    @property
    def judged(self) -> bool:
        return self.equivalent or bool(self.verify)

    @property
    def matters(self) -> bool:
        return bool(self.verify) and not self.equivalent and self.verify not in APART

    @property
    def missed(self) -> bool:
        return self.matters and self.verify == "survived"


def fates(kept: Kept, edits: Iterable[Json]) -> list[Fate]:
    found = []
    for edit in edits:
        same, said, tested = (kept.get(edit["row"], edit["edit"], one) or {} for one in ("equivalence", "verify", "tests"))
        if same.get("equivalent"):
            found.append(Fate(edit, True, "", "", "", rounding=same["rounding"]))
            continue
        status, killer = said.get("status", ""), next(iter(said.get("failing", [])), "")
        detail = same.get("detail", "") if status == "survived" else said.get("detail", "")
        agrees = (kept.get(edit["row"], edit["edit"], "published") or {}).get("agrees", False)
        within = status == "survived" and agrees
        found.append(Fate(edit, False, status, killer, tested.get("status", ""), within, detail=detail))
    return found


def table(found: list[Fate]) -> str:
    """A line a row, then what survives and what is equivalent, by name."""
    rows = list(dict.fromkeys(fate.edit["row"] for fate in found))
    lines = [
        "row          judged  apart  equivalent  matter  verify misses  within what is published  verify and tests miss"
    ]
    lines += [_line(row, [fate for fate in found if fate.edit["row"] == row]) for row in rows]
    lines.append(_line("all", found))
    killers: dict[str, int] = {}
    for fate in found:
        if fate.verify == "killed":
            killers[fate.killer] = killers.get(fate.killer, 0) + 1
    ordered = sorted(killers.items(), key=lambda item: -item[1])
    lines += ["", "first killers: " + ", ".join(f"{name} {count}" for name, count in ordered)]
    lines += _tests_alone(found)
    missed = [fate for fate in found if fate.missed]
    lines += _listed("survive verify", [fate for fate in missed if not fate.within])
    lines += _listed("survive verify, within what is published", [fate for fate in missed if fate.within])
    lines += _listed("equivalent", [fate for fate in found if fate.equivalent])
    lines += _listed("apart: crash, do not end, or are no longer there", [fate for fate in found if fate.verify in APART])
    return "\n".join(lines)


def _line(row: str, found: list[Fate]) -> str:
    asked = [fate for fate in found if fate.judged]
    matter = [fate for fate in asked if fate.matters]
    missed = [fate for fate in matter if fate.missed]
    both = [fate for fate in missed if fate.tests == "survived"]
    unasked = sum(not fate.tests for fate in missed)
    counts = len(asked), sum(fate.verify in APART for fate in asked), sum(fate.equivalent for fate in asked)
    rate = f"{len(missed)} ({100 * len(missed) / len(matter):.1f} %)" if matter else "-"
    last = f"{len(both)}" + (f", {unasked} not asked" if unasked else "")
    within = sum(fate.within for fate in missed)
    return f"{row:11} {counts[0]:7} {counts[1]:6} {counts[2]:11} {len(matter):7}  {rate:13} {within:24}  {last}"


def _tests_alone(found: list[Fate]) -> list[str]:
    """The tests are asked about all that verify misses, and about a sample of what it kills."""
    asked = [fate for fate in found if fate.tests and fate.verify == "killed"]
    if not asked:
        return []
    killed = sum(fate.tests == "killed" for fate in asked)
    return [f"unit tests, asked about {len(asked)} of those that verify kills: {killed} killed"]


def _listed(title: str, chosen: list[Fate]) -> list[str]:
    lines = ["", f"{title}: {len(chosen)}"] if chosen else []
    for fate in chosen:
        edit = fate.edit
        where = f"{edit['module'].removeprefix('tailproof.refimpl.')}:{edit['function']}"
        said = [f"tests: {fate.tests}"] if fate.tests else []
        said += [f"rounding {fate.rounding:.1g}"] if fate.rounding else []
        said += [fate.verify] if fate.verify in APART else []
        said += [fate.detail] if fate.detail else []
        what = f"{' '.join(edit['text'].split())[:90]} → {' '.join(edit['new'].split())[:90]}"
        lines.append(f"  {edit['row']:8} {where}  {edit['operator']} ({edit['variant']}): {what}  [{'; '.join(said)}]")
    return lines
