"""What changed between two reports: what is new, what is gone, and what came out otherwise.

Entries are matched by what they are about, never by their place in the report.  Numbers count as changed beyond a relative
difference of 1e-9: another processor may round the last digits differently.  Words, times and random witnesses are not compared.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailproof.refimpl.validation import InputError

Json = dict[str, Any]

TOLERANCE = 1e-9  # relative
SHORT = 100  # characters of a name that the readable text shows


@dataclass(frozen=True)
class Part:
    """A list of the report: which fields name an entry, and which of the others are compared."""

    name: str
    title: str
    keys: tuple[str, ...]
    fields: tuple[str, ...]
    entries: Callable[[Json], list[Json]]


def _part(name: str, title: str, keys: str, fields: str) -> Part:
    return Part(name, title, tuple(keys.split()), tuple(fields.split()), lambda report: report.get(name) or [])


PARTS = (
    _part("published_claims", "published claims", "id", "verdict errata"),
    _part("findings", "checks of algorithms", "algorithm check setting", "status measured bound expected"),
    _part("mutants", "planted bugs", "algorithm name", "killed_by"),
    _part("statements", "statements with constants", "id reading", "status measured"),
    _part("comparisons", "comparisons of rates", "id", "holds"),
    _part("agreements", "published against derived rates", "id", "verdict"),
    _part("derivations", "derivations", "id base", "verdict"),
    _part("choices", "choices of parameters", "id", "attained"),
    _part("errata", "errata", "id", "stands kind severity standing"),
    _part("sweeps", "measured rates", "statement problem preset over", "verdict"),
    _part("sandwich", "lower and upper bounds", "algorithm instance", "verdict"),
    Part(
        "libraries",
        "other libraries",
        ("library", "subject", "setting", "claim"),
        ("verdict", "found"),
        lambda report: (report.get("libraries") or {}).get("results", []),
    ),
    Part("failures", "unexpected results", ("line",), (), lambda report: [{"line": x} for x in report.get("failures", [])]),
)
"""What readers ask first comes first."""


@dataclass(frozen=True)
class Change:
    """`change` is new, lost or changed; `old` and `new` hold the compared fields that differ, or all of them on one side."""

    part: str
    id: str
    change: str
    old: Json | None
    new: Json | None


@dataclass(frozen=True)
class Comparison:
    """`about` has what differs in how the two were made: versions, preset, seed, selection.  It is no change by itself."""

    changes: tuple[Change, ...]
    about: dict[str, tuple[Any, Any]]

    @property
    def same(self) -> bool:
        return not self.changes

    def to_json(self) -> Json:
        about = {name: {"old": old, "new": new} for name, (old, new) in self.about.items()}
        return {"same": self.same, "changes": [asdict(change) for change in self.changes], "about": about}


def read(place: str | Path, argument: str) -> Json:
    """The report.json in a folder, or such a file."""
    path = Path(place)
    path = path / "report.json" if path.is_dir() else path
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{argument} = {str(place)!r}: no readable report.json ({error})") from None
    if not isinstance(report, dict) or not isinstance(report.get("findings"), list):
        raise InputError(f"{argument} = {str(place)!r}: must be a report of `tailproof verify`, with a list of findings")
    return report


def compare(old: Json, new: Json) -> Comparison:
    """What changed from one report to the other; `InputError` if an entry lacks a field that names it."""
    try:
        changes = tuple(change for part in PARTS for change in _changes(part, old, new))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"report: an entry is damaged or of another version ({error!r})") from None
    about = {key: (old.get(key), new.get(key)) for key in ("preset", "seed", "only") if old.get(key) != new.get(key)}
    before, after = old.get("versions") or {}, new.get("versions") or {}
    names = sorted({*before, *after})
    about |= {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
    return Comparison(changes, about)


def _changes(part: Part, old: Json, new: Json) -> Iterable[Change]:
    before, after = _named(part, old), _named(part, new)
    for key in [*after, *(key for key in before if key not in after)]:
        name = ", ".join(word for word in map(str, key) if word)
        if key not in before:
            yield Change(part.name, name, "new", None, after[key])
        elif key not in after:
            yield Change(part.name, name, "lost", before[key], None)
        else:
            differ = [f for f in part.fields if not _equal(before[key].get(f), after[key].get(f))]
            if differ:
                yield Change(
                    part.name, name, "changed", *({f: side[key].get(f) for f in differ} for side in (before, after))
                )


def _named(part: Part, report: Json) -> dict[tuple[str, ...], Json]:
    """Entries by their names; the second with the same name is told apart by its number."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = {}
    for entry in part.entries(report):
        key = tuple(str(entry[name]) for name in part.keys)
        seen[key] += 1
        full = key if seen[key] == 1 else (*key, f"number {seen[key]}")
        found[full] = {name: entry[name] for name in part.fields if name in entry}
    return found


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, float | int) and isinstance(second, float | int) and not isinstance(first, bool):
        return math.isclose(first, second, rel_tol=TOLERANCE)
    return bool(first == second)


# --- for reading ------------------------------------------------------------------------------------------------------------


def describe(found: Comparison) -> str:
    """A line for each change, grouped by part; first of all whether anything changed."""
    lines = [f"{name}: {_shown(old)} → {_shown(new)}" for name, (old, new) in found.about.items()]
    if found.same:
        return "\n".join(["Nothing changed.", *lines])
    count = len(found.changes)
    lines = [f"{count} change{'s' if count > 1 else ''}.", *lines]
    for part in PARTS:
        mine = [change for change in found.changes if change.part == part.name]
        if mine:
            lines += ["", f"{part.title}: {len(mine)}", *(f"  {_line(change)}" for change in mine)]
    return "\n".join(lines)


def _line(change: Change) -> str:
    name = change.id if len(change.id) <= SHORT else f"{change.id[: SHORT - 1]}…"
    if change.change == "changed":
        assert change.old is not None
        assert change.new is not None
        values = ", ".join(f"{key} {_shown(change.old[key])} → {_shown(change.new[key])}" for key in change.new)
    else:
        values = ", ".join(f"{key} {_shown(value)}" for key, value in (change.new or change.old or {}).items())
    return f"{change.change:8}{name}{f': {values}' if values else ''}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)
