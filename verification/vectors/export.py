"""`tailproof vectors export`: all vectors as JSON files with their schemas, the same bytes every time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tailproof.refimpl.catalogue import ALGORITHMS, algorithm
from tailproof.verification import files
from tailproof.verification.vectors import histories, transcripts
from tailproof.verification.vectors.bugs import BUG_CLASSES
from tailproof.verification.vectors.cases import CASES
from tailproof.verification.vectors.pieces import PIECES
from tailproof.verification.vectors.schemas import FORMAT, VERSION, schema_of

DIGITS = 13
"""Significant digits of expected numbers: more than every tolerance asks for, and the same on most machines."""


DESCRIPTIONS = {
    "clipping": "Records projected onto a ball around the origin, and their mean.",
    "truncation": "Entries beyond a bound replaced by 0, and the mean of the records.",
    "median-of-means": "Means of consecutive groups of truncated records, and their coordinate-wise median.",
    "soft-truncation": "Catoni's influence function smoothed by multiplicative Gaussian noise.",
    "smooth-sensitivity": "The trimmed mean of numbers, and its smooth sensitivity (P1, Algorithm 3).",
    "aggregate-sensitivity": "A centre of points on a line, and its smooth sensitivity (P1, Algorithm 1).",
    "projection": "The nearest point of a convex set.",
    "lipschitz-extension": "Values and gradients of the C-Lipschitz extension of every record's loss from a convex set W.",
    "rate-certificate": "Whether a certificate proves its comparison of rates (README: a comparison of rates is a certificate).",
    "minimiser-certificate": "Whether a certificate proves a gap of at most the accuracy for the regularised Lipschitz extension.",
    "calibration": "Noise scales, and budgets from which they are made.",
    "conversion": "What another kind of claim follows from a claim; null where no theorem gives one.",
    "composition": "What claims add up to; null where no theorem says.",
    "schedule": "Public parameters made from public numbers.",
    "transcript": "Runs with given outputs: for every release its law, location, scale, sensitivity and spend, and the result.",
}


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """(file name, content): one file for every kind, the transcripts by paper."""
    for kind in CASES:
        tests = [
            {
                "id": f"{kind}/{case.name}",
                "comment": case.comment,
                "flags": sorted(case.flags),
                "inputs": case.inputs,
                "expected": rounded(PIECES[kind](_plain(case.inputs))),
                "tolerance": case.tolerance,
            }
            for case in CASES[kind]()
        ]
        yield f"{kind}.json", _document(kind, tests)
    for paper in sorted({entry.paper for entry in ALGORITHMS}):
        runs: dict[str, Any] = {}
        tests = []
        for entry in ALGORITHMS:
            if entry.paper == paper and entry.implementation is not None:
                for recorded in histories.recorded(entry.id):
                    runs[recorded.name] = recorded.inputs
                    tests += _tests_of(entry.id, recorded)
        yield f"transcript-{paper}.json", {**_document("transcript", tests), "runs": runs}


def _tests_of(identifier: str, recorded: histories.Recorded) -> Iterator[dict[str, Any]]:
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    setting = implementation.settings[int(recorded.name.split("/")[1])]
    for history in recorded.histories:
        inputs: dict[str, Any] = {"run": history.run}
        replayed = dict(recorded.inputs)
        if history.replaced is not None:
            row, record = history.replaced
            inputs["replace"] = {"row": row, "record": record}
            replayed["data"] = [record if i == row else old for i, old in enumerate(replayed["data"])]
        replayed = _plain(replayed)
        answer = histories.with_published(
            identifier, transcripts.answer(implementation.mechanism, replayed), replayed, setting
        )
        for part in history.parts:
            flags = sorted(histories.flags(part, answer))
            if not flags:
                continue
            yield {
                "id": f"transcript/{history.name}/{part.name}",
                "comment": part.comment,
                "flags": flags,
                "inputs": inputs,
                "expected": rounded({column: answer[column] for column in part.columns}),
                "tolerance": histories.tolerance(identifier, part, answer, replayed),
            }


def _document(kind: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    used = sorted({flag for test in tests for flag in test["flags"]})
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "schema": f"{kind}.schema.json",
        "description": DESCRIPTIONS[kind],
        "bug_classes": {
            name: {"description": BUG_CLASSES[name].description, "effect": BUG_CLASSES[name].effect} for name in used
        },
        "tests": tests,
    }


def _plain(value: Any) -> Any:
    """As a reader of the file will have it."""
    return json.loads(json.dumps(value, allow_nan=False))


def rounded(value: Any) -> Any:
    """Floats to `DIGITS` digits, and no negative zeros."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0 if math.isfinite(value) else value
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return value


def text_of(document: dict[str, Any]) -> str:
    """JSON with one test or run on a line, so that differences between versions can be read."""
    lines = []
    for name, value in document.items():
        if name == "tests":
            body = ",\n".join(f"  {_line(test)}" for test in value)
            lines.append(f' "tests": [\n{body}\n ]')
        elif name in ("runs", "bug_classes"):
            body = ",\n".join(f"  {_line(key)}: {_line(part)}" for key, part in value.items())
            lines.append(f' "{name}": {{\n{body}\n }}')
        else:
            lines.append(f" {_line(name)}: {_line(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def write(folder: Path) -> list[str]:
    """All files, by name; what else is in the folder stays."""
    written = []
    files.make_folder("folder", folder)
    for name, document in documents():
        files.write("folder", folder / name, text_of(document))
        files.write("folder", folder / document["schema"], json.dumps(schema_of(document["kind"]), indent=1) + "\n")
        written += [name, document["schema"]]
    return sorted(set(written))
