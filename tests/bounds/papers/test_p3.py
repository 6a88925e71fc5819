"""P3's statements: complete, readable, re-derived from their lemmas; comparisons and explicit inequalities against numbers."""

from __future__ import annotations

import functools
import itertools
import math
import re
import zlib

import numpy as np
import pytest
import sympy

from bounds.papers import p3
from bounds.papers.p3 import COMPARISONS, LABELS, STATEMENTS
from bounds.statements import Comparison, Statement
from refimpl.catalogue import ALGORITHMS

BY_ID = {statement.id: statement for statement in STATEMENTS}
SYMBOLS = [*"nduvDRLsTmbBCVMqt", "eps", "eps0", "delta", "rho", "mu", "beta", "lam", "tau", "eta", "xi"]
LOG = sympy.Function("Log")  # opaque, so that sympy does not rewrite log(1/δ)
NAMES = {name: sympy.Symbol(name, positive=True) for name in SYMBOLS} | {"log": LOG}
AT_LEAST_ONE = {"n", "d", "s", "T", "m", "b"}
AT_MOST_ONE = {"delta", "xi", "q"}
REQUIRED = (
    [f"Theorem {i}" for i in range(1, 12)]
    + [f"Lemma {i}" for i in (*range(1, 4), *range(10, 16), *range(17, 29))]
    + ["Corollary 1", "Abstract", "Introduction", "Remark 1", "Remark 2", "Remark 3"]
)
SCALE = 400.0  # points are e^{±SCALE·exponent}, so that a ratio within e^{±FLAT} has slope zero to 1.5 in 100
FLAT = 6.0

Point = dict[str, float]  # logarithms of the symbols' values, but v itself


@functools.cache
def read(text: str) -> sympy.Expr:
    return sympy.sympify(text, locals=NAMES)


def rates(statement: Statement) -> list[str]:
    return [text for text in (statement.printed, statement.derived) if text is not None]


def bare(statement: Statement) -> bool:
    return "logarithms" in statement.hidden


def draw(rng: np.random.Generator, only_in_logs: frozenset[str]) -> Point:
    """Exponents half at random, half at vertices, where maxima and conditions are tight.  A symbol that stands in
    logarithms only may be so far out that its logarithm is a power of the others."""
    point = {}
    for name in SYMBOLS:
        exponent = rng.uniform(-1, 1) if rng.random() < 0.5 else float(rng.integers(-1, 2))
        size = math.exp(exponent * SCALE / 2) if name in only_in_logs and rng.random() < 0.5 else SCALE * abs(exponent)
        sign = 1 if name in AT_LEAST_ONE else -1 if name in AT_MOST_ONE else math.copysign(1, exponent)
        point[name] = sign * size
    point["n"] += SCALE
    point["v"] = float(rng.choice([0.1, 0.3, 0.5, 0.8, 1.0]))
    return point


@functools.cache
def exponent_at(exponent: sympy.Expr, v: float) -> float:
    return float(exponent.subs(NAMES["v"], v))


def log_of(expression: sympy.Expr, point: Point, *, logs: bool) -> float:
    """log(expression), never leaving logarithms; a logarithm of A is max(1, log A), or 1 without `logs`."""
    if expression.is_Symbol:
        return point[str(expression)]
    if expression.is_Number:
        return math.log(expression)
    if expression.is_Add:
        return float(np.logaddexp.reduce([log_of(part, point, logs=logs) for part in expression.args]))
    if expression.is_Mul:
        return math.fsum(log_of(part, point, logs=logs) for part in expression.args)
    if expression.is_Pow:
        return exponent_at(expression.exp, point["v"]) * log_of(expression.base, point, logs=logs)
    assert expression.func == LOG
    return math.log(max(1.0, log_of(expression.args[0], point, logs=logs))) if logs else 0.0


@functools.cache
def sides(condition: str) -> tuple[sympy.Expr, sympy.Expr]:
    small, large = re.split("<=|<", condition) if "<" in condition else reversed(condition.split(">="))
    return read(small), read(large)


def allowed(conditions: tuple[str, ...], point: Point) -> bool:
    """Conditions on v alone are the range it is drawn from."""
    pairs = [pair for pair in map(sides, conditions) if not pair[0].free_symbols | pair[1].free_symbols <= {NAMES["v"]}]
    return all(log_of(small, point, logs=True) <= log_of(large, point, logs=True) + 1e-6 for small, large in pairs)


def points(conditions: tuple[str, ...], seed: str, number: int, only_in_logs: frozenset[str] = frozenset()) -> list[Point]:
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    drawn = (draw(rng, only_in_logs) for _ in range(5000))
    return list(itertools.islice((point for point in drawn if allowed(conditions, point)), number))


# The map.


def test_ids_are_unique_and_of_this_paper() -> None:
    ids = [*(statement.id for statement in STATEMENTS), *(comparison.id for comparison in COMPARISONS)]
    assert len(set(ids)) == len(ids)
    assert all(identifier.startswith("P3.") for identifier in ids)


def test_labels_are_those_of_the_paper() -> None:
    assert len(set(LABELS)) == len(LABELS)
    assert {statement.label for statement in STATEMENTS} <= set(LABELS)


@pytest.mark.parametrize("label", REQUIRED)
def test_every_item_of_the_catalogue_is_there(label: str) -> None:
    assert any(statement.label == label for statement in STATEMENTS)


def test_special_cases_claimed_in_the_text_are_there() -> None:
    assert {"P3.R1", "P3.T2.v1", "P3.S5.v1.convex", "P3.S5.v1.strong", "P3.R3.v1"} <= set(BY_ID)
    assert len(COMPARISONS) >= 15


def test_references_exist() -> None:
    known = {algorithm.id for algorithm in ALGORITHMS} | {"P4.G"}
    for statement in STATEMENTS:
        assert set(statement.follows_from) <= set(BY_ID), statement.id
        assert set(statement.algorithms) <= known, statement.id


def test_what_is_printed_is_recorded_as_printed() -> None:
    for statement in STATEMENTS:
        assert statement.printed is None or statement.source != "ours", statement.id
        assert statement.derived is None or not statement.choices or statement.follows_from, statement.id


@pytest.mark.parametrize("text", sorted({text for statement in STATEMENTS for text in rates(statement)}))
def test_rates_are_expressions_in_declared_symbols(text: str) -> None:
    expression = read(text)
    assert {str(symbol) for symbol in expression.free_symbols} <= set(SYMBOLS)
    assert math.isfinite(log_of(expression, points((), text, 1)[0], logs=True))


# Derivations.

MACHINE = [statement for statement in STATEMENTS if statement.choices]


def substituted(statement: Statement) -> sympy.Expr:
    """The lemma's rate with the choices put in until none of their letters is left."""
    lemma = BY_ID[statement.follows_from[0]]
    expression = read(lemma.derived or lemma.printed or "")
    for _ in statement.choices:
        for name, choice in statement.choices.items():
            expression = expression.subs(NAMES[name], read(choice))
    return expression


def test_there_are_derivations() -> None:
    assert len(MACHINE) >= 25


@pytest.mark.parametrize("statement", MACHINE, ids=lambda statement: statement.id)
def test_derived_follows_from_its_lemma_and_choices(statement: Statement) -> None:
    """Along random directions, to a common constant: log(lemma at the choices) − log(derived) stays flat."""
    expression, derived = substituted(statement), read(statement.derived or "")
    assert not {str(x) for x in expression.free_symbols} & (set(statement.choices) - {"v"})
    sample = points(statement.where, statement.id, 25)
    assert len(sample) >= 10
    for point in sample:
        logs = not bare(statement)
        assert log_of(expression, point, logs=logs) == pytest.approx(log_of(derived, point, logs=logs), abs=FLAT), point


def test_a_wrong_derivation_is_noticed() -> None:
    """The printed τ of Theorem 7 does not give its printed rate."""
    statement = BY_ID["P3.T7.tau"]
    wrong = read(statement.printed or "")
    gaps = [
        abs(log_of(substituted(statement), p, logs=False) - log_of(wrong, p, logs=False))
        for p in points(statement.where, "x", 25)
    ]
    assert max(gaps) > FLAT


# Comparisons.


def excess(comparison: Comparison, point: Point) -> float:
    left, right = (log_of(read(text), point, logs=True) for text in (comparison.left, comparison.right))
    return abs(left - right) if comparison.relation == "==" else left - right


def only_in_logs(comparison: Comparison) -> frozenset[str]:
    expression = read(f"({comparison.left}) + ({comparison.right})")
    outside = {str(symbol) for symbol in expression.replace(LOG, lambda _: sympy.Integer(1)).free_symbols}
    return frozenset({str(symbol) for symbol in expression.free_symbols} - outside)


def test_a_packing_of_half_dense_vectors_is_smaller_than_printed() -> None:
    """P3.C40 at s* = d/2, out of the sampler's reach."""
    comparison = next(c for c in COMPARISONS if c.id == "P3.C40")
    far = [dict.fromkeys(SYMBOLS, 0.0) | {"v": 1.0, "d": size, "s": size - math.log(2)} for size in (10.0, 1e3, 1e6)]
    excesses = [excess(comparison, point) for point in far]
    assert not comparison.holds
    assert excesses == pytest.approx([math.log(size) for size in (10.0, 1e3, 1e6)])


@pytest.mark.parametrize("comparison", [c for c in COMPARISONS if c.id != "P3.C40"], ids=lambda comparison: comparison.id)
def test_comparisons_are_as_said(comparison: Comparison) -> None:
    sample = points(comparison.where, comparison.id, 60 if comparison.holds else 400, only_in_logs(comparison))
    worst = max(excess(comparison, point) for point in sample)
    assert worst <= FLAT if comparison.holds else worst > 2 * FLAT


# Explicit inequalities.


def test_pure_mean_stays_under_ten_times_the_rate_and_over_the_lower_bound() -> None:
    for n, d, v, u, eps in itertools.product(
        (10, 10**4, 10**7), (2, 8, 50), (0.1, 0.5, 1.0), (0.01, 1.0, 30.0), (0.01, 1.0)
    ):
        upper = p3.pure_mean_square_upper(n=n, d=d, v=v, moment=u, epsilon=eps)
        assert upper <= 10 * u ** (2 / (1 + v)) * d * (d / (n * eps)) ** (2 * v / (1 + v)) * (1 + 1e-12)
        assert p3.packing_mean_lower(n=n, d=d, v=v, moment=u, epsilon=eps) ** 2 <= upper


def test_laplace_mean_stays_under_five_times_the_rate() -> None:
    for n, v, u, eps, xi in itertools.product((10, 10**6), (0.1, 0.5, 1.0), (0.01, 30.0), (0.01, 1.0), (0.3, 1e-6)):
        rate = u ** (1 / (1 + v)) * (math.log(1 / xi) / (n * eps)) ** (v / (1 + v))
        assert p3.truncated_laplace_error_upper(n=n, v=v, moment=u, epsilon=eps, xi=xi) <= 5 * rate


def test_composition_share_composes() -> None:
    """ε'√(2m ln(2/δ)) + mε'(e^{ε'} − 1) ≤ ε, the advanced composition theorem at slack δ/2."""
    for eps, delta, m in itertools.product((0.01, 0.5, 0.999), (1e-9, 0.1, 0.999), (1, 2, 10, 1000)):
        share = p3.composition_share(epsilon=eps, delta=delta, steps=m)
        assert share * math.sqrt(2 * m * math.log(2 / delta)) + m * share * math.expm1(share) <= eps


def test_private_fano_is_below_what_a_private_vote_attains() -> None:
    """Two point masses and one record: randomised response has error 1/(1 + e^ε)."""
    for eps in (0.01, 0.1, 1.0, 5.0):
        lower = p3.private_fano_lower(separation=1.0, log_packing=math.log(2), n=1, distance=1.0, epsilon=eps)
        assert lower <= 1 / (1 + math.exp(eps))


def test_approximate_fano_exceeds_what_a_private_vote_attains() -> None:
    """Lemma 15 is false: an (ε, δ)-DP vote over M point masses, whose chance of naming the majority grows as fast as
    (ε, δ) allows, has risk 0."""
    epsilon, delta, chances = 0.1, 1e-6, [0.0]
    while chances[-1] < 1:
        a = chances[-1]
        chances.append(min(1.0, math.exp(epsilon) * a + delta, 1 - math.exp(-epsilon) * (1 - a - delta)))
    for a, b in itertools.pairwise(chances):
        assert b <= math.exp(epsilon) * a + delta + 1e-12
        assert 1 - a <= math.exp(epsilon) * (1 - b) + delta + 1e-12
    n = 2 * (len(chances) - 1)  # the majority counts n/2, …, n have these chances
    lower = p3.approximate_fano_lower(separation=1.0, log_packing=1e6, n=n, distance=1.0, epsilon=epsilon, delta=delta)
    assert lower > 0.4


def test_strongly_convex_bound_as_printed_fails_for_large_smoothness() -> None:
    beta, error, w = 100.0, 1.0, 0.0
    for _ in range(60):
        w -= (beta * w + error) / (2 * beta)
    assert beta * w**2 / 2 > p3.strongly_convex_risk_upper(diameter=1.0, convexity=beta, smoothness=beta, error=error)


def test_convex_bound_holds_for_noisy_descent_on_a_huber_loss() -> None:
    """Exact expectation over all signs of the noise; bias 0, so the lemma's own proof applies."""
    radius, noise, step, steps = 1.0, 0.7, 0.3, 6
    for start in (-1.0, -0.3, 0.5):
        total = 0.0
        for signs in itertools.product((-noise, noise), repeat=steps):
            w = start
            for sign in signs:
                w = min(radius, max(-radius, w - step * (max(-1.0, min(1.0, 10 * w)) + sign)))
                total += (5 * w**2 if abs(w) <= 0.1 else abs(w) - 0.05) / steps
        bound = p3.convex_risk_upper(
            diameter=2.0, gradient_bound=1.0, step=step, steps=steps, bias=0.0, mean_square=noise**2
        )
        assert total / 2**steps <= bound


def test_peeling_lemmas_on_random_vectors() -> None:
    """Lemmas 23 and 24 (S ⊆ I) for greedy choices with arbitrary noise."""
    rng = np.random.default_rng(20240)
    for _ in range(300):
        d, s = 7, int(rng.integers(1, 5))
        vector, noise = rng.normal(size=d), rng.laplace(scale=rng.choice([0.01, 0.5]), size=(s, d))
        chosen: list[int] = []
        for row in noise:
            chosen.append(max((j for j in range(d) if j not in chosen), key=lambda j: float(abs(vector[j]) + row[j])))
        rest, total = [j for j in range(d) if j not in chosen], float((np.abs(noise).max(axis=1) ** 2).sum())
        c, k = float(rng.uniform(0.1, 5)), min(s, d - s)
        kept, lost = (float((vector[rng.permutation(part)[:k]] ** 2).sum()) for part in (chosen, rest))
        assert lost <= p3.peeling_swap_upper(kept=kept, c=c, noise=total) + 1e-12
        inside = chosen + list(rng.permutation(rest)[: int(rng.integers(1, len(rest) + 1))])
        target = int(rng.integers(0, s + 1))
        best = sorted((float(vector[j] ** 2) for j in inside), reverse=True)[target:]
        left = sum(float(vector[j] ** 2) for j in inside if j not in chosen)
        bound = p3.peeling_projection_upper(
            size=len(inside), sparsity=s, target=target, distance=sum(best), c=c, noise=total
        )
        assert left <= bound + 1e-12


def test_restricted_gradient_bound_holds_above_the_sparse_minimum_only() -> None:
    """½‖w − c‖² with the best one-sparse w*; at (1, 3/4), below L(w*), Lemma 25 fails."""
    c = np.array([1.0, 0.5])
    best = np.array([1.0, 0.0])

    def slack(w: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        value = float(((w - c) ** 2).sum() - ((best - c) ** 2).sum()) / 2
        lower = p3.restricted_gradient_lower(convexity=1.0, excess=value, distance=float(np.linalg.norm(w - best)))
        return float(((w - c) ** 2).sum()) - lower

    for x, y in itertools.product(np.linspace(-2, 3, 26), repeat=2):
        if ((np.array([x, y]) - c) ** 2).sum() >= 0.25:
            assert slack(np.array([x, y])) >= -1e-12
    assert slack(np.array([1.0, 0.75])) < 0


def test_sparse_packings_of_the_stated_size_exist() -> None:
    """Greedy packings of {−1, 0, 1}^d vectors with s* signs at Hamming distance ≥ s*/2."""
    for d, s in ((4, 1), (5, 2), (6, 3), (7, 4)):
        words = [
            np.array([dict(zip(support, signs, strict=True)).get(j, 0) for j in range(d)])
            for support in itertools.combinations(range(d), s)
            for signs in itertools.product((-1, 1), repeat=s)
        ]
        packing: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        for word in words:
            if all((word != other).sum() >= s / 2 for other in packing):
                packing.append(word)
        assert math.log(len(packing)) >= p3.sparse_packing_log_size_lower(d=d, sparsity=s)


def test_two_point_instance_has_the_moment_and_the_separation() -> None:
    for v, u, mass in itertools.product((0.1, 0.5, 1.0), (0.1, 3.0), (1e-4, 0.3)):
        jump = (u / mass) ** (1 / (1 + v))
        assert mass * jump ** (1 + v) == pytest.approx(u)
        assert mass * jump == pytest.approx(p3.two_point_separation(v=v, moment=u, mass=mass))
