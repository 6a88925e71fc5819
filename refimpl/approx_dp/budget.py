"""[P0, Definition 3, Remarks 1 and 5] The budget of a Gaussian release, (ε, δ) or ρ-zCDP, and the noise it asks for.

    (ε, δ):  σ = 4Δ√log(1/δ)/ε        [P0 Definition 3]; printed for ε ≤ 1, and Algorithms 3 to 5 use it beyond that,
    ρ-zCDP:  σ = Δ/√(2ρ)              [P0 Remarks 1 and 5 give O(Δ/√ρ); the constant is Bun and Steinke's].

Definition 3's noise is Δ/(4√log(1/δ)/ε)-GDP: enough for ε ≤ 2log(1/δ), whatever δ ≤ 0.99.  `noise_scale` refuses what is not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TypeAlias

from tailproof.refimpl.claims import ZCDP, ApproxDP, gaussian_delta
from tailproof.refimpl.validation import InputError, positive, probability

Budget: TypeAlias = ApproxDP | ZCDP


class WeakDelta(UserWarning):
    """δ ≥ 1/n: publishing a random record would be allowed."""


def budget(*, epsilon: float | None = None, delta: float | None = None, rho: float | None = None) -> Budget:
    """The claim of the parameters that are given: `epsilon` and `delta`, or `rho`."""
    if rho is not None and epsilon is None and delta is None:
        return ZCDP(rho)
    if rho is None and epsilon is not None and delta is not None:
        return ApproxDP(epsilon, delta)
    raise InputError(f"epsilon = {epsilon!r}, delta = {delta!r}, rho = {rho!r}: give epsilon and delta, or rho alone")


def at_most(spend: Budget, most: Callable[[float], float], *, place: str) -> Budget:
    """The budget, if its ε is in the range of that theorem, which depends on log(1/δ)."""
    if isinstance(spend, ApproxDP) and spend.epsilon > (limit := most(-math.log(spend.delta))):
        raise InputError(f"epsilon = {spend.epsilon!r}: {place} needs epsilon <= {limit:.6g} at this delta")
    return spend


def twice(logarithm: float) -> float:
    """2log(1/δ): as far as Definition 3's noise is enough."""
    return 2 * logarithm


def noise_scale(sensitivity: float, spend: Budget) -> float:
    """σ of the Gaussian release, as printed."""
    positive("sensitivity", sensitivity)
    if isinstance(spend, ZCDP):
        return sensitivity / math.sqrt(2 * spend.rho)
    times = 4 * math.sqrt(math.log(1 / spend.delta)) / spend.epsilon
    if gaussian_delta(1 / times, spend.epsilon) > spend.delta:
        raise InputError(f"delta = {spend.delta!r}: the noise of P0's Definition 3 is too small at this epsilon and delta")
    return sensitivity * times


def private_share(spend: Budget, dimension: int) -> float:
    """√(d·log(1/δ))/ε, or √d/√ρ: what the papers' clipping thresholds and rates hold against n  [P0 Remark 5]."""
    if isinstance(spend, ZCDP):
        return math.sqrt(dimension / spend.rho)
    return math.sqrt(dimension * math.log(1 / spend.delta)) / spend.epsilon


def warn_if_weak(delta: float | None, records: int) -> None:
    """A δ of 1/n and more allows to publish a record: that is worth a warning."""
    if delta is not None and probability("delta", delta) >= 1 / records:
        warnings.warn(f"delta = {delta!r}: is not below 1/n = {1 / records:.3g}", WeakDelta, stacklevel=3)
