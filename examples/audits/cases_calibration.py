"""diffprivlib: what its mechanisms compute from ε, δ and the sensitivity, against exact privacy losses.

A mechanism is built, its scale or its probabilities are read from it, and the law of its output is written down from its
source (`laws_noise.py`; a test compares each law with runs).  Most rows take the worst of several ε, sensitivities and
bounds: they give the largest loss, or the exact ε at the δ that is claimed, divided by the ε that is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import combinations, product
from typing import Any

import laws_noise as laws
import numpy as np
from harness import Case, at_most, exactly
from laws_noise import Array, Line

from tailproof.refimpl.claims import ApproxDP, PureDP, gaussian_epsilon

EPSILONS = (0.1, 1.0, 5.0)
DELTAS = (1e-3, 1e-6)
SENSITIVITIES = (0.1, 1.0, 10.0)
WHOLE = (1, 3, 10)
GRID = "ε = 0.1, 1, 5"
BOTH = f"{GRID}, δ = 0.001, 1e-06"


def made(name: str, **settings: Any) -> Any:
    return getattr(import_module("diffprivlib.mechanisms"), name)(random_state=0, **settings)


# --- laws, from what the mechanisms computed -------------------------------------------------------------------------------


def laplace_scale(mechanism: Any) -> float:
    """As in `randomise`."""
    return float(mechanism.sensitivity / (mechanism.epsilon - np.log(1 - mechanism.delta)))


def line(name: str, value: float, **settings: Any) -> Line:
    """The law of randomise(value)."""
    one = made(name, **settings)
    if name == "Laplace":
        return laws.laplace(value, laplace_scale(one))
    if name == "LaplaceTruncated":
        return laws.clamped(value, laplace_scale(one), one.lower, one.upper)
    if name == "LaplaceFolded":
        return laws.folded(value, laplace_scale(one), one.lower, one.upper)
    if name == "LaplaceBoundedDomain":
        return laws.conditioned(value, float(one._find_scale()), one.lower, one.upper)
    if name == "LaplaceBoundedNoise":
        one.randomise(value)  # computes them
        return laws.conditioned(value, one._scale, value - one._noise_bound, value + one._noise_bound)
    if name == "Uniform":
        return laws.uniform(value, one.sensitivity / one.delta / 2)
    if name == "Staircase":
        return laws.staircase(value, one.sensitivity, one.epsilon, one.gamma)
    assert name == "Snapping", name
    scale = 1 / one.effective_epsilon()
    center = one._scale_and_offset_value(value)
    scaled = laws.snapped(center, scale, one._get_nearest_power_of_2(scale), one._bound)
    return Line(
        tuple(map(one._reverse_scale_and_offset_value, scaled.corners)),
        scaled.below,
        scaled.log_density,
        {one._reverse_scale_and_offset_value(place): mass for place, mass in scaled.atoms.items()},
    )


def whole(name: str, value: int, reach: int, **settings: Any) -> tuple[int, Array]:
    """(least outcome, masses); without bounds those of the integers up to `reach` from 0."""
    one = made(name, **settings)
    if name == "GaussianDiscrete":
        return -reach, laws.discrete_gaussian(value, one._scale, -reach, reach)
    masses = laws.geometric(value, -one._scale, -reach, reach)
    if name == "Geometric":
        return -reach, masses
    least, most = math.ceil(one.lower), math.floor(one.upper)
    if name == "GeometricTruncated":
        return least, laws.moved(masses, -reach, lambda k: min(max(k, least), most), least, most)
    return least, laws.moved(masses, -reach, lambda k: round(laws.fold(k, one.lower, one.upper)), least, most)


def chances(name: str, **settings: Any) -> Array:
    """Of the candidates."""
    found = made(name, **settings)._probabilities
    return laws.permute_and_flip(np.exp(found)) if name == "PermuteAndFlip" else np.diff(found, prepend=0.0)


def categories(name: str, **settings: Any) -> dict[str, Array]:
    """The law of the output for each value."""
    one = made(name, **settings)
    values = list(one._normalising_constant)
    rows = {here: np.array([one._get_prob(here, there) for there in values]) for here in values}
    return {here: row / one._normalising_constant[here] for here, row in rows.items()}


# --- the worst of several settings -----------------------------------------------------------------------------------------


def places(lower: float, upper: float, distance: float) -> list[tuple[float, float]]:
    """Pairs at this distance, or at the ends of what is narrower: at a bound, at the other, and in the middle."""
    if upper - lower <= distance:
        return [(lower, upper)]
    middle = (lower + upper - distance) / 2
    return [(lower, lower + distance), (middle, middle + distance), (upper - distance, upper)]


def widths(name: str, distance: float) -> list[tuple[float, float] | None]:
    """Bounds, also bad ones."""
    if name in ("Laplace", "LaplaceBoundedNoise", "Staircase", "Uniform"):
        return [None]
    narrow = [] if name == "LaplaceBoundedDomain" else [(0.0, distance / 2)]
    return [*narrow, (0.0, distance), (-distance, distance), (5.0, 5.0 + 10 * distance), (-50 * distance, 0.0)]


def line_pairs(name: str, distance: float, **settings: Any) -> Iterator[tuple[Line, Line]]:
    for bounds in widths(name, distance):
        given = settings | {"sensitivity": distance} | ({} if bounds is None else {"lower": bounds[0], "upper": bounds[1]})
        for first, second in [(0.0, distance)] if bounds is None else places(*bounds, distance):
            laws_of = line(name, first, **given), line(name, second, **given)
            yield laws_of
            yield laws_of[::-1]


def worst_on_line(name: str, **more: Any) -> float:
    """The largest loss over ε."""
    return max(
        laws.largest_loss(p, q) / epsilon
        for epsilon, distance in product(EPSILONS, SENSITIVITIES)
        for p, q in line_pairs(name, distance, epsilon=epsilon, **more)
    )


def worst_at_delta(name: str) -> float:
    """The exact ε at the δ that is claimed, over the ε that is claimed."""
    return max(
        laws.epsilon_at(lambda e, p=p, q=q: laws.profile(p, q, e), delta) / epsilon
        for epsilon, delta, distance in product(EPSILONS, DELTAS, SENSITIVITIES)
        for p, q in line_pairs(name, distance, epsilon=epsilon, delta=delta)
    )


def integer_pairs(name: str, distance: int, reach: int, **settings: Any) -> Iterator[tuple[Array, Array]]:
    bounds: list[tuple[float, float] | None] = [None]
    if name == "GeometricTruncated":
        bounds = [(0, distance), (-2, 5 * distance), (0, 1)]
    elif name == "GeometricFolded":
        bounds = [(0, distance), (-0.5, distance + 0.5), (-2, 5 * distance + 0.5), (0, 1)]
    for one in bounds:
        given = settings | {"sensitivity": distance} | ({} if one is None else {"lower": one[0], "upper": one[1]})
        low = 0 if one is None else math.ceil(one[0])
        for shift in range(1, distance + 1) if name == "GaussianDiscrete" else [distance]:
            first, second = (whole(name, value, reach, **given)[1] for value in (low, low + shift))
            yield first, second
            yield second, first


def worst_of_integers(name: str) -> float:
    return max(
        laws.array_loss(p, q) / epsilon
        for epsilon, distance in product(EPSILONS, WHOLE)
        for p, q in integer_pairs(name, distance, math.ceil(40 * distance / epsilon) + 5 * distance, epsilon=epsilon)
    )


def worst_discrete_gaussian() -> float:
    found = []
    for epsilon, delta, distance in product(EPSILONS, DELTAS, WHOLE):
        reach = (
            math.ceil(15 * made("GaussianDiscrete", epsilon=epsilon, delta=delta, sensitivity=distance)._scale) + distance
        )
        for p, q in integer_pairs("GaussianDiscrete", distance, reach, epsilon=epsilon, delta=delta):
            exact = laws.epsilon_at(lambda e, p=p, q=q: laws.array_profile(p, q, e), delta, highest=50.0)
            found.append(exact / epsilon)
    return max(found)


def worst_gaussian(name: str, epsilons: Iterable[float]) -> float:
    return max(
        gaussian_epsilon(d / made(name, epsilon=e, delta=delta, sensitivity=d)._scale, delta) / e
        for e, delta, d in product(epsilons, DELTAS, SENSITIVITIES)
    )


def analytic(epsilon: float, delta: float) -> float:
    """The exact ε at this δ."""
    return gaussian_epsilon(1 / made("GaussianAnalytic", epsilon=epsilon, delta=delta, sensitivity=1)._scale, delta)


def worst_uniform() -> float:
    """δ over the δ that is claimed."""
    return max(
        laws.profile(p, q, 0.0) / delta
        for delta, distance in product((0.5, *DELTAS), SENSITIVITIES)
        for p, q in line_pairs("Uniform", distance, delta=delta)
    )


def worst_choice(name: str, *, monotonic: bool) -> float:
    """Three candidates; every utility moves by at most the sensitivity, or none goes down."""
    found = []
    moves = (0, 1) if monotonic else (-1, 0, 1)
    for epsilon, distance in product(EPSILONS, SENSITIVITIES):
        more: list[dict[str, Any]] = [{}] if name == "PermuteAndFlip" else [{}, {"measure": [0.5, 1.0, 3.0]}]
        for base, move, extra in product(product((2, 3, 6), repeat=3), product(moves, repeat=3), more):
            settings = {"epsilon": epsilon, "sensitivity": distance, "monotonic": monotonic} | extra
            first = [distance * level for level in base]
            second = [distance * (level + step) for level, step in zip(base, move, strict=True)]
            p, q = chances(name, utility=first, **settings), chances(name, utility=second, **settings)
            found.append(max(laws.array_loss(p, q), laws.array_loss(q, p)) / epsilon)
    return max(found)


def worst_category(name: str, epsilon: float, **settings: Any) -> float:
    """The largest loss over pairs of values."""
    rows = categories(name, epsilon=epsilon, **settings).values()
    return max(laws.array_loss(p, q) for a, b in combinations(rows, 2) for p, q in ((a, b), (b, a)))


def binary() -> float:
    """`Binary` keeps the value with probability e^ε/(1 + e^ε)."""
    kept = {e: math.exp(made("Binary", epsilon=e, value0="no", value1="yes").epsilon) for e in EPSILONS}
    return max(math.log(factor) / e for e, factor in kept.items())


# --- categories whose constants agree for ε/2, and not for ε ---------------------------------------------------------------


def tuned(epsilon: float, least: float = 0.01) -> list[tuple[str, str, float]]:
    """Utilities of six values, from `least` to 1: with x = exp(−ε·utility/2) every value has the same Σx, but not the same
    Σx²."""
    low, high = math.exp(-epsilon / 2), math.exp(-epsilon * least / 2)
    middle, between = (low + high) / 2, (high + 3 * low) / 4
    x = {("a", "b"): low, ("c", "d"): low, ("e", "f"): high}
    x |= {("a", other): middle for other in "cdef"}
    x |= {("b", other): high for other in "cd"} | {("b", other): low for other in "ef"}
    x |= {(one, other): between for one in "cd" for other in "ef"}
    return [(*pair, -2 * math.log(value) / epsilon) for pair, value in x.items()]


HIERARCHY = [[[letter] for letter in "abcdef"], [["g", "h"], ["i", "j"]]]
TWICE_HEIGHT = 6 * math.log(2)  # an ε for which 1 + 5x² + 4x³ = 1 + x + 2x² + 6x³, x = exp(−ε/6)
UTILITIES = [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 0.5)]
NESTED = [[["a"], ["b", "c"]], [["d"], ["e", "f"]], [["g"], ["h"]]]


# --- cases -----------------------------------------------------------------------------------------------------------------


def _ratio(subject: str, setting: str, ratio: Callable[[], float], witness: str, **more: str) -> Case:
    stated = more.pop("stated", "loss/ε ≤ 1")
    name, row = f"mechanisms.{subject}", f"calibration, {setting}"
    return Case("diffprivlib", name, row, PureDP(1.0), exactly(ratio), witness, stated=stated, **more)


def cases() -> list[Case]:
    one, at_delta = "values at the distance of the sensitivity", "ε at δ/ε ≤ 1"
    never = "with bounds nearer than the sensitivity the scale is NaN, and it never returns"
    both, whole_numbers = "sensitivity 0.1, 1, 10", "sensitivity 1, 3, 10"
    found = [
        _ratio("Laplace", f"{GRID}, {both}", lambda: worst_on_line("Laplace"), one),
        *(
            _ratio(
                name,
                f"{GRID}, {both}, five bounds",
                lambda n=name: worst_on_line(n),
                f"{one}, at the bounds and between",
                note=never if name == "LaplaceBoundedDomain" else "",
            )
            for name in ("LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain", "Snapping")
        ),
        *(
            _ratio("Staircase", f"{GRID}, γ = {gamma:g}", lambda g=gamma: worst_on_line("Staircase", gamma=g), one)
            for gamma in (0.1, 0.5)
        ),
        *(
            _ratio(name, f"{GRID}, {whole_numbers}", lambda n=name: worst_of_integers(n), one)
            for name in ("Geometric", "GeometricTruncated", "GeometricFolded")
        ),
        _ratio("Binary", GRID, binary, "no and yes"),
        *(
            _ratio(
                name,
                f"{GRID}, three candidates{', monotonic' if monotonic else ''}",
                lambda n=name, m=monotonic: worst_choice(n, monotonic=m),
                "all utilities move by at most the sensitivity" if not monotonic else "utilities rise by at most it",
            )
            for name, monotonic in product(("Exponential", "PermuteAndFlip"), (False, True))
        ),
        _ratio(
            "ExponentialCategorical",
            f"{GRID}, utilities 1, 2, 0.5",
            lambda: max(worst_category("ExponentialCategorical", e, utility_list=UTILITIES) / e for e in EPSILONS),
            "all pairs of three values",
        ),
        _ratio(
            "ExponentialHierarchical",
            f"{GRID}, eight leaves",
            lambda: max(worst_category("ExponentialHierarchical", e, hierarchy=NESTED) / e for e in EPSILONS),
            "all pairs of leaves",
        ),
        *(
            _ratio(name, f"{BOTH}, {both}", lambda n=name: worst_at_delta(n), one, stated=at_delta)
            for name in ("Laplace", "LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain", "LaplaceBoundedNoise")
        ),
        _ratio(
            "Gaussian",
            f"ε = 0.1, 1, δ = 0.001, 1e-06, {both}",
            lambda: worst_gaussian("Gaussian", (0.1, 1.0)),
            one,
            stated=at_delta,
        ),
        _ratio(
            "GaussianAnalytic",
            f"{BOTH}, {both}",
            lambda: worst_gaussian("GaussianAnalytic", EPSILONS),
            one,
            stated=at_delta,
        ),
        _ratio("GaussianDiscrete", f"{BOTH}, {whole_numbers}", worst_discrete_gaussian, one, stated=at_delta),
        Case(
            "diffprivlib",
            "mechanisms.Uniform",
            f"calibration, δ = 0.5, 0.001, 1e-06, {both}",
            PureDP(1.0),
            at_most(worst_uniform, lambda: 1.0),
            one,
            stated="δ/claimed ≤ 1",
        ),
    ]
    return found + violated_ones()


def violated_ones() -> list[Case]:
    found = []
    for epsilon, delta in ((20.0, 1e-9), (14.0, 1e-12), (10.0, 1e-14), (1.0, 1e-18)):
        found.append(
            Case(
                "diffprivlib",
                "mechanisms.GaussianAnalytic",
                f"calibration, ε = {epsilon:g}, δ = {delta:g}",
                ApproxDP(epsilon, delta),
                exactly(lambda e=epsilon, d=delta: analytic(e, d)),
                "ε at its σ and this δ",
                script="diffprivlib_gaussian_analytic.py",
                note="1 + erf of a negative number has no digits left; ε up to 5 with δ from 1e-06 are right",
            )
        )
    for epsilon in (1.0, 5.0):
        found.append(
            Case(
                "diffprivlib",
                "mechanisms.ExponentialCategorical",
                f"calibration, six values, ε = {epsilon:g}",
                PureDP(epsilon),
                exactly(lambda e=epsilon: worst_category("ExponentialCategorical", e, utility_list=tuned(e))),
                "utilities for which the constants agree at ε/2",
                script="diffprivlib_exponential_categorical.py",
                note="no factor 2 where constants agree for ε/2, but then they must agree for ε; utilities made for it",
            )
        )
    found.append(
        Case(
            "diffprivlib",
            "mechanisms.ExponentialHierarchical",
            "calibration, six branches of one leaf beside two of two, ε = 6·ln 2",
            PureDP(TWICE_HEIGHT),
            exactly(lambda: worst_category("ExponentialHierarchical", TWICE_HEIGHT, hierarchy=HIERARCHY)),
            "leaves of either kind",
            script="diffprivlib_exponential_categorical.py",
            note="no factor 2 where constants agree for ε/2, but then they must agree for ε; true for this ε alone",
        )
    )
    return found
