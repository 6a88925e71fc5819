"""What holds of the statements of every paper: complete, readable, linked.  What is particular to one is tested beside it."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from tailproof.bounds.expressions import names_in, read_expression
from tailproof.bounds.rates import parse_rate
from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import PAPERS, theorems
from tailproof.refimpl.catalogue import ALGORITHMS

COMMON = {*"ndkpvT", "eps", "delta", "rho", "xi", "eta", "lam", "sigma", "theta", "eps0", "delta0"}
SYMBOLS = {  # beyond the common ones
    "P0": {*"LDCrqhbVGmaE", "R0", "beta", "r2k", "R2k", "mu", "rest", "Delta"},
    "P1": {*"VDGFmrstxaE", "mu", "beta", "betahat", "tau", "D0", "chi", "tilde"},
    "P2": {*"LMRBGEKDcabw", "ell", "r0"},
    "P3": {*"uDRLsmbBCVMqt", "mu", "beta", "tau"},
    "P4": {*"GDRLCrMB", "nu", "alpha", "tau", "mu"},
}
CATALOGUE = {
    "P0": (
        *("Abstract", "Introduction", "Table 1", "Definition 3", "Remark 1", "Remark 3", "Remark 5"),
        *(f"Lemma {i}" for i in (1, 2, 3, 5, 6, 7)),
        *(f"Theorem {i}" for i in range(1, 12)),
    ),
    "P1": (
        *(f"Lemma {i}" for i in (1, 2, 3, 5, 6, 7, 8)),
        *("Appendix Lemma 1", "Appendix Lemma 2", "Algorithm 3", "(22)"),
        *(f"Theorem {i}" for i in (2, 4, 5, 7, 8)),
    ),
    "P2": (
        *(f"Theorem {i}" for i in range(1, 8)),
        *(f"Lemma {i}" for i in range(1, 14)),
        *("(75)", "(76)", "Table I", "Abstract", "Introduction"),
    ),
    "P3": (
        *(f"Theorem {i}" for i in range(1, 12)),
        *(f"Lemma {i}" for i in (*range(1, 4), *range(10, 16), *range(17, 29))),
        *("Corollary 1", "Abstract", "Introduction", "Remark 1", "Remark 2", "Remark 3"),
    ),
    "P4": (
        *(f"Theorem {i}" for i in ("2.1", "3.1", "4.1", "B.1", "D.4", "E.1", "E.2", "E.5", "F.6", "G.5", "G.6")),
        *(f"Proposition {i}" for i in ("2.5", "2.9", "3.2", "D.6", "E.4", "F.5", "G.2", "G.4")),
        *(f"Lemma {i}" for i in ("2.2", "2.3", "C.1", "2.4", "C.2", "2.7", "2.8", "C.6", "D.5")),
        *(f"Lemma {i}" for i in ("F.1", "F.2", "F.3", "F.4", "G.1", "G.3")),
        *("Corollary D.7", "Remark G.7", "Abstract", "Table 1"),
    ),
}
EACH = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.__name__.rsplit(".", maxsplit=1)[-1].upper())


def short(paper: ModuleType) -> str:
    return paper.__name__.rsplit(".", maxsplit=1)[-1].upper()


@EACH
def test_ids_are_unique_and_belong_to_the_paper(paper: ModuleType) -> None:
    ids = [item.id for item in (*paper.STATEMENTS, *paper.COMPARISONS)]
    assert len(set(ids)) == len(ids)
    assert all(name.startswith(f"{short(paper)}.") for name in ids)


@EACH
def test_labels_are_the_papers_own(paper: ModuleType) -> None:
    assert len(set(paper.LABELS)) == len(paper.LABELS)
    assert {s.label for s in paper.STATEMENTS if (s.label, s.source) != ("ours", "ours")} <= set(paper.LABELS)


@EACH
def test_every_item_of_the_catalogue_is_there(paper: ModuleType) -> None:
    assert set(CATALOGUE[short(paper)]) <= {s.label for s in paper.STATEMENTS}


@EACH
def test_links_lead_somewhere(paper: ModuleType) -> None:
    statements, algorithms = {s.id for s in paper.STATEMENTS}, {entry.id for entry in ALGORITHMS} | {"P0.B", "P4.G"}
    for statement in paper.STATEMENTS:
        assert set(statement.follows_from) <= statements, statement.id
        assert set(statement.algorithms) <= algorithms, statement.id
        assert statement.says.endswith("."), statement.id
        assert statement.printed is None or statement.source != "ours", statement.id
        assert not statement.choices or (statement.derived and statement.follows_from), statement.id
        assert statement.explicit is None or callable(statement.explicit), statement.id


@pytest.mark.parametrize("statement", theorems(), ids=lambda s: s.id)
def test_rates_are_expressions_in_declared_symbols(statement: Statement) -> None:
    known = COMMON | SYMBOLS[statement.paper]
    for text in (statement.printed, statement.derived, *statement.choices.values()):
        assert text is None or names_in(parse_rate(text).expression) <= known
    for side in (side for condition in statement.where for side in re.split("<=|>=|==|<|>", condition)):
        assert names_in(read_expression(side)) <= known
