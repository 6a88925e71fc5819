"""False alarms: limits of rates are one-sided at 99 %, and the tests ask for differences that are far beyond them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.auditing.auditors import KNOWN, Known, bounds_of, check_auditor, overstated
from tailproof.verification.auditing.auditors import laplace as laplace_of_scale

CHEAP = {"runs": 60, "per_side": 200}


def the_truth(name: str) -> Known:
    return next(one for one in KNOWN if one.name == name)


def log_ratio(first: FloatArray, second: FloatArray, delta: float, confidence: float) -> float:  # noqa: ARG001
    """What is seen at one threshold, taken for a bound."""
    return math.log((second > 0.5).sum() / max(1, (first > 0.5).sum()))


def test_an_estimate_is_no_bound() -> None:
    """The frequency of either side of a fair bit is larger half of the time: 60 of 60 coins or none have a chance below 1e-17, and
    fewer than 8 of 60 (lower limit ≤ 5 %) one below 1e-9."""
    found = check_auditor(log_ratio, [the_truth("identical laws, a bit")], **CHEAP)["identical laws, a bit"]
    assert found.wrong
    assert 0 < found.limits[0] < found.rate < found.limits[1] < 1
    assert found.largest > 0 == pytest.approx(found.median, abs=0.2)


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_a_bound_that_is_never_above_is_not_wrong(bound: float) -> None:
    """1 is the truth, which is not above itself."""
    found = check_auditor(lambda *_: bound, [the_truth("Laplace, ε = 1")], **CHEAP)["Laplace, ε = 1"]
    assert (found.exceeded, found.wrong, found.limits[0]) == (0, False, 0.0)


def test_a_bound_that_is_always_above() -> None:
    found = overstated(the_truth("Laplace, ε = 1"), [1.001] * 10, 0.95)
    assert (found.rate, found.limits[1], found.wrong) == (1.0, 1.0, True)


def test_limits_are_those_of_exact_tail_probabilities() -> None:
    from scipy.stats import binom

    low, high = overstated(the_truth("Laplace, ε = 1"), [2.0] * 7 + [0.5] * 93, 0.95).limits
    assert binom.sf(6, 100, low) == pytest.approx(0.01)
    assert binom.cdf(7, 100, high) == pytest.approx(0.01)


def test_outputs_depend_on_the_number_alone() -> None:
    seen: list[FloatArray] = []

    def remember(first: FloatArray, *_: object) -> float:
        seen.append(first)
        return 0.0

    known = the_truth("Laplace, ε = 1")
    for runs in ([0, 1], [1]):
        bounds_of(remember, known, runs=runs, per_side=10, confidence=0.95, seed=3)
    assert np.array_equal(seen[1], seen[2])
    assert not np.array_equal(seen[0], seen[1])


WORST: dict[str, Callable[[FloatArray], FloatArray]] = {
    "Laplace, ε = 1": lambda x: x <= 0,
    "Laplace, ε = 0.1": lambda x: x <= 0,
    "two-sided geometric, ε = 1": lambda x: x <= 0,
    "randomised response, ε = 1": lambda x: x == 0,
    "rare output, ε = 1": lambda x: x == 1,
    "randomised response that leaks, (1, 0.02)": lambda x: (x == 0) | (x == 10),
}
"""Outputs whose probabilities show all of ε.  (The Gaussian's μ is that of `gaussian_mu`, which has tests of its own.)"""


@pytest.mark.parametrize("name", WORST)
def test_truths_are_exact(name: str) -> None:
    """From 4·10⁶ outputs, to 6 standard errors: a false alarm has a chance below 1e-8."""
    known = the_truth(name)
    rng, size = np.random.default_rng(5), 4_000_000
    first, second = (known.sampler(side, rng, size) for side in (0.0, 1.0))
    p, q = WORST[name](first).mean(), WORST[name](second).mean()
    error = 6 * math.sqrt((1 / p + 1 / q) / size)
    assert math.log((p - known.delta) / q) == pytest.approx(known.truth, abs=error)


def test_bad_input() -> None:
    known = KNOWN[0]
    with pytest.raises(InputError, match="NaN"):
        bounds_of(lambda *_: math.nan, known, runs=[0], per_side=10, confidence=0.95, seed=0)
    with pytest.raises(InputError, match="per_side = 0"):
        bounds_of(lambda *_: 0.0, known, runs=[0], per_side=0, confidence=0.95, seed=0)
    with pytest.raises(InputError, match="confidence = 1"):
        check_auditor(lambda *_: 0.0, [known], confidence=1.5)
    with pytest.raises(InputError, match="runs = 0"):
        check_auditor(lambda *_: 0.0, [known], runs=0)
    with pytest.raises(InputError, match="none"):
        overstated(known, [], 0.95)
    assert laplace_of_scale(2.0)(0.0, np.random.default_rng(0), 3).shape == (3,)
