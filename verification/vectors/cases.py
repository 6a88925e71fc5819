"""The inputs of all vectors but the transcripts', with the classes of bugs that each hunts.  Chosen by hand; no answers here."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.bounds import compare
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.certified import minimise
from tailproof.refimpl.losses import Logistic
from tailproof.verification.vectors.pieces import PARTS

EXACT = {"absolute": 0.0, "relative": 0.0}
ROUNDING = {"absolute": 1e-13, "relative": 1e-12}
CLOSE = {"absolute": 1e-12, "relative": 1e-9}
SOLVED = {"absolute": 1e-7, "relative": 1e-7}
"""Of answers that a solver finds: any correct implementation comes at least as close."""


@dataclass(frozen=True)
class Case:
    name: str
    flags: tuple[str, ...]
    inputs: dict[str, Any]
    comment: str
    tolerance: dict[str, float]


def _table(seed: int, n: int, d: int, size: float = 1.0) -> list[list[float]]:
    """Heavy-tailed numbers with two decimals."""
    drawn = np.random.default_rng(seed).standard_t(2.5, size=(n, d))
    rows: list[list[float]] = np.round(size * drawn, 2).tolist()
    return rows


def clipping() -> Iterator[Case]:
    flags = ("UNCLIPPED", "WRONG_QUERY")
    tables = {
        "inside": [[0.3, 0.4], [0.0, -0.2], [0.0, 0.0]],
        "on-the-sphere": [[0.6, 0.8], [-1.0, 0.0]],
        "outside": [[3.0, 4.0], [-5.0, 12.0], [0.1, 0.0]],
        "entries-inside-norm-outside": [[0.9, 0.9, 0.9], [-0.9, 0.9, -0.9]],
        "huge": [[3e200, 4e200], [-3e300, 4e300], [0.5, 0.0]],
        "tiny": [[3e-300, 4e-300], [0.0, 1e-310]],
        "heavy-tailed": _table(1, 6, 3, 2.0),
    }
    comments = {
        "entries-inside-norm-outside": "Clipping is by the length of a record, not entry by entry.",
        "huge": "The squared length overflows; the record still lands on the sphere.",
    }
    for name, data in tables.items():
        tolerance = {"absolute": 0.0, "relative": 1e-12} if name == "tiny" else ROUNDING
        comment = comments.get(name, "Records onto the ball of radius clip.")
        yield Case(name, flags, {"data": data, "clip": 1.0}, comment, tolerance)
    yield Case(
        "other-radius", flags, {"data": _table(2, 5, 2), "clip": 0.25}, "The radius is the one given, not one.", ROUNDING
    )


def truncation() -> Iterator[Case]:
    flags = ("UNCLIPPED", "WRONG_QUERY")
    yield Case(
        "beyond-is-zero",
        flags,
        {"data": [[2.0], [-3.0], [1.5], [0.5]], "bound": 1.5},
        "An entry beyond the bound becomes 0, not the bound; one at the bound stays.",
        ROUNDING,
    )
    yield Case(
        "by-entry",
        flags,
        {"data": [[0.9, -2.0], [-1.1, 0.3], [0.9, 0.9]], "bound": 1.0},
        "Each entry by itself; a record's other entries stay.",
        ROUNDING,
    )
    yield Case(
        "heavy-tailed",
        flags,
        {"data": _table(3, 9, 2, 2.0), "bound": 1.25},
        "The mean is over all records, also those that became 0.",
        ROUNDING,
    )


def medians() -> Iterator[Case]:
    flags = ("WRONG_QUERY", "UNCLIPPED")
    for name, n, d, groups, bound, rule, comment in (
        ("odd", 15, 2, 5, 2.0, "average", "Five groups: the middle one."),
        ("even-average", 12, 2, 4, 2.0, "average", "Four groups: half the sum of the two middle ones."),
        ("even-low", 12, 1, 4, 2.0, "low", "Four groups: the lower middle one."),
        ("unequal-sizes", 11, 1, 4, 2.0, "average", "Group g starts at ⌊n·g/m⌋: sizes 2, 3, 3 and 3."),
        ("tight-truncation", 14, 2, 7, 0.5, "average", "Most entries are beyond the bound and count as 0."),
        ("one-group", 5, 3, 1, 10.0, "average", "One group: the truncated mean."),
    ):
        inputs = {"data": _table(n + groups, n, d), "groups": groups, "truncation": bound, "rule": rule}
        yield Case(name, flags, inputs, comment, ROUNDING)


def soft_influence() -> Iterator[Case]:
    grid = [0.0, 1e-6, 0.1, 0.5, 1.0, math.sqrt(2), 1.5, 2.5, 3.5, 10.0, 1e3, 1e100]
    for beta in (1.0, 4.0, 9.0, 50.0):
        yield Case(
            f"beta-{beta:g}",
            ("UNCLIPPED", "WRONG_QUERY"),
            {"values": [*grid, *(-a for a in grid[1:])], "beta": beta},
            "E φ(a(1 + N/√β)), φ(x) = x − x³/6 up to √2 and constant beyond: odd, never beyond 2√2/3.",
            CLOSE,
        )


def smooth_sensitivity() -> Iterator[Case]:
    flags = ("HALVED_SENSITIVITY", "DATA_DEPENDENT_PARAMETER", "UNCLIPPED")
    base = {"lower": -1.0, "upper": 1.0, "smoothness": 0.2}
    columns = {
        "spread": np.round(np.linspace(-2, 2, 11), 2).tolist(),
        "two-blocks": [-1.0] * 6 + [1.0] * 5,
        "equal": [0.25] * 9,
        "far-records": [0.0, 0.1, -0.1, 0.2, -0.2, 0.3, 1e6, -1e6, 1e9],
        "heavy-tailed": [row[0] for row in _table(4, 21, 1)],
    }
    for name, values in columns.items():
        for clamp, trim in (("output", 2), ("data", 2), ("data", 4)):
            yield Case(
                f"{name}-{clamp}-{trim}",
                flags,
                {"values": values, **base, "trim": trim, "clamp": clamp},
                "Larger than the local sensitivity: e^{−kt} times that of data k records away, the worst of them.",
                CLOSE,
            )


def aggregate() -> Iterator[Case]:
    points = {"together": [0.1, 0.12, 0.08, 0.1, 0.11, 0.5, -0.4], "spread": [-1.0, -0.6, -0.2, 0.1, 0.3, 0.7, 0.95]}
    for name, values in points.items():
        for centres in ("data", "any"):
            yield Case(
                f"{name}-{centres}",
                ("HALVED_SENSITIVITY", "DATA_DEPENDENT_PARAMETER"),
                {"points": values, "width": 2.0, "smoothness": 0.3, "centres": centres},
                "The centre of a majority, among the points or any, and 2·max_k e^{−βk} of the radii that hold k more.",
                CLOSE,
            )


def projection() -> Iterator[Case]:
    ball = {"ball": {"center": [0.5, -0.5], "radius": 2.0}}
    box = {"box": {"lower": [-1.0, 0.0], "upper": [1.0, 0.5]}}
    simplex = {"polytope": {"normals": [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], "offsets": [0.0, 0.0, 1.0]}}
    sets: dict[str, dict[str, Any]] = {
        "ball": ball,
        "box": box,
        "l1": {"l1": {"center": [0.0, 0.0], "radius": 1.0}},
        "ellipsoid": {"ellipsoid": {"center": [0.0, 0.0], "shape": [[4.0, 0.0], [0.0, 1.0]]}},
        "polytope": simplex,
        "box-and-ball": {"localised": {"base": box, "center": [0.5, 0.25], "radius": 0.3}},
    }
    points = {"inside": [0.4, 0.3], "near": [1.2, 0.6], "far": [30.0, -40.0], "across": [-3.0, 7.0]}
    for name, domain in sets.items():
        for where, point in points.items():
            yield Case(
                f"{name}-{where}",
                ("WRONG_QUERY", "UNCLIPPED"),
                {"domain": domain, "point": point},
                "The nearest point of the set; a point of the set stays.",
                CLOSE if name in ("ball", "box", "l1") else SOLVED,
            )


def extension() -> Iterator[Case]:
    ball: dict[str, Any] = {"ball": {"center": [0.0, 0.0], "radius": 1.0}}
    box: dict[str, Any] = {"box": {"lower": [-1.0, -1.0], "upper": [1.0, 1.0]}}
    regression = [[0.3, 0.2, 5.0], [4.0, -3.0, 1.0], [1e3, 1e3, -2.0]]
    labelled = [[0.3, 0.2, 1.0], [4.0, -3.0, -1.0], [40.0, 9.0, 1.0]]
    flags = ("UNCLIPPED", "WRONG_QUERY")
    comment = "min over y in W of f(y) + C‖w − y‖: the loss where its slope is below C, and never steeper than C."
    for name, loss, data, domain, tolerance in (
        ("absolute-ball", "absolute", regression, ball, CLOSE),
        ("squared-ball", "squared", regression[:2], ball, SOLVED),
        ("logistic-ball", "logistic", labelled, ball, SOLVED),
        ("hinge-ball", "hinge", labelled, ball, CLOSE),
        ("absolute-box", "absolute", regression[:2], box, SOLVED),
        ("quadratic-ball", {"quadratic": [[1.0, 0.0], [0.0, 4.0]]}, [[0.2, 0.1], [3.0, -2.0]], ball, SOLVED),
    ):
        inputs = {"loss": loss, "data": data, "domain": domain, "lipschitz": 1.5, "point": [0.25, -0.5]}
        yield Case(name, flags, inputs, comment, tolerance)


def comparisons() -> Iterator[Case]:
    proofs = {
        "power": ("1/n", "1/sqrt(n)", ["n>=1"]),
        "two-terms": ("d/(n*eps)", "sqrt(d/n) + (d/(n*eps))**(1-1/k)", ["k>=2", "n*eps>=d"]),
        "logarithm": ("sqrt(log(n)/n)", "n**(-1/3)", ["n>=2"]),
        "separated": ("sqrt(d/n)", "d/n", ["n>=d"]),
    }
    for name, (left, right, where) in proofs.items():
        document = dict(compare(left, right, where=where).document)
        yield Case(name, ("REFUSED_CERTIFICATE",), {"certificate": document}, f"A proof about {left} and {right}.", EXACT)
        for what, damaged in _damaged(document):
            yield Case(f"{name}-{what}", ("FALSE_CERTIFICATE",), {"certificate": damaged}, f"Not a proof: {what}.", EXACT)


def _damaged(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    swapped = copy.deepcopy(document)
    swapped["claim"]["left"], swapped["claim"]["right"] = document["claim"]["right"], document["claim"]["left"]
    yield "the-sides-exchanged", swapped
    other = copy.deepcopy(document)
    other["verdict"] = {"dominated": "separated", "separated": "dominated"}[document["verdict"]]
    yield "the-other-verdict", other
    another = copy.deepcopy(document)
    for term in another["claim"]["left"][0]:
        term["n"] = {"dominated": "1", "separated": "-9"}[document["verdict"]]
    yield "another-exponent", another


def minimisers() -> Iterator[Case]:
    data = np.array([[0.5, 1.0, 1.0], [3.0, -1.0, -1.0], [-1.0, 0.5, 1.0], [20.0, 10.0, -1.0]])
    problem = Problem(Logistic(), data, Ball(np.zeros(2), 1.0), lipschitz=1.0, weight=0.5, anchor=np.zeros(2))
    found = minimise(problem, 1e-9)
    parts = {name: getattr(found.certificate, name).tolist() for name in PARTS}
    stated = {
        "loss": "logistic",
        "data": data.tolist(),
        "domain": {"ball": {"center": [0.0, 0.0], "radius": 1.0}},
        "lipschitz": 1.0,
        "weight": 0.5,
        "anchor": [0.0, 0.0],
    }

    def case(name: str, flag: str, accuracy: float, comment: str, **changed: Any) -> Case:
        inputs = {**stated, "certificate": {**parts, **changed}, "accuracy": accuracy}
        return Case(name, (flag,), inputs, comment, EXACT)

    yield case("good", "REFUSED_CERTIFICATE", 1e-8, "Its gap is below the accuracy by a factor of ten at least.")
    yield case("loose", "REFUSED_CERTIFICATE", 1e-2, "More accuracy than is asked for.")
    moved = [parts["point"][0] + 0.05, parts["point"][1]]
    yield case("point-moved", "FALSE_CERTIFICATE", 1e-5, "The point is 0.05 off: its gap is about 0.0006.", point=moved)
    longer = (2 * np.array(parts["subgradients"])).tolist()
    yield case("subgradient-too-long", "FALSE_CERTIFICATE", 1e-2, "A slope longer than C.", subgradients=longer)
    outside = [[3.0, 0.0], *parts["minimisers"][1:]]
    yield case("minimiser-outside", "FALSE_CERTIFICATE", 1e3, "A y outside of W proves nothing.", minimisers=outside)
    duals = [7.0, *parts["duals"][1:]]
    yield case("dual-outside", "FALSE_CERTIFICATE", 1e3, "A dual where the conjugate is infinite.", duals=duals)
    yield case("too-much-asked", "FALSE_CERTIFICATE", 1e-30, "True or not, floats cannot prove so small a gap.")


def calibration() -> Iterator[Case]:
    def case(name: str, rule: str, flags: tuple[str, ...], comment: str, **numbers: Any) -> Case:
        return Case(name, flags, {"rule": rule, **numbers}, comment, CLOSE)

    noise = ("UNDERSCALED_NOISE", "SIGMA_VS_VARIANCE", "INFLATED_NOISE")
    for number, (sensitivity, epsilon, delta) in enumerate(((1.0, 1.0, 1e-5), (0.01, 0.3, 1e-6), (20.0, 0.05, 1e-9)), 1):
        keys = {"sensitivity": sensitivity, "epsilon": epsilon, "delta": delta}
        yield case(f"classical-{number}", "gaussian classical", noise, "σ = Δ√(2 ln(1.25/δ))/ε.", **keys)
        yield case(f"definition-3-{number}", "P0 Definition 3", noise, "σ = 4Δ√log(1/δ)/ε.", **keys)
    for number, (sensitivity, epsilon, delta) in enumerate(
        ((1.0, 1.0, 1e-5), (0.01, 0.3, 1e-6), (2.0, 8.0, 1e-3), (1.0, 0.001, 1e-10)), 1
    ):
        yield case(
            f"analytic-{number}",
            "gaussian analytic",
            noise,
            "The least σ with Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ) ≤ δ, also for ε > 1.",
            sensitivity=sensitivity,
            epsilon=epsilon,
            delta=delta,
        )
    for number, (sensitivity, rho) in enumerate(((1.0, 0.5), (0.05, 0.01), (10.0, 4.0)), 1):
        yield case(f"zcdp-{number}", "gaussian zcdp", noise, "σ = Δ/√(2ρ).", sensitivity=sensitivity, rho=rho)
        yield case(
            f"l2-laplace-{number}", "l2-laplace", noise, "Scale Δ/ε, in any dimension.", sensitivity=sensitivity, epsilon=rho
        )
    split = ("DROPPED_COMPOSITION", "WRONG_CONSTANT")
    yield case("p2-15", "P2 (15)", split, "ρ = ε²/(1 + 2√ln(1/δ))².", epsilon=0.8, delta=1e-3)
    for number, (groups, amplification) in enumerate(((40, "published"), (10, "none")), 1):
        keys24 = {"epsilon": 0.5, "delta": 1e-3, "groups": groups, "amplification": amplification}
        yield case(f"p2-24-{number}", "P2 (24)", split, "ρ of one group, by shuffling k of them or without.", **keys24)
    for number, sparsity in enumerate((1, 8), 1):
        keys4 = {"sensitivity": 0.2, "sparsity": sparsity, "epsilon": 0.8, "delta": 1e-3}
        yield case(f"peeling-{number}", "P3 Algorithm 4", split, "4λ√(2s log(1/δ))/ε: s rounds share ε.", **keys4)
    yield case(
        "subsampled",
        "subsampled gaussian",
        split,
        "DP-SGD's multiplier for 5 steps of half the records without replacement, by the accountant that docs/protocol.md cites.",
        epsilon=1.0,
        delta=1e-3,
        share=0.5,
        steps=5,
    )


def _pure(epsilon: float, relation: str = "replace-one") -> dict[str, Any]:
    return {"claim": "pure", "epsilon": epsilon, "neighbouring": relation}


def _approx(epsilon: float, delta: float, relation: str = "replace-one") -> dict[str, Any]:
    return {"claim": "approx", "epsilon": epsilon, "delta": delta, "neighbouring": relation}


def _zcdp(rho: float, relation: str = "replace-one") -> dict[str, Any]:
    return {"claim": "zcdp", "rho": rho, "neighbouring": relation}


def _gdp(mu: float, relation: str = "replace-one") -> dict[str, Any]:
    return {"claim": "gdp", "mu": mu, "neighbouring": relation}


def conversion() -> Iterator[Case]:
    def case(name: str, claim: dict[str, Any], to: str, comment: str, delta: float | None = None) -> Case:
        flag = "WRONG_ADJACENCY" if to in ("replace-one", "add-remove") else "UNSOUND_CONVERSION"
        return Case(name, (flag,), {"from": claim, "to": to, "delta": delta}, comment, {"absolute": 0.0, "relative": 1e-8})

    yield case("pure-zcdp", _pure(1.0), "zcdp", "ε·tanh(ε/2), which is the best possible.")
    yield case("pure-zcdp-large", _pure(6.0), "zcdp", "ε·tanh(ε/2): close to ε for large ε.")
    yield case("pure-gdp", _pure(1.0), "gdp", "μ = 2Φ⁻¹(e^ε/(1 + e^ε)).")
    yield case("gdp-zcdp", _gdp(0.7), "zcdp", "μ²/2.")
    yield case("gdp-approx", _gdp(1.0), "approx", "The exact ε of the Gaussian curve.", 1e-5)
    yield case("gdp-approx-large", _gdp(5.0), "approx", "The exact ε of the Gaussian curve.", 1e-8)
    yield case("zcdp-approx", _zcdp(0.1), "approx", "Minimised over the order; below ρ + 2√(ρ ln(1/δ)).", 1e-6)
    yield case("pure-approx", _pure(0.5), "approx", "No more than ε.", 1e-6)
    yield case("approx-pure", _approx(0.5, 1e-6), "pure", "No theorem: null.")
    yield case("approx-zcdp", _approx(0.5, 1e-6), "zcdp", "No theorem: null.")
    yield case("zcdp-pure", _zcdp(0.1), "pure", "No theorem: null.")
    yield case("zcdp-gdp", _zcdp(0.1), "gdp", "No theorem: null.")
    yield case("approx-smaller-delta", _approx(0.5, 1e-6), "approx", "A smaller δ does not follow: null.", 1e-9)
    for name, claim in (("pure", _pure(0.5, "add-remove")), ("zcdp", _zcdp(0.1, "add-remove"))):
        yield case(f"{name}-to-replace-one", claim, "replace-one", "A replacement is a removal and an addition.")
    yield case("gdp-to-replace-one", _gdp(0.3, "add-remove"), "replace-one", "Twice μ.")
    yield case("approx-to-replace-one", _approx(0.5, 1e-6, "add-remove"), "replace-one", "(2ε, (1 + e^ε)δ).")
    yield case("pure-to-add-remove", _pure(0.5), "add-remove", "Says nothing about data of another size: null.")


def composition() -> Iterator[Case]:
    def case(name: str, rule: str, members: list[dict[str, Any]], comment: str, *flags: str, **more: Any) -> Case:
        inputs = {"rule": rule, "claims": members, **more}
        return Case(name, flags or ("DROPPED_COMPOSITION",), inputs, comment, CLOSE)

    yield case("basic-pure", "basic", [_pure(0.1)] * 7, "ε's add up.")
    yield case("basic-mixed", "basic", [_pure(0.5), _approx(0.25, 1e-6), _approx(1.0, 2e-6)], "ε's and δ's add up.")
    yield case("zcdp", "zcdp", [_zcdp(0.1), _zcdp(0.02), _zcdp(0.3)], "ρ's add up.")
    yield case("gdp", "gdp", [_gdp(3.0), _gdp(4.0)], "Squares of μ add up.")
    yield case("advanced-pure", "advanced", [_pure(0.1)], "√(2k ln(1/δ'))ε + kε(e^ε − 1).", times=100, slack=1e-6)
    yield case("advanced-approx", "advanced", [_approx(0.05, 1e-8)], "δ is kδ + δ'.", times=30, slack=1e-5)
    yield case(
        "split", "split for advanced", [_approx(0.8, 1e-3)], "The share of a step: ε/(2√(2m ln(2/δ))), δ/(2m).", times=4
    )
    yield case("split-large", "split for advanced", [_approx(3.0, 1e-3)], "Proved for ε ≤ 1 only: null.", times=4)
    yield case("parallel", "parallel", [_zcdp(0.1), _zcdp(0.4)], "Disjoint data: the worst part's.", "OVERLAPPING_BATCHES")
    yield case(
        "mixed-relations",
        "basic",
        [_pure(0.1), _pure(0.1, "add-remove")],
        "Claims about different neighbours do not compose: null.",
        "WRONG_ADJACENCY",
    )
    yield case(
        "parallel-add-remove",
        "parallel",
        [_zcdp(0.1, "add-remove"), _zcdp(0.2, "add-remove")],
        "Parts given by positions shift when a record is added: null.",
        "WRONG_ADJACENCY",
    )


def schedule() -> Iterator[Case]:
    def case(name: str, of: str, comment: str, **numbers: Any) -> Case:
        flags = ("DATA_DEPENDENT_PARAMETER", "WRONG_CONSTANT")
        return Case(name, flags, {"of": of, "numbers": numbers}, comment, {"absolute": 1e-12, "relative": 1e-8})

    phased = {"dimension": 2, "step": 2.0, "lipschitz": 100.0, "moment_bound": 0.5, "moment_order": 2.0, "horizon": 3.0}
    p0 = "n_i = n/2^i, η_i = 4^{−i}η, λ_i, C_i, D_i, T_i of line 3."
    yield case("phases-zcdp", "P0 Algorithm 3", p0, n=16, **phased, rho=0.5)
    yield case("phases-approx", "P0 Algorithm 3", p0, n=64, **phased, epsilon=0.8, delta=1e-3)
    yield case("noise-shape", "P1 Algorithm 3", "σ and s that minimise the variance.", epsilon=0.8, smoothness=0.1)
    yield case("soft", "P1 Algorithm 4", "s = √(nv/(2log(1/δ'))), β = log(1/δ').", n=100, second_moment=2.0, failure=0.01)
    one = {"epsilon": 0.8, "delta": 1e-3, "failure": 0.05, "moment_order": 1.5, "moment_bound": 1.0}
    yield case("truncation", "P3 Algorithm 1", "B = (unε/(log(1/ξ)√log(1.25/δ)))^{1/(1+v)}.", n=50, **one)
    yield case("groups", "P3 Algorithm 3", "m = ⌈4·log(2d/ξ)⌉.", n=100, d=3, failure=0.1)
    convex = {"epsilon": 0.8, "moment_order": 1.5, "gradient_bound": 0.05, "diameter": 2.0}
    yield case("convex", "P3 Theorem 6", "τ, T, η and ξ.", records=400, dimension=2, **convex)
    sparse = {"true_sparsity": 1, "moment_order": 2.0, "moment_bound": 1.0, "strong_convexity": 1.0, "smoothness": 1.0}
    ten = {**sparse, "epsilon": 0.8, "delta": 1e-3, "failure": 0.1}
    yield case("sparse", "P3 Theorem 10", "s, T, η₀ and B.", records=5000, dimension=200, **ten)
    e1 = {"net_size": 81, "epsilon": 1.0, "moment_order": 2.0, "moment_bound": 1.0, "failure": 0.1}
    yield case("clip", "P4 Theorem E.1", "C = G(nε/(log|N| + log(1/ζ)))^{1/k}.", n=1000, **e1)


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "clipping": clipping,
    "truncation": truncation,
    "median-of-means": medians,
    "soft-truncation": soft_influence,
    "smooth-sensitivity": smooth_sensitivity,
    "aggregate-sensitivity": aggregate,
    "projection": projection,
    "lipschitz-extension": extension,
    "rate-certificate": comparisons,
    "minimiser-certificate": minimisers,
    "calibration": calibration,
    "conversion": conversion,
    "composition": composition,
    "schedule": schedule,
}
