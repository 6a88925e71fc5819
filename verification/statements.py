"""Numerical checks of the statements with explicit constants (`tailproof.bounds.explicit`).

A trial walks over laws chosen to be hard for its statement (two-point laws are extremal for moment inequalities) and
compares the measured side, computed exactly up to floating error (binomial, gamma, chi-square and Gaussian tails, or
enumeration), with the printed bound; for a bound that holds "with probability 1 − β" the measured side is the error's
exact quantile.  Nothing here is sampled.  A grid never proves a statement; one case beyond its
bound refutes it: the first such case, in the order from simple to less simple, is kept as the witness, and so is the case in
which measured/bound is largest.

Where the printed statement fails, a second trial with reading "corrected" checks what does hold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc, gammaln, ndtr
from scipy.stats import binom, chi2, ncx2

from tailproof.bounds import explicit
from tailproof.refimpl.claims import gaussian_delta
from tailproof.refimpl.validation import FloatArray, InputError

Reading = Literal["printed", "corrected"]
Parameters = dict[str, Any]
Case = tuple[Parameters, float, float]  # the parameters, the measured side, its bound

FLOATING_SLACK = 1e-10  # relative; the sums below are exact to about 1e-13
NEGLIGIBLE = 1e-15  # a measured side below this is rounding


KNOWN_FALSE = frozenset(
    {
        "P0.Def3",
        "P1.Lem5.trim",
        "P1.Thm7.sensitivity",
        "P1.Thm7.record",
        "P2.Lem3",
        "P2.Lem12.(114)",
        "P2.Lem13",
        "P3.Lem3",
        "P3.Lem22",
        "P3.Lem26",
        "P3.Thm1.(5)",
    }
)
"""Statements that fail as printed: expected findings, each with its erratum."""


@dataclass(frozen=True)
class Trial:
    """How one statement is tried: the cases, and in words what they are."""

    id: str
    reading: Reading
    detail: str
    cases: Callable[[], Iterator[Case]]


@dataclass(frozen=True)
class StatementCheck:
    """What a trial saw: the worst measured/bound over all cases; if it is beyond 1, the first case beyond its bound (`witness`)
    and the one that attains the worst ratio (`worst`)."""

    id: str
    reading: Reading
    holds: bool
    worst_ratio: float
    cases: int
    detail: str
    witness: Parameters | None
    worst: Parameters | None = None


def _ratio(measured: float, bound: float) -> float:
    if measured <= NEGLIGIBLE:
        return 0.0
    return measured / bound if bound > 0 and not math.isnan(measured) else math.inf


def run(trial: Trial) -> StatementCheck:
    """Go through a trial's cases."""
    largest, count, witness, worst = 0.0, 0, None, None
    for parameters, measured, bound in trial.cases():
        ratio = _ratio(float(measured), float(bound))
        count += 1
        if ratio > 1 + FLOATING_SLACK:
            beyond = parameters | {"measured": float(measured), "bound": float(bound)}
            witness = witness or beyond
            worst = beyond if ratio > largest else worst
        largest = max(largest, ratio)
    holds = witness is None and count > 0
    return StatementCheck(trial.id, trial.reading, holds, largest, count, trial.detail, witness, worst)


def check_statement(*, id: str, reading: Reading = "printed") -> StatementCheck:
    """Check one statement of `tailproof.bounds.explicit.EXPLICIT`."""
    for trial in TRIALS:
        if (trial.id, trial.reading) == (id, reading):
            return run(trial)
    raise InputError(f"id = {id!r}, reading = {reading!r}: no such trial")


def check_statements() -> tuple[StatementCheck, ...]:
    """Check them all, in the order of `TRIALS`."""
    return tuple(run(trial) for trial in TRIALS)


# Laws


def _binomial(n: int, chance: float) -> tuple[FloatArray, FloatArray]:
    """The values k/n of a mean of n coin flips, and their probabilities."""
    k = np.arange(n + 1)
    return k / n, np.asarray(binom.pmf(k, n, chance))


def _beyond(deviations: FloatArray, weights: FloatArray, threshold: float) -> float:
    """P(deviation > threshold); atoms on the threshold up to rounding do not count as beyond it."""
    return float(weights[deviations > threshold * (1 + 1e-12)].sum())


def _atom_quantile(deviations: FloatArray, weights: FloatArray, level: float) -> float:
    """The least r ≥ 0 with P(deviation > r) ≤ level, for a law of finitely many atoms."""
    order = np.argsort(-deviations)
    tail = weights[order].cumsum()  # P(deviation ≥ this atom), ties counted in part until the last of them
    within = tail > level * (1 + 1e-12)
    return float(deviations[order][within.argmax()]) if within.any() else 0.0


def _quantile(tail: Callable[[float], float], level: float, guess: float) -> float:
    """The r > 0 with tail(r) = level, for a continuous decreasing tail; 0 where tail(0) ≤ level."""
    if tail(0.0) <= level:
        return 0.0
    high = guess
    while tail(high) > level:
        high *= 2
    return float(brentq(lambda r: tail(r) - level, 0.0, high, xtol=1e-11 * guess))


def _gaussian_quantile(means: FloatArray, weights: FloatArray, scale: float, level: float, guess: float) -> float:
    """The r with P(|m + N(0, scale²)| > r) = level for m drawn from the atoms."""

    def tail(r: float) -> float:
        return float(weights @ (ndtr((means - r) / scale) + ndtr((-means - r) / scale)))

    return _quantile(tail, level, guess)


def _norm_quantile(means: FloatArray, weights: FloatArray, scale: float, d: int, level: float, guess: float) -> float:
    """The r with P(‖m + N(0, scale²I_d)‖ > r) = level for vectors m whose norms are the atoms."""
    heavy = weights > 1e-17  # the atoms left out weigh less than 1e-14 together
    means, weights = means[heavy], weights[heavy]

    def tail(r: float) -> float:
        return float(weights @ ncx2.sf((r / scale) ** 2, d, (means / scale) ** 2))

    return _quantile(tail, level, guess)


def _centred_coin(chance: float) -> tuple[FloatArray, FloatArray]:
    """A centred two-point law: 1 − q with probability q, −q otherwise."""
    return np.array([1 - chance, -chance]), np.array([chance, 1 - chance])


# P0 and the other privacy statements


def _gaussian_cases(scale: Callable[..., float], epsilons: tuple[float, ...], deltas: tuple[float, ...]) -> Iterator[Case]:
    for delta, epsilon in itertools.product(deltas, epsilons):
        sigma = scale(sensitivity=1.0, epsilon=epsilon, delta=delta)
        yield {"epsilon": epsilon, "delta": delta, "scale": sigma}, gaussian_delta(1 / sigma, epsilon), delta


def _p0_gaussian() -> Iterator[Case]:
    yield from _gaussian_cases(explicit.p0_gaussian_scale, (1.0, 0.5, 0.1), (1e-9, 1e-3, 0.5, 0.9, 0.99, 0.999, 0.9999))


def _p0_gaussian_corrected() -> Iterator[Case]:
    epsilons, deltas = np.linspace(0.02, 1, 50), np.concatenate([np.logspace(-12, -2, 21), np.linspace(0.01, 0.99, 99)])
    yield from _gaussian_cases(explicit.p0_gaussian_scale, tuple(epsilons.tolist()), tuple(deltas.tolist()))


def _p3_gaussian() -> Iterator[Case]:
    yield from _gaussian_cases(explicit.p3_gaussian_scale, (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0), (0.01, 1e-6, 0.5))


def _p3_gaussian_corrected() -> Iterator[Case]:
    epsilons, deltas = np.linspace(0.02, 1, 50), np.concatenate([np.logspace(-12, -2, 21), np.linspace(0.01, 1, 100)])
    yield from _gaussian_cases(explicit.p3_gaussian_scale, tuple(epsilons.tolist()), tuple(deltas.tolist()))


def _peeling() -> Iterator[Case]:
    for epsilon, delta in itertools.product((0.9, 0.5), (1e-6, 0.5, 0.99, 0.9999, 0.99999)):
        scale = explicit.peeling_scale(sensitivity=1.0, sparsity=1, epsilon=epsilon, delta=delta)
        measured = explicit.laplace_delta(sensitivity=1.0, scale=scale, epsilon=epsilon)
        yield {"d": 1, "sparsity": 1, "epsilon": epsilon, "delta": delta, "scale": scale}, measured, delta


def _run_zcdp() -> Iterator[Case]:
    for epsilon, delta in itertools.product((0.01, 0.1, 0.5, 1.0), (1e-10, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999)):
        rho = explicit.run_zcdp(epsilon=epsilon, delta=delta)
        # The worst ρ-zCDP release here is the Gaussian one, a shift of √(2ρ) standard deviations.
        yield {"epsilon": epsilon, "delta": delta, "rho": rho}, gaussian_delta(math.sqrt(2 * rho), epsilon), delta


def shuffled_epsilon(*, epsilon0: float, groups: int, delta: float) -> float:
    """Feldman, McMillan and Talwar (2021), Theorem 3.8; infinite where its condition on ε₀ fails."""
    if epsilon0 > math.log(groups / (16 * math.log(2 / delta))):
        return math.inf
    e = math.exp(epsilon0)
    amplified = 8 * math.sqrt(e * math.log(4 / delta) / groups) + 8 * e / groups
    return math.log1p((e - 1) / (e + 1) * amplified)


def _group_zcdp() -> Iterator[Case]:
    counts, deltas, fractions = (1, 2, 10, 100, 10**3, 10**4, 10**5, 10**7), (1e-9, 1e-3, 0.1, 0.5, 0.99), (1, 0.1, 1e-3)
    for groups, delta, fraction in itertools.product(counts, deltas, fractions):
        epsilon = fraction * 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups) * (1 - 1e-12)
        rho, delta0 = explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups), delta / (12 * groups)
        epsilon0 = rho + 2 * math.sqrt(rho * math.log(1 / delta0))
        parameters = {"groups": groups, "delta": delta, "epsilon": epsilon, "epsilon0": epsilon0}
        yield (
            parameters | {"part": "ε"},
            min(epsilon0, shuffled_epsilon(epsilon0=epsilon0, groups=groups, delta=delta / 2)),
            epsilon,
        )
        spent = delta / 2 + (math.exp(min(epsilon, epsilon0)) + 1) * (1 + math.exp(-epsilon0) / 2) * groups * delta0
        yield parameters | {"part": "δ"}, spent, delta


# P1


def _minimiser_distance() -> Iterator[Case]:
    # n = 1, ℓ = ½c(w − w*)² + g(w − w*): with probability 1/6 the curvature c is far below α = 1 and the minimiser far
    # away; with probability q the gradient is ±1, otherwise 0.
    for chance in (0.001, 0.01, 0.02, 0.0249, 0.03, 0.1, 0.5):
        bound = explicit.minimiser_distance_upper(n=1, gradient_second_moment=chance, strong_convexity=1.0)
        failure = 1 / 6 + (chance if bound < 1 else 0.0)
        yield {"n": 1, "weak_chance": 1 / 6, "gradient_chance": chance}, failure, 1 / 4


def smallest_exponential_scale() -> float:
    """The least v with E e^{λ(x−1)} ≤ e^{v²λ²/2} on |λ| ≤ 1/v for x ~ Exp(1): the worst λ is 1/v."""
    root = brentq(lambda v: -1 / v - math.log1p(-1 / v) - 0.5, 1.2, 2.0, xtol=1e-14)
    return float(root) * (1 + 1e-12)


def _mean_tails(two_sided: bool) -> Iterator[Case]:
    for n, t in itertools.product((1, 2, 5, 20, 100), (0.05, 0.2, 0.5, 0.9, 1.0, 1.5, 2.0, 4.0, 8.0)):
        above, below = float(gammaincc(n, n * (1 + t))), float(gammainc(n, n * (1 - t))) if t < 1 else 0.0
        side = 1 - float(ndtr(t * math.sqrt(n)))
        flips, weights = _binomial(n, 0.5)
        rademacher = float(weights[2 * flips - 1 >= t].sum())
        tails = {"exponential": (above, below), "Gaussian": (side, side), "Rademacher": (rademacher, rademacher)}
        for law, (upper, lower) in tails.items():
            # The one-sided statement is tried on the law and on its mirror image.
            measured = upper + lower if two_sided else max(upper, lower)
            for v in (2.0, smallest_exponential_scale()) if law == "exponential" else (1.0,):
                bound = explicit.subexponential_mean_tail_upper(n=n, scale=v, deviation=t)
                yield {"law": law, "n": n, "deviation": t, "scale": v}, measured, bound


def _max_tails() -> Iterator[Case]:
    for n, s in itertools.product((1, 2, 10, 1000), (0.1, 0.5, 1.0, 1.5, 2.0, 4.0, 10.0, 30.0)):
        singles = {"exponential": math.exp(-1 - s) + max(0.0, -math.expm1(s - 1)), "Gaussian": 2 * float(ndtr(-s))}
        for law, single in singles.items():
            v = smallest_exponential_scale() if law == "exponential" else 1.0
            bound = explicit.subexponential_max_tail_upper(n=n, scale=v, deviation=s)
            yield {"law": law, "n": n, "deviation": s, "scale": v}, -math.expm1(n * math.log1p(-single)), bound


def _trimmed(two_sided: bool) -> Iterator[Case]:
    for n in range(1, 7):
        for data in itertools.combinations_with_replacement(range(-2, 3), n):
            mean, largest = sum(data) / n, max(abs(x) for x in data)
            # As printed only x̄ − μ < t is assumed; with bars the least admissible t is |x̄ − μ|.
            t = abs(mean) if two_sided else max(mean, 0.0) + 0.5
            for m in range((n + 1) // 2):
                kept = data[m : n - m]
                bound = explicit.trimmed_mean_error_upper(n=n, trim=m, mean_deviation=t, max_deviation=largest)
                yield {"data": list(data), "mean": 0, "trim": m, "t": t}, abs(sum(kept) / len(kept)), bound


def _soft_truncation_value(x: float, scale: float, beta: float) -> float:
    """s·E φ(a + bZ), a = x/s, b = |a|/√β, through the identity that P1.C checks."""
    a, b = x / scale, abs(x) / (scale * math.sqrt(beta))
    if b == 0:
        return 0.0
    return scale * (a * (1 - b**2 / 2) - a**3 / 6 + float(explicit.catoni_correction(a, b)))


def _soft_sensitivity(record: Callable[[float, float, float], float]) -> Iterator[Case]:
    for scale, beta, x, other in itertools.product((1.0, 2.0), (1.0, 4.0), (1, 2, 3, 5, 10, 50), (1, -1)):
        pair = (float(-x), 0.0 if other == 1 else float(x))
        moved = abs(record(pair[0], scale, beta) - record(pair[1], scale, beta))
        bound = explicit.soft_truncation_sensitivity_upper(n=1, scale=scale)
        yield {"n": 1, "records": list(pair), "scale": scale, "beta": beta}, moved, bound


def _printed_record(x: float, scale: float, beta: float) -> float:
    return explicit.soft_truncation_record(value=x, scale=scale, beta=beta)


def _soft_record() -> Iterator[Case]:
    for scale, beta, x in itertools.product((1.0, 2.0), (1.0, 4.0), (1.0, -1.0, 3.0, -3.0)):
        gap = abs(_printed_record(x, scale, beta) - _soft_truncation_value(x, scale, beta))
        yield {"value": x, "scale": scale, "beta": beta}, gap, 1e-9


def influence_mean(a: float, b: float) -> float:
    """E φ(a + bZ) by quadrature, φ(x) = x − x³/6 on |x| ≤ √2, ±2√2/3 outside."""
    low, high = (-math.sqrt(2) - a) / b, (math.sqrt(2) - a) / b

    def integrand(z: float) -> float:
        x = a + b * z
        return (x - x**3 / 6) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    left, right = max(low, -39.0), min(high, 39.0)
    middle = quad(integrand, left, right, epsabs=1e-14, epsrel=1e-13, limit=200)[0] if left < right else 0.0
    return float(middle) + explicit.SOFT_CEILING * float(ndtr(-high) - ndtr(low))


def _catoni() -> Iterator[Case]:
    for a, b in itertools.product((-4.0, -1.5, -1.0, -0.3, 0.0, 0.3, 1.0, math.sqrt(2), 2.0, 5.0), (0.05, 0.3, 1.0, 3.0)):
        value = a * (1 - b**2 / 2) - a**3 / 6 + float(explicit.catoni_correction(a, b))
        yield {"a": a, "b": b}, abs(value - influence_mean(a, b)), 1e-13 * (1 + abs(a) ** 3 + b**3)


# P2


def _excess_risk(slope: float, centres: tuple[float, ...]) -> Iterator[Case]:
    """Projected descent on F(w) = ½λ(w − c)² + slope·w over [0, 1], gradient errors bias ± noise, all sign patterns."""
    grid = itertools.product((1, 2, 4), (0.1, 1.0, 4.0), (10.0, 1.0, 0.1), centres, (0.0, 0.3), (0.0, 0.5), (1.0, 0.0))
    for steps, curvature, step, centre, bias, noise, start in grid:

        def risk(w: float, curvature: float = curvature, centre: float = centre) -> float:
            return curvature * (w - centre) ** 2 / 2 + slope * w

        minimiser = min(1.0, max(0.0, centre - slope / curvature))
        outcomes = []
        for signs in itertools.product((-1, 1), repeat=steps - 1):
            w = total = start
            for sign in signs:
                w = min(1.0, max(0.0, w - step * (curvature * (w - centre) + slope + bias + sign * noise)))
                total += w
            outcomes.append(risk(total / steps))
        bound = explicit.excess_risk_upper(
            diameter=1.0, step=step, steps=steps, bias=bias, smoothness=curvature, second_moment=bias**2 + noise**2
        )
        names = {"steps": steps, "step": step, "smoothness": curvature, "slope": slope, "centre": centre}
        names |= {"bias": bias, "noise": noise, "start": start}
        yield names, sum(outcomes) / len(outcomes) - risk(minimiser), bound


def _clipped_laws() -> Iterator[tuple[Parameters, FloatArray, FloatArray, float]]:
    """Rank-one laws: h·e₁ with probability h^{−p}, else 0, so that M = 1; the clipped mean's atoms and the bias."""
    for n, p, clip, height in itertools.product((1, 10, 100), (2.0, 4.0), (0.5, 3.0), (1.0, 1.2, 4.0)):
        chance, kept = height**-p, min(height, clip)
        values, weights = _binomial(n, chance)
        bias = chance * (height - kept)
        yield {"n": n, "p": p, "clip": clip, "height": height}, kept * (values - chance), weights, bias


def _clipped_mean() -> Iterator[Case]:
    for (law, deviations, weights, bias), d, rho, beta in itertools.product(
        _clipped_laws(), (1, 5), (0.1, 10.0), (0.5, 0.01)
    ):
        bound = explicit.clipped_mean_error_upper(
            n=law["n"], d=d, p=law["p"], moment=1.0, clip=law["clip"], rho=rho, beta=beta
        )
        scale = math.sqrt(2 / rho) * law["clip"] / law["n"]
        error = _norm_quantile(np.abs(deviations - bias), weights, scale, d, beta, bound)
        yield law | {"d": d, "rho": rho, "beta": beta}, error, bound


def _clipped_sampling() -> Iterator[Case]:
    for (law, deviations, weights, _), beta in itertools.product(_clipped_laws(), (0.99, 0.5, 0.1, 0.01, 1e-6)):
        bound = explicit.clipped_sampling_error_upper(n=law["n"], d=1, moment=1.0, clip=law["clip"], beta=beta)
        yield law | {"d": 1, "beta": beta}, _atom_quantile(np.abs(deviations), weights, beta / 2), bound


def _clipping_bias() -> Iterator[Case]:
    for p, clip, stretch in itertools.product((2.0, 2.5, 4.0, 10.0), (0.5, 1.0, 3.0), (1.01, 1.1, 1.5, 2.0, 5.0)):
        height = clip * stretch
        chance = min(1.0, height**-p)
        moment = (chance * height**p) ** (1 / p)
        bound = explicit.clipping_bias_upper(d=1, p=p, moment=moment, clip=clip)
        yield {"d": 1, "p": p, "clip": clip, "height": height}, chance * (height - clip), bound


def _clipped_noise() -> Iterator[Case]:
    for d, beta in itertools.product((1, 2, 5, 20, 100), (0.99, 0.5, 0.1, 1e-3, 1e-9)):
        bound = explicit.clipped_noise_upper(n=1, d=d, clip=1.0, rho=2.0, beta=beta)  # σ = 1
        yield {"d": d, "beta": beta}, math.sqrt(chi2.isf(beta / 2, d)), bound


def _bounded_mgf() -> Iterator[Case]:
    # Given bound and variance, the moment generating function is largest on the two points 1 and −variance (Bennett).
    for variance, rate in itertools.product((1e-9, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.9, 1.0), (1e-3, 0.1, 0.5, 0.9, 1.0)):
        chance = variance / (1 + variance)
        mgf = math.log1p(chance * math.expm1(rate) + (1 - chance) * math.expm1(-rate * variance))
        bound = math.log(explicit.bounded_mgf_upper(rate=rate, variance=variance, bound=1.0))
        if bound > 1e-9:  # below, the logarithm of the bound is all rounding
            yield {"rate": rate, "variance": variance, "side": "logarithms"}, mgf, bound


def _norm_moment() -> Iterator[Case]:
    for d, p in itertools.product((1, 2, 3, 10, 100), (2.0, 3.0, 4.0, 8.0)):
        # X uniform on the unit sphere: E|⟨u, X⟩|^p is the same for every u.
        log_moment = gammaln((p + 1) / 2) + gammaln(d / 2) - gammaln((p + d) / 2) - math.log(math.pi) / 2
        moment = math.exp(float(log_moment) / p)
        yield {"law": "sphere", "d": d, "p": p}, 1.0, explicit.norm_moment_upper(d=d, p=p, moment=moment)
        # X uniform on {±1}^d: the coordinate directions alone, which is all the proof uses, have M = 1.
        yield {"law": "cube", "d": d, "p": p}, d ** (p / 2), explicit.norm_moment_upper(d=d, p=p, moment=1.0)


@dataclass(frozen=True)
class _Averages:
    """Exact expectations of suprema over a finite class, U uniform on its atoms."""

    centred: float  # E sup (1/n)Σ(f − E f)
    plain: float  # E sup (1/n)Σf
    plain_absolute: float  # E sup |(1/n)Σf|
    signed: float  # E sup (1/n)Σσf
    signed_absolute: float  # E sup |(1/n)Σσf|
    signed_moduli: float  # E sup (1/n)Σσ|f|


def _averages(values: FloatArray, n: int) -> _Averages:
    """Enumerate all draws of n atoms and all n signs; `values` has a row per function and a column per atom."""
    draws = np.array(list(itertools.product(range(values.shape[1]), repeat=n))).T
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=n)))
    plain = values[:, draws].mean(axis=1)
    signed = np.einsum("fnk,sn->fsk", values[:, draws], signs) / n
    moduli = np.einsum("fnk,sn->fsk", np.abs(values)[:, draws], signs) / n
    return _Averages(
        centred=float((plain - values.mean(axis=1, keepdims=True)).max(axis=0).mean()),
        plain=float(plain.max(axis=0).mean()),
        plain_absolute=float(np.abs(plain).max(axis=0).mean()),
        signed=float(signed.max(axis=0).mean()),
        signed_absolute=float(np.abs(signed).max(axis=0).mean()),
        signed_moduli=float(moduli.max(axis=0).mean()),
    )


def _classes() -> Iterator[FloatArray]:
    """Every class of one or two functions on two atoms with values in {−1, 0, 1}."""
    functions = list(itertools.product((0.0, 1.0, -1.0), repeat=2))
    for size in (1, 2):
        yield from (np.array(chosen) for chosen in itertools.combinations(functions, size))


def _centred_classes() -> Iterator[FloatArray]:
    """Pairs of centred functions on three atoms, and K functions on K atoms, each low on one atom: 1 − K·1{i = j}."""
    functions = [np.array([a, b, -a - b]) for a, b in itertools.product((-1.0, 0.0, 1.0), repeat=2)]
    yield from (np.array(pair) for pair in itertools.combinations(functions, 2))
    yield from (1 - k * np.eye(k) for k in range(2, 8))


def _rademacher(
    classes: Callable[[], Iterator[FloatArray]], sides: Callable[[_Averages, int], tuple[float, float]]
) -> Iterator[Case]:
    for n, values in itertools.product((1, 2), classes()):
        measured, bound = sides(_averages(values, n), n)
        yield {"n": n, "functions": values.tolist()}, measured, bound


# P3


def _laplace() -> Iterator[Case]:
    for t in (0.0, 0.1, 1.0, 5.0, 30.0):
        tail = 2 * quad(lambda x: math.exp(-x) / 2, t, math.inf, epsabs=1e-14)[0]
        yield {"multiple": t}, abs(tail - explicit.laplace_tail(multiple=t)), 1e-12


def _gaussian_tail() -> Iterator[Case]:
    for t in (0.0, 1e-3, 0.1, 1.0, 3.0, 10.0):
        yield {"deviation": t}, float(ndtr(-t)), explicit.gaussian_tail_upper(deviation=t, scale=1.0)


def _bernstein() -> Iterator[Case]:
    for n, chance in itertools.product((1, 2, 3, 10, 100), (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)):
        values, weights = _binomial(n, chance)
        upper = weights[::-1].cumsum()[::-1]
        for t, tail in zip(values - chance, upper, strict=True):
            if t > 1e-9:
                bound = explicit.bernstein_tail_upper(
                    n=n, variance=chance * (1 - chance), bound=max(chance, 1 - chance), deviation=float(t)
                )
                yield {"n": n, "chance": chance, "deviation": float(t)}, float(tail), bound


def _moment_tail() -> Iterator[Case]:
    for v, chance, fraction in itertools.product((0.01, 0.5, 1.0), (1e-3, 0.5, 1.0), (1e-3, 0.5, 0.999999)):
        bound = explicit.moment_tail_upper(v=v, moment=chance, deviation=fraction)  # X = 1 with this chance, else 0
        yield {"v": v, "chance": chance, "deviation": fraction}, chance, bound


def _truncation_bias() -> Iterator[Case]:
    for v, clip, stretch in itertools.product((0.01, 0.5, 1.0), (0.1, 1.0, 10.0), (1 + 1e-9, 1.5, 2.0, 10.0)):
        height, chance = clip * stretch, 0.3
        bound = explicit.truncation_bias_upper(v=v, moment=chance * height ** (1 + v), clip=clip)
        yield {"v": v, "clip": clip, "height": height, "chance": chance}, chance * height, bound


def _sum_moments(averaged: bool) -> Iterator[Case]:
    orders, chances = (0.01, 0.1, 0.5, 0.9, 1.0), (1e-4, 0.01, 0.1, 0.3, 0.5)
    for v, chance, n in itertools.product(orders, chances, (1, 2, 3, 10, 100)):
        values, weights = _binomial(n, chance)
        atoms, masses = _centred_coin(chance)
        total = float(weights @ np.abs(n * (values - chance)) ** (1 + v))
        single = float(masses @ np.abs(atoms) ** (1 + v))
        if averaged:
            bound = explicit.mean_moment_upper(n=n, v=v, moment=single)
            yield {"v": v, "chance": chance, "n": n}, total / n ** (1 + v), bound
        else:
            yield {"v": v, "chance": chance, "n": n}, total, explicit.sum_moment_upper(moments=[single] * n)


def _unequal_sums() -> Iterator[Case]:
    yield from _sum_moments(averaged=False)
    for v, one, two, factor in itertools.product((0.01, 0.5, 1.0), (0.01, 0.3, 0.5), (0.01, 0.3, 0.5), (-3.0, 0.2, 1.0)):
        (x, p), (y, q) = _centred_coin(one), _centred_coin(two)
        y = factor * y
        total = float(p @ np.abs(x[:, None] + y[None, :]) ** (1 + v) @ q)
        moments = [float(p @ np.abs(x) ** (1 + v)), float(q @ np.abs(y) ** (1 + v))]
        yield {"v": v, "chances": [one, two], "factor": factor}, total, explicit.sum_moment_upper(moments=moments)


def _shifted_coins() -> Iterator[tuple[Parameters, float, float, float, float]]:
    for v, chance, mean in itertools.product((1e-3, 0.3, 1.0), (1e-3, 0.1, 0.5), (-2.0, -0.5, 0.0, 0.1, 0.5, 3.0)):
        atoms, masses = _centred_coin(chance)
        raw = float(masses @ np.abs(atoms + mean) ** (1 + v))
        central = float(masses @ np.abs(atoms) ** (1 + v))
        yield {"v": v, "chance": chance, "mean": mean}, v, raw, central, abs(mean)


def _central_moment() -> Iterator[Case]:
    for parameters, _, raw, central, _ in _shifted_coins():
        yield parameters, central, explicit.central_moment_upper(raw_moment=raw)


def _raw_moment() -> Iterator[Case]:
    for parameters, v, raw, central, mean in _shifted_coins():
        yield parameters, raw, explicit.raw_moment_upper(v=v, central_moment=central, mean_norm=mean)


def _laplace_max(threshold: Callable[[int, float], float]) -> Iterator[Case]:
    for d, xi in itertools.product((1, 2, 3, 10, 1000), (1e-6, 0.01, 0.1, 0.3, 0.5, 0.9)):
        yield {"d": d, "xi": xi}, 1 - (1 - math.exp(-threshold(d, xi))) ** d, xi


def _mean_tail() -> Iterator[Case]:
    for v, chance, n in itertools.product((0.05, 0.5, 1.0), (1e-3, 0.01, 0.1, 0.3, 0.5, 0.9), (1, 2, 3, 10, 100)):
        values, weights = _binomial(n, chance)
        for centre in (0.0, 0.5):  # the laws {0, 1} and {−½, ½}
            moment = chance * (1 - centre) ** (1 + v) + (1 - chance) * centre ** (1 + v)
            deviations = np.abs(values - chance)
            for t in np.unique(deviations[(deviations > 1e-9) & (weights > 1e-12)]):
                bound = explicit.mean_tail_upper(n=n, v=v, moment=moment, deviation=float(t))
                tail = float(weights[deviations >= t * (1 - 1e-12)].sum())
                yield {"v": v, "chance": chance, "n": n, "low": -centre, "deviation": float(t)}, tail, bound


def _truncated_laws(v: float, clip: float) -> Iterator[tuple[Parameters, float, float]]:
    """Laws 0 or h with E|x|^{1+v} = 1 (at most), above and below the truncation level: (name, height, chance)."""
    for stretch in (0.3, 0.8, 1.0, 1.001, 2.0):
        height = clip * stretch
        yield {"height": height}, height, min(1.0, height ** -(1 + v))


def _truncated_mean(upper: Callable[..., float], needs_clip: bool) -> Iterator[Case]:
    grid = itertools.product((0.1, 0.5, 1.0), (1, 5, 50), (0.1, 1.0), (1e-6, 0.5, 1.0), (1e-3, 0.1, 0.33))
    for v, n, epsilon, delta, xi in grid:
        public: Parameters = {"n": n, "v": v, "moment": 1.0, "epsilon": epsilon, "delta": delta, "xi": xi}
        clip = explicit.truncation_level(**public)
        bound = upper(**public, clip=clip) if needs_clip else upper(**public)
        scale = math.sqrt(8 * math.log(1.25 / delta)) * clip / (n * epsilon)
        for law, height, chance in _truncated_laws(v, clip):
            values, weights = _binomial(n, chance)
            kept = height if height <= clip else 0.0
            error = _gaussian_quantile(kept * values - chance * height, weights, scale, 3 * xi, bound)
            yield public | law | {"chance": chance}, error, bound


def _truncated_sampling(two_sided: bool) -> Iterator[Case]:
    # Records in {−1, 1} or {0, 1} at B = 1, where B^{1−v}u is the raw second moment for every v.
    for xi, n, chance, low in itertools.product(
        (1e-4, 0.01, 0.1, 0.3, 0.45, 0.48, 0.6, 0.8), (1, 2, 3, 5, 20), (0.01, 0.1, 0.3, 0.5), (-1.0, 0.0)
    ):
        values, weights = _binomial(n, chance)
        deviations = (1 - low) * (values - chance)
        moment = chance + (1 - chance) * abs(low)
        bound = explicit.truncated_sampling_error_upper(n=n, v=1.0, moment=moment, clip=1.0, xi=xi)
        sides = (_beyond(deviations, weights, bound), _beyond(-deviations, weights, bound))
        parameters = {"n": n, "chance": chance, "low": low, "high": 1.0, "clip": 1.0, "moment": moment, "xi": xi}
        yield parameters | {"threshold": bound}, sum(sides) if two_sided else max(sides), xi


def _median_laws() -> Iterator[tuple[Parameters, FloatArray, FloatArray]]:
    """The error of the median of an odd number of group means of 0-or-h records (the same in every coordinate)."""
    for v, size, clip, (d, xi), stretch in itertools.product(
        (0.1, 0.5, 1.0), (1, 5, 30), (1.5, 5.0), ((1, 0.5), (1, 0.05), (4, 0.1)), (0.7, 1.0, 1.2)
    ):
        groups = math.ceil(4 * math.log(2 * d / xi)) // 2 * 2 + 1
        height = clip * stretch
        chance = min(1.0, height ** -(1 + v))
        kept = height if height <= clip else 0.0
        values, weights = _binomial(size, chance)
        median = np.diff(binom.sf(groups // 2, groups, np.minimum(weights.cumsum(), 1.0)), prepend=0.0)
        parameters = {"v": v, "n": groups * size, "groups": groups, "clip": clip, "height": height, "d": d, "xi": xi}
        yield parameters, np.abs(kept * values - chance * height), median


def _median() -> Iterator[Case]:
    for law, deviations, weights in _median_laws():
        public = {name: law[name] for name in ("n", "d", "v", "clip", "groups")}
        bound = explicit.median_of_means_error_upper(**public, moment=1.0)
        allowed = law["d"] * math.exp(-law["groups"] / 4)
        yield law, _atom_quantile(math.sqrt(law["d"]) * deviations, weights, allowed), bound


def _private_median() -> Iterator[Case]:
    for (law, deviations, weights), (epsilon, delta) in itertools.product(_median_laws(), ((0.1, 1e-6), (0.9, 0.9))):
        public = {name: law[name] for name in ("n", "d", "clip", "groups")} | {"epsilon": epsilon, "delta": delta}
        scale = explicit.median_of_means_noise_scale(**public)
        bound = explicit.truncated_median_of_means_error_upper(**public, v=law["v"], moment=1.0, xi=law["xi"])
        error = _norm_quantile(math.sqrt(law["d"]) * deviations, weights, scale, law["d"], law["xi"], bound)
        yield law | {"epsilon": epsilon, "delta": delta}, error, bound


def _gaussian_norm() -> Iterator[Case]:
    for d, xi in itertools.product((1, 2, 3, 10, 100), (0.999, 0.9, 0.5, 0.1, 0.01, 1e-6)):
        bound = explicit.gaussian_norm_upper(d=d, scale=1.0, xi=xi)
        yield {"d": d, "xi": xi}, math.sqrt(chi2.isf(xi / 2, d)), bound


TRIALS: tuple[Trial, ...] = (
    Trial("P0.Def3", "printed", "the Gaussian mechanism's exact δ(ε), also for δ near 1", _p0_gaussian),
    Trial("P0.Def3", "corrected", "δ ≤ 0.99 on a fine grid of 0 < ε ≤ 1", _p0_gaussian_corrected),
    Trial("P1.Lem1", "printed", "one record, a weak curvature with probability 1/6, rare gradients", _minimiser_distance),
    Trial(
        "P1.Lem5.mean",
        "printed",
        "Exp(1) by gamma tails at v = 2 and the least v, Gaussian, Rademacher",
        lambda: _mean_tails(False),
    ),
    Trial("P1.Lem5.mean", "corrected", "the same, two-sided as the third part needs it", lambda: _mean_tails(True)),
    Trial("P1.Lem5.max", "printed", "Exp(1) at its least v, and Gaussian", _max_tails),
    Trial("P1.Lem5.trim", "printed", "all data in {−2, …, 2}, n ≤ 6, under the one-sided event", lambda: _trimmed(False)),
    Trial("P1.Lem5.trim", "corrected", "the same with |x̄ − μ| ≤ t", lambda: _trimmed(True)),
    Trial("P1.Thm7.sensitivity", "printed", "one record moved, ĝⱼ as displayed", lambda: _soft_sensitivity(_printed_record)),
    Trial(
        "P1.Thm7.sensitivity",
        "corrected",
        "one record moved, s·E φ(a + bZ)",
        lambda: _soft_sensitivity(_soft_truncation_value),
    ),
    Trial("P1.Thm7.record", "printed", "ĝⱼ as displayed against s·E φ(a + bZ); the bound is the tolerance", _soft_record),
    Trial("P1.C", "printed", "against quadrature; the bound is the floating tolerance", _catoni),
    Trial("P2.Lem3", "printed", "projected descent on [0, 1], minimiser on the boundary", lambda: _excess_risk(1.0, (0.0,))),
    Trial("P2.Lem3", "corrected", "the same with ∇F(w*) = 0", lambda: _excess_risk(0.0, (0.0, 0.4, 1.0))),
    Trial("P2.Thm3", "printed", "the Gaussian release of that zCDP, exact δ(ε)", _run_zcdp),
    Trial("P2.Thm6", "printed", "ε₀ itself, or the shuffling theorem where its condition holds", _group_zcdp),
    Trial("P2.Thm2", "printed", "rank-one two-point laws, exact binomial and non-central chi-square", _clipped_mean),
    Trial("P2.Thm2.(52)", "printed", "rank-one two-point laws, exact binomial", _clipped_sampling),
    Trial("P2.Thm2.(55)", "printed", "two-point laws beyond the clip", _clipping_bias),
    Trial("P2.Thm2.(58)", "printed", "exact chi-square tails", _clipped_noise),
    Trial("P2.Lem10", "printed", "Bennett's extremal two-point law, logarithms compared", _bounded_mgf),
    Trial("P2.Lem11", "printed", "sphere and cube, exact moments", _norm_moment),
    Trial(
        "P2.Lem12.(113)",
        "printed",
        "all small classes, enumerated",
        lambda: _rademacher(_classes, lambda e, _: (e.centred, explicit.symmetrised_upper(average=e.signed))),
    ),
    Trial(
        "P2.Lem12.(114)",
        "printed",
        "centred classes, enumerated",
        lambda: _rademacher(_centred_classes, lambda e, _: (e.signed, explicit.symmetrised_upper(average=e.plain))),
    ),
    Trial(
        "P2.Lem12.(114)",
        "corrected",
        "the same with absolute values inside both suprema",
        lambda: _rademacher(
            _centred_classes, lambda e, _: (e.signed_absolute, explicit.symmetrised_upper(average=e.plain_absolute))
        ),
    ),
    Trial(
        "P2.Lem13",
        "printed",
        "all small classes, enumerated",
        lambda: _rademacher(_classes, lambda e, n: (n * e.signed_moduli, explicit.contracted_upper(average=e.signed))),
    ),
    Trial(
        "P2.Lem13",
        "corrected",
        "the same with 1/n on both sides",
        lambda: _rademacher(_classes, lambda e, _: (e.signed_moduli, explicit.contracted_upper(average=e.signed))),
    ),
    Trial("P3.Lem3", "printed", "exact δ(ε), any ε", _p3_gaussian),
    Trial("P3.Lem3", "corrected", "a fine grid of 0 < ε, δ ≤ 1", _p3_gaussian_corrected),
    Trial("P3.Lem4", "printed", "quadrature; the bound is the tolerance", _laplace),
    Trial("P3.Lem5", "printed", "exact Gaussian tails, t ≥ 0", _gaussian_tail),
    Trial("P3.Lem6", "printed", "two-point laws, exact binomial at every atom", _bernstein),
    Trial("P3.Lem7", "printed", "two-point laws", _moment_tail),
    Trial("P3.Lem10", "printed", "two-point laws beyond the level", _truncation_bias),
    Trial("P3.Lem11", "printed", "two-point laws, equal (binomial) and unequal (enumerated)", _unequal_sums),
    Trial("P3.Lem12", "printed", "two-point laws, exact binomial", lambda: _sum_moments(True)),
    Trial("P3.Lem13.central", "printed", "shifted two-point laws", _central_moment),
    Trial("P3.Lem13.raw", "printed", "shifted two-point laws", _raw_moment),
    Trial("P3.Lem22", "printed", "one coordinate, s = 1: exact δ(ε) of the Laplace release", _peeling),
    Trial(
        "P3.Lem26",
        "printed",
        "exact law of the maximum",
        lambda: _laplace_max(lambda d, xi: explicit.laplace_max_upper(d=d, scale=1.0, xi=xi)),
    ),
    Trial("P3.Lem26", "corrected", "the threshold λ·log(d/ξ)", lambda: _laplace_max(lambda d, xi: math.log(d / xi))),
    Trial(
        "P3.Thm1",
        "printed",
        "two-point laws on both sides of B, exact binomial and Gaussian",
        lambda: _truncated_mean(explicit.truncated_mean_error_upper, False),
    ),
    Trial(
        "P3.Thm1.(4)",
        "printed",
        "two-point laws on both sides of B, exact binomial and Gaussian",
        lambda: _truncated_mean(explicit.truncated_mean_error_upper_at, True),
    ),
    Trial("P3.Thm1.(5)", "printed", "two-point laws on [−B, B], both sides together", lambda: _truncated_sampling(True)),
    Trial("P3.Thm1.(5)", "corrected", "the same, each side at ξ (both at 2ξ)", lambda: _truncated_sampling(False)),
    Trial("P3.Thm3", "printed", "equal coordinates of two-point records, exact median and noise", _private_median),
    Trial("P3.Thm3.(16)", "printed", "equal coordinates of two-point records, exact median", _median),
    Trial("P3.Thm3.(17)", "printed", "exact chi-square tails", _gaussian_norm),
    Trial("P3.Thm4", "printed", "two-point laws, exact binomial at every atom", _mean_tail),
)
