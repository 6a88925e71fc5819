"""The atlas: translations into a group's language, the matrix with its certificates, and the regions of the plane."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
from fractions import Fraction

import pytest

from tailproof.bounds import certificates, theorem
from tailproof.bounds.atlas import Chart, Row, chart, listed, readable, rows_of, translate, with_rates
from tailproof.bounds.erratum import names
from tailproof.bounds.expressions import names_in
from tailproof.bounds.grouping import Entry, Group
from tailproof.bounds.papers.groups import GROUPS
from tailproof.bounds.regions import area, centre, regions

BY_ID = {group.id: group for group in GROUPS}
SMALL = ("convex-coordinates-zcdp", "convex-lipschitz-approx", "strong-norm-approx", "mean-line-approx", "mean-plain")


@functools.cache
def charted(name: str) -> Chart:
    return chart(BY_ID[name])


@pytest.fixture(params=SMALL)
def drawn(request: pytest.FixtureRequest) -> Chart:
    return charted(request.param)


def test_groups_name_statements_with_rates() -> None:
    assert len(BY_ID) == len(GROUPS)
    known = {s.id for s in with_rates()}
    for group in GROUPS:
        inside = [i for entry in group.entries for i in entry.ids.split()]
        outside = [i for ids, _ in group.left_out for i in ids.split()]
        assert {*inside, *outside} <= known
        assert not set(inside) & set(outside)
        assert all(theorem(i).kind in ("upper", "lower") for i in inside)
        assert all(reason for _, reason in group.left_out)


def test_every_result_of_a_paper_is_compared_or_left_out_for_a_reason() -> None:
    """Theorems, rows of tables and our own results; steps of proofs need not be."""
    silent = []
    for entry in listed(with_rates(), GROUPS, decide=False):
        s = entry.statement
        result = s.kind in ("upper", "lower") and (
            s.label.startswith(("Theorem", "Table", "Abstract")) or s.source == "ours"
        )
        if result and not entry.groups and not entry.left_out:
            silent.append(s.id)
    # P1.T1 and P1.E2.noise are about a distance and a noise; the T10.sum, T6.sum are sums over phases at any step size.
    assert silent == ["P0.T10.sum", "P0.T6.sum", "P1.T1", "P1.E2.noise"]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.id)
def test_translated_rates_speak_the_language(group: Group) -> None:
    rows = rows_of(group)
    assert rows
    for row in rows:
        assert names_in(row.rate.expression) <= set(group.language), row
    stated = {source.id for row in rows for source in row.sources}
    assert stated == {i for entry in group.entries for i in entry.ids.split()}


def test_translations_by_hand() -> None:
    at = {"n": 1e6, "d": 100.0, "eps": 0.25, "k": 3.0}
    root = Entry("P4.OURS.zcdp", {"G": "sqrt(d)", "D": "1", "rho": "eps**2"})
    rate = translate(theorem("P4.OURS.zcdp").derived or "", root)
    assert rate.evaluate(at) == pytest.approx(10 * (1e-3 + (10 / 0.25e6) ** (2 / 3)))
    half = Entry("P0.T1", {"R2k": "1", "D": "1", "p": "1", "k": "k/2"})
    rate = translate(theorem("P0.T1").printed or "", half)
    assert rate.evaluate(at) == pytest.approx(1e-3 + (10 / 0.25e6) ** (1 / 3))  # constants are dropped
    squared = Entry("P4.PG.2", {"G": "1"}, power="1/2", factor="d")
    assert translate("G**2*Min(1, 1/n)", squared).evaluate(at) == pytest.approx(100 * 1e-3)


def test_every_ordered_pair_is_decided_with_a_certificate(drawn: Chart) -> None:
    assert len(drawn.pairs) == len(drawn.rows) * (len(drawn.rows) - 1)
    for pair in drawn.pairs:
        assert pair.verdict in ("dominated", "separated")
        assert pair.certificate is not None
        assert pair.certificate["verdict"] == pair.verdict
        certificates.verify(json.loads(json.dumps(pair.certificate)))
    for gap in drawn.gaps:
        if gap.certificate is not None:
            certificates.verify(gap.certificate)


def test_the_matrix_is_transitive(drawn: Chart) -> None:
    """a ≲ b ≲ c gives a ≲ c, provided that b asks for nothing that neither a nor c asks for."""
    for a, b, c in itertools.permutations(drawn.rows, 3):
        if set(b.where) <= {*a.where, *c.where}:
            chain = drawn.verdict(a.name, b.name), drawn.verdict(b.name, c.name)
            assert chain != ("dominated", "dominated") or drawn.verdict(a.name, c.name) == "dominated", (a, b, c)


def test_no_derived_lower_bound_is_above_a_derived_upper_bound(drawn: Chart) -> None:
    for pair in drawn.clashes:
        assert not (drawn.row(pair.left).derived and drawn.row(pair.right).derived), pair


def test_a_broken_translation_changes_the_matrix() -> None:
    """Coordinate moments of size one make the norm's √d; without that root an upper bound falls below a lower bound."""
    group = BY_ID["convex-coordinates-zcdp"]
    entries = tuple(e for e in group.entries if e.ids in ("P4.OURS.zcdp", "P0.TAB1.r3.lower"))
    sound = chart(dataclasses.replace(group, entries=entries))
    broken = (dataclasses.replace(entries[0], choices={**entries[0].choices, "G": "1"}), entries[1])
    false = chart(dataclasses.replace(group, entries=broken))
    assert not sound.clashes
    assert sound.verdict("L1", "U1") == sound.verdict("U1", "L1") == "dominated"
    assert [(p.left, p.right) for p in false.clashes] == [("L1", "U1")]
    assert all(false.row(name).derived for name in ("L1", "U1"))


def test_known_answers() -> None:
    drawn = charted("strong-norm-approx")
    stated = {source.id: row for row in drawn.rows for source in row.sources if "printed" in source.readings}
    false_lower, theorem_2 = stated["P0.TAB1.r2.lower"], stated["P0.T2"]
    assert (false_lower.name, drawn.row("U1").name) in [(p.left, p.right) for p in drawn.clashes]  # printed 1/√n for 1/n
    assert not false_lower.derived
    assert theorem_2.where == ("k>=4",)  # with k moments alone
    assert [(g.upper, g.lower, g.factor) for g in drawn.gaps] == [("U1", "L2", "n**(1/k)")]


def test_conditions_stay_with_what_needs_them() -> None:
    group = BY_ID["convex-directions-approx"]
    rows = rows_of(group)
    where = {s.id: s.where for row in rows for s in row.sources}
    assert where["P2.ABS"] == ("eps<=1/sqrt(d)",)
    assert where["P0.T6"] == ("eps<=1/sqrt(n)",)
    row = next(row for row in rows if any(s.id == "P2.ABS" for s in row.sources))
    assert row.where == ()  # P4.OURS.zcdp has the same rate without that condition
    alone = rows_of(dataclasses.replace(group, entries=group.entries[:1]))
    small, everywhere = (next(r for r in alone if any(s.id == i for s in r.sources)) for i in ("P2.ABS", "P2.TAB1.r5"))
    assert (small.where, small.derived) == (("eps<=1/sqrt(d)",), True)
    assert (everywhere.where, everywhere.derived) == ((), False)  # for all ε ≤ 1 it is only printed


def _exponent(row: Row, at: dict[str, float], n: float) -> float:
    return math.log(row.rate.evaluate(at)) / math.log(n)


@pytest.mark.parametrize("name", ["convex-coordinates-zcdp", "strong-norm-approx"])
def test_regions_fill_the_regime_and_name_the_smallest_bound(name: str) -> None:
    drawn = charted(name)
    plot = drawn.group.plot
    assert plot is not None
    for values in plot.values:
        frame, cells = regions(drawn, values)
        assert sum((area(cell.corners) for cell in cells), Fraction(0)) == area(frame) > 0
        for cell in cells:
            x, y = map(float, centre(cell.corners))
            n = 1e40
            at = {"n": n, "d": n**x, "k": float(values["k"])}
            at[plot.up] = n ** (-2 * y) if plot.up == "rho" else n**-y
            sizes = {row.name: _exponent(row, at, n) for row in drawn.rows if row.name in drawn.best and not row.where}
            least = float(cell.term[0]) + float(cell.term[1]) * x + float(cell.term[2]) * y
            assert min(sizes.values()) == pytest.approx(least, abs=0.02)
            assert all(size >= least - 0.02 for size in sizes.values())
            assert set(cell.best) <= set(drawn.best)


def test_regions_of_the_papers_own_bounds() -> None:
    """Without ours the shuffled method has the best rate for small ε only, and for larger ε an ε-DP method is left."""
    group = BY_ID["convex-directions-approx"]
    kept = ("P0.T6", "P4.T3.1 P4.OURS.bound", "P4.OURS.zcdp")
    drawn = chart(dataclasses.replace(group, entries=tuple(e for e in group.entries if e.ids in kept)))
    ours, theirs = (regions(drawn, {"k": Fraction(2)}, published=p)[1] for p in (False, True))
    assert {cell.best for cell in ours} == {("U1",)}
    for cell in theirs:
        assert cell.best == (("U1",) if centre(cell.corners)[1] > Fraction(1, 2) else ("U2",))


def test_print_against_derivation() -> None:
    chosen = [theorem(name) for name in ("P4.T3.1", "P0.TAB1.r2.lower", "P4.TF.6")]
    assert [entry.agreement for entry in listed(chosen, ())] == ["same", "printed is larger", "–"]
    assert [entry.errata[:1] for entry in listed(chosen, ())][1] == ("P0.Table1.star",)


def test_errata_are_found_by_the_label_of_a_statement() -> None:
    assert names("Theorem 1 (privacy), Algorithm 3", "Theorem 1")
    assert not names("Theorem 1 (privacy), Algorithm 3", "Theorem 3")
    assert not names("Theorem 10, proof", "Theorem 1")
    assert names("Theorem 10, Theorem 1", "Theorem 1")
    assert names("Theorems 6 and 7", "Theorem 7")
    assert not names("Theorem 3.1", "Theorem 3")
    assert names("Table 1, row 2", "Table 1")
    assert names("Theorem 1 (6)", "(6)")


def test_readable_surfaces() -> None:
    assert readable("d**((k-1)/k)==n**((k-1)/(2*k))", ["k>=2"]) in ("d**2==n", "d**2==n**1")
    assert readable("d**((k-2)/k)==n**((k-2)/k)", ["k>=2"]) == "d==n"  # at k = 2 it says nothing, elsewhere this
    assert readable("d**(k-3)<=n**(k-3)", ["k>=2"]) == "d**(k-3)<=n**(k-3)"  # the factor changes its sign
