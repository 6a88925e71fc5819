"""Print against derivation: every verdict, and an erratum wherever the print says more than follows."""

from __future__ import annotations

import json

import pytest

from tailproof.bounds import Undecided, certificates, comparisons, errata, theorems
from tailproof.bounds import agreement as module
from tailproof.bounds.agreement import agreement
from tailproof.bounds.statements import Kind, Statement


def statement(printed: str | None, derived: str | None, kind: Kind = "upper", hidden: str = "") -> Statement:
    where = ("k>=2", "n*eps>=d")
    return Statement("X.T1", "Theorem 1", kind, "printed", "", where=where, printed=printed, derived=derived, hidden=hidden)


RATE = "(d/(n*eps))**(1-1/k)"


@pytest.mark.parametrize(
    ("printed", "derived", "hidden", "verdict"),
    [
        (RATE, f"{RATE} + d/(n*eps)", "", "same"),
        (RATE, "d/(n*eps)", "", "printed is larger"),
        ("d/(n*eps)", RATE, "", "printed is smaller"),
        (f"{RATE} + 1/n", f"{RATE} + 1/sqrt(n)", "logarithms", "printed is smaller"),
        ("1/n", RATE, "", "incomparable"),
        (RATE, f"{RATE}*log(n)", "", "printed is smaller"),
        (RATE, f"{RATE}*log(n)", "logarithms", "same without logarithms"),
        (RATE, "d/(n*eps)*log(n)", "logarithms", "printed is larger"),
    ],
)
def test_verdict(printed: str, derived: str, hidden: str, verdict: str) -> None:
    found = agreement(statement(printed, derived, hidden=hidden))
    assert found is not None
    assert found.verdict == verdict
    for document in found.documents:
        certificates.verify(json.loads(json.dumps(document)))


def test_which_side_claims_more() -> None:
    """An upper bound by being smaller, a lower bound by being larger."""
    for kind, claims_more in (("upper", True), ("lemma", True), ("lower", False)):
        found = agreement(statement("d/(n*eps)", RATE, kind))  # type: ignore[arg-type]
        assert found is not None
        assert found.claims_more is claims_more
        found = agreement(statement(RATE, "d/(n*eps)", kind))  # type: ignore[arg-type]
        assert found is not None
        assert found.claims_more is not claims_more


def test_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Undecided("no multipliers, no path")

    monkeypatch.setattr(module, "compare", refuse)
    found = agreement(statement(RATE, RATE))
    assert found is not None
    assert (found.verdict, found.claims_more, found.reason) == ("undecided", False, "no multipliers, no path")


@pytest.mark.parametrize(("printed", "derived"), [(None, RATE), (RATE, None)])
def test_nothing_to_compare(printed: str | None, derived: str | None) -> None:
    assert agreement(statement(printed, derived)) is None


def test_errata_that_statements_and_comparisons_name_exist() -> None:
    known = {entry.id for entry in errata()}
    for entry in (*theorems(), *comparisons()):
        assert set(entry.errata) <= known, entry.id


def test_what_does_not_hold_has_an_erratum() -> None:
    assert [comparison.id for comparison in comparisons() if not comparison.holds and not comparison.errata] == []
