"""Privacy claims as values, their sound conversions and their compositions.

A claim carries the neighbouring relation it speaks of.  A conversion exists here only when it is a theorem; asking for
any other one raises `UnsoundConversion`.  Sources: [BS16] Bun and Steinke 2016; [CKS20] Canonne, Kamath and Steinke
2020; [BW18] Balle and Wang 2018; [DR14] Dwork and Roth 2014; P2 Lemma 1, P3 Lemma 1 and 3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erfcx, erfinv, ndtr, ndtri_exp

from tailproof._nearest import did_you_mean
from tailproof.refimpl import validation
from tailproof.refimpl.validation import FloatArray


class Neighbouring(StrEnum):
    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"


REPLACE_ONE = Neighbouring.REPLACE_ONE
"""Neighbours differ in the value of one record; their size is public."""
ADD_REMOVE = Neighbouring.ADD_REMOVE
"""Neighbours differ by one record that only one of them has."""


class UnsoundConversion(ValueError):
    """The one claim does not imply the other."""


class UnprovedClaim(UserWarning):
    """The published proof of the claim does not cover this case."""


@dataclass(frozen=True)
class PureDP:
    """ε-DP: P(S) ≤ e^ε Q(S) for every event and every pair of neighbours."""

    epsilon: float
    neighbouring: Neighbouring = REPLACE_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validation.positive("epsilon", self.epsilon))

    def __str__(self) -> str:
        return f"pure(eps={self.epsilon:g})"


@dataclass(frozen=True)
class ApproxDP:
    """(ε, δ)-DP: P(S) ≤ e^ε Q(S) + δ."""

    epsilon: float
    delta: float
    neighbouring: Neighbouring = REPLACE_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validation.positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", validation.probability("delta", self.delta))

    def __str__(self) -> str:
        return f"approx(eps={self.epsilon:g},delta={self.delta:g})"


@dataclass(frozen=True)
class ZCDP:
    """ρ-zCDP: the Rényi divergence of every order α > 1 is at most ρα."""

    rho: float
    neighbouring: Neighbouring = REPLACE_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", validation.positive("rho", self.rho))

    def __str__(self) -> str:
        return f"zcdp(rho={self.rho:g})"


@dataclass(frozen=True)
class GDP:
    """μ-GDP: no test tells P from Q better than N(0, 1) from N(μ, 1)."""

    mu: float
    neighbouring: Neighbouring = REPLACE_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", validation.positive("mu", self.mu))

    def __str__(self) -> str:
        return f"gdp(mu={self.mu:g})"


_LEAST = math.nextafter(0.0, 1.0)  # ε = 0 is a true statement that no claim here can make; the next float is true too

Claim = PureDP | ApproxDP | ZCDP | GDP
"""What is claimed, with the neighbouring relation it speaks of."""
ClaimT = TypeVar("ClaimT", PureDP, ApproxDP, ZCDP, GDP)

_KINDS: dict[str, tuple[type[Claim], dict[str, str]]] = {
    "pure": (PureDP, {"eps": "epsilon"}),
    "approx": (ApproxDP, {"eps": "epsilon", "delta": "delta"}),
    "zcdp": (ZCDP, {"rho": "rho"}),
    "gdp": (GDP, {"mu": "mu"}),
}


_NAMES = {"puredp": "pure", "approxdp": "approx"}
_LETTERS = {"epsilon": "eps", "ε": "eps", "δ": "delta", "ρ": "rho", "μ": "mu"}
_FORMS = "pure(eps=1), approx(eps=1,delta=1e-5), zcdp(rho=.1) or gdp(mu=1)"


def parse_claim(text: str, neighbouring: Neighbouring = REPLACE_ONE) -> Claim:
    """Read `pure(eps=1)`, `approx(eps=1,delta=1e-5)`, `zcdp(rho=.1)` or `gdp(mu=1)`.

    Also `pure(1)`, `approx(1, 1e-5)`, `pure(epsilon=1)`, and letters alone, which say what is meant: `eps=1`, `eps=1,delta=1e-5`,
    `rho=.1`, `mu=1`.  Case does not matter.
    """
    match = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", text)
    parts = [piece.strip() for piece in (match[2] if match else text).split(",") if piece.strip()]
    named = [(_letter(part.partition("=")[0]), part.partition("=")[2].strip()) for part in parts if "=" in part]
    name = _NAMES.get(match[1].lower(), match[1].lower()) if match else _kind_of({letter for letter, _ in named})
    if name not in _KINDS or (match is None and len(named) < len(parts)):
        meant = did_you_mean(match[1], _KINDS) if match else ""
        raise validation.InputError(f"claim = {text!r}: must be like {_FORMS}{meant}")
    kind, letters = _KINDS[name]
    if parts and not named and len(parts) == len(letters):
        named = list(zip(letters, parts, strict=True))
    elif len(named) < len(parts):
        wrong = next(part for part in parts if "=" not in part)
        raise validation.InputError(f"claim = {text!r}: unexpected {wrong!r}; must be like {_FORMS}")
    given: dict[str, float] = {}
    for letter, value in named:
        if letter not in letters or letters[letter] in given:
            raise validation.InputError(f"claim = {text!r}: unexpected {f'{letter}={value}'!r}; must be like {_FORMS}")
        try:
            given[letters[letter]] = float(value)
        except ValueError:
            raise validation.InputError(f"claim = {text!r}: {letter} = {value!r} is not a number") from None
    missing = [letter for letter, full in letters.items() if full not in given]
    if missing:
        raise validation.InputError(f"claim = {text!r}: {', '.join(missing)} is missing; must be like {_FORMS}")
    return kind(**given, neighbouring=neighbouring)


def _letter(text: str) -> str:
    word = text.strip().lower()
    return _LETTERS.get(word, word)


def _kind_of(letters: set[str]) -> str | None:
    """The one kind that has exactly these letters."""
    return next((name for name, (_, needed) in _KINDS.items() if set(needed) == letters), None)


def claim_to_json(claim: Claim) -> dict[str, Any]:
    name = next(name for name, (kind, _) in _KINDS.items() if isinstance(claim, kind))
    fields = {full: getattr(claim, full) for full in _KINDS[name][1].values()}
    return {"claim": name, **fields, "neighbouring": str(claim.neighbouring)}


def claim_from_json(value: dict[str, Any]) -> Claim:
    fields = dict(value)
    kind, _ = _KINDS[fields.pop("claim")]
    return kind(**{**fields, "neighbouring": Neighbouring(fields["neighbouring"])})


# --- the Gaussian mechanism: everything about a shift μ = Δ/σ --------------------------------------------------------


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The exact δ(ε) of N(0,1) against N(μ,1): Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)  [BW18, Theorem 8]."""
    mu = validation.nonnegative("mu", mu)
    epsilon = validation.real("epsilon", epsilon)
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    if epsilon < 0:  # exchange the two laws: δ(ε) = 1 − e^ε + e^ε δ(−ε)
        return -math.expm1(epsilon) + math.exp(epsilon + _log_gaussian_delta(mu, -epsilon))
    return math.exp(_log_gaussian_delta(mu, epsilon))


_NODES, _WEIGHTS = leggauss(24)


def _log_gaussian_delta(mu: float, epsilon: float) -> float:
    """log δ(ε), ε ≥ 0, without cancellation or underflow.

    With a = μ/2 − ε/μ and b = a − μ, e^ε φ(b) = φ(a); so δ = φ(a)(m(a) − m(b)) with m = Φ/φ.  Where m(a) and m(b) are
    close their difference is the integral of m'; for a > 0 it is Φ(a) − φ(a)m(b).
    """
    if epsilon / mu > 1e150:
        return -math.inf
    a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    log_density = -a * a / 2 - math.log(2 * math.pi) / 2
    if mu < 0.5 or a < -10 * mu:
        slope = _mills_slope(b + mu * (_NODES + 1) / 2)
        return log_density + math.log(mu / 2) + math.log(float(_WEIGHTS @ slope))
    if a < 0:
        return log_density + math.log(float(_mills(a) - _mills(b)))
    return math.log(float(ndtr(a)) - math.exp(log_density) * float(_mills(b)))


def _mills(x: Any) -> Any:
    """Φ(x)/φ(x), for x not far above 0."""
    return math.sqrt(math.pi / 2) * erfcx(-x / math.sqrt(2))


def _mills_slope(x: FloatArray) -> FloatArray:
    """The derivative 1 + x·m(x) of m = Φ/φ, for x not far above 0; far below, its series 1/x² − 3/x⁴ + 15/x⁶ − …"""
    far = 1 / np.minimum(x, -60.0) ** 2
    series = far * (1 - far * (3 - far * (15 - far * (105 - 945 * far))))
    near = np.maximum(x, -60.0)
    return np.where(x < -60.0, series, 1 + near * _mills(near))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least ε ≥ 0 with δ(ε) ≤ δ for a shift of μ standard deviations."""
    mu, delta = validation.positive("mu", mu), validation.probability("delta", delta)
    target = math.log(delta)
    if _log_gaussian_delta(mu, 0.0) <= target:
        return 0.0
    # P(loss > ε) bounds δ(ε) from above and the loss is N(μ²/2, μ²): a quantile of it brackets the root.
    high = mu * mu / 2 + mu * max(0.0, -float(ndtri_exp(target)))
    while _log_gaussian_delta(mu, high) > target:
        high = high * 2 + 1e-300
    return float(
        brentq(lambda epsilon: _log_gaussian_delta(mu, epsilon) - target, 0.0, high, xtol=1e-300, rtol=8.9e-16, maxiter=1000)
    )


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ for which μ-GDP implies (ε, δ)-DP (an exact conversion of one point of the curve)."""
    epsilon, delta = validation.nonnegative("epsilon", epsilon), validation.probability("delta", delta)
    target = math.log(delta)
    high = 1.0
    while _log_gaussian_delta(high, epsilon) <= target:
        high *= 2
    low = high / 2
    while _log_gaussian_delta(low, epsilon) > target:
        low /= 2
    return float(
        brentq(lambda mu: _log_gaussian_delta(mu, epsilon) - target, low, high, xtol=1e-300, rtol=8.9e-16, maxiter=1000)
    )


def classical_gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> float:
    """σ = Δ√(2 ln(1.25/δ))/ε  [DR14, Theorem A.1; P3 Lemma 3].  Proved for ε ≤ 1 only, so a larger ε is refused."""
    sensitivity = validation.positive("sensitivity", sensitivity)
    delta = validation.probability("delta", delta)
    epsilon = validation.positive("epsilon", epsilon)
    if epsilon > 1:
        raise validation.InputError(
            f"epsilon = {epsilon!r}: the classical Gaussian mechanism is proved for 0 < epsilon <= 1 only; "
            "use analytic_gaussian_scale"
        )
    return sensitivity * math.sqrt(2 * (math.log(1.25) - math.log(delta))) / epsilon


def analytic_gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> float:
    """The least σ for which Gaussian noise on a Δ-sensitive query is (ε, δ)-DP, for every ε  [BW18]."""
    return validation.positive("sensitivity", sensitivity) / gaussian_mu(epsilon, delta)


# --- conversions ----------------------------------------------------------------------------------------------------


def pure_to_zcdp(claim: PureDP, *, tight: bool = False) -> ZCDP:
    """ε-DP ⇒ ½ε²-zCDP [BS16, Prop. 1.4]; with `tight`, ε·tanh(ε/2)-zCDP, which is the best possible.

    Proof of the tight form.  Every pair of ε-DP outputs is a post-processing of randomised response, for which
    D_α = ln(cosh((2α−1)ε/2)/cosh(ε/2))/(α−1) = ε · (mean of tanh over [ε/2, (α−½)ε]).  tanh is concave on [0, ∞) with
    tanh 0 = 0, so the mean is at most tanh at the midpoint αε/2, which is at most α·tanh(ε/2).  α → 1 attains it.
    """
    epsilon = claim.epsilon
    return ZCDP(epsilon * math.tanh(epsilon / 2) if tight else epsilon * epsilon / 2, claim.neighbouring)


def pure_to_gdp(claim: PureDP) -> GDP:
    """ε-DP ⇒ μ-GDP with μ = 2Φ⁻¹(e^ε/(1+e^ε)), the best possible.

    The trade-off curve of ε-DP is two segments that meet at (t, t), t = 1/(1+e^ε).  The Gaussian curve of this μ is
    convex and passes through (0,1), (t,t) and (1,0), so it lies below both chords.
    """
    epsilon = claim.epsilon
    if epsilon <= 1:  # Φ⁻¹(½ + ½tanh(ε/2)), without rounding near ½
        mu = 2 * math.sqrt(2) * float(erfinv(math.tanh(epsilon / 2)))
    else:
        mu = -2 * float(ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon))))
    return GDP(mu, claim.neighbouring)


def gdp_to_zcdp(claim: GDP) -> ZCDP:
    """μ-GDP ⇒ ½μ²-zCDP: a post-processing of N(0,1) against N(μ,1), whose Rényi divergence is αμ²/2."""
    return ZCDP(claim.mu**2 / 2, claim.neighbouring)


def zcdp_epsilon(rho: float, delta: float, *, tight: bool = True) -> float:
    """An ε with ρ-zCDP ⇒ (ε, δ)-DP.

    `tight=False` is the papers' ρ + 2√(ρ ln(1/δ)) [BS16, Prop. 1.3; P2 Lemma 1(4)].  `tight=True` minimises
    ρα + ln(1−1/α) + ln(1/(αδ))/(α−1) over α > 1 [CKS20, Prop. 12]; any α is sound, so an inexact minimiser costs only
    tightness.
    """
    rho, delta = validation.positive("rho", rho), validation.probability("delta", delta)
    papers = rho + 2 * math.sqrt(rho * -math.log(delta))
    if not tight:
        return papers

    def epsilon_at(log_order: float) -> float:
        excess = math.exp(log_order)  # α − 1, on a log scale since the best one ranges over many powers of ten
        order = 1 + excess
        return rho * order - math.log1p(1 / excess) + (-math.log(delta) - math.log(order)) / excess

    best = minimize_scalar(epsilon_at, bounds=(-30.0, 50.0), method="bounded", options={"xatol": 1e-12})
    nearby = minimize_scalar(
        epsilon_at,
        bounds=(lambda centre: (centre - 3, centre + 3))(0.5 * math.log(-math.log(delta) / rho)),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return max(0.0, min(papers, float(best.fun), float(nearby.fun)))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """A δ with ρ-zCDP ⇒ (ε, δ)-DP: the inverse of `zcdp_epsilon(tight=True)`, by bisection on log δ."""
    rho, epsilon = validation.positive("rho", rho), validation.positive("epsilon", epsilon)
    low, high = -700.0, -1e-12
    if zcdp_epsilon(rho, math.exp(high)) > epsilon:
        return 1.0
    if zcdp_epsilon(rho, math.exp(low)) <= epsilon:
        return math.exp(low)
    while high - low > 1e-12 * max(1.0, abs(high)):
        middle = (low + high) / 2
        low, high = (middle, high) if zcdp_epsilon(rho, math.exp(middle)) > epsilon else (low, middle)
    return math.exp(high)


def zcdp_to_approx(claim: ZCDP, delta: float, *, tight: bool = True) -> ApproxDP:
    return ApproxDP(max(zcdp_epsilon(claim.rho, delta, tight=tight), _LEAST), delta, claim.neighbouring)


def gdp_to_approx(claim: GDP, delta: float) -> ApproxDP:
    """The exact (ε, δ) of μ-GDP at this δ."""
    return ApproxDP(max(gaussian_epsilon(claim.mu, delta), _LEAST), delta, claim.neighbouring)


def zcdp_budget(epsilon: float, delta: float) -> float:
    """The ρ whose papers' conversion is exactly (ε, δ): √ρ = √(ln(1/δ)+ε) − √ln(1/δ)  (P1's ½ε̃², P3 Lemma 15)."""
    epsilon, delta = validation.positive("epsilon", epsilon), validation.probability("delta", delta)
    log_term = -math.log(delta)
    # (√(L+ε) − √L) without cancellation
    root = epsilon / (math.sqrt(log_term + epsilon) + math.sqrt(log_term))
    return root * root


def convert(claim: Claim, target: type[ClaimT], *, delta: float | None = None) -> ClaimT:
    """The best sound conversion known here, or `UnsoundConversion`; an approximate target needs a `delta`."""
    result: Claim
    if isinstance(claim, ApproxDP) and target is ApproxDP and delta is not None and delta < claim.delta:
        raise UnsoundConversion(f"{claim} says nothing about a smaller delta, {delta:g}")
    if isinstance(claim, target):
        result = claim
    elif isinstance(claim, PureDP) and target is ZCDP:
        result = pure_to_zcdp(claim, tight=True)
    elif isinstance(claim, PureDP) and target is GDP:
        result = pure_to_gdp(claim)
    elif isinstance(claim, GDP) and target is ZCDP:
        result = gdp_to_zcdp(claim)
    elif target is ApproxDP and not isinstance(claim, ApproxDP):
        if delta is None:
            raise validation.InputError("delta = None: a conversion to approximate privacy needs a delta in (0, 1)")
        result = ApproxDP(max(implied_epsilon([claim], delta), _LEAST), delta, claim.neighbouring)
    else:
        raise UnsoundConversion(f"no theorem takes {claim} to {target.__name__}")
    assert isinstance(result, target)
    return result


def to_replace_one(claim: Claim) -> Claim:
    """Add-remove ⇒ replace-one: a replacement is a removal and an addition (group privacy for two)."""
    if claim.neighbouring is REPLACE_ONE:
        return claim
    match claim:
        case PureDP(epsilon):
            return PureDP(2 * epsilon)
        case ApproxDP(epsilon, delta):
            doubled = (1 + math.exp(min(epsilon, 700.0))) * delta
            if doubled >= 1:
                raise UnsoundConversion(f"{claim} says nothing about replacing a record: δ would be {doubled:g}")
            return ApproxDP(2 * epsilon, doubled)
        case ZCDP(rho):
            return ZCDP(4 * rho)
        case GDP(mu):
            return GDP(2 * mu)


def to_add_remove(claim: Claim) -> Claim:
    """Replace-one does not bound what adding a record does (sizes differ): only the identity is sound."""
    if claim.neighbouring is ADD_REMOVE:
        return claim
    raise UnsoundConversion(f"{claim} speaks of data sets of equal size; it says nothing about adding a record")


# --- composition ----------------------------------------------------------------------------------------------------


def _same_relation(claims: Sequence[Claim]) -> Neighbouring:
    if not claims:
        raise validation.InputError("claims: empty; at least one is needed")
    relations = {claim.neighbouring for claim in claims}
    if len(relations) > 1:
        raise UnsoundConversion("claims under different neighbouring relations do not compose; convert them first")
    return relations.pop()


def compose_basic(claims: Iterable[PureDP | ApproxDP]) -> PureDP | ApproxDP:
    """ε's and δ's add up."""
    members = list(claims)
    relation = _same_relation(members)
    epsilon = math.fsum(claim.epsilon for claim in members)
    delta = math.fsum(claim.delta for claim in members if isinstance(claim, ApproxDP))
    return ApproxDP(epsilon, delta, relation) if delta > 0 else PureDP(epsilon, relation)


def compose_zcdp(claims: Iterable[ZCDP]) -> ZCDP:
    members = list(claims)
    return ZCDP(math.fsum(claim.rho for claim in members), _same_relation(members))


def compose_gdp(claims: Iterable[GDP]) -> GDP:
    members = list(claims)
    return GDP(math.hypot(*(claim.mu for claim in members)), _same_relation(members))


def compose_advanced(claim: PureDP | ApproxDP, times: int, slack: float) -> ApproxDP:
    """k-fold: (√(2k ln(1/δ'))ε + kε(e^ε − 1), kδ + δ'), δ' = `slack`  [P2 Lemma 1(1); DR14, Theorem 3.20]."""
    times = validation.whole("times", times, least=1)
    slack = validation.probability("slack", slack)
    epsilon = claim.epsilon
    delta = claim.delta if isinstance(claim, ApproxDP) else 0.0
    total = math.sqrt(2 * times * -math.log(slack)) * epsilon + times * epsilon * math.expm1(epsilon)
    return ApproxDP(total, times * delta + slack, claim.neighbouring)


def split_for_advanced(claim: ApproxDP, times: int) -> ApproxDP:
    """The share of each of m steps: ε/(2√(2m ln(2/δ))), δ/(2m), for ε ≤ 1  [P2 (32); P3 Lemma 1]."""
    times = validation.whole("times", times, least=1)
    if claim.epsilon > 1:
        raise validation.InputError(f"epsilon = {claim.epsilon!r}: this split is proved for epsilon <= 1 only")
    epsilon = claim.epsilon / (2 * math.sqrt(2 * times * math.log(2 / claim.delta)))
    return replace(claim, epsilon=epsilon, delta=claim.delta / (2 * times))


def compose_parallel(claims: Iterable[Claim]) -> Claim:
    """Disjoint data, replace-one: a record is touched by one part only, so the worst part's claim holds."""
    members = list(claims)
    if _same_relation(members) is not REPLACE_ONE or len({type(claim) for claim in members}) > 1:
        raise UnsoundConversion("parallel composition here needs claims of one kind under replace-one")
    worst = max(members, key=_size)
    if isinstance(worst, ApproxDP):
        return replace(worst, delta=max(claim.delta for claim in members if isinstance(claim, ApproxDP)))
    return worst


def _size(claim: Claim) -> float:
    match claim:
        case PureDP(epsilon) | ApproxDP(epsilon):
            return epsilon
        case ZCDP(rho):
            return rho
        case GDP(mu):
            return mu


# --- what a list of spends implies ------------------------------------------------------------------------------------


def implied_pure(spends: Sequence[Claim]) -> float:
    """The ε of pure privacy that the composition of these spends has; infinite when one of them is not pure."""
    _same_relation(spends)
    return math.fsum(spend.epsilon if isinstance(spend, PureDP) else math.inf for spend in spends)


def implied_zcdp(spends: Sequence[Claim]) -> float:
    """The ρ that the composition has; infinite when a spend is only approximate."""
    _same_relation(spends)
    return math.fsum(math.inf if isinstance(s, ApproxDP) else convert(s, ZCDP).rho for s in spends)


def implied_gdp(spends: Sequence[Claim]) -> float:
    """The μ that the composition has; infinite when a spend is approximate or only zCDP."""
    _same_relation(spends)
    return math.hypot(*(convert(s, GDP).mu if isinstance(s, GDP | PureDP) else math.inf for s in spends))


def implied_epsilon(spends: Sequence[Claim], delta: float) -> float:
    """The least ε found by sound routes with which the composition is (ε, δ)-DP; infinite when δ is used up.

    The approximate spends take their δ's; their ε's are added to what the rest has (basic composition), or they count as pure
    among the rest: an (ε, δ)-DP release is a post-processing of one that shows everything with probability δ and is ε-DP
    otherwise, also in adaptive composition [Murtagh–Vadhan 2016, §3].  What is left of δ serves pure addition, the exact
    Gaussian curve, or zCDP, whichever is best.
    """
    _same_relation(spends)
    delta = validation.probability("delta", delta)
    approximate = [s for s in spends if isinstance(s, ApproxDP)]
    others = [s for s in spends if not isinstance(s, ApproxDP)]
    used = math.fsum(s.delta for s in approximate)
    if used > delta * (1 + 1e-12):
        return math.inf
    base = math.fsum(s.epsilon for s in approximate)
    added = base + _epsilon_without_approximate(others, delta - used)
    if not approximate:
        return added
    without_leak = [PureDP(s.epsilon, s.neighbouring) for s in approximate]
    return min(added, _epsilon_without_approximate([*others, *without_leak], delta - used))


def _epsilon_without_approximate(spends: Sequence[Claim], delta: float) -> float:
    """ε at this δ ≥ 0 of the composition of spends none of which is approximate."""
    if not spends:
        return 0.0
    best = implied_pure(spends)
    if delta > 0:
        mu = implied_gdp(spends)
        if math.isfinite(mu):
            best = min(best, gaussian_epsilon(mu, delta))
        best = min(best, zcdp_epsilon(implied_zcdp(spends), delta))
    return best


def implied(spends: Sequence[Claim], claim: Claim) -> tuple[float, float]:
    """(what the spends imply, what the claim allows) in the claim's own unit; the claim follows when first ≤ second."""
    if spends and spends[0].neighbouring is not claim.neighbouring:
        raise UnsoundConversion("the spends and the claim speak of different neighbouring relations")
    match claim:
        case PureDP(epsilon):
            return implied_pure(spends), epsilon
        case ZCDP(rho):
            return implied_zcdp(spends), rho
        case GDP(mu):
            return implied_gdp(spends), mu
        case ApproxDP(epsilon, delta):
            return implied_epsilon(spends, delta), epsilon
