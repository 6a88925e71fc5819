"""The errata of all papers: ids, evidence, rechecks.  What each of them says is tested beside its paper."""

from __future__ import annotations

import json

import pytest

from tailproof.bounds import errata
from tailproof.bounds.erratum import Erratum

ALL = errata()


def test_ids_are_unique_and_carry_their_paper() -> None:
    assert len({erratum.id for erratum in ALL}) == len(ALL)
    assert all(erratum.id.startswith(erratum.paper + ".") for erratum in ALL)


@pytest.mark.parametrize("erratum", ALL, ids=lambda erratum: erratum.id)
def test_the_discrepancy_is_there(erratum: Erratum) -> None:
    assert erratum.recheck()
    assert erratum.evidence["measured"] > erratum.evidence["allowed"]
    assert erratum.kind in {"privacy", "rate", "constant", "typo"}
    assert erratum.printed
    assert erratum.found.endswith(".")


@pytest.mark.parametrize("erratum", ALL, ids=lambda erratum: erratum.id)
def test_evidence_survives_json(erratum: Erratum) -> None:
    assert json.loads(json.dumps(erratum.evidence, allow_nan=False)) == erratum.evidence
