"""Which known name somebody meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Those that the word may have meant, the likeliest first: names that begin like it, then similar ones, in any case."""
    names = {name.lower(): name for name in known}
    begun = sorted((name for name in names if word and name.startswith(word.lower())), key=len)
    close = difflib.get_close_matches(word.lower(), list(names), n=most, cutoff=0.6)
    return [names[name] for name in dict.fromkeys([*begun, *close])][:most]


def did_you_mean(word: str, known: Iterable[str], *, most: int = 1) -> str:
    """` (did you mean 'x'?)`, or nothing."""
    found = [repr(name) for name in nearest(word, known, most=most)]
    return f" (did you mean {' or '.join([', '.join(found[:-1]), found[-1]] if found[1:] else found)}?)" if found else ""
