"""Smooth sensitivity against enumeration of all data sets on a grid, and against the formulas written out."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.channel import Channel
from tailproof.refimpl.means.trimmed import CLAMPS, noise_shape, query, trimmed_mean
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.calibration import reference_smooth_sensitivity

LOWER, UPPER = -1.0, 1.0


def enumerate_smooth(values: list[float], n: int, m: int, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(data sets, clamped trimmed means, smooth sensitivities by definition) over all of values^n.

    S(x) = max over y of e^{−t·(records that differ)}·LS(y), LS(y) = max over one replaced record of |q(y) − q(y')|.
    """
    count = len(values)
    codes = np.array(list(itertools.product(range(count), repeat=n)))
    data = np.array(values)[codes]
    q = np.clip(np.sort(data, axis=1)[:, m : n - m].mean(axis=1), LOWER, UPPER)
    shape = (count,) * n
    grid = q.reshape(shape)
    local = np.zeros(shape)
    for axis in range(n):
        spread = np.maximum(grid.max(axis, keepdims=True) - grid, grid - grid.min(axis, keepdims=True))
        local = np.maximum(local, spread)
    smooth = local
    for axis in range(n):  # e^{−t·distance} factors over the records
        elsewhere = math.exp(-t) * smooth.max(axis, keepdims=True)
        smooth = np.maximum(smooth, elsewhere)
    return data, q, smooth.reshape(-1)


# The 4⁶ tables of six records take seconds: one t.
@pytest.mark.parametrize(
    ("n", "m", "t"), [*((n, m, t) for n, m in [(3, 1), (4, 1), (5, 1), (5, 2)] for t in (0.05, 0.4, 1.5)), (6, 2, 0.4)]
)
def test_data_clamped_equals_enumeration(n: int, m: int, t: float) -> None:
    data, q, smooth = enumerate_smooth([LOWER, -0.3, 0.2, UPPER], n, m, t)
    means, bounds = query(np.array(data), lower=LOWER, upper=UPPER, trim=m, smoothness=t, clamp="data")
    assert means == pytest.approx(q, abs=1e-14)
    assert bounds == pytest.approx(smooth, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(3, 1), (5, 1), (5, 2)])
@pytest.mark.parametrize("t", [0.05, 0.4, 1.5])
def test_output_clamped_is_a_smooth_upper_bound(n: int, m: int, t: float) -> None:
    """U ≥ the true smooth sensitivity on a grid that leaves [a, b], and U ≤ e^t · U of every neighbour."""
    values = [-50.0, LOWER, -0.3, 0.4, 50.0]
    data, _, smooth = enumerate_smooth(values, n, m, t)
    bound = query(np.array(data), lower=LOWER, upper=UPPER, trim=m, smoothness=t, clamp="output")[1]
    assert (bound >= smooth * (1 - 1e-12)).all()
    grid = bound.reshape((len(values),) * n)
    for axis in range(n):
        assert (grid.max(axis) <= math.exp(t) * grid.min(axis) * (1 + 1e-12)).all()


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.floats(-100, 100), min_size=3, max_size=40),
    st.integers(1, 19),
    st.floats(1e-3, 3.0),
    st.sampled_from(CLAMPS),
)
def test_fast_search_equals_the_formulas(values: list[float], trim: int, t: float, clamp: str) -> None:
    m = 1 + trim % max(1, (len(values) - 1) // 2)
    x = np.array(values)
    found = query(np.array([x]), lower=LOWER, upper=UPPER, trim=m, smoothness=t, clamp=clamp)[1][0]
    assert found == pytest.approx(reference_smooth_sensitivity(x, a=LOWER, b=UPPER, m=m, t=t, clamp=clamp), rel=1e-13)


@pytest.mark.parametrize("clamp", CLAMPS)
@pytest.mark.parametrize(
    ("m", "t"), [(1, 0.5), (50, 1e-4), (400, 1e-5), (400, 0.003), (400, 0.02), (400, 0.05), (999, 0.01), (999, 1e-6)]
)
def test_cutting_the_search_short_changes_nothing(clamp: str, m: int, t: float) -> None:
    """Light and heavy tails, ties, one-sided outliers, and a growth as fast as the decay, where many pairs are nearly the best."""
    rng, n, edge = np.random.default_rng(3), 2000, np.arange(2000) / 2000 - 0.5
    columns = np.array(
        [
            rng.standard_normal(n),
            rng.standard_cauchy(n),
            np.round(rng.standard_t(2, n)),
            rng.pareto(0.5, n),
            np.zeros(n),
            rng.permutation(np.sign(edge) * np.exp(np.minimum(t * n * np.abs(edge), 600.0))),
            rng.permutation(np.sign(edge) * (1 + t * np.maximum(0, n * np.abs(edge) - (n / 2 - m)))),
            np.where(rng.random(n) < 0.3, 1e308, -1e308),
            np.where(np.abs(edge) < 0.5 - (m - min(m, 80)) / n, np.sign(edge), np.sign(edge) * (1 + math.exp(100 * t))),
        ]
    )
    limits: dict[str, Any] = {"lower": -3.0, "upper": 3.0, "trim": m, "smoothness": t, "clamp": clamp}
    _, together = query(np.array(columns), **limits)
    for bound, column in zip(together, columns, strict=True):
        expected = by_all_pairs(column, m, t, clamp)
        assert bound == pytest.approx(expected, rel=1e-12)
        assert query(np.array([column]), **limits)[1][0] == pytest.approx(expected, rel=1e-12)  # of its own depth


def by_all_pairs(column: FloatArray, m: int, t: float, clamp: str) -> float:
    """The maximum over all i ≥ −1 and l ≥ 0 with 0 ≤ i + l, for [a, b] = [−3, 3]."""
    n, x = len(column), np.sort(np.clip(column, -3.0, 3.0) if clamp == "data" else column)
    u, w = x[n - m - 1 :], -x[m::-1]
    if clamp == "data":
        u, w = np.append(u, 3.0), np.append(w, 3.0)
    k = np.add.outer(np.arange(-1, len(u) - 1), np.arange(len(w)))
    with np.errstate(over="ignore"):
        terms = np.minimum(np.add.outer(u, w) / (n - 2 * m), 6.0) * np.exp(-t * k)
    used = (k >= 0) if clamp == "data" else (k >= 0) & (k < m)
    floor = 0.0 if clamp == "data" else 6 * math.exp(-t * m)
    return max(float(terms[used].max()), floor, 6e-200)


def test_noise_never_vanishes_where_the_decay_underflows() -> None:
    """All records equal and e^{−mt} = 0 in floats: an error here would reveal the data."""
    found = query(np.zeros((1, 2001)), lower=LOWER, upper=UPPER, trim=900, smoothness=2.0, clamp="output")[1][0]
    assert found > 0


@pytest.mark.parametrize(("epsilon", "t"), [(1.0, 0.1), (0.1, 0.05), (5.0, 0.3), (0.3, 1.0)])
def test_noise_shape_spends_exactly_epsilon_and_minimises_the_variance(epsilon: float, t: float) -> None:
    sigma, s = noise_shape(epsilon, t)
    assert t / sigma + math.exp(1.5 * sigma**2) * s == pytest.approx(epsilon, rel=1e-12)
    assert s > 0

    def variance(x: float) -> float:
        return 2 * math.exp(2 * x**2) / (math.exp(-1.5 * x**2) * (epsilon - t / x)) ** 2

    assert variance(sigma) <= min(
        variance(sigma * 1.001), variance(sigma * 0.999) if sigma * 0.999 > t / epsilon else math.inf
    )


def test_trim_must_leave_a_record() -> None:
    channel = Channel.sampling(np.random.default_rng(0))
    with pytest.raises(InputError, match=r"trim = 3: must be in \[1, 2\]"):
        trimmed_mean(np.zeros((6, 1)), channel, epsilon=1, delta=0.1, lower=-1, upper=1, trim=3)
