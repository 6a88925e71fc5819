"""The exact parameter of every specimen on its own pair, from its law: what a lower bound of an audit is compared with.

For a pure claim that is the largest |log P/P'| over all outputs, for (ε, δ) the ε at the claim's δ, for μ-GDP μ, for ρ-zCDP ρ.
Finite laws are tables, computed by quadrature where a threshold or a maximum is integrated out (to about 1e-6); laws with densities
have closed forms, derived where they stand.  Doubles are taken for real numbers, but where they are the point.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace

from tailproof.refimpl.claims import ApproxDP, gaussian_epsilon
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing import zoo, zoo_reports
from tailproof.verification.auditing.zoo import ABOVE, BELOW, STOPPED, Specimen

Law = dict[tuple[float, ...], float]


def everything() -> tuple[Specimen, ...]:
    """All specimens, correct ones first."""
    return (*zoo.correct(), *zoo_reports.correct(), *zoo.broken(), *zoo_reports.broken())


def greatest_loss(here: Law, there: Law) -> float:
    """Largest |log P/P'|; an output that only one law has makes it infinite."""
    if set(here) != set(there):
        return math.inf
    return max(abs(math.log(p / there[value])) if there[value] > 0 else math.inf for value, p in here.items() if p > 0)


# --- finite laws ------------------------------------------------------------------------------------------------------------------


def sparse_vector_law(sums: FloatArray, *, threshold: float, query: float, answers: float, refreshed: bool = False) -> Law:
    """Every pattern of answers, by quadrature over the noisy threshold; where it is refreshed, one quadrature per stretch."""
    grid = np.linspace(-30 * threshold, 30 * threshold, 12_001)
    weights = np.exp(-np.abs(grid) / threshold) / (2 * threshold) * (grid[1] - grid[0])
    weights /= weights.sum()  # the kink at 0 is a grid point
    below = [laplace.cdf(1.0 + grid - q, scale=query) if query > 0 else (q < 1.0 + grid).astype(float) for q in sums]
    law: Law = {}

    def extend(pattern: tuple[float, ...], given: int, inner: FloatArray, outer: float) -> None:
        j = len(pattern)
        if j == len(sums):
            law[pattern] = outer * float(inner @ weights)
        elif given >= answers:
            extend((*pattern, STOPPED), given, inner, outer)
        else:
            extend((*pattern, BELOW), given, inner * below[j], outer)
            above = inner * (1 - below[j])
            if refreshed:
                extend((*pattern, ABOVE), given + 1, np.ones_like(grid), outer * float(above @ weights))
            else:
                extend((*pattern, ABOVE), given + 1, above, outer)

    extend((), 0, np.ones_like(grid), 1.0)
    return law


def noisy_max_law(sums: FloatArray, scale: float) -> Law:
    """By the trapezoidal rule (the density is 0 at the ends); the kinks are grid points."""
    grid = np.linspace(-80, 80, 16_001)
    cdfs = np.array([laplace.cdf(grid, s, scale) for s in sums])
    found: Law = {}
    for j, s in enumerate(sums):
        density = laplace.pdf(grid, s, scale) * np.prod(np.delete(cdfs, j, axis=0), axis=0)
        found[(float(j),)] = float(density.sum() * (grid[1] - grid[0]))
    return found


def permute_and_flip_law(sums: FloatArray, factor: float) -> Law:
    """Of the candidates in random order, each taken with probability exp(factor·(sum − largest)): from the definition, over the
    number of other candidates that come before it.  Sums have at most two values."""
    chances = np.exp(factor * (sums - sums.max()))
    found: Law = {}
    for j, chance in enumerate(chances):
        others = np.delete(chances, j)
        # P(none before is taken) = ∫ Π (1 − u·chance) du for u the place of j in the order
        found[(float(j),)] = float(chance * quad(lambda u, o=others: np.prod(1 - u * o), 0.0, 1.0)[0])
    return found


def softmax_law(logits: FloatArray) -> Law:
    weights = np.exp(logits)
    return {(float(j),): float(w) for j, w in enumerate(weights / weights.sum())}


def geometric_law(data: FloatArray) -> Law:
    return {(float(k),): math.tanh(0.5) * math.exp(-abs(k - data.sum())) for k in range(-40, 41)}


def response_law(data: FloatArray) -> Law:
    right = 1 / (1 + math.exp(-1.0))
    a, b = data[:, 0]
    return {
        (x, y): (right if x == a else 1 - right) * (right if y == b else 1 - right) for x in (0.0, 1.0) for y in (0.0, 1.0)
    }


def rounded_law(value: float, low: int = -40, high: int = 40) -> Law:
    """Of Laplace noise around the value, rounded to whole numbers, the ends taking what is beyond."""
    edges = np.concatenate([[-math.inf], np.arange(low, high) + 0.5, [math.inf]])
    return {
        (float(k),): float(laplace.cdf(b, value) - laplace.cdf(a, value))
        if a < value
        else float(laplace.sf(a, value) - laplace.sf(b, value))
        for k, a, b in zip(range(low, high + 1), edges[:-1], edges[1:], strict=True)
    }


def zero_twice_law(count: float) -> Law:
    stop = -math.expm1(-1.0)
    return {(float(k),): stop * math.exp(-abs(k - count)) * (1.0 if k == count else 0.5) for k in range(-40, 41)}


def coarse_law(value: float) -> Law:
    """As the program computes them, in doubles."""
    found: Law = {}
    for u in (np.arange(2**zoo_reports.BITS) + 0.5) / 2**zoo_reports.BITS:
        for sign in (-1.0, 1.0):
            output = (float(value + sign * -np.log(u)),)
            found[output] = found.get(output, 0.0) + 0.5 / 2**zoo_reports.BITS
    return found


LAWS: dict[str, Callable[[FloatArray], Law]] = {
    "geometric": geometric_law,
    "randomised-response": response_law,
    "noisy-max": lambda data: noisy_max_law(data.sum(axis=0), 2.0),
    "exponential": lambda data: softmax_law(data.sum(axis=0) / 2),
    "exponential-twice": lambda data: softmax_law(data.sum(axis=0)),
    "svt-lyu": lambda data: sparse_vector_law(data.sum(axis=0), threshold=2.0, query=8.0, answers=2),
    "svt-dwork-roth": lambda data: sparse_vector_law(data.sum(axis=0), threshold=4.0, query=8.0, answers=2, refreshed=True),
    "svt-lee-clifton": lambda data: sparse_vector_law(data.sum(axis=0), threshold=4.0, query=4 / 3, answers=2),
    "svt-chen": lambda data: sparse_vector_law(data.sum(axis=0), threshold=2.0, query=2.0, answers=math.inf),
    "svt-stoddard": lambda data: sparse_vector_law(data.sum(axis=0), threshold=2.0, query=0.0, answers=math.inf),
    "constant": lambda data: {(0.0,): 1.0},  # noqa: ARG005
    "snapping": lambda data: rounded_law(data.sum()),
    "rounded-output": lambda data: rounded_law(data.sum()),
    "zero-twice": lambda data: zero_twice_law(data.sum()),
    "coarse-uniform": lambda data: coarse_law(data.sum()),
    "permute-and-flip": lambda data: permute_and_flip_law(data.sum(axis=0), 0.5),
    "permute-and-flip-one": lambda data: permute_and_flip_law(data.sum(axis=0), 1.0),
    "warner": lambda data: {(data[-1, 0],): zoo_reports.WARNER, (1 - data[-1, 0],): 1 - zoo_reports.WARNER},
}
"""Written from the definitions, with numbers for ε = 1, c = 2."""


# --- laws with densities ----------------------------------------------------------------------------------------------------------


def _drawn_again(scale: float) -> float:
    """Around 0 and 1, in [0, 2]: at 0 the ratio is e^{1/scale} times that of the chances to be in range."""
    near, far = -math.expm1(-2 / scale) / 2, -math.expm1(-1 / scale)
    return 1 / scale + math.log(far / near)


def _roth_notes() -> float:
    """Seven ⊥, then a value v: P ∝ ∫ p(ρ) Π P(q + ν < 1 + ρ) 1[v ≥ 1 + ρ] dρ · p(v − q).  Seven queries go from 1 to 0, the last
    from 0 to 1; the largest ratio over v in [−40, 40], a lower bound of the supremum over all answers."""
    rho = np.linspace(-100.0, 39.0, 13_901)
    sides = []
    for first, last in ((1.0, 0.0), (0.0, 1.0)):
        inside = np.exp(-np.abs(rho) / 2.0) * laplace.cdf(1 + rho - first, scale=4.0) ** 7
        sides.append(np.log(np.cumsum(inside)) - np.abs(1 + rho - last) / 4.0)
    return float(np.abs(sides[0] - sides[1])[6_000:].max())


def _at_delta(name: str) -> float:
    one = specimen(name)
    assert isinstance(one.claim, ApproxDP)
    return gaussian_epsilon(1 / one.subject.keywords["scale"], one.claim.delta)  # type: ignore[attr-defined]


def _mu(name: str) -> float:
    """Shift of one over the scale of a Gaussian subject."""
    return float(1 / specimen(name).subject.keywords["scale"])  # type: ignore[attr-defined]


ROOT = math.sqrt(zoo.QUERIES)
CLOSED: dict[str, Callable[[], float]] = {
    "laplace": lambda: 1.0,
    "gaussian": lambda: _at_delta("gaussian"),
    "gaussian-gdp": lambda: _mu("gaussian-gdp"),
    "gaussian-zcdp": lambda: _mu("gaussian-zcdp") ** 2 / 2,
    "vector-laplace": lambda: zoo.QUERIES * (1 / zoo.QUERIES),
    "ignores-data": lambda: 0.0,
    "laplace-half": lambda: 1 / 0.5,
    "noisy-max-value": lambda: float(zoo.QUERIES),  # far down all eight distribution functions are e times as large
    "svt-roth-notes": _roth_notes,
    "unclipped-mean": lambda: (100 / 10) / (1 / 10),
    "clipped-too-late": lambda: 10 / 0.1,  # P(0) is ½ and ½·e^{−100}
    "gaussian-log10": lambda: _mu("gaussian-log10"),
    "signed-sum": lambda: 2.0,
    "shared-noise": lambda: math.inf,  # differences of outputs are exact, and differ
    "noise-by-size": lambda: math.inf,  # tails of scales 1/3 and 1/2
    "clamped-output": lambda: 1.0,  # P(0) is ½ and ½·e^{−1}
    "drawn-again-wider": lambda: _drawn_again(2.0),
    "vector-gaussian": lambda: ROOT / ROOT,
    "histogram": lambda: 2 / 2.0,
    "variance": lambda: (9 / 100) / (9 / 100),
    "clipped-moments": lambda: 1 / 4 + 1 / 2,
    "releases": lambda: 4 * 0.25,
    "tree-of-counts": lambda: zoo_reports.LEVELS / 3.0,
    "batch": lambda: math.log(0.5 + 0.5 * math.e),  # beyond 1: half of it e times as dense
    "naive-laplace": lambda: math.inf,  # outputs that only one side has
    "naive-laplace-bits": lambda: math.inf,  # (near 0, not a multiple of 2⁻⁵³) does not occur for the sum 1
    "rounded-noise": lambda: math.inf,  # fractions 0 and ½
    "cut-noise": lambda: math.inf,  # ends at 5 and at 6
    "drawn-again": lambda: _drawn_again(1.0),
    "one-sided": lambda: math.inf,  # 0 does not occur for the count 1
    "laplace-std": lambda: 1 / math.sqrt(0.5),
    "laplace-99": lambda: 1 / 0.99,
    "vector-l2": lambda: zoo.QUERIES / ROOT,
    "vector-linf": lambda: ROOT,
    "gaussian-pure": lambda: math.inf,  # the loss is linear in the output
    "gaussian-large": lambda: _at_delta("gaussian-large"),
    "histogram-replaced": lambda: 2 / 1.0,
    "lower-bound-square": lambda: (1 - 0.25) / 0.25,
    "variance-square": lambda: (9 / 100) / (1 / 100),
    "unclipped-moments": lambda: 10 / 4 + 100 / 2,
    "clipped-sum": lambda: 2.0,
    "local-sensitivity": lambda: math.inf,  # scales 1 and 1/1000
    "releases-five": lambda: 5 * 0.25,
    "tree-levels": lambda: zoo_reports.LEVELS / 1.0,
    "batch-fixed": lambda: 1.0,
    "fixed-seed": lambda: math.inf,
    "rare-leak": lambda: math.inf,  # the δ of what is told as it is exceeds the claim's
}


def specimen(name: str) -> Specimen:
    return next(one for one in everything() if one.name == name)


def exact_parameter(one: Specimen) -> float:
    """Of its claim's kind, on its pair."""
    if one.name in LAWS:
        return greatest_loss(*(LAWS[one.name](data) for data in one.pair))
    return CLOSED[one.name]()
