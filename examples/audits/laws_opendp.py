"""opendp: exact losses of measurements, transformations and combinators, over what their maps say.

Laws are those of the documentation and of the papers it cites, compared with runs in tests: values are rounded to multiples of 2^k
and get discrete noise; noisy maxima are permute-and-flip for pure privacy and Gumbel's for zCDP, one after another.  Behind a
transformation stands Laplace noise, the loss of which is a distance over a scale: what is computed is how far outputs are apart,
over pairs searched for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import product
from typing import Any

import laws
import laws_noise as exact
import numpy as np
from laws_noise import Array

from tailproof.refimpl.claims import gaussian_epsilon

Make = Callable[[], Any]
Pairs = Callable[[], Iterator[tuple[float, float]]]
SCALES = (0.2, 1.0, 10.0)
UPPER = "loss/map ≤ 1"


def prelude() -> Any:
    library = import_module("opendp.prelude")
    library.enable_features("contrib", "honest-but-curious")
    return library


# --- spaces and measurements -----------------------------------------------------------------------------------------------


def noise(name: str, kind: type, **settings: Any) -> Make:
    """On a number, of sensitivity 1."""

    def make() -> Any:
        dp = prelude()
        domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
        return getattr(dp.m, name)(domain, dp.absolute_distance(T=kind), **settings)

    return make


def noisy_sum() -> Any:
    dp = prelude()
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False))
    return dp.t.make_sum(domain, dp.symmetric_distance()) >> dp.m.then_laplace(scale=1.0)


def noisy_mean() -> Any:
    """Ten records: a replacement moves the mean by a tenth."""
    dp = prelude()
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=10)
    return dp.t.make_mean(domain, dp.symmetric_distance()) >> dp.m.then_laplace(scale=0.1)


def noisy_count() -> Any:
    dp = prelude()
    count = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
    return count >> dp.m.then_laplace(scale=1.0)


def noisy_max() -> Any:
    dp = prelude()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(domain, dp.linf_distance(T=float), dp.max_divergence(), scale=2.0)


def response() -> Any:
    return prelude().m.make_randomized_response_bool(prob=1 / (1 + math.exp(-1.0)))


def vectors(kind: type, *, size: int | None = None) -> Any:
    dp = prelude()
    atom = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=kind)
    return dp.vector_domain(atom, size=size)


def bounded(lower: Any, upper: Any, size: int | None = None) -> Any:
    dp = prelude()
    more = {"nan": False} if isinstance(lower, float) else {}
    return dp.vector_domain(dp.atom_domain(bounds=(lower, upper), **more), size=size)


# --- noise -----------------------------------------------------------------------------------------------------------------


def on_grid(value: float, power: int) -> float:
    """The nearest multiple of 2^power; ties go away from zero, which is one of the ways, and the worst here."""
    steps = math.ldexp(value, -power)
    return math.ldexp(math.copysign(math.floor(abs(steps) + 0.5), steps), power)


POWERS = (-10, -1, 0, 3)


def far_apart(power: int) -> Iterator[tuple[float, float]]:
    """Pairs whose rounded values are further apart than they are."""
    step = math.ldexp(1.0, power)
    yield 0.0, 1.0
    yield 0.49 * step, 1.51 * step
    yield -0.51 * step, 0.51 * step
    yield 1e6 + 0.49 * step, 1e6 + 2.51 * step


def laplace_numbers(kind: type) -> Iterator[tuple[float, float]]:
    for scale, distance in product((0.01, *SCALES, 1e6), (1, 2, 10)):
        yield distance / scale, noise("make_laplace", kind, scale=scale)().map(kind(distance))


def laplace_grid() -> Iterator[tuple[float, float]]:
    for scale, power in product(SCALES, POWERS):
        made = noise("make_laplace", float, scale=scale, k=power)()
        for first, second in far_apart(power):
            yield abs(on_grid(first, power) - on_grid(second, power)) / scale, made.map(abs(first - second))


def gaussian_integers() -> Iterator[tuple[float, float]]:
    for scale, distance in product((0.3, 1.0, 10.0), (1, 2, 5)):
        reach = math.ceil(12 * scale) + distance
        p, q = (exact.discrete_gaussian(value, scale, -reach, reach) for value in (0, distance))
        common = (p > 0) & (q > 0)
        yield exact.array_rho(p[common], q[common]), noise("make_gaussian", int, scale=scale)().map(distance)


def gaussian_grid() -> Iterator[tuple[float, float]]:
    """D_α between shifts by whole steps of discrete Gaussian noise is (shift/σ)²·α/2."""
    for scale, power in product((0.5, 1.0, 10.0), POWERS):
        made = noise("make_gaussian", float, scale=scale, k=power)()
        for first, second in far_apart(power):
            shift = abs(on_grid(first, power) - on_grid(second, power))
            yield (shift / scale) ** 2 / 2, made.map(abs(first - second))


def vector_noise() -> Iterator[tuple[float, float]]:
    """(3, −4) against zero."""
    dp = prelude()
    for scale in SCALES:
        yield 7 / scale, dp.m.make_laplace(vectors(int), dp.l1_distance(T=int), scale=scale).map(7)
        yield 7 / scale, dp.m.make_laplace(vectors(float), dp.l1_distance(T=float), scale=scale).map(7.0)
        yield 12.5 / scale**2, dp.m.make_gaussian(vectors(int), dp.l2_distance(T=float), scale=scale).map(5.0)
        yield 12.5 / scale**2, dp.m.make_gaussian(vectors(float), dp.l2_distance(T=float), scale=scale).map(5.0)


def bounded_geometric() -> Iterator[tuple[float, float]]:
    """Clamped; values at the bounds and beside them."""
    for scale, top in product((0.3, 1.0, 10.0), (1, 2, 5)):
        made = noise("make_geometric", int, scale=scale, bounds=(0, top))()
        for first in range(top):
            p, q = (clamped_geometric(value, scale, top) for value in (first, first + 1))
            yield max(exact.array_loss(p, q), exact.array_loss(q, p)), made.map(1)


def clamped_geometric(value: int, scale: float, top: int) -> Array:
    reach = top + math.ceil(40 * scale)
    return exact.moved(exact.geometric(value, 1 / scale, -reach, reach), -reach, lambda k: min(max(k, 0), top), 0, top)


def canonical() -> Iterator[tuple[float, float]]:
    """The exact ε at the δ of the map."""
    for epsilon, delta, distance in product((0.1, 1.0, 5.0), (1e-3, 0.1), (0.5, 1.0)):
        made = noise("make_canonical_noise", float, d_in=1.0, d_out=(epsilon, delta))()
        p, q = (exact.tulap(value, epsilon, delta) for value in (0.0, distance))
        said = made.map(distance)
        assert said[1] == delta
        yield exact.epsilon_at(lambda e, p=p, q=q: exact.profile(p, q, e), delta), said[0]


# --- answers and choices ---------------------------------------------------------------------------------------------------


def answers() -> Iterator[tuple[float, float]]:
    dp = prelude()
    for truth in (0.5001, 0.7, 0.9, 0.999, 1 - 1e-9):
        yield math.log(truth / (1 - truth)), dp.m.make_randomized_response_bool(prob=truth).map(1)
    for many, truth in product((2, 3, 10), (0.51, 0.9, 0.999)):
        made = dp.m.make_randomized_response(list(range(many)), prob=truth)
        yield math.log(truth * (many - 1) / (1 - truth)), made.map(1)


def bits() -> Iterator[tuple[float, float]]:
    """Vectors of this weight without a common bit: every bit is flipped with chance f/2."""
    dp = prelude()
    for weight, flips in product((1, 4, 100), (0.01, 0.5, 0.99)):
        made = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=weight), dp.discrete_distance(), f=flips)
        yield 2 * weight * math.log((2 - flips) / flips), made.map(1)


def selector(name: str, scale: float, *, concentrated: bool = False, monotonic: bool = False, **more: Any) -> Any:
    dp = prelude()
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    return getattr(dp.m, name)(vectors(int), dp.linf_distance(T=int, monotonic=monotonic), measure, scale=scale, **more)


def choices(name: str, *, concentrated: bool = False, monotonic: bool = False, **more: Any) -> Iterator[tuple[float, float]]:
    """Three scores, with ties; all move by at most 1, or none goes down."""
    law = exact.softmax if concentrated else exact.flip_choice
    measured = exact.array_rho if concentrated else exact.array_loss
    sign = -1 if more.get("negate") else 1
    for scale in (0.5, 2.0, 20.0):
        said = selector(name, scale, concentrated=concentrated, monotonic=monotonic, **more).map(1)
        for base, move in product(product((0, 1, 4), repeat=3), product((0, 1) if monotonic else (-1, 0, 1), repeat=3)):
            sides = [[sign * s / scale for s in base], [sign * (s + m) / scale for s, m in zip(base, move, strict=True)]]
            p, q = (exact.in_order(side, more.get("k", 1), law) for side in sides)
            yield max(measured(p, q), measured(q, p)), said


def gumbel() -> Iterator[tuple[float, float]]:
    """The older name."""
    dp = prelude()
    for scale in (0.5, 2.0, 20.0):
        said = dp.m.make_report_noisy_max_gumbel(vectors(int), dp.linf_distance(T=int), scale=scale).map(1)
        for base, move in product(product((0, 1, 4), repeat=3), product((-1, 0, 1), repeat=3)):
            p, q = (exact.softmax([s / scale for s in side]) for side in (base, np.add(base, move)))
            yield exact.array_loss(p, q), said


CANDIDATES = (0.0, 0.5, 1.0)


def quantile_scores(data: Sequence[float], alpha: float) -> list[float]:
    """|(1 − α)·#below − α·#above| of each candidate."""
    return [abs((1 - alpha) * sum(x < c for x in data) - alpha * sum(x > c for x in data)) for c in CANDIDATES]


def quantiles(*, sized: bool, concentrated: bool) -> Iterator[tuple[float, float]]:
    dp = prelude()
    law, measured = (exact.softmax, exact.array_rho) if concentrated else (exact.flip_choice, exact.array_loss)
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    base = [-1.0, 0.25, 0.25, 0.5, 0.75, 2.0]
    changed = [[*base[1:], x] for x in (-1.0, 0.0, 0.6, 2.0)] if sized else [[*base, x] for x in (-1.0, 0.0, 0.25, 0.5, 2.0)]
    starts = [base, [0.25] * 6, [2.0] * 6] if sized else [base, [], [0.25] * 7]
    for alpha, scale in product((0.0, 0.25, 0.5, 0.9), (0.5, 2.0)):
        domain = vectors(float, size=6 if sized else None)
        made = dp.m.make_private_quantile(domain, dp.symmetric_distance(), measure, list(CANDIDATES), alpha, scale)
        for start in starts:
            others = changed if start is base else [[*start[1:], 2.0] if sized else [*start, 2.0]]
            for other in others:
                p, q = (law([-s / scale for s in quantile_scores(side, alpha)]) for side in (start, other))
                yield max(measured(p, q), measured(q, p)), made.map(2 if sized else 1)


def going_on(stop: float) -> float:
    """1 − γ as runs show it; as documented it is 1 − stop."""
    return math.exp(1 / math.log1p(-stop)) if stop > 0 else 1.0


def selected_candidate() -> Iterator[tuple[float, float]]:
    """A score with Laplace noise: density f(s)/(1 − (1 − γ)(1 − P)) above the threshold, P = P(score ≥ threshold)."""
    dp = prelude()
    for scale, stop, threshold in product((0.5, 1.0, 5.0), (0.0, 0.1, 0.9), (-2.0, 0.0, 0.5, 1.0, 4.0)):
        laplace = dp.m.make_user_measurement(
            dp.atom_domain(T=float, nan=False),
            dp.absolute_distance(T=float),
            dp.max_divergence(),
            lambda x: (x, "candidate"),
            lambda d, s=scale: d / s,
            TO="(f64, ExtrinsicObject)",
        )
        said = dp.c.make_select_private_candidate(laplace, stop_probability=stop, threshold=threshold).map(1.0)
        rates = [1 - exact.laplace(value, scale).below(threshold) for value in (0.0, 1.0)]
        ends = [1 - going_on(stop) * (1 - rate) for rate in rates]
        scores = [threshold + at for at in (0.0, 0.5, 1.0, 3.0, 50.0)] + [s for s in (0.0, 1.0) if s >= threshold]
        losses = [(abs(s - 1) - abs(s)) / scale - math.log(ends[0] / ends[1]) for s in scores]
        if stop > 0:  # nothing comes out: γ(1 − P)/(1 − (1 − γ)(1 − P))
            losses.append(math.log((1 - rates[0]) / (1 - rates[1])) - math.log(ends[0] / ends[1]))
        yield max(map(abs, losses)), said


# --- counts of unknown keys ------------------------------------------------------------------------------------------------


def threshold_measure(name: str, kind: type, scale: float, threshold: Any, **more: Any) -> Any:
    dp = prelude()
    metric = dp.l01inf_distance if name == "make_laplace_threshold" else dp.l02inf_distance
    atom = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
    domain = dp.map_domain(dp.atom_domain(T=str), atom)
    return getattr(dp.m, name)(domain, metric(dp.absolute_distance(T=kind)), scale=scale, threshold=threshold, **more)


def released(name: str, scale: float, threshold: int) -> float:
    """P(1 + noise ≥ threshold), of integers."""
    if name == "make_laplace_threshold":
        return math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))
    reach = math.ceil(40 * scale)
    return math.fsum(exact.discrete_gaussian(0, scale, threshold - 1, threshold + reach))


def new_keys(name: str) -> Iterator[tuple[float, float]]:
    """δ of a key that only one of the two sides has, with a count of 1."""
    for scale, threshold in ((0.5, 3), (1.0, 5), (1.0, 10), (3.0, 20)):
        yield released(name, scale, threshold), threshold_measure(name, int, scale, threshold).map((1, 1, 1))[1]


def new_keys_on_line() -> Iterator[tuple[float, float]]:
    """With the finest grid of floats an atom at the threshold is nothing."""
    for scale, threshold in ((0.5, 3.0), (1.0, 5.0), (3.0, 20.0)):
        made = threshold_measure("make_laplace_threshold", float, scale, threshold)
        single = math.exp(-(threshold - 1) / scale) / 2
        yield single, made.map((1, 1.0, 1.0))[1]
        yield -math.expm1(2 * math.log1p(-single)), made.map((2, 2.0, 1.0))[1]


# --- transformations -------------------------------------------------------------------------------------------------------


def moved(made: Any, pairs: Iterator[tuple[Any, Any, int]]) -> Iterator[tuple[float, float]]:
    """How far the outputs of a transformation are apart; neighbours come with their distance."""
    for first, second, distance in pairs:
        true = abs(made(first) - made(second))
        if true > 0:
            yield true, made.map(distance)


def neighbours(lower: Any, upper: Any, size: int, *, sized: bool, trials: int) -> Iterator[tuple[Any, Any, int]]:
    """Data at the bounds and between them; a record is replaced, taken away or added, and the others may change places."""
    rng = np.random.default_rng([size, trials])
    whole = isinstance(lower, int)
    for trial in range(trials):
        kind = trial % 4
        draws = [lower + (upper - lower) * u for u in rng.random(size + 1)]
        ends = [(lower, upper)[i] for i in rng.integers(2, size=size + 1)]
        data = [draws, ends, [lower] * size + [upper], [upper] * size + [lower]][kind]
        *base, extra = [min(max(int(x) if whole else float(x), lower), upper) for x in data]
        place = int(rng.integers(size)) if size else 0
        other = [*base[:place], extra, *base[place + 1 :]] if sized else [*base[:place], extra, *base[place:]]
        if trial % 3 == 0:
            other = [other[i] for i in rng.permutation(len(other))]
        yield base, other, 2 if sized else 1


RANGES = ((0.0, 1.0), (-1.0, 1.0), (1e15, 1e15 + 1), (1e8, 1e8 + 1), (0.1, 0.3), (-1e300, 1e300))
WHOLE = ((0, 1), (-5, 3), (0, 2**31 - 1), (-(2**30), 2**30 - 1), (2**30, 2**31 - 1))


def statistic(name: str, *, sized: bool, ranges: Any = RANGES, **more: Any) -> Iterator[tuple[float, float]]:
    dp = prelude()
    for (lower, upper), size in product(ranges, (1, 2, 10, 300)):
        if size == 1 and name == "make_variance":
            continue
        try:
            made = getattr(dp.t, name)(bounded(lower, upper, size if sized else None), dp.symmetric_distance(), **more)
        except dp.OpenDPException:  # refused: it would overflow
            continue
        yield from moved(made, neighbours(lower, upper, size, sized=sized, trials=60))


def resized_means() -> Iterator[tuple[float, float]]:
    """From nothing to more records than are kept."""
    dp = prelude()
    for lower, upper, size, constant in ((0.0, 1.0, 3, 0.0), (-5.0, 3.0, 1, 3.0), (0.0, 1.0, 50, 0.5)):
        made = dp.t.make_resize(bounded(lower, upper), dp.symmetric_distance(), size=size, constant=constant)
        for many in (0, 1, size, size + 5):
            pair = [upper] * many, [upper] * many + [lower]
            yield from moved(made >> dp.t.then_mean(), iter([(*pair, 1)]))
            yield from moved(made >> dp.t.then_mean(), iter([([lower] * many, [lower] * many + [upper], 1)]))


def texts() -> Iterator[tuple[float, float]]:
    """Strings are cast, imputed, clamped and summed: a record is added."""
    dp = prelude()
    strings = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    chain = dp.t.make_cast(*strings, TOA=float) >> dp.t.then_impute_constant(0.25) >> dp.t.then_clamp((0.0, 1.0))
    base = ["0.5", "-0.0", "1e400"]
    for extra in ("nan", "inf", "-inf", "x", "", "1e400", "-0", "7", "1"):
        yield from moved(chain >> dp.t.then_sum(), iter([(base, [*base, extra], 1), ([], [extra], 1)]))


def apart(first: Any, second: Any, order: int) -> float:
    return float(np.linalg.norm(np.subtract(first, second), ord=order))


def counts() -> Iterator[tuple[float, float]]:
    """Of categories, with and without one for all others, in ℓ1 and in ℓ2; distinct ones; all."""
    dp = prelude()
    strings = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    data, pairs = (
        ["a", "a", "b", "z"],
        [(["a"], 1), (["b"], 1), (["z"], 1), (["a", "a"], 2), (["a", "b"], 2), (["b", "y"], 2)],
    )
    for (more, distance), rest in product(pairs, (True, False)):
        for order, metric in ((1, "L1Distance<int>"), (2, "L2Distance<float>")):
            made = dp.t.make_count_by_categories(*strings, categories=["a", "b"], null_category=rest, MO=metric)
            yield apart(made(data), made([*data, *more]), order), made.map(distance)
        for simple in (dp.t.make_count(*strings), dp.t.make_count_distinct(*strings)):
            yield from moved(simple, iter([(data, [*data, *more], distance), ([], more, distance)]))


def trees(order: int) -> Iterator[tuple[float, float]]:
    """Counts of leaves against those with one more in every leaf, or in one of them."""
    dp = prelude()
    metric = dp.l1_distance(T=int) if order == 1 else dp.l2_distance(T=int)
    for leaves, branches in ((4, 4), (8, 2), (64, 2), (16, 16)):
        made = dp.t.make_b_ary_tree(vectors(int), metric, leaf_count=leaves, branching_factor=branches)
        zero = made([0] * leaves)
        for many in (1, leaves):
            distance = many if order == 1 else math.isqrt(many)
            yield apart(made([1] * many + [0] * (leaves - many)), zero, order), made.map(distance)


def multiplied() -> Iterator[tuple[float, float]]:
    dp = prelude()
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    for constant, top in ((3.0, 1e10), (0.1, 1e15), (1e-3, 1.0)):
        made = dp.t.make_lipschitz_float_mul(*space, constant=constant, bounds=(-top, top))
        for value in (0.0, top - 1, top / 3, 2 * top):
            yield abs(made(value) - made(value + 1.0)), made.map(1.0)


LOW, HIGH, MANY = -(2**30), 2**30 - 1, 20


def saturating_sums() -> dict[int, float]:
    """The law of the sum of as many LOW as HIGH in random order, where every step stays in 32 bits."""
    states = {(0, 0): 1.0}
    for step in range(2 * MANY):
        following: dict[tuple[int, int], float] = {}
        for (lows, total), chance in states.items():
            left = MANY - lows, MANY - (step - lows)
            for more, value, weight in ((1, LOW, left[0]), (0, HIGH, left[1])):
                if weight:
                    key = lows + more, min(max(total + value, -(2**31)), 2**31 - 1)
                    following[key] = following.get(key, 0.0) + chance * weight / sum(left)
        states = following
    return {total: chance for (_, total), chance in states.items()}


def resized_sum(epsilon: float) -> float:
    """The loss at a far output, behind Laplace noise for this ε: 2·MANY + 1 records are cut to the first ones, in order; one
    less are shuffled."""
    dp = prelude()
    resize = dp.t.make_resize(
        bounded(LOW, HIGH), dp.insert_delete_distance(), size=2 * MANY, constant=0, MO="InsertDeleteDistance"
    )
    summed = resize >> dp.t.then_sum()
    longer = summed([LOW] * MANY + [HIGH] * MANY + [0])
    scale = summed.map(1) / epsilon
    return max(
        math.log(math.fsum(p * math.exp(sign * (total - longer) / scale) for total, p in saturating_sums().items()))
        for sign in (-1, 1)
    )


# --- combinators -----------------------------------------------------------------------------------------------------------


def compositions() -> Iterator[tuple[float, float]]:
    """What is answered by releases of Laplace or Gaussian noise on integers, against what all together say."""
    dp = prelude()
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    for scale, times in product((0.5, 2.0), (1, 3)):
        laplace, gaussian = dp.m.make_laplace(*space, scale=scale), dp.m.make_gaussian(*space, scale=scale)
        yield times / scale, dp.c.make_composition([laplace] * times).map(1)
        yield times / (2 * scale**2), dp.c.make_composition([gaussian] * times).map(1)
        adaptive = dp.c.make_adaptive_composition(*space, dp.max_divergence(), d_in=1, d_mids=[1 / scale] * times)
        yield answered(adaptive(5), laplace) / scale, adaptive.map(1)
        odometer = dp.c.make_fully_adaptive_composition(*space, dp.max_divergence())(5)
        for _ in range(times):
            odometer(laplace)
        yield times / scale, odometer.privacy_loss(1)
        for measurement, measure, single in (
            (laplace, dp.max_divergence(), 1 / scale),
            (gaussian, dp.zero_concentrated_divergence(), 1 / (2 * scale**2)),
        ):
            odometer = dp.c.make_fully_adaptive_composition(*space, measure)
            limited = dp.c.make_privacy_filter(odometer, d_in=1, d_out=(times + 0.5) * single)
            yield answered(limited(5), measurement) * single, limited.map(1)


def answered(queryable: Any, measurement: Any) -> int:
    """How often, until it refuses."""
    for count in range(100):
        try:
            queryable(measurement)
        except prelude().OpenDPException:
            return count
    return 100


def amplified() -> Iterator[tuple[float, float]]:
    """A mean of records that are drawn from a population of zeros, in which one record becomes 1."""
    dp = prelude()
    for (size, population), epsilon in product(((1, 2), (10, 100), (10, 10)), (0.1, 1.0, 5.0)):
        mean = dp.t.make_mean(bounded(0.0, 1.0, size), dp.symmetric_distance())
        made = dp.c.make_population_amplification(mean >> dp.m.then_laplace(scale=1 / (size * epsilon)), population)
        rate = size / population
        yield max(math.log1p(rate * math.expm1(epsilon)), -math.log1p(rate * math.expm1(-epsilon))), made.map(2)


def amplified_gaussian() -> Iterator[tuple[float, float]]:
    dp = prelude()
    for (size, population), scale in product(((1, 2), (10, 100)), (0.1, 1.0)):
        mean = dp.t.make_mean(bounded(0.0, 1.0, size), dp.symmetric_distance())
        noisy = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(mean >> dp.m.then_gaussian(scale=scale)), 1e-5)
        said = dp.c.make_population_amplification(noisy, population).map(2)
        rate, shift = size / population, 1 / size
        p, q = ((1 - rate, 0.0), (rate, shift)), ((1.0, 0.0),)
        for a, b in ((p, q), (q, p)):
            yield exact.epsilon_at(lambda e, a=a, b=b, s=scale: exact.mixture_profile(a, b, s, e), said[1]), said[0]


def converted() -> Iterator[tuple[float, float]]:
    """Gaussian noise through zCDP, at several δ, as a curve and with δ fixed; Laplace noise to zCDP and back."""
    dp = prelude()
    for scale, delta in product((0.5, 1.0, 5.0, 30.0), (1e-3, 1e-6, 1e-12)):
        curve = dp.c.make_zCDP_to_approxDP(noise("make_gaussian", float, scale=scale)())
        true = gaussian_epsilon(1 / scale, delta)
        yield true, curve.map(1.0).epsilon(delta)
        yield true, dp.c.make_fix_delta(curve, delta).map(1.0)[0]
        yield true, dp.c.make_fixed_approxDP_to_approxDP(dp.c.make_fix_delta(curve, delta)).map(1.0).epsilon(delta)
        yield delta, curve.map(1.0).delta(true)
        answer = dp.c.make_pureDP_to_zCDP(dp.m.make_randomized_response_bool(prob=1 / (1 + math.exp(-1 / scale))))
        yield math.tanh(1 / (2 * scale)) / scale, answer.map(1)
        yield 1 / scale, dp.c.make_approximate(noise("make_laplace", float, scale=scale)()).map(1.0)[0]


def composed_curves() -> Iterator[tuple[float, float]]:
    """δ of randomised responses at the ε that is stated for so many of them, through zCDP."""
    dp = prelude()
    for times, delta in product((1, 10, 100), (1e-3, 1e-6)):
        one = dp.c.make_pureDP_to_zCDP(dp.m.make_randomized_response_bool(prob=1 / (1 + math.exp(-0.3))))
        curve = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([one] * times)).map(1)
        yield laws.composed_response_delta(0.3, times, curve.epsilon(delta)), delta
