"""Rows × checks, with no empty cell: what each check said about each row, or why it does not apply.

A cell stands for all settings of the row.  It has the status that a reader should see first: what is missing or not expected,
then what is expected to fail, then passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tailproof.refimpl.catalogue import Algorithm
from tailproof.verification import amplification
from tailproof.verification.expected import APPLIES, CHECKS, expected_checks, expected_of_row
from tailproof.verification.report import PASSING
from tailproof.verification.subject import subject_of

Json = dict[str, Any]

MISSING, ABSENT = "missing", "does not apply"
WORST_FIRST = (MISSING, "violated", "inconclusive", "skipped", *PASSING)
EVERYWHERE = "no one setting"


def matrix(findings: list[Json], chosen: Iterable[Algorithm]) -> Json:
    """`rows`: for each algorithm a cell for each of `checks`, with its status, whether that is expected, at how many of the
    row's settings the check applies, and what there is to say.
    """
    by_row: dict[str, list[Json]] = {}
    for finding in findings:
        by_row.setdefault(finding["algorithm"], []).append(finding)
    rows = []
    for entry in chosen:
        places = list(_places(entry))
        about = by_row.get(entry.id, [])
        rows.append({"algorithm": entry.id, "cells": [_cell(check, places, about) for check in CHECKS]})
    return {"checks": list(CHECKS), "rows": rows}


def failures(found: Json, findings: list[Json]) -> list[str]:
    """A cell without a finding, and a finding without a cell."""
    lines = [
        f"{row['algorithm']}: missing: {cell['check']}: {cell['says']}"
        for row in found["rows"]
        for cell in row["cells"]
        if cell["status"] == MISSING
    ]
    unknown = sorted({_column(f["check"]) for f in findings} - set(CHECKS))
    return lines + [f"{name}: no table says where this check applies" for name in unknown]


def counts(found: Json) -> dict[str, int]:
    """Cells by status, those that are expected to fail by themselves."""
    counted: dict[str, int] = {}
    for row in found["rows"]:
        for cell in row["cells"]:
            known = cell["status"] not in (*PASSING, ABSENT) and cell["expected"]
            name = f"{cell['status']} as expected" if known else cell["status"]
            counted[name] = counted.get(name, 0) + 1
    return counted


def _places(entry: Algorithm) -> Iterator[tuple[str, dict[str, str]]]:
    """(setting as findings name it, what is expected there): the catalogue's, those of amplified claims, and the row's own."""
    assert entry.implementation is not None
    for index, setting in enumerate(entry.implementation.settings):
        yield str(setting), expected_checks(subject_of(entry.id, index, implementation=entry.implementation))
    for subject in amplification.trial_subjects(entry.id):
        asked = expected_checks(subject)
        yield str(subject.setting), {name: asked[name] for name in asked if name.startswith("amplif")}
    yield EVERYWHERE, expected_of_row(entry)


def _column(check: str) -> str:
    """A check's column: what is said about a pin, or about a special case, belongs to the check."""
    return check.removeprefix("pinned: ").partition(",")[0]


def _cell(check: str, places: list[tuple[str, dict[str, str]]], about: list[Json]) -> Json:
    own = [f for f in about if _column(f["check"]) == check]
    said_at = {f["setting"] for f in own}
    named = [(place, expected[check]) for place, expected in places if check in expected]
    asked = [place for place, reason in named if reason == APPLIES]
    silent = [place for place in asked if place not in said_at and not (place == EVERYWHERE and own)]
    reasons = list(dict.fromkeys(reason for _, reason in named if reason != APPLIES))
    cell = {"check": check, "settings": len(asked), "of": len(named)}
    if silent:
        return cell | {"status": MISSING, "expected": False, "says": f"nothing was checked at {'; '.join(silent)}"}
    if not own:
        return cell | {"status": ABSENT, "expected": True, "says": "; ".join(reasons)}
    worst = min(own, key=lambda f: (f["expected"] or f["status"] in PASSING, WORST_FIRST.index(f["status"])))
    passes = worst["status"] in PASSING
    elsewhere = f"elsewhere: {'; '.join(reasons)}" if reasons else ""
    says = elsewhere if passes else worst["reason"] if worst["expected"] else worst["detail"]
    return cell | {"status": worst["status"], "expected": passes or worst["expected"], "says": says}
