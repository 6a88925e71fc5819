"""Values of the extension with bounds of their errors: against rational arithmetic, and record by record."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.domains import Ball, Box, Domain, L1Ball
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.values import Evaluator
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError

LOSSES: list[Loss] = [Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4(), Quadratic(np.eye(2))]
LOSSES.append(Ridge(Absolute(), 0.1))
SETS = [Ball(np.zeros(2), 1.0), Box(-np.ones(2), np.ones(2)), L1Ball(np.array([3.0, -1.0]), 1.0)]


def table(loss: Loss, rng: np.random.Generator, n: int, size: float) -> FloatArray:
    x = size * rng.standard_t(2.5, size=(n, 2))
    if loss.columns(2) == 2:
        return x
    base = loss.loss if isinstance(loss, Ridge) else loss
    labels = isinstance(base, GlmLoss) and base.target == "label"
    last = np.sign(rng.standard_normal(n)) if labels else size * rng.standard_normal(n)
    return np.column_stack([x, last])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("domain", SETS, ids=lambda domain: type(domain).__name__)
def test_errors_are_bounded(loss: Loss, domain: Domain) -> None:
    """Of records of ordinary and of huge size, by values with a tolerance of 1e-30."""
    rng = np.random.default_rng([1, LOSSES.index(loss)])
    for size in (1.0, 1e9):
        problem = Problem(loss, table(loss, rng, 3, size), domain, 2.0, 0.1, domain.interior_point())
        rough, fine = Evaluator(problem, 1e-6), Evaluator(problem, 1e-30)
        point = domain.project(domain.interior_point() + 0.5 * rng.standard_normal(2))
        found = rough.at(point)
        for i in range(3):
            truth = fine.exactly(point, i)
            assert abs(Fraction(float(found.values[i])) - truth) <= Fraction(float(found.errors[i])) + Fraction(1, 10**29)
            assert 0 <= rough.exactly(point, i) - truth + Fraction(1, 10**29) <= Fraction(1, 2 * 10**6)
        if size == 1.0:
            assert found.errors.max() <= 1e-7  # half the digits of a subgradient on other sets than balls
            assert not rough.coarse(found).size


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), which=st.integers(0, len(LOSSES) - 1), power=st.integers(-6, 30))
def test_a_record_is_evaluated_by_itself(seed: int, which: int, power: int) -> None:
    """Whatever stands in another row, but for the last bits."""
    rng, loss, domain = np.random.default_rng(seed), LOSSES[which], SETS[seed % 3]
    data = table(loss, rng, 6, 1.0)
    neighbour = data.copy()
    neighbour[2] = table(loss, rng, 1, 10.0**power)[0]
    point = domain.project(domain.interior_point() + 0.5 * rng.standard_normal(2))
    first, second = (
        Evaluator(Problem(loss, rows, domain, 2.0, 0.1, domain.interior_point()), 1e-6).at(point)
        for rows in (data, neighbour)
    )
    others = np.arange(6) != 2
    np.testing.assert_allclose(first.values[others], second.values[others], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(first.errors[others], second.errors[others], rtol=0.1, atol=1e-14)


def test_huge_records_are_coarse() -> None:
    data = np.array([[1.0, 0.5], [3e14, -1e14]])
    evaluator = Evaluator(Problem(Affine(), data, SETS[0], 1.0, 1.0, np.zeros(2)), 1e-6)
    assert evaluator.coarse(evaluator.at(np.zeros(2))).tolist() == [1]


def test_bad_tolerance() -> None:
    with pytest.raises(InputError, match="tolerance = 0"):
        Evaluator(Problem(Affine(), np.ones((1, 2)), SETS[0], 1.0, 1.0, np.zeros(2)), 0.0)
