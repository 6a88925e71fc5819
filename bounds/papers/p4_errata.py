"""P4: where a published sentence or step is wrong, each with a discrepancy that can be recomputed.

The text at hand has words but no formulas, so an entry rests on words, on the structure of a proof, or on a display whose
restoration leaves no choice.
"""

from __future__ import annotations

import math

import numpy as np

from tailproof.bounds.erratum import LOST, Erratum, Gap, erratum
from tailproof.bounds.papers import p4
from tailproof.refimpl.pure_dp.impossibility import RidgeFunction


def _least(*, slope: float, bias: float, power: float) -> float:
    """The least slope·C + bias·C^{−power} over C > 0."""
    clip = (power * bias / slope) ** (1 / (1 + power))
    return float(slope * clip + bias * clip**-power)


def _whole_domain_gap(*, n: int, d: int, k: float, epsilon: float, weight: float) -> Gap:
    """λ times a distance that holds with probability 0.8, G = D = 1, each at its best C: by the bias in value over W, which the
    print takes for what W allows, against one output perturbation over the same W.  Markov at 0.1, noise at 0.1."""
    noise = p4.localised_radius_upper(n=n, dimension=d, weight=1.0, clip=1.0, epsilon=epsilon, failure=0.1, kappa=0.05)
    in_value = math.sqrt(2 * weight * p4.value_bias_constant(k) / 0.1)
    in_gradient = p4.gradient_bias_mean_upper(moment_bound=1.0, moment_order=k, clip=1.0) / 0.1
    by_values = _least(slope=noise, bias=in_value, power=(k - 1) / 2)
    return by_values, _least(slope=noise, bias=in_gradient, power=k - 1)


def _known_instance_gap(*, failure: float, known: bool) -> Gap:
    """−⟨w, x⟩ on the unit ball: the failure probability claimed of every algorithm for this instance, against that of the
    constant which is its minimiser (`known`) or the opposite point."""
    mean = np.array([0.3, 0.0])
    guess = (1.0 if known else -1.0) * mean / np.linalg.norm(mean)
    return failure, float(np.linalg.norm(mean) > guess @ mean)


def _adaptive_query_gap(*, lipschitz: float, radius: float, adaptive: bool) -> Gap:
    """How far apart the answers of Theorem B.1's pair are at the second query, which lies along the first gradient (`adaptive`)
    or was fixed in advance, so that the hidden direction is orthogonal to it."""
    hidden = np.array([0.0, 0.0, 1.0])
    pair = [RidgeFunction(np.zeros(3), hidden, lipschitz, 0.0, radius, depth) for depth in (1 / 2, 1 / 3)]
    slope = pair[0].gradient(np.zeros(3))
    second = -radius * slope / np.linalg.norm(slope) if adaptive else np.array([radius, 0.0, 0.0])
    return abs(pair[0].value(second) - pair[1].value(second)), 0.0


def _extended(slope: float, w: float, clip: float) -> float:
    """inf over y in [0, 1] of slope·y + C|w − y|, at an end or at w."""
    return min(slope * y + clip * abs(w - y) for y in (0.0, w, 1.0))


def _line_minimisers(
    *, slopes: list[float], counts: list[int], clip: float, weight: float, centre: float
) -> tuple[float, float]:
    """argmin F̂_λ and argmin F̂_{λ,C} on [0, 1], linear losses: there the extension of slope s has slope s clipped to ±C."""
    means = np.average([slopes, np.clip(slopes, -clip, clip)], axis=1, weights=counts)
    plain, extended = np.clip(centre - means / weight, 0.0, 1.0)
    return float(plain), float(extended)


def _local_bias_gap(
    *,
    slopes: list[float],
    counts: list[int],
    clip: float,
    weight: float,
    centre: float,
    epsilon: float,
    failure: float,
) -> Gap:
    """Linear losses on W = [0, 1], the infimum over W, W_loc of the algorithm's radius about the minimiser: the largest bias
    F̂ − F̂_C on W_loc, against diam(W_loc)·(1/n)Σ(L_i − C)₊."""
    n = sum(counts)
    _, middle = _line_minimisers(slopes=slopes, counts=counts, clip=clip, weight=weight, centre=centre)
    radius = p4.localised_radius_upper(n=n, dimension=1, weight=weight, clip=clip, epsilon=epsilon, failure=failure)
    low, high = max(0.0, middle - radius), min(1.0, middle + radius)
    excess = sum(count * max(abs(slope) - clip, 0.0) for slope, count in zip(slopes, counts, strict=True)) / n

    def bias(w: float) -> float:
        differences = (slope * w - _extended(slope, w, clip) for slope in slopes)
        return sum(count * difference for count, difference in zip(counts, differences, strict=True)) / n

    return max(bias(low), bias(high)), (high - low) * excess  # linear in w


def _decoder_gap(*, constant: float, large: float, small: float) -> Gap:
    """p = 1, d = 1, V = {±1}, nε = c(1 + log(1/ζ)): the decoder bound at ζ = large, against the error of the decoder
    sign(Σx + Lap(2/ε)) at ζ = small."""

    def spent(failure: float) -> float:
        return constant * (1 + math.log(1 / failure))

    return p4.decoding_error_lower(size=2, epsilon=spent(large), changed=1), math.exp(-spent(small) / 2) / 2


def _order_gap(*, described: str, here: str) -> Gap:
    """The letter of the appendix that is called the preceding one, against the one that precedes."""
    return float(ord(described)), float(ord(here) - 1)


def errata() -> tuple[Erratum, ...]:
    """All of them, by place."""
    return (
        erratum(
            "P4.Challenge3",
            "Section 1.1, Challenge 3, and Section 2.2",
            "rate",
            "over the full domain the bias of the extension is too large to obtain the optimal rate",
            "Only the bias in value is.  The two regularised minimisers are within (1/n)Σ√(L_i² − C²)₊/λ over all of W, so one "
            "output perturbation without localisation has (6).",
            _whole_domain_gap,
            n=10**8,
            d=10,
            k=2.0,
            epsilon=1.0,
            weight=1.0,
        ),
        erratum(
            "P4.T4.1.quantifier",
            "Theorem 4.1",
            "typo",
            "there exists a problem instance such that every ε-DP algorithm …",
            f"Theorem G.6 has the right order; for one fixed distribution the constant algorithm has excess 0.  {LOST}",
            _known_instance_gap,
            failure=0.1,
            known=True,
        ),
        erratum(
            "P4.B1.adaptive",
            "proof of Theorem B.1, Step 3",
            "typo",
            "run the algorithm, then choose v orthogonal to its queries",
            "Circular for adaptive queries: the first gradient lies along v and is longer than C, so the second query may follow "
            "it to where the answers differ.  Sound for queries fixed in advance.  The theorem stands by a resisting oracle in one "
            "dimension.",
            _adaptive_query_gap,
            lipschitz=1.0,
            radius=1.0,
            adaptive=True,
        ),
        erratum(
            "P4.C3.bias",
            "proof of Proposition C.3, and Section 2.3",
            "rate",
            "the bias over W_loc is ≤ diam(W_loc)·(1/n)Σ(L_i − C)₊ (reconstructed), and its minimiser there is the one over W",
            "No reading makes both true: with the infimum over W the bias stays of order D, because localising w does not localise "
            "y; with the infimum over W_loc the second stage minimises another function.  (9) holds all the same, by the gradient "
            "bias.",
            _local_bias_gap,
            slopes=[10.0, -0.5],
            counts=[100, 900],
            clip=2.0,
            weight=1.0,
            centre=0.6,
            epsilon=1.0,
            failure=0.05,
        ),
        erratum(
            "P4.E.order",
            "Appendix E, first paragraph",
            "typo",
            "the efficient EM-based method of the preceding section",
            "It is Appendix F, which follows.",
            _order_gap,
            described="F",
            here="E",
        ),
        erratum(
            "P4.G4.constant",
            "proof of Proposition G.4, second case",
            "typo",
            "in this regime the decoder bound is a constant",
            "For bounded d it is of order ζ^c, not a constant, and so is a real decoder's error.  It is still at least ζ for a "
            "small c, by the argument of the first case.",
            _decoder_gap,
            constant=0.25,
            large=0.25,
            small=1e-12,
        ),
    )
