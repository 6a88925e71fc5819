"""How privacy losses are distributed on one pair of neighbours: a small histogram for the report, never a verdict.

The loss of an outcome is log P(outcome on the first data)/P(same outcome on the second), the outcome being drawn on the first.  A
pure claim says that it is never above ε, an approximate one that it seldom is; ρ-zCDP and μ-GDP are claims about its whole law,
which for the worst Gaussian release is N(ρ, 2ρ) and N(μ²/2, μ²).  If one release differs between the neighbours, its two laws are
compared: by enumeration where outcomes can be counted, by draws otherwise.  If several do, whole transcripts are sampled.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from tailproof.refimpl.channel import ReplayDiverged
from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.laws import LLN, Finite, Gaussian, Laplace, Law, NoisyArgmax, Softmax, lln_log_density, same_law
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import compare, measured_privacy, transcript_loss
from tailproof.verification.subject import Pair, Subject

BINS = 32
DRAWS = 2000  # of a law whose density is evaluated for all draws at once
SLOW_DRAWS = 200  # of the others
TRANSCRIPTS = 400  # times the share of effort of a setting, and at most MOST
LEAST, MOST = 10, 100


@dataclass(frozen=True)
class LossHistogram:
    """Shares of the losses in equal bins from `low` to `high`.  `beyond` is the share above the claimed ε, where one is claimed;
    `draws` is None where the law was enumerated."""

    claim: str
    epsilon: float | None
    delta: float | None
    rho: float | None
    mu: float | None
    of: str
    draws: int | None
    low: float
    high: float
    shares: tuple[float, ...]
    mean: float
    spread: float  # the standard deviation
    largest: float
    beyond: float | None
    infinite: float

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def histogram(
    losses: FloatArray, claim: Claim, *, of: str, draws: int | None, weights: FloatArray | None = None
) -> LossHistogram | None:
    """None where no loss is finite: there is nothing to draw then."""
    weights = np.full(len(losses), 1 / len(losses)) if weights is None else weights
    finite = np.isfinite(losses)
    if not finite.any():
        return None
    low, high = float(losses[finite].min()), float(losses[finite].max())
    if high - low <= 1e-12 * max(abs(low), abs(high), 1.0):  # all alike: a bin around them
        low, high = low - 0.01 * max(abs(low), 1e-3), high + 0.01 * max(abs(high), 1e-3)
    bins = BINS if draws is None else min(BINS, math.ceil(2 * math.sqrt(draws)))
    counts, _ = np.histogram(losses[finite], bins=bins, range=(low, high), weights=weights[finite])
    share = weights[finite] / weights[finite].sum()
    mean = float(share @ losses[finite])
    epsilon = claim.epsilon if isinstance(claim, PureDP | ApproxDP) else None
    beyond = None if epsilon is None else float(weights[losses > epsilon * (1 + 1e-9)].sum())
    return LossHistogram(
        claim=str(claim),
        epsilon=epsilon,
        delta=claim.delta if isinstance(claim, ApproxDP) else None,
        rho=claim.rho if isinstance(claim, ZCDP) else None,
        mu=claim.mu if isinstance(claim, GDP) else None,
        of=of,
        draws=draws,
        low=low,
        high=high,
        shares=tuple(float(f"{share:.6g}") for share in counts),
        mean=mean,
        spread=float(np.sqrt(share @ (losses[finite] - mean) ** 2)),
        largest=float(losses.max()),
        beyond=beyond,
        infinite=float(weights[~finite].sum()),
    )


def losses_on(subject: Subject, pair: Pair, seed: int) -> LossHistogram | None:
    """Of the claim that a transcript can speak about, on this pair; None where the laws are the same or the course differs."""
    claim = subject.checked_claim
    assert claim is not None
    try:
        compared = compare(subject, *pair, seed)
    except (ReplayDiverged, ArithmeticError, ValueError, IndexError):
        return None  # the checks say so
    changed = [(a, b) for a, b in compared.releases if not same_law(a.law, b.law)]
    if not changed:
        return None
    if len(changed) > 1:
        return _sampled(subject, pair, seed)
    p, q = changed[0][0].law, changed[0][1].law
    if measured_privacy(q, p, claim) > measured_privacy(p, q, claim):  # the worse direction, as the check takes it
        p, q = q, p
    if isinstance(p, Finite | NoisyArgmax | Softmax | GridWalk):
        log_p, log_q = p.log_probabilities(), q.log_probabilities()  # type: ignore[attr-defined]
        possible = log_p > -np.inf
        weights, found = np.exp(log_p[possible]), log_p[possible] - log_q[possible]
        return histogram(found, claim, of="the release's outcomes, enumerated", draws=None, weights=weights)
    found = drawn_losses(p, q, np.random.default_rng([seed, 2]))
    return histogram(found, claim, of="the one release that differs", draws=len(found))


def drawn_losses(p: Law, q: Law, rng: np.random.Generator) -> FloatArray:
    """log p/q at draws from p."""
    if isinstance(p, Gaussian | Laplace | LLN) and isinstance(q, type(p)):
        values = np.stack([np.atleast_1d(p.sample(rng)) for _ in range(DRAWS)])
        return np.asarray(_log_densities(p, values) - _log_densities(q, values))
    outcomes = [p.sample(rng) for _ in range(SLOW_DRAWS)]
    return np.array([p.logpdf(value) - q.logpdf(value) for value in outcomes])


def _log_densities(law: Gaussian | Laplace | LLN, values: FloatArray) -> FloatArray:
    """Up to a constant that is the same for all laws of the kind."""
    z = (values - law.location) / law.scale
    scales = float(np.log(np.broadcast_to(law.scale, law.location.shape)).sum())
    match law:
        case Gaussian():
            densities = -0.5 * z**2
        case Laplace():
            densities = -np.abs(z)
        case LLN():
            densities = lln_log_density(z, law.sigma)
    return np.asarray(densities.sum(axis=1) - scales)


def _sampled(subject: Subject, pair: Pair, seed: int) -> LossHistogram | None:
    """Fewer where a run is slow; too few say nothing."""
    runs = min(MOST, round(TRANSCRIPTS * subject.setting.effort))
    if runs < LEAST:
        return None
    found = []
    for trial in range(runs):
        try:
            _, here = subject.run(pair[0], seed + trial)
            _, there = subject.replay(pair[1], here)
        except (ReplayDiverged, ArithmeticError, ValueError, IndexError):
            return None
        found.append(transcript_loss(here, there))
    assert subject.checked_claim is not None
    return histogram(np.array(found), subject.checked_claim, of="whole transcripts", draws=len(found))
