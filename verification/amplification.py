"""Claims that rest on a hidden order: amplification by shuffling, by random groups, by random batches.

Of such a claim a transcript shows only what holds given the order.  Here the claim itself is computed on neighbours whose other
records are all alike: then an order matters only by where it puts the changed record, and all releases together have a law that is
a mixture over its places.  Where the record stands is varied by replaying the mechanism: with alike records, to move it is to
change another one.  What a replay shows is by how many standard deviations the release of that place moves, for either record.

  one order     the record is in one of J places, each with chance p:  δ(ε) = E((1 − Jp)(1 − e^ε) + pΣ_j(r_a(z_j) − e^ε r_b(z_j)))₊,
                r_a(z) = e^{az − a²/2} and z_j standard normal: a sum of J independent terms;
  fresh orders  a batch holds the record with chance γ in every step:  δ(ε) = E(1 − e^{ε−L})₊, L a sum of T independent losses
                log((1 − γ + γr_a)/(1 − γ + γr_b)).

Laws of such sums are computed by Fourier transforms with all values rounded down, for a lower bound, and up, for an upper one (very
many places: rounded both ways, with a bound of what that changes); both hold but for `ROUNDING`.  The claim is that of all noisy
values, which is what the cited theorems speak about: the published output may reveal less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from tailproof.refimpl.approx_dp import accountant, shuffling
from tailproof.refimpl.approx_dp.accelerated import calibration
from tailproof.refimpl.catalogue import Pin, Setting, algorithm
from tailproof.refimpl.channel import Release, Transcript
from tailproof.refimpl.claims import ZCDP, ApproxDP, gaussian_delta
from tailproof.refimpl.laws import Gaussian, UniformSubset
from tailproof.refimpl.validation import FloatArray, IntArray
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.pair_checks import Measurement
from tailproof.verification.subject import Pair, Subject, worst_pairs

ROUNDING = 1e-10
"""More than the transforms' rounding and what lies outside of their windows."""

CELLS = 2**17  # of the line, each with its mass and the range of the summand
COARSE = 64  # cells taken together where that is fine enough
BINS = 2**19  # of the sum
TAIL = 25.0  # −log of the probability that a sum leaves the window
MOST_ROUNDED = BINS // 16  # summands that can all be rounded one way
MOST_RECORDS = 10**5  # that a run may have here
SAME = 1e-6  # relative: shifts at different places that count as equal


# --- the law of a sum -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    lower: float
    upper: float


def _cells(largest: float) -> tuple[FloatArray, FloatArray]:
    """Ends of cells of the line, and their masses under N(0, 1); what is outside has no weight."""
    ends = np.linspace(-(8 + largest), 8 + largest, CELLS + 1)
    return ends, _masses(ends)


def _masses(ends: FloatArray) -> FloatArray:
    """Without cancellation on either side."""
    return np.asarray(np.where(ends[1:] <= 0, np.diff(ndtr(ends)), -np.diff(ndtr(-ends))))


def _expected(
    at_ends: FloatArray, masses: FloatArray, count: int, worth: Callable[[FloatArray], FloatArray], slack: float
) -> Interval:
    """E worth(sum of `count` copies), worth increasing and nonnegative; a summand is monotone along the cells."""
    start, width = _window(*_ranges(at_ends[::COARSE]), masses.reshape(-1, COARSE).sum(axis=1), count)
    low, high = _ranges(at_ends)
    step = width / BINS
    first = math.floor(start / step)
    worths = worth(step * (first + np.arange(BINS, dtype=np.float64)))
    found = []
    for summands in (np.floor(low / step), np.ceil(high / step)):
        law = np.bincount(np.mod(summands, BINS).astype(np.int64), masses, BINS)
        sums = np.fft.irfft(np.fft.rfft(law) ** count, BINS)
        found.append(float(np.maximum(np.roll(sums, -(first % BINS)), 0.0) @ worths))
    return Interval(max(0.0, found[0] - slack), found[1] + slack)


def _expected_excess(at_ends: FloatArray, totals: FloatArray, masses: FloatArray, count: int, threshold: float) -> Interval:
    """E(sum of `count` copies − threshold)₊ where there are too many to round them all one way.

    Every summand is moved to the mean of its cell (`totals` are means times masses), and from there to the two nearest points of
    the grid such that the mean stays.  These errors are independent and centred: together they change the expectation by at most
    half of their mean size, ½√(count·variance).
    """
    kept = masses > 0
    means, spread, masses = totals[kept] / masses[kept], np.abs(np.diff(at_ends))[kept], masses[kept]
    start, width = _window(means, means, masses, count, rounded=False)
    step = width / BINS
    first, below = math.floor(start / step), np.floor(means / step)
    above = means / step - below
    law = sum(
        np.bincount(np.mod(below + up, BINS).astype(np.int64), masses * share, BINS)
        for up, share in ((0, 1 - above), (1, above))
    )
    sums = np.maximum(np.roll(np.fft.irfft(np.fft.rfft(law) ** count, BINS), -(first % BINS)), 0.0)
    found = float(sums @ np.maximum(0.0, step * (first + np.arange(BINS, dtype=np.float64)) - threshold))
    error = ROUNDING + math.sqrt(count * (step**2 + float(masses @ spread**2))) / 4
    return Interval(max(0.0, found - error), found + error)


def _ranges(at_ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    lower, upper = at_ends[:-1], at_ends[1:]
    return np.minimum(lower, upper), np.maximum(lower, upper)


def _window(
    low: FloatArray, high: FloatArray, masses: FloatArray, count: int, *, rounded: bool = True
) -> tuple[float, float]:
    """Where the sum is but for a probability of 2e^{−TAIL}, by Chernoff's bound, with room for rounding: (start, width)."""
    middle = masses @ (low + high) / (2 * masses.sum())
    spread = math.sqrt(float(masses @ (high - middle) ** 2)) + 1e-300
    reach = float(max(np.abs(low - middle).max(), np.abs(high - middle).max()))
    rates = np.geomspace(1e-2 / (spread * math.sqrt(count)), max(600 / reach, 1e-1 / spread), 40)
    rates = rates[rates * reach <= 600]
    away = []
    for side in (-1.0, 1.0):
        most = np.array([np.log(masses @ np.exp(side * rate * ((high if side > 0 else low) - middle))) for rate in rates])
        away.append(min(float(((count * most + TAIL) / rates).min(initial=math.inf)), count * reach))
    start, end = count * middle - away[0], count * middle + away[1]
    room = 1 / (1 - 2 * count / BINS) if rounded else 1.01  # rounding one way moves the sum by at most count·step
    width = (end - start) * room + 1e-12 * max(abs(start), abs(end), 1e-300)
    return start - (width - (end - start)) / 2, width


def log_delta_lower(one: Round, epsilon: float) -> float:
    """A lower bound of log δ(ε) that is good far out, where one of many noises is very large: others like the one record.

    δ = E(A − e^ε)₊, A the mean of n ratios r_c(z_j).  With probability ≥ ½ the other ratios miss their mean by at most
    η = √(2(e^{c²} − 1)/n) (Chebyshev), so δ ≥ ½E(r_c(z)/n − κ)₊, κ = e^ε − 1 + 1/n + η.
    """
    n, c = one.places, abs(one.here - one.there)
    kappa = math.expm1(epsilon) + 1 / n + math.sqrt(2 * math.expm1(c * c) / n)
    z = (math.log(n * kappa) + c * c / 2) / c
    first, second = float(log_ndtr(c - z)) - math.log(n), math.log(kappa) + float(log_ndtr(-z))
    return first + math.log(-math.expm1(second - first)) - math.log(2)


# --- places of the changed record --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """One hidden order: the record is in one of `places`, in each with this `chance`, or in none.

    There the release moves by `here` standard deviations along a line for the data's record, by `there` for the neighbour's.
    """

    places: int
    chance: float
    here: float
    there: float

    def swapped(self) -> Round:
        return Round(self.places, self.chance, self.there, self.here)


def amplified_delta(rounds: list[Round], epsilon: float) -> Interval:
    """δ(ε) of all releases together, the data's law against the neighbour's."""
    if all(one.chance == 0 or math.isclose(one.here, one.there, rel_tol=SAME) for one in rounds):
        return Interval(0.0, 0.0)  # the same law
    if any(one.here * one.there > 0 for one in rounds):
        raise NoExactFormula("both records are on the same side of the others")
    if len(rounds) == 1 and rounds[0].places > 1:
        return _one_order(rounds[0], epsilon)
    if any(one.places > 1 or not _alike(one, rounds[0]) for one in rounds):
        raise NoExactFormula("several orders of several places")
    return _fresh_orders(rounds[0], len(rounds), epsilon)


def _alike(one: Round, other: Round) -> bool:
    return one.places == other.places and bool(
        np.allclose((one.chance, one.here, one.there), (other.chance, other.here, other.there), rtol=SAME, atol=0)
    )


def _ratio(z: FloatArray, shift: float) -> FloatArray:
    return np.asarray(np.exp(shift * z - shift**2 / 2))


def _one_order(one: Round, epsilon: float) -> Interval:
    ends, masses = _cells(abs(one.here) + abs(one.there))
    summand = one.chance * (_ratio(ends, one.here) - math.exp(epsilon) * _ratio(ends, one.there))
    nowhere = (1 - one.places * one.chance) * -math.expm1(epsilon)
    if one.places <= MOST_ROUNDED:
        return _expected(summand, masses, one.places, lambda s: np.maximum(0.0, nowhere + s), ROUNDING)
    totals = one.chance * (_masses(ends - one.here) - math.exp(epsilon) * _masses(ends - one.there))
    return _expected_excess(summand, totals, masses, one.places, -nowhere)


def _fresh_orders(one: Round, steps: int, epsilon: float) -> Interval:
    ends, masses = _cells(abs(one.here) + abs(one.there))
    masses = (1 - one.chance) * masses + one.chance * _masses(ends - one.here)
    loss = np.log1p(one.chance * (_ratio(ends, one.here) - 1)) - np.log1p(one.chance * (_ratio(ends, one.there) - 1))
    return _expected(loss, masses, steps, lambda s: -np.expm1(np.minimum(0.0, epsilon - s)), ROUNDING)


@dataclass(frozen=True, eq=False)
class _Order:
    """A hidden order (None: none is drawn) and the releases after it, up to the next one."""

    hidden: Release | None
    releases: tuple[int, ...]  # in the transcript
    patterns: dict[tuple[int, ...], IntArray]  # the releases that see a place, and such places

    def records(self, n: int) -> IntArray:
        """The record at every place."""
        scope = np.arange(n) if self.hidden is None or self.hidden.rows is None else np.asarray(self.hidden.rows)
        if self.hidden is None:
            return scope
        chosen = np.asarray(self.hidden.output)
        if isinstance(self.hidden.law, UniformSubset):  # the others follow
            chosen = np.concatenate([chosen, np.setdiff1d(np.arange(self.hidden.law.size), chosen)])
        return np.asarray(scope[chosen])


def _orders(transcript: Transcript, n: int, *, fixed: bool = False) -> list[_Order]:
    """With `fixed`, orders are overlooked: a place is a record."""
    found: list[tuple[Release | None, list[int]]] = [(None, [])]
    for index, release in enumerate(transcript):
        if release.hidden and not fixed:
            found.append((release, []))
        elif not release.hidden:
            found[-1][1].append(index)
    return [_order(hidden, tuple(releases), transcript, n) for hidden, releases in found if releases]


def _order(hidden: Release | None, releases: tuple[int, ...], transcript: Transcript, n: int) -> _Order:
    records = _Order(hidden, releases, {}).records(n)
    place = np.full(n, -1)
    place[records] = np.arange(len(records))
    seen: list[list[int]] = [[] for _ in records]
    for index in releases:
        rows = transcript.releases[index].rows
        for at in place if rows is None else place[np.asarray(rows)]:
            if at < 0:
                raise NoExactFormula("a release sees records outside of its order")
            seen[at].append(index)
    patterns = {
        pattern: np.array([at for _, at in group])
        for pattern, group in groupby(sorted((tuple(p), at) for at, p in enumerate(seen)), key=lambda pair: pair[0])
    }
    return _Order(hidden, releases, patterns)


def _same_patterns(first: list[_Order], second: list[_Order]) -> bool:
    return len(first) == len(second) and all(
        a.patterns.keys() == b.patterns.keys()
        and all(np.array_equal(places, b.patterns[pattern]) for pattern, places in a.patterns.items())
        for a, b in zip(first, second, strict=True)
    )


def scenes(subject: Subject, other: FloatArray, first: FloatArray, second: FloatArray, seed: int) -> Iterator[list[Round]]:
    """For every set of records that are put in order together: the rounds that see one of them (the first and last are measured).

    All records are `other`, but for one that is `first` or `second`.  Places that do not come from the orders are known to all.
    """
    n = subject.setting.n
    data = np.tile(other, (n, 1))
    _, here = subject.run(data, seed)
    _, again = subject.run(data, seed + 1)
    orders = _orders(here, n)
    if not _same_patterns(orders, _orders(again, n)):
        orders, later = _orders(here, n, fixed=True), _orders(again, n, fixed=True)
        if not _same_patterns(orders, later):
            raise NoExactFormula("the places do not come from the hidden orders")
    for _, together in groupby(orders, key=lambda order: tuple(sorted(order.records(n)))):
        group = list(together)
        ends = [_round(subject, data, here, order, first, second) for order in (group[0], *group[1:][-1:])]
        if not _alike(ends[0], ends[-1]):
            raise NoExactFormula("the first and the last order differ")
        yield ends[:1] * len(group)


def _round(
    subject: Subject, data: FloatArray, here: Transcript, order: _Order, first: FloatArray, second: FloatArray
) -> Round:
    """Shifts are measured at the first and at the last place of two patterns, and must be the same; see the module's text."""
    patterns = [places for pattern, places in order.patterns.items() if pattern]
    probed = [patterns[i] for i in sorted({0, len(patterns) - 1})] if patterns else []
    if not probed:
        return Round(1, 0.0, 0.0, 0.0)
    records = order.records(len(data))
    shifts: list[list[tuple[FloatArray, FloatArray]]] = []
    for places in probed:
        rows = [int(records[at]) for at in sorted({int(places[0]), int(places[-1])})]
        moves = [[_shift(subject, data, here, order, row, record) for record in (first, second)] for row in rows]
        shifts.append([(one, other) for one, other in moves])
    lines = [_on_a_line(*pair) for group in shifts for pair in group]
    if order.hidden is None:
        return Round(1, 1.0, *max(lines, key=lambda line: abs(line[0] - line[1])))
    if not np.allclose(lines, lines[0], rtol=SAME, atol=SAME * max(map(abs, lines[0]))):
        raise NoExactFormula("the shift depends on the place")
    widths = {len(places) for places in patterns}
    moved = [[max(pair, key=np.linalg.norm) for pair in group] for group in shifts]
    apart = [_overlap(a[0], b[0]) for i, a in enumerate(moved) for b in moved[:i]]
    together = [_overlap(*group) for group in moved if len(group) == 2]
    if max(apart, default=0.0) > SAME or len(widths) > 1:
        raise NoExactFormula("places overlap or are of different sizes")
    if all(overlap < SAME for overlap in together):  # noise for every record
        return Round(len(patterns) * widths.pop(), 1 / len(records), *lines[0])
    if all(overlap > 1 - SAME for overlap in together):
        return Round(len(patterns), widths.pop() / len(records), *lines[0])
    raise NoExactFormula("records of one batch move its release in different ways")


def _shift(subject: Subject, data: FloatArray, here: Transcript, order: _Order, row: int, record: FloatArray) -> FloatArray:
    """How far the releases move, in standard deviations, when this row is this record."""
    changed = np.array(data)
    changed[row] = record
    _, there = subject.replay(changed, here)
    moves = []
    for index in order.releases:
        old, new = here.releases[index].law, there.releases[index].law
        if not isinstance(old, Gaussian) or not isinstance(new, Gaussian) or not np.array_equal(old.scale, new.scale):
            raise NoExactFormula("only Gaussian noise of a scale that is the same on both data sets")
        moves.append(np.atleast_1d((new.location - old.location) / old.scale))
    return np.concatenate(moves)


def _on_a_line(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Coordinates along the longer of the two."""
    sizes = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    if min(sizes) <= SAME * max(sizes):
        return (sizes[0], 0.0) if sizes[0] > sizes[1] else (0.0, sizes[1])
    cosine = float(first @ second) / (sizes[0] * sizes[1])
    if abs(cosine) < 1 - SAME:
        raise NoExactFormula("the two records move a release in different directions")
    return sizes[0], math.copysign(sizes[1], cosine)


def _overlap(first: FloatArray, second: FloatArray) -> float:
    product = float(np.linalg.norm(first) * np.linalg.norm(second))
    return abs(float(first @ second)) / product if product > 0 else 0.0


# --- the check ----------------------------------------------------------------------------------------------------------------


def check_amplified(subject: Subject, seed: int, pairs: list[Pair] | None = None) -> Measurement:
    """The worst of: others as in the given neighbours, all others like the record, both directions.

    Measured is the lower bound of δ at the claimed ε.
    """
    claim = subject.claim
    assert isinstance(claim, ApproxDP)
    if subject.setting.n > MOST_RECORDS:
        return check_by_calibration(subject)
    rounds: list[list[Round]] = []
    why = "no neighbours whose other records are alike"
    for other, first, second in _distinct(_triples(subject, pairs)):
        try:
            rounds += scenes(subject, other, first, second, seed)
        except NoExactFormula as error:
            why = str(error)
    distinct: list[list[Round]] = []
    for scene in rounds:
        for candidate in (scene, [one.swapped() for one in scene]):
            if not any(len(candidate) == len(old) and all(map(_alike_up_to_sign, candidate, old)) for old in distinct):
                distinct.append(candidate)
    found = []
    for scene in distinct:
        try:
            found.append((amplified_delta(scene, claim.epsilon), scene))
        except NoExactFormula as error:
            why = str(error)
    if not found:
        raise NoExactFormula(why)
    worst, scene = max(found, key=lambda one: (one[0].lower, one[0].upper))
    one = scene[0]
    detail = (
        f"δ({claim.epsilon:g}) of all noisy values over the hidden orders, at most {max(i.upper for i, _ in found):.3g} on "
        f"{len(found)} pairs whose other records are alike: {one.places} places with chance {one.chance:.3g}, "
        f"{len(scene)} order(s), shifts {one.here:.3g} and {one.there:.3g}"
    )
    return Measurement(worst.lower, claim.delta, detail)


def _alike_up_to_sign(one: Round, other: Round) -> bool:
    mirrored = Round(one.places, one.chance, -one.here, -one.there)
    return _alike(one, other) or _alike(mirrored, other)


def _distinct(triples: Iterator[tuple[FloatArray, ...]]) -> Iterator[tuple[FloatArray, ...]]:
    seen = set()
    for triple in triples:
        if (key := tuple(row.tobytes() for row in triple)) not in seen:
            seen.add(key)
            yield triple


def _triples(subject: Subject, pairs: list[Pair] | None) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """(other records, the data's record, the neighbour's)."""
    for data, neighbour in worst_pairs(subject.algorithm, subject.setting) if pairs is None else pairs:
        data, neighbour = map(subject.setting.admissible, (data, neighbour))
        changed = np.flatnonzero((data != neighbour).any(axis=1))
        rest = np.delete(data, changed, axis=0)
        if len(changed) == 1 and len(rest) and (rest == rest[0]).all():
            first, second = data[changed[0]], neighbour[changed[0]]
            yield rest[0], first, second
            if not (rest[0] == first).all() and not (rest[0] == second).all():
                yield first, first, second


def check_by_calibration(subject: Subject) -> Measurement:
    """[P2, Theorem 6] for so many groups that the claim needs its amplification: too many to run.  One order.

    Places and shifts are those of the published calibration, ρ = shift²/2 being attained; with few groups they are measured.
    """
    claim, groups = subject.claim, subject.setting.parameters["groups"]
    assert subject.algorithm == "P2.A3" or subject.setting.parameters["steps"] == 1
    assert isinstance(claim, ApproxDP)
    assert isinstance(subject.conditional, ZCDP)
    shift = math.sqrt(2 * subject.conditional.rho)
    shifts = ((shift, 0.0), (0.0, shift), (shift / 2, -shift / 2))
    found = [amplified_delta([Round(groups, 1 / groups, *both)], claim.epsilon) for both in shifts]
    worst = max(found, key=lambda one: (one.lower, one.upper))
    detail = (
        f"δ({claim.epsilon:g}) of {groups} shuffled groups, other records alike, is at most {worst.upper:.3g} "
        f"({gaussian_delta(shift, claim.epsilon):.3g} if the group is known), by the published calibration"
    )
    return Measurement(worst.lower, claim.delta, detail)


def beyond_the_box(n: int, *, log_delta: float) -> tuple[ApproxDP, float]:
    """[P0, Algorithm 6] as in its box, T = n, at the largest ε: the claim, and a lower bound of log δ of all noisy gradients."""
    delta = math.exp(-log_delta)
    claim = ApproxDP(shuffling.shuffled_epsilon(shuffling.LOCAL_LIMIT, n=n, slack=delta / 2) * (1 - 1e-9), delta)
    used = calibration(n, clip=1.0, steps=n, spend=claim, noise="batch")
    return claim, log_delta_lower(Round(n, 1 / n, 0.0, 2 / used.scale), claim.epsilon)


# --- what the cited theorems ask for --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    says: str
    needed: float
    given: float
    erratum: str = ""  # what is known where it does not hold

    @property
    def holds(self) -> bool:
        return self.needed <= self.given * (1 + 1e-9)

    def __str__(self) -> str:
        return f"{self.says} ({self.needed:.4g} {'≤' if self.holds else '>'} {self.given:.4g})"


def conditions(subject: Subject) -> list[Condition]:
    """At this setting; none where the claim follows without amplification, or where nothing is cited."""
    known: dict[str, Callable[[Subject], list[Condition]]] = {
        "P0.A6": _shuffled_records,
        "P0.A7": _shuffled_parts,
        "P0.B": _random_batches,
        "P2.A1": _shuffled_groups,
        "P2.A3": _shuffled_groups,
    }
    return known[subject.algorithm](subject) if subject.algorithm in known and isinstance(subject.claim, ApproxDP) else []


def _shuffled_records(subject: Subject, part: Any = None) -> list[Condition]:
    """[P0, Lemma 6]: local randomisers of one record each, (ε₀, δ₀)-DP for any two records, ε₀ ≤ 1/2, enough records."""
    claim, given = subject.claim, subject.setting.parameters
    assert isinstance(claim, ApproxDP)
    n, steps, clip = (part.size, part.steps, part.clip) if part else (subject.setting.n, given["steps"], given["clip"])
    noise = given.get("noise", "record")
    local = shuffling.local_budget(claim, n=n)
    used = calibration(n, clip=clip, steps=steps, spend=claim, noise=noise)
    size = 1 if noise == "record" else n // steps
    shift = 2 * clip / used.scale  # between any two inputs, of one record or of a batch
    return [
        Condition("ε₀ is at most 1/2", local.epsilon, shuffling.LOCAL_LIMIT),
        Condition("records: 16 log(4/δ̂)e^ε₀", 16 * math.log(8 / claim.delta) * math.exp(local.epsilon), n),
        Condition("a randomiser acts on one record", size, 1),
        Condition(
            "a randomiser's δ(ε₀) is at most δ₀ (else P0.Alg6.variance)",
            gaussian_delta(shift, local.epsilon),
            local.delta,
            "P0.Alg6.variance",
        ),
        Condition("the theorem's ε", shuffling.shuffled_epsilon(local.epsilon, n=n, slack=claim.delta / 2), claim.epsilon),
    ]


def _shuffled_parts(subject: Subject) -> list[Condition]:
    return [condition for part in subject.setting.parameters["parts"] for condition in _shuffled_records(subject, part)]


def _random_batches(subject: Subject) -> list[Condition]:
    """[Wang, Balle and Kasiviswanathan]: batches of one size without replacement, fresh in every step (the check of the claim looks
    at these), and the accountant's ε at the noise that is used."""
    claim, given, n = subject.claim, subject.setting.parameters, subject.setting.n
    assert isinstance(claim, ApproxDP)
    assert isinstance(subject.conditional, ZCDP)
    multiplier = math.sqrt(given["steps"] / (2 * subject.conditional.rho))
    spent = accountant.epsilon_of(share=given["batch"] / n, multiplier=multiplier, steps=given["steps"], delta=claim.delta)
    return [
        Condition("the batch is a part of the data", given["batch"], n),
        Condition("the accountant's ε", spent, claim.epsilon),
    ]


def _shuffled_groups(subject: Subject) -> list[Condition]:
    """[P2, Theorem 6]: ε's range, the cited theorem's condition, and randomisers that are private for any two inputs."""
    claim, given = subject.claim, subject.setting.parameters
    assert isinstance(claim, ApproxDP)
    assert isinstance(subject.conditional, ZCDP)
    if given.get("amplification") == "none" or "groups" not in given:
        return []
    k, steps = given["groups"], given["steps"] if subject.algorithm == "P2.A1" else 1
    epsilon, delta = claim.epsilon, claim.delta
    if subject.algorithm == "P2.A1":
        epsilon, delta = epsilon / (2 * math.sqrt(2 * steps * math.log(2 / delta))), delta / (2 * steps)
    rho = subject.conditional.rho / steps
    local = rho + 2 * math.sqrt(rho * math.log(12 * k / delta))  # ε₀ of (78), δ₀ = δ/(12k)
    return [
        Condition("ε is at most 8e²√(ln(4/δ)/k)", epsilon, 8 * math.e**2 * math.sqrt(math.log(4 / delta) / k)),
        Condition("e^ε₀ is at most k/(16 ln(4/δ))", math.exp(local), k / (16 * math.log(4 / delta))),
        Condition(
            "private for any two inputs (P2.Thm6.randomiser): records of a group",
            math.ceil(subject.setting.n / k),
            1,
            "P2.Thm6.randomiser",
        ),
    ]


# --- settings at which the claims need their amplification ------------------------------------------------------------------------

_SQUARED: dict[str, Any] = {"loss": "squared", "domain": "ball:1.1", "clip": 1.3}
_AFFINE: dict[str, Any] = {"loss": "affine", "domain": "ball:1.1", "clip": 1.3, "steps": 1, "learning_rate": 0.43}
_PNCA = {**_SQUARED, "proximity": 2.3}


def _unmet(erratum: str, why: str) -> Pin:
    """The cited theorem does not apply here, as the erratum says."""
    return Pin("amplification conditions", "inconclusive", f"{erratum}: {why}", erratum)


TRIALS: dict[str, tuple[Setting, ...]] = {
    "P0.A6": (
        Setting(10_000, 3, {**_PNCA, "steps": 4, "epsilon": 0.08, "delta": 1e-5, "noise": "record"}),
        Setting(
            240,
            3,
            {**_PNCA, "steps": 80, "epsilon": 0.4, "delta": 1e-3, "noise": "batch"},
            pins=(_unmet("P0.Alg6.variance", "the box's noise is below the proof's"),),
        ),
    ),
    "P2.A3": (
        Setting(
            2_000_000,
            1,
            {"epsilon": 0.17, "delta": 1e-3, "clip": 1.3, "groups": 1_000_000, "steps": 1},
            pins=(_unmet("P2.Thm6.randomiser", "a group has two records"),),
        ),
    ),
    "P2.A1": (
        Setting(
            200_000_000,
            1,
            {**_AFFINE, "epsilon": 0.13, "delta": 1e-3, "estimator": "updating", "groups": 100_000_000},
            pins=(_unmet("P2.Thm6.randomiser", "a group has two records"),),
        ),
    ),
    "P0.B": (
        Setting(
            200,
            3,
            {
                **_SQUARED,
                "batch": 4,
                "steps": 60,
                "step": 0.43,
                "epsilon": 0.9,
                "delta": 1e-3,
            },
        ),
    ),
}
"""Beside the catalogue's: there, with few records or groups, the claim given the order often implies the published one."""


def trial_subjects(identifier: str, mechanism: Any = None, mutant: str | None = None) -> Iterator[Subject]:
    """At those settings, the published algorithm or a mutant of it."""
    published = algorithm(identifier).implementation
    for index, setting in enumerate(TRIALS.get(identifier, ())):
        assert published is not None
        yield Subject(
            algorithm=identifier,
            mechanism=mechanism or published.mechanism,
            setting=setting,
            setting_index=len(published.settings) + index,
            claim=published.privacy(setting),
            conditional=published.conditional_privacy(setting),
            mutant=mutant,
        )
