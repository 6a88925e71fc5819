"""The shipped runs on the rows' own implementations: to a ten-thousandth of what somebody else's solver is allowed."""

from __future__ import annotations

import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.verification import mutants
from tailproof.verification.check import implemented
from tailproof.verification.mutants import Mutant
from tailproof.verification.recorded_runs import is_recorded, own_vectors_finding, vectors_finding

CERTIFIED, BATCHED = "tailproof.refimpl.extension.certified", "tailproof.refimpl.extension.batched"
ELSEWHERE = [  # (row, module, edit): other steps of a solver, whose end is certified all the same
    ("P4.S1", CERTIFIED, ("self.extension.kind == 1", "self.extension.kind != 1")),
    ("P4.A1", BATCHED, ("pull = self.weight * y", "pull = y")),
]


@pytest.mark.parametrize("row", [entry.id for entry in implemented()])
def test_every_row_gives_its_recorded_runs(row: str) -> None:
    assert is_recorded(row)
    assert own_vectors_finding(algorithm(row)).status == "certified"


@pytest.mark.parametrize(("row", "module", "edit"), ELSEWHERE)
def test_another_computation_within_its_certificate_is_seen_in_our_own(row: str, module: str, edit: tuple[str, str]) -> None:
    entry = algorithm(row)
    built = mutants.build(Mutant(row, "another solver", "utility", (edit,), module))
    assert entry.implementation is not None
    names = {name: name for setting in entry.implementation.settings for name in setting.parameters}
    assert vectors_finding(entry, built.mechanism, names).status == "certified"
    assert vectors_finding(entry, built.mechanism, names, share=1e-4).status == "violated"
