"""The utility check: honest estimators stay within their explicit bounds, and a bound made too small is exceeded."""

from dataclasses import replace

import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.verification import utility


@pytest.mark.parametrize("identifier", sorted(utility.BOUNDS))
def test_honest(identifier: str) -> None:
    """False alarm: 1e-9 per estimator."""
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    found = utility.check_utility(identifier, implementation.mechanism, 11, runs=100)
    assert not found.exceeds
    assert "100 of 100 runs" in found.detail


@pytest.mark.parametrize("identifier", sorted(utility.BOUNDS))
def test_a_bound_below_the_median_error_is_refuted(identifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    cases = utility.BOUNDS[identifier]()
    monkeypatch.setitem(utility.BOUNDS, identifier, lambda: [replace(case, bound=case.bound / 10_000) for case in cases])
    found = utility.check_utility(identifier, implementation.mechanism, 11, runs=100)
    assert found.exceeds
    assert round(100 * found.measured) == round(100 * found.bound) + 1  # one failure too many was enough
