"""Whether an edit that `verify` misses still does what is published.

A paper leaves things free: which of the points near enough to a minimiser is released is the solver's affair.  An edit of a solver
changes such points, and with them the transcript.  It is within what is published if, at the random settings at which the unedited
algorithm agrees with the plain one written from the paper, the edited one does so, too, and declares the same laws' scales,
sensitivities, spends, rows and names.  It counts as missed all the same; the table says which these are.
"""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mutating.equivalence import LEAST, ROUNDING, SEED, Flat, difference, flat_of, random_setting
from tailproof.refimpl.catalogue import algorithm
from tailproof.verification.query_check import check_queries
from tailproof.verification.subject import Subject, subject_of
from tailproof.verification.workers import one_thread


def agreeing(row: str, file: str, declared: str) -> dict[str, Any]:
    """The unedited algorithm: the settings at which it agrees, and what it declares there, into a file."""
    warnings.simplefilter("ignore")
    found = {}
    with one_thread():
        for number, _, _ in pickle.loads(Path(file).read_bytes()):
            if not _departs(row, number):
                found[number] = _declared(row, number)
    Path(declared).write_bytes(pickle.dumps({number: (flat.text, flat.arrays) for number, flat in found.items()}))
    return {"settings": len(found)}


def agrees(row: str, declared: str) -> dict[str, Any]:
    """The edited one at these."""
    warnings.simplefilter("ignore")
    kept = pickle.loads(Path(declared).read_bytes())
    with one_thread():
        for number, (text, arrays) in kept.items():
            said = _departs(row, number)
            if not said and not difference(Flat(text, arrays), _declared(row, number)) <= ROUNDING:
                said = "declares something else"
            if said:
                return {"agrees": False, "settings": len(kept), "detail": f"random setting {number}: {said}"[:300]}
    return {"agrees": len(kept) >= LEAST, "settings": len(kept), "detail": ""}


def _subject(row: str, number: int) -> tuple[Subject, np.ndarray]:
    implementation = algorithm(row).implementation
    assert implementation is not None
    setting, data = random_setting(implementation, np.random.default_rng([SEED, number]))
    return replace(subject_of(row, 0, implementation=implementation), setting=setting), data


def _departs(row: str, number: int) -> str:
    """From the plain algorithm, and how; empty if it does not."""
    try:
        measured = check_queries(*_subject(row, number), number, forced=0)
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return "" if measured.passes else measured.detail


def _declared(row: str, number: int) -> Flat:
    subject, data = _subject(row, number)
    _, transcript = subject.run(data, number)
    return flat_of(
        *[
            (
                one.name,
                type(one.law).__name__,
                getattr(one.law, "scale", None),
                one.sensitivity,
                one.spend,
                one.rows,
                one.visible,
            )
            for one in transcript
        ]
    )
