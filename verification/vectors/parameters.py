"""An algorithm's parameters as plain JSON, and back: what a program in another language can read without knowing our classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.approx_dp.approximation import Stage
from tailproof.refimpl.approx_dp.framework import Fixed
from tailproof.refimpl.approx_dp.iterated_accelerated import Part
from tailproof.refimpl.approx_dp.localised import Phase
from tailproof.refimpl.approx_dp.median_descent import Parameters as MeanParameters
from tailproof.refimpl.approx_dp.sparse import Parameters as SparseParameters
from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, PureDP, claim_from_json, claim_to_json
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Quadratic, RecordQuadratic
from tailproof.refimpl.means.median_of_means import truncated_median_of_means
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.pure_dp.objective import ObjectivePlan
from tailproof.refimpl.pure_dp.plan import Phase as PopulationPhase
from tailproof.refimpl.pure_dp.plan import Plan
from tailproof.refimpl.validation import InputError

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "simple_clipping_mean": simple_clipping_mean,
    "truncated_median_of_means": truncated_median_of_means,
}


_PLAIN = (Phase, Stage, Part, PopulationPhase, Plan, ObjectivePlan, MeanParameters, SparseParameters)


def to_json(value: Any) -> Any:
    """Objects become objects of their fields; losses and sets that have no name theirs, an estimator its name and parameters."""
    if isinstance(value, Quadratic):
        return {"quadratic": value.matrix.tolist()}
    if isinstance(value, RecordQuadratic):
        return {"quadratic": "of the record"}
    if isinstance(value, Ball):
        return {"ball": {"center": value.center.tolist(), "radius": value.radius}}
    if isinstance(value, Fixed):
        return {"function": value.function.__name__, "parameters": to_json(value.parameters)}
    if isinstance(value, PureDP | ApproxDP | ZCDP | GDP):
        return claim_to_json(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        if not isinstance(value, _PLAIN):
            raise TypeError(f"a {type(value).__name__} has no plain form; give it one here")
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: to_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    return value


def from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """The same parameters for our functions."""
    return {name: _READ[name](value) if name in _READ else value for name, value in parameters.items()}


def loss_from_json(value: Any) -> Any:
    """A name, or {"quadratic": matrix}, or {"quadratic": "of the record"}."""
    if not isinstance(value, dict):
        return value
    matrix = value["quadratic"]
    return RecordQuadratic() if isinstance(matrix, str) else Quadratic(np.array(matrix))


def _domain(value: Any) -> Any:
    """A name, or {"ball": …} with a center that has no name."""
    return Ball(np.array(value["ball"]["center"]), value["ball"]["radius"]) if isinstance(value, dict) else value


def _phases(value: Any) -> tuple[Phase, ...]:
    return tuple(Phase(**phase) for phase in value)


def _plan(value: Any) -> Plan | ObjectivePlan:
    if "phases" not in value:
        return ObjectivePlan(**value)
    spend = claim_from_json(value["spend"])
    if not isinstance(spend, PureDP | ZCDP):
        raise InputError(f"plan: its spend is {spend}; must be pure or zCDP")
    return Plan(**{**value, "phases": tuple(PopulationPhase(**phase) for phase in value["phases"]), "spend": spend})


def _estimator(value: Any) -> Fixed | str:
    """An estimator with its parameters (P3.A6), or the name of one (P2.A1)."""
    if isinstance(value, str):
        return value
    if value["function"] not in ESTIMATORS:
        raise InputError(f"estimator = {value['function']!r}: must be one of {', '.join(ESTIMATORS)}")
    return Fixed(ESTIMATORS[value["function"]], value["parameters"])


_READ: dict[str, Callable[[Any], Any]] = {
    "loss": loss_from_json,
    "domain": _domain,
    "phases": _phases,
    "stages": lambda value: tuple(Stage(s["size"], s["radius"], _phases(s["phases"])) for s in value),
    "parts": lambda value: tuple(Part(**part) for part in value),
    "plan": _plan,
    "estimator": _estimator,
}
