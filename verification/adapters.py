"""Adapters: mechanisms of other shapes as f(data, rng), the shape that audits, assertions and checks take.

Nothing is needed for f(data, rng), f(data, rng, size) and f(data, channel), nor for these with further keyword arguments:
`functools.partial(f, epsilon=1)` binds them.  An adapter is a value that can be sent to another process if what it holds can.

Where a subject draws from randomness of its own, runs cannot be repeated from their seed.  Audits notice, and say `hidden
randomness` in their result: the verdict stands, a replay may come out otherwise.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailproof.refimpl.claims import ADD_REMOVE, REPLACE_ONE, ZCDP, ApproxDP, Claim, Neighbouring, PureDP
from tailproof.refimpl.validation import FloatArray, InputError, choice

SEEDS = 2**32  # what older generators take


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(SEEDS))


# --- functions ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WithKeyword:
    """Calls function(data, NAME=…, **arguments): what is random comes by a keyword."""

    function: Callable[..., Any]
    name: str
    kind: str
    arguments: Mapping[str, Any]

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:
        given: Any = rng
        if self.kind != "generator":
            given = _seed(rng) if self.kind == "seed" else np.random.RandomState(_seed(rng))
        return self.function(data, **{self.name: given}, **self.arguments)


def from_keyword(function: Callable[..., Any], name: str, *, kind: str = "generator", **arguments: Any) -> WithKeyword:
    """Of a function that takes a generator, a seed or a legacy RandomState by this keyword."""
    return WithKeyword(function, name, choice("kind", kind, ("generator", "seed", "legacy")), arguments)


@dataclass(frozen=True, eq=False)
class WithGlobalState:
    """Calls function(data, **arguments), which draws from the global generators of numpy and of Python: they are seeded before
    every call, and put back after it."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:
        before = np.random.get_state(), random.getstate()  # noqa: NPY002  (these are what it draws from)
        np.random.seed(_seed(rng))  # noqa: NPY002
        random.seed(_seed(rng))
        try:
            return self.function(data, **self.arguments)
        finally:
            np.random.set_state(before[0])  # noqa: NPY002
            random.setstate(before[1])


def from_global_state(function: Callable[..., Any], **arguments: Any) -> WithGlobalState:
    """Of a function of the data alone.  One that draws from elsewhere (the system's entropy) has hidden randomness."""
    return WithGlobalState(function, arguments)


# --- scikit-learn's estimators -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fits a fresh copy of the estimator and returns what it learned."""

    estimator: Any
    attributes: tuple[str, ...]
    target: int | None
    labels: Callable[[FloatArray], Any] | None

    def __call__(self, data: Any, rng: np.random.Generator) -> FloatArray:
        table = np.asarray(data, dtype=np.float64)
        fresh = _unfitted(self.estimator)
        if "random_state" in _parameters(fresh):
            fresh.set_params(random_state=_seed(rng))
        if self.target is None:
            fresh.fit(table)
        else:
            target = table[:, self.target]
            fresh.fit(np.delete(table, self.target, axis=1), target if self.labels is None else self.labels(target))
        return np.concatenate([np.ravel(getattr(fresh, name)) for name in self.attributes])


def from_estimator(
    estimator: Any,
    attributes: Sequence[str] = ("coef_", "intercept_"),
    *,
    target: int | None = -1,
    labels: Callable[[FloatArray], Any] | None = None,
) -> Fitted:
    """Of an estimator as scikit-learn has them: fit(X, y), y being the column `target` (None: fit(X)), then these attributes.

    `labels` turns that column into what a classifier takes, such as `lambda y: y > 0`; numbers that audits try are any.  A
    `random_state` among its parameters is set anew for every fit.
    """
    if not callable(getattr(estimator, "fit", None)):
        raise InputError(f"estimator = {estimator!r}: must have a method fit")
    if not attributes or isinstance(attributes, str):
        raise InputError(f"attributes = {attributes!r}: must be a list of names, such as ('coef_',)")
    return Fitted(estimator, tuple(attributes), target, labels)


def _parameters(estimator: Any) -> dict[str, Any]:
    get = getattr(estimator, "get_params", None)
    return dict(get(deep=False)) if get is not None else {}


def _unfitted(estimator: Any) -> Any:
    """A copy with the same parameters and nothing learned, where it says what its parameters are."""
    if hasattr(estimator, "get_params"):
        return type(estimator)(**copy.deepcopy(_parameters(estimator)))
    return copy.deepcopy(estimator)


# --- OpenDP's measurements ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Measured:
    """Calls an OpenDP measurement, whose noise cannot be seeded."""

    measurement: Any
    convert: Callable[[FloatArray], Any] | None
    hidden_randomness: bool = True

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:  # noqa: ARG002  (it takes no generator)
        table = np.asarray(data, dtype=np.float64)
        return self.measurement(_vector(table, self.measurement) if self.convert is None else self.convert(table))


def from_opendp(measurement: Any, convert: Callable[[FloatArray], Any] | None = None) -> Measured:
    """Of a measurement on a vector of numbers, one for each record; `convert` makes other inputs of the n × d table.

    OpenDP draws from the system's entropy: `hidden randomness` in every result.
    """
    if not (callable(measurement) and hasattr(measurement, "input_metric") and hasattr(measurement, "output_measure")):
        raise InputError(f"measurement = {measurement!r}: must be a measurement of OpenDP")
    return Measured(measurement, convert)


def _vector(table: FloatArray, measurement: Any) -> list[float] | list[int]:
    if table.ndim > 1 and table.shape[1] != 1:
        raise InputError(f"data: has {table.shape[1]} columns; state `convert` for a measurement of more than one")
    carrier = str(measurement.input_carrier_type)
    numbers: list[float] = table.ravel().tolist()
    return [int(number) for number in numbers] if carrier.startswith(("Vec<i", "Vec<u")) else numbers


def claim_of_opendp(measurement: Any, neighbouring: Neighbouring = ADD_REMOVE) -> Claim:
    """What the measurement says of its own privacy for neighbours of that kind.

    Of its distances between data sets, one record more or less is 1; one replaced is 2 in the symmetric and the insert-delete
    distance, and 1 in the others, which know no other neighbours.
    """
    metric, measure = (str(part).partition("(")[0] for part in (measurement.input_metric, measurement.output_measure))
    steps = {
        "SymmetricDistance": {ADD_REMOVE: 1, REPLACE_ONE: 2},
        "InsertDeleteDistance": {ADD_REMOVE: 1, REPLACE_ONE: 2},
        "ChangeOneDistance": {REPLACE_ONE: 1},
        "HammingDistance": {REPLACE_ONE: 1},
    }.get(metric, {})
    if neighbouring not in steps:
        raise InputError(f"neighbouring = {neighbouring}: the measurement's {metric} has no such neighbours")
    spent = measurement.map(steps[neighbouring])
    if measure == "MaxDivergence":
        return PureDP(spent, neighbouring)
    if measure == "ZeroConcentratedDivergence":
        return ZCDP(spent, neighbouring)
    if measure == "Approximate" and "MaxDivergence" in str(measurement.output_measure):
        epsilon, delta = spent
        return ApproxDP(epsilon, delta, neighbouring)
    raise InputError(f"measurement: its privacy is in {measurement.output_measure}, for which there is no claim here")
