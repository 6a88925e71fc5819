"""The bounds of population localisation, recomputed; the plans, against other plans; the steps of the proof, by enumeration."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize, minimize_scalar

from tailproof.refimpl.claims import ZCDP, PureDP
from tailproof.refimpl.pure_dp.perturbation import Budget
from tailproof.refimpl.pure_dp.plan import (
    Assumption,
    Phase,
    Plan,
    Solver,
    best_clip,
    distance_upper,
    expectation_bound,
    expectation_plan,
    high_probability_plan,
    phase_error_upper,
)
from tailproof.refimpl.pure_dp.single import bias_constant
from tailproof.refimpl.validation import FloatArray, InputError

Record = Callable[[str, object], None]

PULL, STABILITY = 1 / 4, 1.0  # E F(u) − F(y) ≤ PULL·λ‖y − w0‖² + STABILITY·G²/(λm)
KAPPA = 0.05


def assumption(k: float = 2.0, d: int = 2, G: float = 1.0, reach: float = 1.0) -> Assumption:
    """Of a ball about the origin."""
    return Assumption(k, G, d, reach, 2 * reach, reach)


# ---------------------------------------------------------------------------------------- the formula, a second time


def squared_error(m: float, weight: float, C: float, a: Assumption, spend: Budget, kappa: float) -> float:
    """V(m), with its terms one by one."""
    k, G, d = a.moment_order, a.moment_bound, a.dimension
    mean = (k - 1) ** -0.5 * ((k - 1) / k) ** (k / 2) * G**k * C ** (1 - k)
    variance = (1.0 if k == 2 else 2 / (k - 2) * ((k - 2) / k) ** (k / 2)) * G**k * C ** (2 - k)
    reach = (2 + 2 * kappa) * C / m
    noise = d * (d + 1) * (reach / spend.epsilon) ** 2 if isinstance(spend, PureDP) else d * reach**2 / (2 * spend.rho)
    terms = [noise, (kappa * C / m) ** 2, 2 * kappa * (C / m) * mean, mean**2, variance / m]
    return min(math.fsum(terms), (weight * a.diameter) ** 2)


def bound_of(
    sizes: Sequence[float],
    weights: Sequence[float],
    clips: Sequence[float],
    a: Assumption,
    spend: Budget,
    kappas: Sequence[float] | None = None,
) -> float:
    """The bound of E F(w_I) − F*, for any sizes, whole numbers or not."""
    kappas = [KAPPA] * len(sizes) if kappas is None else kappas
    errors = [squared_error(*phase, a, spend, kappa) for *phase, kappa in zip(sizes, weights, clips, kappas, strict=True)]
    G = a.moment_bound
    terms = [PULL * weights[0] * a.reach**2, G * math.sqrt(errors[-1]) / weights[-1]]
    terms += [STABILITY * G**2 / (weight * m) for weight, m in zip(weights, sizes, strict=True)]
    terms += [PULL * weights[i] * errors[i - 1] / weights[i - 1] ** 2 for i in range(1, len(sizes))]
    return min(math.fsum(terms), G * a.diameter)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 6))
def test_the_bound_is_the_formula(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    k = float(rng.choice([2.0, 2.5, 3.0, 4.0, 8.0]))
    a = Assumption(k, *(10 ** rng.uniform(-1, 1, 1)), int(rng.integers(1, 20)), *(10 ** rng.uniform(-1, 1, 3)))
    spend: Budget = PureDP(10 ** rng.uniform(-2, 1)) if rng.uniform() < 0.5 else ZCDP(10 ** rng.uniform(-2, 1))
    phases = tuple(
        Phase(
            int(10 ** rng.uniform(0, 5)), 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-1, 2), kappa=10 ** rng.uniform(-2, 0)
        )
        for _ in range(count)
    )
    table = np.array([(p.size, p.weight, p.lipschitz, p.kappa) for p in phases]).T.tolist()
    for phase in phases:
        error = phase_error_upper(phase, a, spend=spend)
        assert error == pytest.approx(squared_error(phase.size, phase.weight, phase.lipschitz, a, spend, phase.kappa))
    found = expectation_bound(phases, a, spend=spend)
    expected = bound_of(*table[:3], a, spend, table[3])
    assert expected <= found <= expected * (1 + 1e-9)
    assert expectation_bound((), a, spend=spend) == pytest.approx(a.moment_bound * a.reach)


# ------------------------------------------------------------------------------------------------ the steps of its proof


def regularised_minimiser(slopes: FloatArray, kinks: FloatArray, weight: float, center: float) -> float:
    """Of mean_j (slopes_j0 below, slopes_j1 above kinks_j) + (λ/2)(w − center)² on [−1, 1]: its slope changes sign there."""
    corners = np.unique(np.clip(np.concatenate([kinks, [-1.0, 1.0]]), -1, 1))
    for left, right in pairwise(corners):
        pull = np.where((left + right) / 2 < kinks, slopes[:, 0], slopes[:, 1]).mean()
        if pull + weight * (right - center) >= 0:
            return float(np.clip(center - pull / weight, left, right))
    return 1.0


def test_stability_of_the_regularised_minimiser(record_property: Record) -> None:
    """E F(u) − F(y) ≤ (λ/4)(y − w0)² + E L²/(λm): all samples of a law of two piecewise linear losses are enumerated.

    With one record more, ũ the minimiser of all m + 1 and u without the last, whose loss is f, E F(u) = E f(u) ≤
    E f(ũ) + E L²/(λm), and E f(ũ) is the mean of all, which ũ minimises with the regulariser.
    """
    rng = np.random.default_rng(0)
    for _ in range(400):
        m, weight, p = int(rng.integers(1, 7)), 10 ** rng.uniform(-2, 1.5), rng.uniform(0.02, 0.98)
        slopes, kinks = np.sort(rng.normal(size=(2, 2)), axis=1), rng.uniform(-1.2, 1.2, 2)
        if rng.uniform() < 0.5:
            slopes[:, 1] = slopes[:, 0]  # linear: the worst case
        center, y = rng.uniform(-1, 1, 2)

        def risk(w: float, slopes: FloatArray = slopes, kinks: FloatArray = kinks, p: float = p) -> float:
            return float([p, 1 - p] @ (np.where(w < kinks, slopes[:, 0], slopes[:, 1]) * (w - kinks)))

        mean = 0.0
        for count in range(m + 1):
            which = np.repeat([0, 1], [count, m - count])
            mean += stats.binom.pmf(count, m, p) * risk(regularised_minimiser(slopes[which], kinks[which], weight, center))
        square = float([p, 1 - p] @ np.abs(slopes).max(axis=1) ** 2)
        excess = mean - risk(y)
        assert excess <= PULL * weight * (y - center) ** 2 + STABILITY * square / (weight * m) + 1e-12
        half = weight / 4 * (y - center) ** 2 * m / (m + 1) + square / (weight * m)
        assert excess <= half + 1e-12
        record_property("excess / (λ/4·(y − w0)² + G²/(λm))", float(excess / half))


# --------------------------------------------------------------------------------------------------------- the best plan

SETTINGS = [
    (2000, 2, 2.0, PureDP(1.0)),
    (50_000, 5, 3.0, PureDP(0.3)),
    (10_000, 10, 2.5, ZCDP(0.5)),
    (300, 1, 8.0, PureDP(2.0)),
]


def planned(n: int, a: Assumption, spend: Budget, most_phases: int = 16) -> Plan:
    given = {"epsilon": spend.epsilon} if isinstance(spend, PureDP) else {"rho": spend.rho}
    return expectation_plan(a, size=n, most_phases=most_phases, **given)


@pytest.mark.parametrize(("n", "d", "k", "spend"), SETTINGS, ids=str)
def test_no_other_plan_is_better(n: int, d: int, k: float, spend: Budget, record_property: Record) -> None:
    """Random changes of all variables, small and large, and phases left out or split; 1e-3 is for whole numbers of records."""
    a, rng = assumption(k, d), np.random.default_rng()
    plan = planned(n, a, spend)
    assert plan.records <= n
    assert plan.bound == expectation_bound(plan.phases, a, spend=spend)
    m, weights, clips = (
        np.array([getattr(p, name) for p in plan.phases], float) for name in ("size", "weight", "lipschitz")
    )
    least = math.inf
    for width in np.repeat([1e-3, 0.03, 0.3, 1.0], 100):
        sizes, other, others = (x * np.exp(width * rng.normal(size=len(x))) for x in (m, weights, clips))
        sizes *= n / sizes.sum()
        least = min(least, bound_of(sizes, other, others, a, spend))
        if len(m) > 1:
            keep = np.arange(len(m)) != rng.integers(len(m))
            least = min(least, bound_of(sizes[keep] * n / sizes[keep].sum(), other[keep], others[keep], a, spend))
        twice = np.sort(np.append(np.arange(len(m)), rng.integers(len(m))))
        factors = np.exp(width * rng.normal(size=len(twice)))
        least = min(least, bound_of(sizes[twice] * n / sizes[twice].sum(), other[twice] * factors, others[twice], a, spend))
    assert least >= plan.bound * (1 - 1e-3)
    record_property("bound of the best random plan / bound", least / plan.bound)


@pytest.mark.parametrize(("n", "d", "k", "spend"), SETTINGS, ids=str)
def test_two_phases_against_a_local_search_from_random_starts(n: int, d: int, k: float, spend: Budget) -> None:
    a, rng = assumption(k, d), np.random.default_rng(7)

    def cost(x: FloatArray) -> float:
        share = 1 / (1 + math.exp(-x[0]))
        return math.log(bound_of([n * share, n - n * share], np.exp(x[1:3]).tolist(), np.exp(x[3:]).tolist(), a, spend))

    starts = [np.concatenate([rng.uniform(-2, 2, 1), rng.uniform(-2, 3, 2), rng.uniform(0, 3, 2)]) for _ in range(6)]
    least = min(minimize(cost, start, method="L-BFGS-B", bounds=[(-4, 4), *[(-12, 12)] * 4]).fun for start in starts)
    one, two = (planned(n, a, spend, most_phases=most).bound for most in (1, 2))
    single = minimize(
        lambda x: math.log(bound_of([n], [math.exp(x[0])], [math.exp(x[1])], a, spend)), [0.0, 1.0], method="Nelder-Mead"
    ).fun
    assert one == pytest.approx(math.exp(single), rel=1e-3)
    assert two == pytest.approx(min(math.exp(least), one), rel=2e-3)


def test_scaling_and_monotonicity() -> None:
    def bound(n: int = 3000, d: int = 3, k: float = 2.5, epsilon: float = 1.0, phases: int = 2, **scales: float) -> float:
        a = assumption(k, d, **scales)
        return expectation_plan(a, size=n, epsilon=epsilon, most_phases=phases).bound / (a.moment_bound * a.reach)

    usual = bound()
    for scales in ({"G": 1e-6}, {"reach": 1e6}):
        assert bound(**scales) == pytest.approx(usual, rel=1e-6)
    for values in ([bound(n=n) for n in (300, 3000, 30_000)], [bound(epsilon=e) for e in (0.3, 1.0, 10.0)]):
        assert values == sorted(values, reverse=True)
    for values in ([bound(d=d) for d in (1, 3, 10)], [bound(k=k) for k in (8.0, 2.5, 2.0)]):
        assert values == sorted(values)
    # In the limits: the statistical rate without privacy, the private rate without statistics.
    many = [bound(n=n, epsilon=1e6, k=4.0, phases=4) for n in (10**4, 10**6)]
    assert many[0] == pytest.approx(10 * many[1], rel=0.2)
    for k in (2.0, 4.0):
        ratio = bound(n=10**6, epsilon=1e-3, k=k, d=1, phases=4) / bound(n=10**6, epsilon=1e-2, k=k, d=1, phases=4)
        assert ratio == pytest.approx(10 ** (1 - 1 / k), rel=0.3)


@pytest.mark.parametrize(
    ("n", "d", "epsilon"), [(1, 1, 1.0), (10, 1, 0.05), (1000, 50, 0.01), (5, 20, 1.0), (10**6, 3, 1e-9)]
)
def test_where_noise_drowns_everything_nothing_is_done(n: int, d: int, epsilon: float) -> None:
    for k in (2.0, 2.5, 8.0):
        plan = expectation_plan(assumption(k, d, G=3.0, reach=0.5), size=n, epsilon=epsilon)
        assert plan.phases == ()
        assert plan.records == 0
        assert plan.bound == pytest.approx(1.5)
        assert high_probability_plan(assumption(k, d, G=3.0, reach=0.5), size=n, epsilon=epsilon, failure=0.1).phases == ()


def test_extremes_give_plans() -> None:
    for n, d, k, epsilon in [(10**15, 1, 2.0, 1e3), (10**9, 1, 8.0, 1e-3), (10**4, 10**3, 2.0, 1e5), (7, 1, 50.0, 1e6)]:
        a = assumption(k, d)
        plan = expectation_plan(a, size=n, epsilon=epsilon, most_phases=4)
        assert 0 < plan.bound <= 1 + 1e-9
        assert plan.records <= n
        assert all(phase.size >= 1 and 0 < phase.weight < math.inf and phase.lipschitz > 0 for phase in plan.phases)


def test_kappa_is_raised_where_floats_need_it() -> None:
    """Otherwise the solver would refuse the last phases, whose weights are large."""
    far = assumption(4.0, 10)
    near = expectation_plan(far, size=10**4, epsilon=1.0)
    assert {phase.kappa for phase in near.phases} == {KAPPA}
    plan = expectation_plan(far, size=10**7, epsilon=1.0)
    assert plan.phases[0].kappa == KAPPA < plan.phases[-1].kappa
    for phase in plan.phases:
        accuracy = (phase.kappa * phase.lipschitz / phase.size) ** 2 / (2 * phase.weight)
        move = 8 * 14 * 2.0**-52
        assert accuracy >= 8 * (2 * phase.lipschitz + phase.weight * move) * move
    shifted = expectation_plan(replace(far, far=1e6), size=10**4, epsilon=1.0)
    assert shifted.phases[-1].kappa > KAPPA
    assert shifted.bound >= near.bound


# ------------------------------------------------------------------------------------------------- with high probability

CASES: list[tuple[int, int, float, Budget, Solver]] = [
    (10**7, 2, 2.0, PureDP(1.0), "single"),
    (10**6, 5, 4.0, PureDP(3.0), "single"),
    (10**8, 3, 2.5, ZCDP(0.5), "double"),
    (10**6, 1, 8.0, PureDP(1.0), "double"),
]


def deviation(m: int, C: float, kappa: float, a: Assumption, spend: Budget, solver: Solver) -> float:
    """Δ: √10·G/√m + κC/m + the quantile of the noise + ten times the mean of the bias."""
    share, zeta = (1, 0.1) if solver == "single" else (2, 0.05)
    reach = (2 + 2 * kappa) * C / m
    if isinstance(spend, PureDP):
        noise = stats.gamma(a.dimension, scale=share * reach / spend.epsilon).isf(zeta)
    else:
        noise = stats.chi(a.dimension, scale=reach * math.sqrt(share / (2 * spend.rho))).isf(zeta)
    k, G = a.moment_order, a.moment_bound
    bias = 10 * (k - 1) ** -0.5 * ((k - 1) / k) ** (k / 2) * G**k * C ** (1 - k)
    return math.sqrt(10 / m) * G + kappa * C / m + float(noise) + bias


@pytest.mark.parametrize(("n", "d", "k", "spend", "solver"), CASES, ids=str)
def test_the_plan_for_high_probability(
    n: int, d: int, k: float, spend: Budget, solver: Solver, record_property: Record
) -> None:
    a, zeta = assumption(k, d, G=2.0, reach=0.5), 0.05
    given = {"epsilon": spend.epsilon} if isinstance(spend, PureDP) else {"rho": spend.rho}
    plan = high_probability_plan(a, size=n, failure=zeta, solver=solver, **given)
    J = math.ceil(13.9 * math.log(math.floor(math.log2(n)) / zeta))
    count = math.floor(math.log2(n / J))
    assert (plan.repetitions, len(plan.phases), plan.failure, plan.solver) == (J, count, zeta, solver)
    assert count * math.exp(-2 * J * 0.19**2) <= zeta  # Hoeffding, over all phases
    assert plan.records <= n
    assert [phase.size for phase in plan.phases] == [2 ** (count - i) for i in range(1, count + 1)]
    clip = best_clip(a, size=2**count, kappa=KAPPA, spend=spend, solver=solver)
    first = deviation(2**count, clip, KAPPA, a, spend, solver)
    bound = plan.phases[0].weight * a.reach**2 / 4
    for i, phase in enumerate(plan.phases, start=1):
        assert phase.weight == pytest.approx(8**i * 3 * first / a.diameter)
        own = deviation(phase.size, phase.lipschitz, phase.kappa, a, spend, solver)
        assert phase.radius == pytest.approx(3 * own / phase.weight)
        bound += plan.phases[i].weight * phase.radius**2 / 4 if i < count else a.moment_bound * phase.radius
    assert plan.bound == pytest.approx(bound)
    D, G = a.diameter, a.moment_bound
    if all(phase.kappa == KAPPA for phase in plan.phases):
        assert plan.bound <= 12 * D * first + G * D * 4.0**-count
    record_property("bound / (12·D·Δ_0 + G·D·4^−I)", plan.bound / (12 * D * first + G * D * 4.0**-count))


def check_best_clip(a: Assumption, m: int, spend: Budget, solver: Solver) -> float:
    """a(m) at the clipping level that is chosen, after comparing it with those of a line search."""

    def distance(log_clip: float) -> float:
        C = math.exp(log_clip)
        found = distance_upper(a, size=m, lipschitz=C, kappa=KAPPA, spend=spend, solver=solver)
        expected = deviation(m, C, KAPPA, a, spend, solver) - math.sqrt(10 / m) * a.moment_bound
        assert found == pytest.approx(expected, rel=1e-5)
        return found

    chosen = distance(math.log(best_clip(a, size=m, kappa=KAPPA, spend=spend, solver=solver)))
    assert chosen == pytest.approx(minimize_scalar(distance, bounds=(-20, 20), method="bounded").fun, rel=1e-6)
    return chosen


@pytest.mark.parametrize(("n", "d", "k", "spend", "solver"), CASES, ids=str)
def test_the_best_clipping_level(n: int, d: int, k: float, spend: Budget, solver: Solver) -> None:
    a = assumption(k, d, G=2.0)
    for m in (1, 64, 5000, n // 100):
        half, whole = (check_best_clip(a, size, spend, solver) for size in (m, 2 * m))
        assert whole <= half <= 2 * whole * (1 + 1e-9)


@pytest.mark.parametrize(("n", "d", "k", "spend", "solver"), CASES, ids=str)
def test_the_best_clipping_level_of_huge_batches(n: int, d: int, k: float, spend: Budget, solver: Solver) -> None:  # noqa: ARG001
    check_best_clip(assumption(k, d, G=2.0), 2**40, spend, solver)


def test_the_bias_of_a_batch_is_rarely_ten_times_its_mean() -> None:
    """Markov's inequality on B: with a law of two points it is attained, so that a tenth cannot be less."""
    k, C, G = 2.0, 3.0, 1.0
    mean = bias_constant(k) * G**k * C ** (1 - k)
    steep = C * math.sqrt(k / (k - 1))
    p = (G / steep) ** k
    assert p * math.sqrt(steep**2 - C**2) == pytest.approx(mean)
    assert p == pytest.approx(mean / math.sqrt(steep**2 - C**2))


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"moment_order": 1.9}, "moment_order = 1.9"),
        ({"moment_order": math.nan}, "moment_order = nan"),
        ({"moment_bound": 0.0}, "moment_bound = 0"),
        ({"dimension": 0}, "dimension = 0"),
        ({"dimension": 1.5}, "dimension = 1.5"),
        ({"reach": -1.0}, "reach = -1"),
        ({"diameter": math.inf}, "diameter = inf"),
        ({"far": 0.0}, "far = 0"),
    ],
)
def test_bad_assumptions(change: dict[str, float], match: str) -> None:
    good = {"moment_order": 2.0, "moment_bound": 1.0, "dimension": 1, "reach": 1.0, "diameter": 2.0, "far": 1.0}
    with pytest.raises(InputError, match=match):
        Assumption(**(good | change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"size": 0}, "size = 0"),
        ({"epsilon": 0.0}, "epsilon = 0"),
        ({"epsilon": None}, "exactly one"),
        ({"kappa": 0.0}, "kappa = 0"),
        ({"failure": 0.0}, "failure = 0"),
        ({"solver": "triple"}, "solver = 'triple'"),
        ({"most_phases": -1}, "most_phases = -1"),
    ],
)
def test_bad_plans(change: dict[str, object], match: str) -> None:
    good = {"size": 100, "epsilon": 1.0}
    repeated = "failure" in change or "solver" in change
    make = high_probability_plan if repeated else expectation_plan
    with pytest.raises(InputError, match=match):
        make(assumption(), **(good | ({"failure": 0.1} if repeated else {}) | change))  # type: ignore[arg-type]


def test_plans_can_be_written_down() -> None:
    plan = expectation_plan(assumption(), size=500, epsilon=1.0)
    written = json.loads(json.dumps(plan.to_json()))
    assert written["bound"] == plan.bound
    assert written["phases"] == [vars(phase) for phase in plan.phases]
    assert written["claim"]["epsilon"] == 1.0
