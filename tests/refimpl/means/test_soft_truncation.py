"""The smoothed influence function against quadrature, its bound, its monotonicity and its supremum."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from tailproof.bounds.explicit import catoni_correction
from tailproof.refimpl.means.soft_truncation import PLATEAU, correction, influence, query, smoothed_influence


def by_mpmath(a: float, beta: float) -> float:
    """E φ(a(1 + N/√β)) by adaptive quadrature in 30 digits, cut at the kinks."""
    with mp.workdps(30):
        b = mp.mpf(a) / mp.sqrt(beta)
        root = mp.sqrt(2)

        def term(z: mp.mpf) -> mp.mpf:
            phi = z - z**3 / 6 if abs(z) <= root else mp.sign(z) * 2 * root / 3
            return phi * mp.npdf(z, a, b)

        spread = [a + k * b for k in (-30, -12, -6, -3, -1.5, 0, 1.5, 3, 6, 12, 30)]
        edges = sorted([*spread, *(x for x in (-root, root) if spread[0] < x < spread[-1])])
        return float(mp.quad(term, edges))


@pytest.mark.parametrize("beta", [0.5, math.log(100), 30.0, 1e4])
@pytest.mark.parametrize("a", [1e-3, 0.1, 0.26, 0.29, 0.31, 0.42, 0.53, 1.0, math.sqrt(2), 2.99, 3.01, 10.0, 1e3, 1e6])
def test_against_quadrature(a: float, beta: float) -> None:
    expected = by_mpmath(a, beta)
    found = float(smoothed_influence(np.array([a]), beta)[0])
    assert found == pytest.approx(expected, rel=1e-12, abs=0)
    assert float(smoothed_influence(np.array([-a]), beta)[0]) == -found


@settings(deadline=None, max_examples=200)
@given(st.floats(0, 1e300), st.floats(1.0, 1e6), st.floats(0.1, 1e5))
def test_increasing_and_bounded(a: float, factor: float, beta: float) -> None:
    near, far = smoothed_influence(np.array([a, min(a * factor, 1e305)]), beta)
    assert near <= far * (1 + 1e-13) + 1e-14
    assert 0 <= near <= PLATEAU
    assert far <= PLATEAU * (2 * ndtr(math.sqrt(beta)) - 1) * (1 + 1e-13)


def test_supremum_is_the_limit() -> None:
    beta = math.log(100)
    assert float(smoothed_influence(np.array([1e12]), beta)[0]) == pytest.approx(
        PLATEAU * (2 * ndtr(math.sqrt(beta)) - 1), rel=1e-11
    )


def test_influence_is_continuous_and_odd() -> None:
    root = math.sqrt(2)
    assert influence([root, root + 1e-9, 5.0]) == pytest.approx([PLATEAU] * 3, abs=1e-12)
    assert influence([-0.7]) == pytest.approx(-influence([0.7]))


def test_query_averages_records() -> None:
    data = np.random.default_rng(0).standard_t(2, size=(1000, 3))
    scale, beta = 3.0, 4.0
    expected = [np.mean([scale * by_row for by_row in smoothed_influence(column / scale, beta)]) for column in data.T]
    assert query(data, scale=scale, beta=beta) == pytest.approx(expected, rel=1e-12)


def test_correction_is_the_printed_one() -> None:
    """From integrals over the tails for the estimator, from (19)–(27) in `bounds` as the statement."""
    a, b = np.random.default_rng(0).uniform(0.01, 3, size=(2, 1000))
    assert correction(a, b) == pytest.approx(catoni_correction(a, b), rel=1e-12, abs=1e-14)
