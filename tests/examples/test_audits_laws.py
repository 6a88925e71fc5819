"""Laws that audits of other libraries take for theirs: against closed forms and quadrature always, against runs of the libraries
where these are installed.

Distribution functions of runs are compared by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart: one comparison is wrong
with probability at most `FALSE_ALARM`, all of this file together with less than 1e-6.
"""

import importlib.util
import math
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from tailproof.refimpl.claims import gaussian_delta

FOLDER = Path(__file__).resolve().parent.parent.parent / "examples" / "audits"
FALSE_ALARM = 5e-9
RUNS = 3000


def needs(library: str) -> Any:
    return pytest.mark.skipif(importlib.util.find_spec(library) is None, reason=f"{library} is not installed")


def agree(runs: Any, cumulative: Callable[[float], float]) -> None:
    values, counts = np.unique(np.asarray(runs, dtype=np.float64), return_counts=True)
    shares = np.cumsum(counts) / counts.sum()
    slack = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * counts.sum()))
    assert max(abs(share - cumulative(value)) for value, share in zip(values, shares, strict=True)) <= slack


def agree_with_masses(runs: Any, least: int, masses: Any) -> None:
    below = np.cumsum(masses)
    agree(runs, lambda k: float(below[min(max(int(k) - least, -1), len(below) - 1)]) if k >= least else 0.0)


# --- by themselves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("name", ["clamped", "folded", "conditioned", "laplace", "uniform", "staircase", "tulap"])
def test_masses_are_integrals_of_densities(name: str, center: float) -> None:
    laws = import_module("laws_noise")
    more = {"staircase": (1.5, 0.8, 0.3), "tulap": (0.8, 0.05), "laplace": (0.6,), "uniform": (0.6,)}
    law = getattr(laws, name)(center, *more.get(name, (0.6, 0.0, 2.0)))
    for low, high in ((0.3, 1.1), (-0.4, 1.9), (center, 4.0)):
        inside = [c for c in law.corners if low < c < high]
        found = quad(lambda x: math.exp(law.log_density(x)), low, high, points=inside or None, limit=500)[0]
        assert law.below(high) - law.below(low) == pytest.approx(found, abs=1e-7)
    assert law.cumulative(1e6) == pytest.approx(1.0)


def test_losses_and_profiles_of_known_pairs() -> None:
    """Laplace: 1 − e^{(ε − 1)/2}; randomised response behind two atoms; the reflected law has a smaller loss than the whole."""
    laws = import_module("laws_noise")
    p, q = laws.laplace(0.0, 1.0), laws.laplace(1.0, 1.0)
    assert laws.largest_loss(p, q) == pytest.approx(1.0)
    for epsilon in (0.0, 0.3, 0.9, 1.1):
        assert laws.profile(p, q, epsilon) == pytest.approx(max(0.0, -math.expm1((epsilon - 1) / 2)), abs=1e-12)
    assert laws.epsilon_at(lambda e: laws.profile(p, q, e), 0.1) == pytest.approx(1 + 2 * math.log(0.9), rel=1e-5)
    atoms = [laws.clamped(v, 1.0, 0.0, 1e-9) for v in (0.0, 1.0)]
    assert laws.profile(*atoms, 0.0) == pytest.approx(0.5 - math.exp(-1) / 2, rel=1e-6)
    assert laws.largest_loss(laws.folded(0.0, 1.0, 0.0, 2.0), laws.folded(1.0, 1.0, 0.0, 2.0)) < 1.0
    assert laws.largest_loss(laws.uniform(0.0, 1.0), laws.uniform(0.5, 1.0)) == math.inf
    assert laws.profile(laws.uniform(0.0, 1.0), laws.uniform(0.5, 1.0), 0.0) == pytest.approx(0.25)
    stairs = [laws.staircase(v, 2.0, 0.7, 0.3) for v in (0.0, 2.0)]
    assert laws.largest_loss(*stairs) == pytest.approx(0.7)
    tulaps = [laws.tulap(v, 0.5, 0.01) for v in (0.0, 1.0)]
    assert laws.profile(*tulaps, 0.5) == pytest.approx(0.01)


def test_snapping_rounds_to_the_grid() -> None:
    laws = import_module("laws_noise")
    law = laws.snapped(0.3, 1.0, 1.0, 2.5)
    assert sorted(law.atoms) == [-2.5, -2.0, -1.0, 0.0, 1.0, 2.0, 2.5]
    assert math.fsum(law.atoms.values()) == pytest.approx(1.0)
    assert law.atoms[1.0] == pytest.approx((math.exp(-0.2) - math.exp(-1.2)) / 2)
    assert law.atoms[2.5] == pytest.approx(math.exp(-2.2) / 2)


def test_choices_against_enumeration() -> None:
    """Permute-and-flip: over all orders; a sequence of choices: one after another."""
    laws = import_module("laws_noise")
    flips = [1.0, 0.4, 0.7, 0.1]
    found = np.zeros(4)
    for order in permutations(range(4)):
        left = 1 / 24
        for i in order:
            found[i] += left * flips[i]
            left *= 1 - flips[i]
    np.testing.assert_allclose(laws.permute_and_flip(flips), found, atol=1e-15)
    weights = [1.0, 3.0, 0.5]
    chosen = laws.in_order(np.log(weights), 2, laws.softmax)
    expected = [weights[i] / 4.5 * weights[j] / (4.5 - weights[i]) for i, j in permutations(range(3), 2)]
    np.testing.assert_allclose(chosen, expected)
    assert laws.array_rho(laws.softmax([0.0, 1.0]), laws.softmax([1.0, 0.0])) <= 0.5


def test_discrete_laws_sum_to_one() -> None:
    laws = import_module("laws_noise")
    masses = laws.geometric(3, 0.5, -200, 200)
    assert masses.sum() == pytest.approx(1.0)
    assert laws.discrete_gaussian(1, 2.5, -60, 60).sum() == pytest.approx(1.0)
    inside = laws.moved(masses, -200, lambda k: round(laws.fold(k, -0.5, 4.5)), 0, 4)
    assert inside.sum() == pytest.approx(1.0)
    assert [laws.fold(k, 0, 2) for k in (-3, -1, 0, 2, 3, 7)] == [1, 1, 0, 2, 1, 1]


def test_mixtures_of_gaussians() -> None:
    """One part is the known formula; more parts, quadrature; copies, a lower bound that is close for one Gaussian after another."""
    laws = import_module("laws_noise")
    plain: Any = (((1.0, 0.0),), ((1.0, 1.0),))
    for sigma, epsilon in product((0.5, 2.0), (0.1, 1.0)):
        assert laws.mixture_profile(*plain, sigma, epsilon) == pytest.approx(gaussian_delta(1 / sigma, epsilon), rel=1e-8)
    mixed, zero = ((0.7, 0.0), (0.2, 1.0), (0.1, 2.0)), ((1.0, 0.0),)

    def density(side: Any) -> Callable[[Any], Any]:
        return lambda x: sum(w * np.exp(-((x - m) ** 2) / 2) for w, m in side) / math.sqrt(2 * math.pi)

    at = np.linspace(-30, 30, 400_001)
    for p, q in ((mixed, zero), (zero, mixed)):
        found = laws.by_quadrature(density(p), density(q), at, 0.1)
        assert laws.mixture_profile(p, q, 1.0, 0.1) == pytest.approx(found, rel=1e-6)
    for times in (1, 4):
        exact = gaussian_delta(math.sqrt(times) / 2, 1.0)
        assert 0.97 * exact <= laws.composed_mixtures(*plain, 2.0, 1.0, times) <= exact
    exact = -math.expm1((0.5 - 1) / 2)
    assert 0.99 * exact <= laws.composed_laplace(1.0, 0.5, 1) <= exact * (1 + 1e-9)


def test_the_best_of_runs_has_the_law_of_a_largest_value() -> None:
    """G' of the number of runs integrates to P(at least one)."""
    accounting = import_module("laws_accounting")
    for shape, mean in product((1.0, 0.0, math.inf), (2.0, 20.0)):
        total = quad(lambda z, s=shape, m=mean: float(accounting.slope(s, m, np.array(z))), 0, 1, limit=200)[0]
        assert total == pytest.approx(1 - math.exp(-mean) if math.isinf(shape) else 1.0, rel=1e-6)
        assert float(accounting.slope(shape, mean, np.array(1.0))) == pytest.approx(mean, rel=1e-6)


def test_truncated_samples_and_sums_that_saturate() -> None:
    """At most so many are kept; of two low and two high numbers in random order the sum is one of a few."""
    accounting, opendp = import_module("laws_accounting"), import_module("laws_opendp")
    law = accounting.truncated_law(0.5, 1, 1, 1.0)
    assert law == {0: 0.25, -1.0: 0.375, 1.0: 0.375}
    found = opendp.saturating_sums()
    assert math.fsum(found.values()) == pytest.approx(1.0)
    rng, counts = np.random.default_rng(0), Counter[int]()
    records = [opendp.LOW] * opendp.MANY + [opendp.HIGH] * opendp.MANY
    for _ in range(2000):
        total = 0
        for value in rng.permutation(records).tolist():
            total = min(max(total + value, -(2**31)), 2**31 - 1)
        counts[total] += 1
    ordered = sorted(found)
    below = dict(zip(ordered, np.cumsum([found[k] for k in ordered]), strict=True))
    assert set(counts) <= set(found)
    agree([k for k, many in counts.items() for _ in range(many)], below.__getitem__)


def test_utilities_that_agree_for_half_of_epsilon() -> None:
    calibration = import_module("cases_calibration")
    for epsilon in (1.0, 5.0):
        sums, squares = Counter[str](), Counter[str]()
        for first, second, utility in calibration.tuned(epsilon):
            assert 0 < utility <= 1 + 1e-12
            for value in (first, second):
                sums[value] += math.exp(-epsilon * utility / 2)  # type: ignore[assignment]
                squares[value] += math.exp(-epsilon * utility)  # type: ignore[assignment]
        assert max(sums.values()) - min(sums.values()) < 1e-12
        assert max(squares.values()) - min(squares.values()) > 0.01


def test_rows_have_names_of_their_own() -> None:
    for name in ("cases_calibration", "cases_opendp", "cases_accounting"):
        keys = [case.key for case in import_module(name).cases()]
        assert len(set(keys)) == len(keys) >= 30


# --- diffprivlib ------------------------------------------------------------------------------------------------------------


BOUNDS = {"lower": -0.5, "upper": 1.5}
LINES: list[tuple[str, float, dict[str, Any]]] = [
    ("Laplace", 0.7, {"epsilon": 1.0, "delta": 0.3, "sensitivity": 0.6}),
    ("LaplaceTruncated", 1.4, {"epsilon": 1.0, "delta": 0.3, "sensitivity": 0.6, **BOUNDS}),
    ("LaplaceFolded", 1.4, {"epsilon": 0.4, "sensitivity": 0.6, **BOUNDS}),
    ("LaplaceBoundedDomain", 1.4, {"epsilon": 1.0, "sensitivity": 0.6, **BOUNDS}),
    ("LaplaceBoundedDomain", -0.5, {"epsilon": 1.0, "delta": 0.1, "sensitivity": 2.0, **BOUNDS}),
    ("LaplaceBoundedNoise", 0.7, {"epsilon": 1.0, "delta": 0.1, "sensitivity": 0.6}),
    ("Staircase", 0.7, {"epsilon": 1.0, "sensitivity": 0.6, "gamma": 0.3}),
    ("Staircase", 0.7, {"epsilon": 2.0, "sensitivity": 0.6}),
    ("Uniform", 0.7, {"delta": 0.1, "sensitivity": 0.6}),
    ("Snapping", 0.7, {"epsilon": 1.0, "sensitivity": 0.6, **BOUNDS}),
    ("Snapping", 3.0, {"epsilon": 2.0, "sensitivity": 0.6, "lower": -4.0, "upper": 3.0}),
]


@needs("diffprivlib")
@pytest.mark.parametrize(("name", "value", "settings"), LINES)
def test_noise_of_diffprivlib_on_the_line(name: str, value: float, settings: dict[str, Any]) -> None:
    calibration = import_module("cases_calibration")
    mechanism = calibration.made(name, **settings)
    law = calibration.line(name, value, **settings)
    agree([mechanism.randomise(value) + 1e-12 * bool(law.atoms) for _ in range(RUNS)], law.cumulative)


WHOLE: list[tuple[str, int, dict[str, Any]]] = [
    ("Geometric", 2, {"epsilon": 1.0, "sensitivity": 2}),
    ("GeometricTruncated", 4, {"epsilon": 1.0, "sensitivity": 3, "lower": 0, "upper": 4}),
    ("GeometricFolded", 4, {"epsilon": 0.5, "sensitivity": 3, "lower": -0.5, "upper": 4.5}),
    ("GeometricFolded", 0, {"epsilon": 0.5, "sensitivity": 3, "lower": 0, "upper": 4}),
    ("GaussianDiscrete", 2, {"epsilon": 1.0, "delta": 0.1, "sensitivity": 3}),
]


@needs("diffprivlib")
@pytest.mark.parametrize(("name", "value", "settings"), WHOLE)
def test_integers_of_diffprivlib(name: str, value: int, settings: dict[str, Any]) -> None:
    calibration = import_module("cases_calibration")
    mechanism = calibration.made(name, **settings)
    agree_with_masses([mechanism.randomise(value) for _ in range(RUNS)], *calibration.whole(name, value, 200, **settings))


@needs("diffprivlib")
@pytest.mark.parametrize("name", ["Gaussian", "GaussianAnalytic"])
def test_gaussians_of_diffprivlib(name: str) -> None:
    mechanism = import_module("cases_calibration").made(name, epsilon=0.8, delta=0.01, sensitivity=2.0)
    runs = [mechanism.randomise(1.0) for _ in range(RUNS)]
    agree(runs, lambda x: (1 + math.erf((x - 1.0) / mechanism._scale / math.sqrt(2))) / 2)


@needs("diffprivlib")
def test_choices_of_diffprivlib() -> None:
    calibration = import_module("cases_calibration")
    settings = {"epsilon": 1.5, "sensitivity": 0.5, "utility": [0.2, 1.0, 0.7]}
    for name, more in (("Exponential", {"measure": [0.5, 1.0, 3.0]}), ("PermuteAndFlip", {"monotonic": True})):
        mechanism = calibration.made(name, **settings, **more)
        agree_with_masses([mechanism.randomise() for _ in range(RUNS)], 0, calibration.chances(name, **settings, **more))
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("ExponentialCategorical", {"epsilon": 1.0, "utility_list": calibration.UTILITIES}),
        ("ExponentialHierarchical", {"epsilon": calibration.TWICE_HEIGHT, "hierarchy": calibration.HIERARCHY}),
    ]
    for name, given in kinds:
        mechanism, rows = calibration.made(name, **given), calibration.categories(name, **given)
        values = list(rows)
        for value in values[:2]:
            agree_with_masses([values.index(mechanism.randomise(value)) for _ in range(RUNS)], 0, rows[value])
    binary = calibration.made("Binary", epsilon=1.0, value0="no", value1="yes")
    agree_with_masses([binary.randomise("no") == "yes" for _ in range(RUNS)], 0, [1 / (1 + math.exp(-1)), 1 / (1 + math.e)])


# --- opendp -----------------------------------------------------------------------------------------------------------------


@needs("opendp")
def test_noise_of_opendp() -> None:
    """Integers; floats on a coarse grid, with a value that is rounded; integers inside of bounds; canonical noise."""
    laws, opendp = import_module("laws_noise"), import_module("laws_opendp")
    laplace = opendp.noise("make_laplace", int, scale=2.0)()
    agree_with_masses([laplace(3) for _ in range(RUNS)], -90, laws.geometric(3, 0.5, -90, 90))
    coarse = opendp.noise("make_laplace", float, scale=2.0, k=1)()
    for value in (2.9, -3.1):
        middle = round(opendp.on_grid(value, 1) / 2)
        agree_with_masses([coarse(value) / 2 for _ in range(RUNS)], -60, laws.geometric(middle, 1.0, -60, 60))
    gaussian = opendp.noise("make_gaussian", int, scale=1.5)()
    agree_with_masses([gaussian(-2) for _ in range(RUNS)], -40, laws.discrete_gaussian(-2, 1.5, -40, 40))
    wide = opendp.noise("make_gaussian", float, scale=3.0, k=0)()
    agree_with_masses([wide(0.4) for _ in range(RUNS)], -60, laws.discrete_gaussian(0, 3.0, -60, 60))
    inside = opendp.noise("make_geometric", int, scale=2.0, bounds=(0, 3))()
    agree_with_masses([inside(1) for _ in range(RUNS)], 0, opendp.clamped_geometric(1, 2.0, 3))
    for epsilon, delta in ((1.0, 0.1), (0.5, 1e-3)):
        canonical = opendp.noise("make_canonical_noise", float, d_in=1.0, d_out=(epsilon, delta))()
        agree([canonical(0.25) for _ in range(RUNS)], laws.tulap(0.25, epsilon, delta).cumulative)


@needs("opendp")
@pytest.mark.parametrize("concentrated", [False, True])
@pytest.mark.parametrize("negate", [False, True])
def test_choices_of_opendp(concentrated: bool, negate: bool) -> None:
    laws, opendp = import_module("laws_noise"), import_module("laws_opendp")
    law = laws.softmax if concentrated else laws.flip_choice
    scores, sign = [1, -1, 0], -1 if negate else 1
    scaled = [sign * s / 1.5 for s in scores]
    best = opendp.selector("make_noisy_max", 1.5, concentrated=concentrated, negate=negate)
    agree_with_masses([best(scores) for _ in range(RUNS)], 0, law(scaled))
    top = opendp.selector("make_noisy_top_k", 1.5, concentrated=concentrated, negate=negate, k=2)
    orders = list(permutations(range(3), 2))
    agree_with_masses([orders.index(tuple(top(scores))) for _ in range(RUNS)], 0, laws.in_order(scaled, 2, law))


@needs("opendp")
@pytest.mark.parametrize("alpha", [0.25, 0.9])
def test_quantiles_of_opendp(alpha: float) -> None:
    laws, opendp = import_module("laws_noise"), import_module("laws_opendp")
    dp, data = opendp.prelude(), [-1.0, 0.25, 0.25, 0.5, 0.75, 2.0]
    for size, (measure, law) in product(
        (None, 6), ((dp.max_divergence(), laws.flip_choice), (dp.zero_concentrated_divergence(), laws.softmax))
    ):
        candidates = list(opendp.CANDIDATES)
        space = opendp.vectors(float, size=size), dp.symmetric_distance()
        made = dp.m.make_private_quantile(*space, measure, candidates, alpha, 1.5)
        expected = law([-s / 1.5 for s in opendp.quantile_scores(data, alpha)])
        agree_with_masses([candidates.index(made(data)) for _ in range(RUNS)], 0, expected)


def tries(stop: float) -> int:
    """How often a candidate is asked for whose score is never enough."""
    dp, calls = import_module("laws_opendp").prelude(), []
    scored = dp.m.make_user_measurement(
        dp.atom_domain(T=float, nan=False),
        dp.absolute_distance(T=float),
        dp.max_divergence(),
        lambda x: calls.append(x) or (x, "candidate"),  # type: ignore[func-returns-value]
        lambda d: d,
        TO="(f64, ExtrinsicObject)",
    )
    dp.c.make_select_private_candidate(scored, stop_probability=stop, threshold=1.0)(0.0)
    return len(calls)


@needs("opendp")
def test_answers_thresholds_and_candidates_of_opendp() -> None:
    opendp = import_module("laws_opendp")
    dp = opendp.prelude()
    answer = dp.m.make_randomized_response([0, 1, 2], prob=0.7)
    agree_with_masses([answer(1) for _ in range(RUNS)], 0, [0.15, 0.7, 0.15])
    bits = import_module("cases_opendp").noisy_bits()
    agree_with_masses([bits(b"\x01")[0] & 1 for _ in range(RUNS)], 0, [0.25, 0.75])
    for name in ("make_laplace_threshold", "make_gaussian_threshold"):
        made, chance = opendp.threshold_measure(name, int, 1.0, 2), opendp.released(name, 1.0, 2)
        agree_with_masses(["a" in made({"a": 1}) for _ in range(RUNS)], 0, [1 - chance, chance])
    agree_with_masses(
        [tries(0.5) for _ in range(RUNS)], 1, opendp.going_on(0.5) ** np.arange(60) * (1 - opendp.going_on(0.5))
    )
    picked = import_module("cases_opendp").selecting()  # scores with Laplace noise of scale 2, threshold 1/2, stop 0.1
    rate = math.exp(-0.25) / 2
    chance = rate / (1 - opendp.going_on(0.1) * (1 - rate))
    agree_with_masses([picked(0.0) is not None for _ in range(RUNS)], 0, [1 - chance, chance])


# --- dp-accounting ----------------------------------------------------------------------------------------------------------


@needs("dp_accounting")
def test_events_that_are_composed_are_not_counted_only_where_they_should() -> None:
    """The rows that are violated, and one beside each that is not."""
    accounting = import_module("laws_accounting")
    exact, said = accounting.responses_counted("PLD", 5)
    assert said < 1.01 < 4.9 < exact
    exact, said = accounting.responses_counted("RDP", 5)
    assert exact <= said
    exact, said = accounting.without_replacement(0.9, 2.0, 1e-5)
    assert said < 2.3 < 3.5 < exact
    assert import_module("laws_noise").worst(accounting.our_rho()) <= 1
    assert import_module("laws_noise").worst(accounting.our_scales()) <= 1 + 1e-9
    assert import_module("laws_noise").worst(iter([(1.0, 2.0), (0.0, 0.0)])) == 0.5
    assert import_module("laws_noise").worst(iter([(1.0, 0.0)])) == math.inf
