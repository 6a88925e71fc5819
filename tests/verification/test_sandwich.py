"""The sandwich: its tests are exact, honest algorithms pass, algorithms without their noise and false bounds are caught."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.catalogue import ALGORITHMS, Setting
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, PureDP, zcdp_epsilon
from tailproof.refimpl.hard_instances import GrowthSigns, MeanSpikes
from tailproof.refimpl.means.clipped import clipped_mean
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import plotting, verify
from tailproof.verification.check import FULL, QUICK
from tailproof.verification.cli import main
from tailproof.verification.page import rates
from tailproof.verification.sandwich import (
    FALSE_ALARM,
    TESTS,
    Mean,
    Pair,
    Row,
    Trial,
    _draw,
    _Quantile,
    cells,
    excesses,
    failures,
    measure,
    overview,
    plot,
    select,
    statistic_of,
)
from tailproof.verification.sandwich_pairs import PAIRS
from tailproof.verification.shown import render


def _pair(name: str) -> Pair:
    return next(pair for pair in PAIRS if pair.name.startswith(name))


def _silent(pair: Pair) -> Pair:
    """The same algorithm, each release without its noise."""

    def at(n: int) -> Trial:
        trial = pair.at(n)

        def mechanism(data: FloatArray, _: Channel, **parameters: Any) -> Any:
            quiet = Channel(lambda proposed: np.array(proposed.law.location), {})  # type: ignore[attr-defined]
            return trial.mechanism(data, quiet, **parameters)

        return replace(trial, mechanism=mechanism)

    return replace(pair, at=at)


# --------------------------------------------------------------------------------------------------------------- the statistics


def test_members_with_unequal_chances_do_not_make_few_failures_likelier() -> None:
    """Hoeffding 1956, at P(X ≤ c) for c ≤ mean − 1: against the exact law of a sum."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        chances = np.repeat(rng.random(4), 10)
        law = np.ones(1)
        for p in chances:
            law = np.convolve(law, [1 - p, p])
        for c in range(int(chances.sum())):
            assert law[: c + 1].sum() <= binom.cdf(c, 40, chances.mean()) * (1 + 1e-9)


def test_the_quantile_and_its_interval() -> None:
    statistic, found = _Quantile(1.0, 0.3), np.arange(1.0, 101.0)
    assert statistic.value(found) == 71  # 30 of 100 reach it
    low, high = statistic.interval(found, 0.05)
    assert low < 71 < high
    assert statistic.share(found) == 1
    assert statistic.chance_below(found) == 1
    assert statistic.chance_below(found / 90) == binom.cdf(11, 100, 0.3)  # 90 to 100, a tie counts
    assert statistic.chance_above(found, 60.0) == binom.sf(39, 100, 0.3)
    # the interval covers: how often is the true 0.7-quantile of a uniform law outside?  0.05 of 500, and 6 deviations
    rng = np.random.default_rng(1)
    ends = [statistic.interval(rng.random(60), 0.05) for _ in range(500)]
    assert sum(not low <= 0.7 <= high for low, high in ends) < 25 + 6 * 5


def test_the_mean_and_its_interval() -> None:
    statistic, found = Mean(0.2, 2.0), np.full(50, 0.5)
    low, high = statistic.interval(found, 0.05)
    assert 0 < low < 0.5 < high < 2
    assert statistic.chance_below(found) == 1
    assert statistic.chance_below(found / 100) < 0.02
    assert statistic.chance_above(found, 0.4) > 0.05 > 1e-6 > statistic.chance_above(found * 3, 0.4)
    assert Mean(0.2, 2.0).interval(np.zeros(50), 0.05)[0] == 0
    rng = np.random.default_rng(1)
    ends = [statistic.interval(2.0 * (rng.random(60) < 0.1), 0.05) for _ in range(500)]
    assert sum(not low <= 0.2 <= high for low, high in ends) < 25 + 6 * 5


# -------------------------------------------------------------------------------------------------------------------- the pairs


def test_there_are_enough_pairs_of_algorithms_that_exist() -> None:
    known = {entry.id for entry in ALGORITHMS if entry.implementation}
    assert len({pair.name for pair in PAIRS}) == len(PAIRS) >= 12
    assert {pair.algorithm.split()[0] for pair in PAIRS} <= known
    assert 2 * len(PAIRS) <= TESTS
    for word in (
        "P4 App. G packing",
        "P4 App. G signs",
        "P0 Thm 4",
        "P0 Thm 5",
        "P3 Thm 2",
        "P3 Thm 8",
        "P3 Thm 9",
        "P3 Thm 11",
    ):
        assert select(PAIRS, [word])


def test_the_claim_is_that_of_the_algorithm_at_these_parameters() -> None:
    """Or follows from it.  Without those whose plans take a second to find."""
    known = {entry.id: entry.implementation for entry in ALGORITHMS}
    for pair in PAIRS:
        implementation = known[pair.algorithm.split()[0]]
        assert implementation
        if not pair.algorithm.startswith(("P4.A1", "P4.A2", "P4.A4", "P4.S1")):
            trial = pair.at(pair.n)
            claimed = implementation.privacy(Setting(pair.n, trial.family.dimension, trial.parameters))
            if isinstance(claimed, ZCDP) and isinstance(trial.claim, ApproxDP):
                assert zcdp_epsilon(claimed.rho, trial.claim.delta) <= trial.claim.epsilon * (1 + 1e-9)
            else:
                assert claimed == trial.claim, pair.name


@pytest.mark.parametrize("name", ["P3.A1", "P2.A2", "P4.S2 on P4 App. G packing, d = 1", "P0.A6"])
def test_honest_algorithms_lie_between_their_bounds(name: str) -> None:
    row = measure(_pair(name), runs=60, seed=3)
    assert row.verdict != "violated"
    assert row.lower <= row.interval[1]
    assert row.upper is not None
    assert row.upper_is == ("fitted" if name == "P0.A6" else "explicit")
    assert row == measure(_pair(name), runs=60, seed=3)
    assert row.runs % _pair(name).at(_pair(name).n).family.members == 0


@pytest.mark.parametrize("name", ["P2.A2", "P4.S1 on P4 App. G packing, d = 1", "P4.A2"])
def test_without_its_noise_an_algorithm_is_better_than_its_claim_allows(name: str) -> None:
    row = measure(_silent(_pair(name)), runs=100, seed=0)
    assert row.verdict == "violated"
    assert row.chance <= FALSE_ALARM / TESTS
    assert "below the lower bound" in failures([row.to_json()])[0]


def test_an_estimator_that_claims_nothing_beats_the_bound_and_a_weaker_claim_explains_it() -> None:
    """P0.A1, the clipped mean without noise: below the bound for ε = 0.05, not below that for ε = 5."""

    def at(claim: PureDP, n: int) -> Trial:
        family: MeanSpikes = _pair("P3.A1").at(n).family
        return Trial(family, claim, lambda data, _, clip: clipped_mean(data, clip=clip), {"clip": 2 * family.size})

    verdicts = [
        measure(Pair("P0.A1", "P3 Thm 2", lambda n, e=e: at(PureDP(e), n), 2000), runs=100, seed=0).verdict  # type: ignore[misc]
        for e in (0.05, 5.0)
    ]
    assert verdicts == ["violated", "consistent"]


def test_an_algorithm_beyond_its_own_bound_is_caught() -> None:
    honest = _pair("P3.A1")

    def at(n: int) -> Trial:
        trial = honest.at(n)
        return replace(trial, upper=trial.family.threshold)

    row = measure(replace(honest, at=at), runs=60, seed=0)
    assert (row.verdict, row.detail) == ("violated", "above its bound")
    fitted = replace(honest, at=lambda n: replace(honest.at(n), upper=None, rate=float(n) ** -9))
    assert measure(fitted, runs=60, seed=0).verdict == "inconclusive"


def test_the_family_of_signs_is_judged_by_its_mean() -> None:
    """An oracle that knows the member is caught, a constant is not."""
    pair = _pair("P0.B on P0 Thm 5")
    family: GrowthSigns = pair.at(pair.n).family
    bound = statistic_of(pair.at(pair.n), pair.n)
    assert isinstance(bound, Mean)
    assert bound.lower == family.mean_excess_lower(pair.n, pair.at(pair.n).claim)
    corner = family.domain.project(-100 * family.mean(0))
    assert bound.most == pytest.approx(family.excess(corner, 0))
    assert bound.lower < family.excess(np.zeros(2), 1)


def test_members_take_turns_so_that_knowing_one_does_not_help() -> None:
    """A constant that is right for the first of six members fails for five sixths of the runs."""
    pair = _pair("P2.A2")
    trial = pair.at(pair.n)
    constant = replace(trial, mechanism=lambda data, channel, **_: trial.family.mean(0))  # noqa: ARG005
    row = measure(replace(pair, at=lambda n: constant), runs=20, seed=0)  # noqa: ARG005
    assert (row.runs, row.verdict) == (24, "consistent")
    assert row.share == pytest.approx(5 / 6)


def test_seeds_are_keyed_by_pair_and_run() -> None:
    pair = _pair("P3.A1")
    trial = pair.at(200)
    few, many = (excesses(pair, trial, 200, runs=runs, seed=0) for runs in (4, 8))
    np.testing.assert_array_equal(few, many[:4])
    assert len(set(many)) == 8


# ------------------------------------------------------------------------------------------------------------- command and report


def _rows() -> list[dict[str, Any]]:
    common = {"claim": "pure(eps=1)", "n": 10, "runs": 20, "chance": 1.0, "detail": "", "seed": 0}
    first = Row("A", "x", statistic="mean", lower=1.0, measured=3.0, interval=(2.0, 4.0), upper=9.0, upper_is="explicit",
                share=None, share_lower=None, verdict="consistent", **common)  # fmt: skip
    second = replace(first, algorithm="B<", share=0.5, share_lower=0.25, verdict="violated", upper=None, upper_is="none")
    return [first.to_json(), replace(second, detail="below").to_json()]


def test_the_report_s_section() -> None:
    rows = _rows()
    assert cells(rows[0])[-3:] == ["9 (explicit)", "–", "consistent"]
    assert "VIOLATED  B< on x: below" in render(overview(rows))
    section = rates.between({"sandwich": rows})
    assert "B&lt;" in section
    assert section.count("<svg") == 3  # the scale, and a strip for every pair
    assert rates.between({"sandwich": []}) == ""
    assert plot(rows) == plot(rows)


def test_the_picture_names_claims_and_only_what_it_shows() -> None:
    """SVG keeps its words as words; a marker on the frame would be cut in half."""
    rows = _rows()
    drawn = plot(rows).decode()
    assert f"A, {rows[0]['claim']}: x" in drawn
    assert "1 of 2 measured errors contradict a bound" in drawn
    assert "upper bound, explicit" in drawn
    assert "upper bound, fitted" not in drawn
    assert "allowed: not below the lower" in drawn
    fine = [{**row, "verdict": "consistent", "upper_is": "fitted", "upper": 9.0} for row in rows]
    drawn = plot(fine).decode()
    assert "No measured error contradicts its bounds" in drawn
    assert "upper bound, fitted" in drawn
    assert "upper bound, explicit" not in drawn
    seen = []

    def look(axes: Any) -> None:
        _draw(axes, rows)
        seen.append((axes.get_ylim(), axes.get_xlim(), [patch.get_width() for patch in axes.patches]))

    plotting.drawn(look, (6, 3), "svg")
    (low, high), (left, right), bands = seen[0]
    assert low <= -0.5
    assert high >= len(rows) - 0.5
    assert left < min(row["interval"][0] / row["lower"] for row in rows)
    assert right > max(row["upper"] / row["lower"] for row in rows if row["upper"])
    assert bands[0] == pytest.approx(rows[0]["upper"] / rows[0]["lower"] - 1)  # the band ends at an explicit bound
    assert bands[1] == pytest.approx(right - 1)  # and nowhere without one


def test_the_full_report_has_every_pair_and_the_quick_one_none() -> None:
    full, quick = ([work for work in verify.work(None, 0, e) if work.kind == "sandwich"] for e in (FULL, QUICK))
    assert [work.name for work in full] == [pair.name for pair in PAIRS]
    assert quick == []
    [task] = next(work.tasks for work in full if work.name == _pair("P2.A2").name)
    assert task.function(*task.arguments)["verdict"] == "consistent"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "sandwich.svg"
    common = ["sandwich", "--runs", "20", "--jobs", "1"]
    assert main([*common, "--only", "P3.A1", "--json", "-", "--plot", str(picture)]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [row["algorithm"] for row in value["pairs"]] == ["P3.A1"]
    assert value["failures"] == []
    assert picture.read_bytes().startswith(b"<?xml")
    assert main([*common, "--only", "Lemma 21"]) == 0
    assert "3 pairs, 3 of them between a lower and an upper bound" in capsys.readouterr().out
    assert main([*common, "--only", "P9"]) == 2
    assert "give an algorithm (P4.S1, " in capsys.readouterr().err
    assert main(["sandwich", "--runs", "3"]) == 2
    assert main([*common, "--only", "P3.A1", "--plot", str(tmp_path / "no" / "x.svg")]) == 2
