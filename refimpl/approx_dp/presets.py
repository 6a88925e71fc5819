"""The parameters of every optimiser of P0 to P3 from one set of public numbers: as the theorems choose them, or tuned.

`Facts` are what is known of a problem without looking at its data; a preset takes those that its algorithm needs and says which is
missing.  The `theory` presets are the papers' own choices, with each O(·) the constant that the algorithm's module names; the
`tuned` ones have the same privacy and are meant for use.  Neither depends on data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tailproof.refimpl.approx_dp import (
    accelerated,
    approximation,
    iterated,
    iterated_accelerated,
    localised,
    mean_descent,
    median_descent,
    repaired,
    sample_aggregate,
    sgd,
    soft_descent,
    sparse,
    trimmed_descent,
)
from tailproof.refimpl.channel import Mechanism
from tailproof.refimpl.validation import MissingError, RangeError, choice

Kind: TypeAlias = Literal["theory", "tuned"]


@dataclass(frozen=True)
class Facts:
    """Public numbers.  Gradients are those of a record's loss, bounds hold for all points of W."""

    records: int  # n
    dimension: int  # d, of the points
    diameter: float  # of W
    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None  # in place of ε and δ, for P0
    norm_moment: float | None = None  # r̃ ≥ (E‖∇f‖^{2k})^{1/2k}
    norm_order: float | None = None  # k ≥ 2, of P0
    direction_moment: float | None = None  # M ≥ (E|⟨u, ∇f⟩|^p)^{1/p} for unit u
    direction_order: float | None = None  # p ≥ 2, of P2
    coordinate_moment: float | None = None  # u ≥ E|∂_j f|^{1+v}
    coordinate_order: float | None = None  # 1 + v in (1, 2], of P3; P1 needs 2
    record_smoothness: float | None = None  # of every record's loss
    smoothness: float | None = None  # of the risk
    strong_convexity: float | None = None  # of the risk
    lipschitz: float | None = None  # of every record's loss
    theta: float | None = None  # θ̄ > 1 of the noise condition
    sparsity: int | None = None  # s*
    failure: float = 0.05
    mean_slope: float | None = None  # |E ∂_j f| at most, P1's [a, b]

    def need(self, name: str, identifier: str) -> float:
        value: float | None = getattr(self, name)
        if value is None:
            raise MissingError(name, f"the parameters of {identifier}")
        return value


def preset(identifier: str, facts: Facts, kind: Kind = "tuned") -> dict[str, Any]:
    """What the optimiser takes besides loss, domain and budget."""
    choice("kind", kind, ("theory", "tuned"))
    known = {"theory": THEORY, "tuned": TUNED}[kind]
    choice("identifier", identifier, tuple(known))
    return known[identifier](facts, identifier)


def optimiser(identifier: str) -> Mechanism:
    choice("identifier", identifier, tuple(OPTIMISERS))
    return OPTIMISERS[identifier]


# ------------------------------------------------------------------------------------------------------------------------- P0


def _p0(facts: Facts, identifier: str, *names: str) -> dict[str, Any]:
    """Named as P0's modules have it."""
    words = {
        "moment_bound": "norm_moment",
        "moment_order": "norm_order",
        "theta_bar": "theta",
        "smoothness": "record_smoothness",
    }
    known: dict[str, Any] = {"dimension": facts.dimension}
    known |= {"epsilon": facts.epsilon, "delta": facts.delta, "rho": facts.rho}
    for name in ("moment_bound", *names):
        known[name] = facts.diameter / 2 if name == "radius" else facts.need(words.get(name, name), identifier)
    return known


_LAW = ("moment_order", "smoothness")


def _localised_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    """η is Algorithm 4's, which also suits Theorem 1: its own η is printed for an unknown distance."""
    law = _p0(facts, identifier, *_LAW, "radius", "lipschitz", "failure")
    step = localised.published_step(facts.records, **law)
    words = ("dimension", "lipschitz", "moment_bound", "moment_order", "epsilon", "delta", "rho")
    phases = localised.published_phases(facts.records, step=step, **{name: law[name] for name in words})
    return {"phases": phases, "smoothness": law["smoothness"]}


def _localised_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    law = _p0(facts, identifier, *_LAW, "diameter")
    return {"phases": localised.tuned_phases(facts.records, **law), "smoothness": law["smoothness"]}


def _repaired(facts: Facts, identifier: str) -> dict[str, Any]:
    return {"phases": _localised_tuned(facts, identifier)["phases"]}


def _staged(make: Callable[..., Sequence[approximation.Stage]], *names: str) -> Preset:
    def choose(facts: Facts, identifier: str) -> dict[str, Any]:
        law = _p0(facts, identifier, *_LAW, "radius", *names)
        return {"stages": make(facts.records, **law), "smoothness": law["smoothness"]}

    return choose


def _accelerated_law(facts: Facts, identifier: str, noise: str, *names: str) -> dict[str, Any]:
    law = _p0(facts, identifier, "moment_order", "diameter", *names)
    return {**law, "smoothness": facts.need("smoothness", identifier), "noise": noise}


def _accelerated(noise: str) -> Preset:
    """Only shuffling's ε is small; `central` noise is for every ε."""

    def choose(facts: Facts, identifier: str) -> dict[str, Any]:
        return accelerated.published_parameters(facts.records, **_accelerated_law(facts, identifier, noise))

    return choose


def _iterated_accelerated(noise: str) -> Preset:
    def choose(facts: Facts, identifier: str) -> dict[str, Any]:
        law = _accelerated_law(facts, identifier, noise, "theta_bar")
        return {"parts": iterated_accelerated.published_parts(facts.records, **law), "noise": noise}

    return choose


def _sgd(facts: Facts, identifier: str) -> dict[str, Any]:
    law: dict[str, Any] = {"dimension": facts.dimension, "diameter": facts.diameter}
    law["moment_bound"] = facts.need("norm_moment", identifier)
    return sgd.tuned_parameters(facts.records, **law | _claim(facts, identifier))


def _claim(facts: Facts, identifier: str) -> dict[str, float]:
    return {"epsilon": facts.need("epsilon", identifier), "delta": facts.need("delta", identifier)}


# ------------------------------------------------------------------------------------------------------------------------- P1


def _second_moment(facts: Facts, identifier: str) -> float:
    if facts.need("coordinate_order", identifier) != 2:
        raise RangeError("coordinate_order", facts.coordinate_order, f"must be 2 for {identifier}")
    return facts.need("coordinate_moment", identifier)


def _aggregate_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    return sample_aggregate.published_parameters(facts.records, facts.dimension, **_claim(facts, identifier))


def _aggregate_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    spread = math.sqrt(facts.dimension * _second_moment(facts, identifier)) / facts.need("strong_convexity", identifier)
    known: dict[str, Any] = {**_claim(facts, identifier), "diameter": facts.diameter}
    return sample_aggregate.tuned_parameters(facts.records, facts.dimension, **known, spread=spread)


def _interval(facts: Facts, identifier: str) -> dict[str, float]:
    reach = facts.need("mean_slope", identifier)
    return {"lower": -reach, "upper": reach}


def _trimmed_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    upper, lower = facts.need("smoothness", identifier), facts.need("strong_convexity", identifier)
    chosen = trimmed_descent.published_parameters(facts.records, curvature_upper=upper, curvature_lower=lower)
    return chosen | _interval(facts, identifier)


def _trimmed_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    chosen = trimmed_descent.tuned_parameters(facts.records, curvature_upper=facts.need("smoothness", identifier))
    return chosen | _interval(facts, identifier)


def _soft(facts: Facts, identifier: str) -> dict[str, Any]:
    return {
        **_claim(facts, identifier),
        "curvature_upper": facts.need("smoothness", identifier),
        "second_moment": _second_moment(facts, identifier),
        "failure": facts.failure,
    }


def _soft_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    """Theorem 7's number of steps where the risk is strongly convex, else Theorem 8's."""
    curved: dict[str, Any] = {"curvature_lower": facts.strong_convexity, "distance": facts.diameter}
    return soft_descent.published_parameters(facts.records, facts.dimension, **_soft(facts, identifier), **curved)


def _soft_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    return soft_descent.tuned_parameters(facts.records, facts.dimension, **_soft(facts, identifier))


# ------------------------------------------------------------------------------------------------------------------ P2 and P3


def _means(facts: Facts, identifier: str) -> dict[str, Any]:
    return {
        **_claim(facts, identifier),
        "moment_order": facts.need("direction_order", identifier),
        "moment_bound": facts.need("direction_moment", identifier),
        "smoothness": facts.need("smoothness", identifier),
    }


def _means_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    return mean_descent.published_parameters(facts.records, facts.dimension, **_means(facts, identifier)).keywords()


def _means_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    law = {**_means(facts, identifier), "diameter": facts.diameter}
    return mean_descent.tuned_parameters(facts.records, facts.dimension, **law).keywords()


def _medians(facts: Facts, identifier: str) -> dict[str, Any]:
    return {
        "epsilon": facts.need("epsilon", identifier),
        "moment_order": facts.need("coordinate_order", identifier),
        "moment_bound": facts.need("coordinate_moment", identifier),
        "smoothness": facts.need("smoothness", identifier),
    }


def _medians_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    """Theorem 7 with the threshold that its rate needs where the risk is strongly convex, else Theorem 6."""
    n, d = facts.records, facts.dimension
    if facts.strong_convexity is not None:
        law = {**_medians(facts, identifier), "strong_convexity": facts.strong_convexity, "tau": "derived"}
        return median_descent.published_strong(n, d, **law).keywords()
    steep = facts.need("lipschitz", identifier)
    law = {"epsilon": facts.need("epsilon", identifier), "moment_order": facts.need("coordinate_order", identifier)}
    return median_descent.published_convex(n, d, **law, gradient_bound=steep, diameter=facts.diameter).keywords()


def _medians_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    law = {**_medians(facts, identifier), "delta": facts.need("delta", identifier), "diameter": facts.diameter}
    convexity = "strong" if facts.strong_convexity is not None else "convex"
    return median_descent.tuned_parameters(facts.records, facts.dimension, **law, convexity=convexity).keywords()


def _sparse(facts: Facts, identifier: str) -> dict[str, Any]:
    return {
        **_medians(facts, identifier),
        "delta": facts.need("delta", identifier),
        "true_sparsity": facts.need("sparsity", identifier),
    }


def _sparse_theory(facts: Facts, identifier: str) -> dict[str, Any]:
    law = {**_sparse(facts, identifier), "failure": facts.failure}
    law["strong_convexity"] = facts.need("strong_convexity", identifier)
    return sparse.published_parameters(facts.records, facts.dimension, **law).keywords()


def _sparse_tuned(facts: Facts, identifier: str) -> dict[str, Any]:
    return sparse.tuned_parameters(facts.records, facts.dimension, **_sparse(facts, identifier)).keywords()


Preset: TypeAlias = Callable[[Facts, str], dict[str, Any]]

OPTIMISERS: dict[str, Mechanism] = {
    "P0.A3": localised.lnc_gm,
    "P0.A4": approximation.private_stochastic_approximation,
    "P0.A5": iterated.iterated_lnc_gm,
    "P0.A6": accelerated.pnca_sgd,
    "P0.A7": iterated_accelerated.iterated_pnca_sgd,
    "P0.B": sgd.dp_sgd,
    "P0.R3": repaired.localised_extension,
    "P1.A1": sample_aggregate.sample_and_aggregate,
    "P1.A3": trimmed_descent.trimmed_mean_descent,
    "P1.A4": soft_descent.soft_truncation_descent,
    "P2.A1": mean_descent.private_gradient_descent,
    "P3.A2": median_descent.dp_sco,
    "P3.A5": sparse.sparse_optimisation,
}

THEORY: dict[str, Preset] = {
    "P0.A3": _localised_theory,
    "P0.A4": _staged(approximation.published_stages, "lipschitz", "failure"),
    "P0.A5": _staged(iterated.published_stages, "lipschitz", "failure", "theta_bar"),
    "P0.A6": _accelerated("record"),
    "P0.A7": _iterated_accelerated("record"),
    "P1.A1": _aggregate_theory,
    "P1.A3": _trimmed_theory,
    "P1.A4": _soft_theory,
    "P2.A1": _means_theory,
    "P3.A2": _medians_theory,
    "P3.A5": _sparse_theory,
}

TUNED: dict[str, Preset] = {
    "P0.A3": _localised_tuned,
    "P0.A4": _staged(approximation.tuned_stages),
    "P0.A5": _staged(iterated.tuned_stages, "theta_bar"),
    "P0.A6": _accelerated("central"),
    "P0.A7": _iterated_accelerated("central"),
    "P0.B": _sgd,
    "P0.R3": _repaired,
    "P1.A1": _aggregate_tuned,
    "P1.A3": _trimmed_tuned,
    "P1.A4": _soft_tuned,
    "P2.A1": _means_tuned,
    "P3.A2": _medians_tuned,
    "P3.A5": _sparse_tuned,
}
