"""Predictors: their counts, their thresholds, what they find, and that they never vote on what they must not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.verification.auditing import audit, zoo, zoo_truth
from tailproof.verification.auditing.predictor import (
    Accuracy,
    Goal,
    Growth,
    LogRatioLower,
    best_thresholds,
    learn,
    ramp_thresholds,
)
from tailproof.verification.auditing.ramps import fit_ramp, tail_sizes
from tailproof.verification.auditing.runner import FunctionRunner
from tailproof.verification.auditing.runs import source
from tailproof.verification.auditing.scores import Linear, fit_histogram, fit_logistic, fit_projection, fit_table

GOALS = [LogRatioLower(1000, 0.05), LogRatioLower(1000, 0.05, leaks=3), Growth(0.7), Accuracy()]


def labelled(shift: float, size: int, seed: int, d: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = (2 * rng.integers(0, 2, size) - 1).astype(np.int8)
    return shift * labels[:, None] / 2 + rng.laplace(size=(size, d)), labels


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=40), st.sampled_from(GOALS))
@settings(deadline=None, max_examples=150)
def test_what_is_promised_is_what_the_votes_give(samples: list[tuple[int, bool]], goal: Goal) -> None:
    """With many ties; and no other pair of thresholds does better."""
    outputs = np.array([[float(x)] for x, _ in samples])
    labels = np.array([1 if side else -1 for _, side in samples], dtype=np.int8)
    found = best_thresholds(Linear(np.ones(1)), outputs[:, 0], labels, goal)
    votes = found.votes(outputs)
    correct, inside = int((votes == labels).sum()), int(np.count_nonzero(votes))
    if goal.whole:
        assert inside == len(labels)
        assert found.expected <= correct / len(labels) + 1e-9
        return
    assert inside > 0
    assert found.expected == pytest.approx(float(goal.value(correct, inside, len(labels))))
    x = outputs[:, 0]
    for low in np.append(np.arange(-3, 4), -math.inf):
        for high in np.append(np.arange(-3, 4), math.inf):
            chosen = (x <= low) | (x >= high)
            if low < high and chosen.any() and set(tail_sizes(len(x))) >= {(x <= low).sum(), (x >= high).sum()} - {0}:
                for side in (-1, 1):
                    right = int((np.where(x <= low, side, -side) == labels)[chosen].sum())
                    assert float(goal.value(right, int(chosen.sum()), len(x))) <= found.expected + 1e-9


def test_ramp_of_laplace_noise() -> None:
    """The log-ratio of Lap(1) about ∓½ is x·2·½ cut off at ±1.  Estimates from 200 000 samples have standard errors below 0.02."""
    outputs, labels = labelled(1.0, 200_000, 1)
    order = np.argsort(outputs[:, 0])
    second = np.concatenate([[0], np.cumsum(labels[order] > 0)])
    ramp = fit_ramp(outputs[order, 0], second)
    assert ramp is not None
    assert ramp.centre == pytest.approx(0, abs=0.15)
    assert ramp.floor == pytest.approx(1, abs=0.15)
    assert ramp.ceiling == pytest.approx(1, abs=0.15)
    found = ramp_thresholds(Linear(np.ones(1)), outputs[order, 0], second, LogRatioLower(10**6, 0.05), len(labels))
    assert found is not None
    assert found.low_side == -1
    assert found.low == pytest.approx(-0.5, abs=0.3)
    assert found.high == pytest.approx(0.5, abs=0.3)


def test_table_passes_on_what_it_has_not_seen() -> None:
    outputs = np.tile(np.array([[0.0, 1.0], [1.0, 1.0], [-0.0, 2.0]]), (30, 1))
    labels = np.tile(np.array([-1, 1, -1], dtype=np.int8), 30)
    table = fit_table(outputs, labels)
    assert table is not None
    scores = table(np.array([[-0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [5.0, 5.0], [1.0, 0.0]]))
    assert scores[0] < 0 < scores[1]
    assert scores[2] < 0
    assert np.isnan(scores[3:]).all()
    assert fit_table(np.arange(90.0)[:, None], labels) is None
    found = best_thresholds(table, table(outputs), labels, LogRatioLower(100, 0.05))
    assert list(found.votes(np.array([[0.0, 1.0], [1.0, 1.0], [7.0, 7.0]]))) == [-1, 1, 0]


def test_table_of_rare_outputs_that_repeat() -> None:
    """Among numbers that never occur twice; what never repeats has no table."""
    rng = np.random.default_rng(0)
    outputs, labels = rng.normal(size=(5000, 1)), np.tile(np.array([-1, 1], dtype=np.int8), 2500)
    assert fit_table(outputs, labels) is None
    outputs[:20:2], outputs[1:20:2] = 100.0, 101.0
    outputs[20:24] = 102.0  # too few to tell
    table = fit_table(outputs, labels)
    assert table is not None
    low, high = table(np.array([[100.0], [101.0]]))
    assert low == pytest.approx(-math.log(21))
    assert high == pytest.approx(math.log(21))
    assert np.isnan(table(outputs[20:])).all()


def test_a_rare_leak_is_found() -> None:
    """One output in a thousand names the side, one in ten thousand may.  All of 100 other seeds found it, so that one fails with a
    chance below 0.05 and five with probability below 4e-7."""
    one = zoo_truth.specimen("rare-leak")
    results = (audit(one.subject, one.claim, [one.pair], budget=2_000_000, confidence=0.99999, seed=s) for s in range(5))
    assert any(result.verdict == "violated" for result in results)


def test_histogram_gives_a_repeated_value_a_cell_of_its_own() -> None:
    """Half of one side is exactly 0.3, the other side has it never: the cell's log-ratio is that of 500 against 0."""
    rng = np.random.default_rng(0)
    outputs, labels = rng.normal(size=(2000, 1)), np.repeat([-1, 1], 1000).astype(np.int8)
    outputs[:500] = 0.3
    score = fit_histogram(Linear(np.ones(1)), outputs, labels)
    assert score is not None
    there, near = score(np.array([[0.3], [0.3 + 1e-3]]))
    assert there < -5
    assert near > -1


@pytest.mark.parametrize("fit", [fit_projection, fit_logistic])
def test_fits_find_a_direction(fit: object) -> None:
    """Eight coordinates moved by 1: a sum of eight differs by 8/√16 standard deviations, right 9 times in 10 or more."""
    outputs, labels = labelled(1.0, 4000, 3, d=8)
    score = fit(outputs[:2000], labels[:2000])  # type: ignore[operator]
    right = np.mean((score(outputs[2000:]) > 0) == (labels[2000:] > 0))
    assert right > 0.8


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_few_samples_or_one_side_only(goal: Goal, size: int) -> None:
    for d in (1, 3):
        outputs, labels = labelled(1.0, size, 5, d)
        for sides in (labels, np.ones_like(labels)):
            votes = learn(outputs, sides, goal).votes(outputs)
            assert set(votes) <= {-1, 0, 1}
            assert not goal.whole or (votes != 0).all()
        assert len(learn(np.zeros_like(outputs), labels, goal).votes(outputs)) == size


def test_huge_outputs_do_no_harm() -> None:
    outputs, labels = labelled(1.0, 500, 6, d=3)
    outputs[::7] *= 1e100
    for goal in GOALS:
        learn(np.clip(outputs, -1e100, 1e100), labels, goal).votes(outputs)


def test_a_change_of_width_alone_is_found() -> None:
    """N(0, 1) against N(0, 3²): |z| tells.  The chance of a right guess is 0.75 with the best threshold."""
    rng = np.random.default_rng(7)
    labels = (2 * rng.integers(0, 2, 6000) - 1).astype(np.int8)
    for d in (1, 3):
        outputs = rng.normal(size=(6000, d)) * np.where(labels > 0, 3, 1)[:, None]
        votes = learn(outputs[:3000], labels[:3000], Accuracy()).votes(outputs[3000:])
        assert np.mean(votes == labels[3000:]) > 0.68  # more than 8 standard errors below the truth


def test_a_direction_that_is_fitted_again_gets_thresholds_of_its_own() -> None:
    """Outputs of four values, two of which tell the side: a fifth of all.  Of 2000 fresh ones more than 120 are guessed, all
    rightly; fewer than half of the expected 250 to 400 have no chance."""
    one = zoo.specimen("svt-stoddard")
    for seed in range(8):
        runs = source(FunctionRunner(one.subject), [one.pair], seed)
        past, fresh = runs.draw(0, 600), runs.draw(0, 2000)
        votes = learn(past.outputs, past.labels, LogRatioLower(1400, 0.05)).votes(fresh.outputs)
        assert np.count_nonzero(votes) > 120
        assert (votes[votes != 0] == fresh.labels[votes != 0]).all()
