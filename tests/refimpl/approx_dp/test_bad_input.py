"""Bad input of every optimiser and preset: one error that names the argument and its value, before anything is released.

What can be said without the records is said before they are looked at.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.approx_dp import (
    accelerated,
    approximation,
    iterated,
    iterated_accelerated,
    localised,
    mean_descent,
    median_descent,
    robust_descent,
    sample_aggregate,
    sgd,
    soft_descent,
    sparse,
    trimmed_descent,
)
from tailproof.refimpl.approx_dp.budget import WeakDelta
from tailproof.refimpl.catalogue import ALGORITHMS, Setting
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import UnprovedClaim
from tailproof.refimpl.validation import InputError

ENTRIES = {
    entry.id: entry.implementation
    for entry in ALGORITHMS
    if entry.implementation and entry.implementation.module.__name__.startswith("tailproof.refimpl.approx_dp.")
}
ROBUST = Setting(40, 3, {"loss": "squared", "domain": "ball:1", "steps": 3, "step_size": 0.5})
SETTINGS = {name: entry.settings[0] for name, entry in ENTRIES.items()} | {
    "P0.A6 central": ENTRIES["P0.A6"].settings[2],
    "P2.A1 updating": ENTRIES["P2.A1"].settings[3],
    "P1.C": ROBUST,
}

NOT_POSITIVE = [0.0, -1.0, math.nan, math.inf, "x", True]
NOT_PROBABILITY = [0.0, 1.0, -0.1, math.nan, "x"]
NOT_WHOLE = [0, -1, 1.5, math.nan, "x"]
NOT_NAMED = ["nonsense", 3]
NOT_A_POINT: list[Any] = [[math.nan, 0.0], [[0.0, 0.0]], "x"]
NONE: list[Any] = [()]
BAD: dict[str, list[Any]] = {
    **dict.fromkeys(("epsilon", "rho", "clip", "truncation", "learning_rate", "step", "step_size", "weight"), NOT_POSITIVE),
    **dict.fromkeys(("proximity", "second_moment", "smoothness", "radius", "kappa", "scale"), NOT_POSITIVE),
    **dict.fromkeys(("delta", "failure"), NOT_PROBABILITY),
    **dict.fromkeys(("steps", "batch", "sparsity", "groups", "inner_steps", "most_steps"), NOT_WHOLE),
    "blocks": [1, *NOT_WHOLE],
    "trim": [-1, 1.5, math.nan, "x"],
    **dict.fromkeys(("sampling", "batching", "noise", "convexity", "reading", "estimator", "clamp"), NOT_NAMED),
    **dict.fromkeys(("output", "amplification", "centres", "mean", "loss", "domain"), NOT_NAMED),
    **dict.fromkeys(("phases", "stages", "parts"), NONE),
    **dict.fromkeys(("start", "center"), NOT_A_POINT),
    "lower": [math.nan, math.inf, 5.0, "x"],
    "upper": [math.nan, -math.inf, -5.0, "x"],
}
ELSEWHERE = {"accept_unproved", "method", "data", "channel"}  # a flag, and a way to solve a program that P2.A3 checks


class Untouchable:
    """Data that must not be looked at."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the data were looked at before the parameters were checked")


def function_of(name: str) -> Callable[..., Any]:
    entry = ENTRIES.get(name.split(" ")[0])
    return robust_descent.robust_gradient_descent if entry is None else getattr(entry.module, entry.function)


def refused(name: str, data: Any, **changes: Any) -> str:
    """The message, if nothing was released."""
    function, channel = function_of(name), Channel.sampling(np.random.default_rng(0))
    arguments = (data, channel) if "channel" in inspect.signature(function).parameters else (data,)
    with pytest.raises(InputError) as caught:
        function(*arguments, **(SETTINGS[name].parameters | changes))
    assert len(channel.transcript()) == 0
    return str(caught.value)


def answer(name: str, data: Any) -> Any:
    function, channel = function_of(name), Channel.sampling(np.random.default_rng(3))
    arguments = (data, channel) if "channel" in inspect.signature(function).parameters else (data,)
    return function(*arguments, **SETTINGS[name].parameters)


def table(name: str, n: int | None = None, d: int | None = None) -> Any:
    setting = SETTINGS[name]
    shape = (setting.n if n is None else n, setting.d if d is None else d)
    return setting.admissible(np.random.default_rng(1).standard_normal(shape))


def names(message: str, name: str, value: Any) -> bool:
    shown = {repr(value), repr(float(value)) if isinstance(value, int | float) else "", str(value)}
    return name in message and any(one and one in message for one in shown)


def bad_parameters() -> Iterator[Any]:
    for name in SETTINGS:
        for parameter in inspect.signature(function_of(name)).parameters:
            for value in BAD.get(parameter, []):
                if parameter == "estimator" and name == "P3.A6":
                    continue  # a function, not a name
                yield pytest.param(name, parameter, value, id=f"{name}-{parameter}-{value}")


@pytest.mark.parametrize(("name", "parameter", "value"), list(bad_parameters()))
def test_a_bad_parameter_is_refused_before_the_data_are_looked_at(name: str, parameter: str, value: Any) -> None:
    claim = {"epsilon": None, "delta": None} if parameter == "rho" else {}
    if parameter in ("epsilon", "delta") and "rho" in inspect.signature(function_of(name)).parameters:
        claim = {"epsilon": 0.3, "delta": 1e-3, "rho": None}
    message = refused(name, Untouchable(), **(claim | {parameter: value}))
    if parameter in ("start", "center", "phases", "stages", "parts"):
        assert message.startswith(f"{parameter}:")
    else:
        assert names(message, parameter, value)


def test_every_parameter_is_covered() -> None:
    taken = {parameter for name in SETTINGS for parameter in inspect.signature(function_of(name)).parameters}
    assert taken <= set(BAD) | ELSEWHERE


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_a_record_that_is_not_a_number_counts_as_zeros(name: str, bad: float) -> None:
    """With the label 1, where there are labels."""
    data = np.array(table(name))
    neutral, data[0, 0] = data.copy(), bad
    neutral[0] = 0.0
    if "logistic" in str(SETTINGS[name].parameters["loss"]):
        neutral[0, -1] = 1.0
    assert np.array_equal(answer(name, data), answer(name, neutral))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    "data", [[], [[]], np.zeros((0, 3)), np.zeros((2, 2, 2)), 3.0, "text", None, [[1.0], [1.0, 2.0]]], ids=str
)
def test_malformed_data_are_refused(name: str, data: Any) -> None:
    assert refused(name, data).startswith("data: ")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_table_of_the_wrong_width_is_refused(name: str) -> None:
    domain = {} if name == "P3.A5" else {"domain": "box:-1,1"}
    start = "start" if "start" in inspect.signature(function_of(name)).parameters else "center"
    message = refused(name, table(name, d=SETTINGS[name].d + 4), **domain, **{start: np.zeros(2)})
    assert message.startswith(("data: has", f"{start}: has 2 entries; must have"))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_point_outside_of_the_set_is_refused(name: str) -> None:
    parameters = inspect.signature(function_of(name)).parameters
    start = "start" if "start" in parameters else "center"
    columns, loss = SETTINGS[name].d, SETTINGS[name].parameters["loss"]
    dimension = (
        columns if not isinstance(loss, str) or loss == "affine" else columns // 2 if "record" in loss else columns - 1
    )
    changes = {"radius": 1.0} if name == "P3.A5" else {"domain": "ball:1"}
    message = refused(name, table(name), **changes, **{start: np.full(dimension, 1.5)})
    assert message.startswith(f"{start} = [1.5")


@pytest.mark.parametrize("name", [name for name in SETTINGS if "delta" in inspect.signature(function_of(name)).parameters])
def test_a_delta_of_one_over_n_is_warned_about(name: str) -> None:
    setting, channel = SETTINGS[name], Channel.sampling(np.random.default_rng(0))
    changes: dict[str, Any] = {"delta": 1 / setting.n}
    if "rho" in setting.parameters:
        changes |= {"rho": None, "epsilon": 0.3}
    if name in ("P0.A6", "P0.A7"):  # shuffling needs fewer records then
        changes |= {"epsilon": 0.2}
    with pytest.warns(WeakDelta, match="delta = .*: is not below 1/n"):
        function_of(name)(table(name), channel, **(setting.parameters | changes))


SMOOTH = ("P0.A2", "P0.A3", "P0.A4", "P0.A5", "P1.A1")
SPECIAL: list[tuple[str, dict[str, Any], int | None, str]] = [
    # ε above a theorem's range
    *(
        (name, {"epsilon": 4.0, "delta": 1e-3, "rho": None}, None, "epsilon = 4.0: Theorem 1 needs")
        for name in ("P0.A3", "P0.A4")
    ),
    *((name, {"epsilon": 14.0, "delta": 1e-3, "rho": None}, None, "epsilon = 14.0: ") for name in ("P0.A5", "P0.R3")),
    *((name, {"epsilon": 0.9}, None, "epsilon = 0.9: Theorem 6 needs epsilon <=") for name in ("P0.A6", "P0.A7")),
    ("P1.A1", {"epsilon": 40.0, "noise": "published"}, None, "epsilon = 40.0: the published noise is not proved private"),
    *(
        (name, {"epsilon": 1.1}, None, "epsilon = 1.1: must lie in")
        for name in ("P2.A1", "P2.A1 updating", "P3.A2", "P3.A5")
    ),
    ("P2.A1 updating", {"groups": 10**9}, None, "epsilon = "),
    # both budgets, or none
    *(
        (name, {"epsilon": 1.0, "delta": 1e-3, "rho": 1.0}, None, "rho = 1.0")
        for name in ("P0.A3", "P0.A4", "P0.A5", "P0.R3", "P0.A6")
    ),
    *((name, {"epsilon": None, "delta": None, "rho": None}, None, "epsilon = None") for name in ("P0.A3", "P0.A7", "P0.R3")),
    ("P0.A6", {"epsilon": None, "delta": None, "rho": 1.0}, None, "rho = 1.0: shuffling is for epsilon and delta"),
    # more records than there are
    ("P0.B", {"batch": 99}, None, "batch = 99: must be at most the number of records, 13"),
    ("P0.A3", {}, 3, "data: has 3 records; the phases need 16"),
    ("P0.R3", {}, 2, "data: has 2 records; the phases need 6"),
    ("P0.A4", {}, 3, "data: has 3 records; the stages need 18"),
    ("P0.A5", {}, 3, "data: has 3 records; the stages need 24"),
    ("P0.A6 central", {"steps": 14}, None, "steps = 14: must be at most the number of records, 13"),
    ("P0.A7", {}, 30, "data: has 30 records; the parts need 493"),
    ("P1.A1", {"blocks": 16}, None, "blocks = 16: must be at most the number of records, 15"),
    ("P1.A3", {"steps": 4}, None, "steps = 4: leaves 46 of 185 records to a step; at least 59 are needed"),
    ("P1.A3", {"sampling": "full"}, 50, "data: has 50 records; at least 59 are needed"),
    (
        "P1.A4",
        {"sampling": "disjoint", "steps": 6},
        None,
        "steps = 6: leaves 1 of 11 records to a step; at least 2 are needed",
    ),
    ("P1.C", {"trim": 20}, None, "trim = 20: must be in [0, 19]"),
    ("P2.A1 updating", {"groups": 13}, None, "data: has 12 records; at least 13 are needed"),
    (
        "P3.A2",
        {"convexity": "strong", "steps": 3},
        None,
        "steps = 3: leaves 8 of 25 records to a step; at least 11 are needed",
    ),
    ("P3.A2", {}, 9, "data: has 9 records; at least 11 are needed"),
    ("P3.A5", {"steps": 17}, None, "steps = 17: leaves 0 of 16 records to a step; at least 1 are needed"),
    (
        "P3.A6",
        {"batching": "disjoint", "steps": 9},
        None,
        "steps = 9: leaves 0 of 8 records to a step; at least 1 are needed",
    ),
    # the loss
    *((name, {"loss": "hinge"}, None, "loss = 'hinge': must be smooth") for name in SMOOTH),
    ("P0.R3", {"loss": "record-quadratic"}, None, "loss = 'record-quadratic': must be generalised linear or quadratic"),
    # what belongs together
    ("P3.A5", {"sparsity": 11}, None, "sparsity = 11: must be in [1, 10]"),
    ("P3.A5", {"start": np.ones(10)}, None, "start = [1. "),
    ("P3.A5", {"delta": 0.9999}, None, "delta = 0.9999: peeling's noise is too small"),
    ("P1.A1", {"loss": "squared", "centres": "any", "domain": "ball:1"}, None, "data: has 1 column"),
    ("P2.A1", {"groups": 3}, None, "groups = 3: simple clipping has none"),
    ("P2.A1 updating", {"groups": None}, None, "groups = None: must be a number"),
    ("P0.A2", {"step": 0.6}, None, "step = 0.6: must be at most 1/smoothness = 0.434783"),
    ("P0.A2", {"weight": 1.3}, None, "weight = 1.3: step·weight = 0.533 must be at most 0.5"),
    ("P0.A3", {"smoothness": 9.0}, None, "step = 0.425: must be at most 1/smoothness"),
]


@pytest.mark.parametrize(("name", "changes", "n", "message"), SPECIAL, ids=[f"{one[0]}-{one[3][:40]}" for one in SPECIAL])
def test_what_a_theorem_or_the_data_do_not_allow(name: str, changes: dict[str, Any], n: int | None, message: str) -> None:
    assert message in refused(name, table(name, n), **changes)


# --- presets ----------------------------------------------------------------------------------------------------------

PRIVATE: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-5}
LAW: dict[str, Any] = {"dimension": 3, "moment_bound": 2.0, "moment_order": 2.0, **PRIVATE}
PATHS: dict[str, Any] = {**LAW, "radius": 1.0, "lipschitz": 5.0, "smoothness": 2.0, "failure": 0.1}
MEANS: dict[str, Any] = {**PRIVATE, "moment_order": 2.0, "moment_bound": 2.0, "smoothness": 1.0}
SHARP: dict[str, Any] = {"epsilon": 0.5, "moment_order": 2.0}
PRESETS: list[tuple[Callable[..., Any], tuple[int, ...], dict[str, Any]]] = [
    (localised.published_phases, (1000,), {**LAW, "step": 0.5, "lipschitz": 5.0, "exponent": 1.0, "horizon": 3.0}),
    (localised.published_step, (1000,), {**PATHS, "exponent": 1.0}),
    (localised.tuned_phases, (1000,), {**LAW, "diameter": 2.0, "smoothness": 2.0, "steps": 9}),
    (approximation.published_stages, (1000,), {**PATHS, "exponent": 1.0, "horizon": 3.0}),
    (approximation.tuned_stages, (1000,), {**LAW, "radius": 1.0, "smoothness": 2.0, "count": 2, "steps": 9}),
    (iterated.published_stages, (1000,), {**PATHS, "theta_bar": 2.0, "exponent": 1.0, "horizon": 3.0}),
    (iterated.tuned_stages, (1000,), {**LAW, "radius": 1.0, "smoothness": 2.0, "theta_bar": 2.0, "steps": 9}),
    (accelerated.published_parameters, (1000,), {**LAW, "diameter": 2.0, "smoothness": 1.0, "noise": "central"}),
    (
        iterated_accelerated.published_parts,
        (1000,),
        {**LAW, "diameter": 2.0, "smoothness": 1.0, "noise": "central", "theta_bar": 2.0},
    ),
    (sgd.tuned_parameters, (1000,), {**PRIVATE, "dimension": 3, "diameter": 2.0, "moment_bound": 2.0, "steps": 9}),
    (sample_aggregate.published_parameters, (1000, 3), PRIVATE),
    (sample_aggregate.tuned_parameters, (1000, 3), {**PRIVATE, "diameter": 2.0, "spread": 1.0, "least_block": 6}),
    (trimmed_descent.published_parameters, (1000,), {"curvature_upper": 2.0, "curvature_lower": 1.0}),
    (trimmed_descent.experiment_parameters, (1000,), {}),
    (trimmed_descent.tuned_parameters, (1000,), {"curvature_upper": 2.0, "steps": 5}),
    (
        soft_descent.published_parameters,
        (1000, 3),
        {**PRIVATE, "curvature_upper": 2.0, "second_moment": 5.0, "failure": 0.1, "distance": 1.0},
    ),
    (
        soft_descent.published_parameters,
        (1000, 3),
        {**PRIVATE, "curvature_upper": 2.0, "second_moment": 5.0, "failure": 0.1, "curvature_lower": 1.0},
    ),
    (soft_descent.experiment_parameters, (), {"sampling": "full"}),
    (
        soft_descent.tuned_parameters,
        (1000, 3),
        {**PRIVATE, "curvature_upper": 2.0, "second_moment": 5.0, "failure": 0.1, "steps": 5, "sampling": "full"},
    ),
    (mean_descent.published_parameters, (10**5, 3), {**MEANS, "estimator": "clipping"}),
    (mean_descent.published_parameters, (10**5, 3), {**MEANS, "estimator": "updating", "failure": 0.1}),
    (mean_descent.tuned_parameters, (1000, 3), {**MEANS, "diameter": 2.0, "estimator": "clipping"}),
    (median_descent.published_convex, (1000, 3), {**SHARP, "gradient_bound": 1.0, "diameter": 2.0}),
    (
        median_descent.published_strong,
        (1000, 3),
        {**SHARP, "moment_bound": 2.0, "strong_convexity": 1.0, "smoothness": 2.0, "tau": "printed"},
    ),
    (median_descent.tuned_parameters, (1000, 3), {**MEANS, "diameter": 2.0, "convexity": "strong"}),
    (
        sparse.published_parameters,
        (10**5, 1000),
        {**MEANS, "true_sparsity": 2, "strong_convexity": 1.0, "failure": 0.1},
    ),
    (sparse.tuned_parameters, (1000, 100), {**MEANS, "true_sparsity": 2}),
]
BAD_PRESETS: dict[str, list[Any]] = {
    **BAD,
    **dict.fromkeys(("n", "records", "d", "dimension", "count", "least_block", "true_sparsity"), NOT_WHOLE),
    **dict.fromkeys(
        ("moment_bound", "lipschitz", "diameter", "spread", "horizon", "distance", "gradient_bound"), NOT_POSITIVE
    ),
    **dict.fromkeys(("curvature_upper", "curvature_lower", "strong_convexity"), NOT_POSITIVE),
    "theta_bar": [1.0, 0.5, math.nan, math.inf, "x"],  # θ ≤ 1
    "exponent": [0.5, math.nan, "x"],
    "tau": NOT_NAMED,
    "moment_order": [0.5, 1.0, math.nan, "x"],
}
AT_LEAST_TWO = [
    "localised",
    "approximation",
    "iterated",
    "accelerated",
    "iterated_accelerated",
    "mean_descent",
]  # k ≥ 2, p ≥ 2
AT_MOST_TWO = ["median_descent", "sparse"]  # 1 + v ≤ 2


def bad_presets() -> Iterator[Any]:
    for function, sizes, given in PRESETS:
        module = function.__module__.rpartition(".")[2]
        first = dict(zip(inspect.signature(function).parameters, sizes, strict=False))
        for parameter in first | given:
            values = list(BAD_PRESETS[parameter])
            if parameter == "moment_order":
                values += [1.9] * (module in AT_LEAST_TWO) + [2.1] * (module in AT_MOST_TWO)
            for value in values:
                yield pytest.param(
                    function, first | given, parameter, value, id=f"{module}.{function.__name__}-{parameter}-{value}"
                )


@pytest.mark.parametrize(("function", "given", "parameter", "value"), list(bad_presets()))
def test_a_bad_number_of_a_preset_is_refused(function: Any, given: dict[str, Any], parameter: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        function(**(given | {parameter: value}))
    assert names(str(caught.value), parameter, value)


@pytest.mark.parametrize(("function", "sizes", "given"), PRESETS)
def test_the_presets_are_otherwise_accepted(function: Any, sizes: tuple[int, ...], given: dict[str, Any]) -> None:
    assert function(*sizes, **given)


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (approximation.published_stages, {"n": 7, **PATHS}, "n = 7: is too small"),
        (iterated.published_stages, {"n": 5, "theta_bar": 1.1, **PATHS}, "n = 5: is too small at theta_bar = 1.1"),
        (localised.tuned_phases, {"n": 15, **LAW, "diameter": 1.0, "smoothness": 1.0}, "n = 15: must be >= 16"),
        (sample_aggregate.published_parameters, {"n": 30, "d": 3, **PRIVATE}, "n = 30: Theorem 2's number of blocks is 36"),
        (
            mean_descent.published_parameters,
            {"records": 100, "dimension": 2, **MEANS, "estimator": "updating"},
            "records = 100",
        ),
        (
            sparse.tuned_parameters,
            {"records": 9, "dimension": 3, **MEANS, "true_sparsity": 4},
            "true_sparsity = 4: must be in [1, 3]",
        ),
    ],
)
def test_presets_refuse_too_few_records_and_too_many_entries(function: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        function(**given)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (localised.Phase, {"size": 4, "step": 0.5, "weight": 0.5, "clip": 1.0, "radius": 1.0, "steps": 3}),
        (iterated_accelerated.Part, {"size": 4, "clip": 1.0, "steps": 3, "proximity": 1.0}),
    ],
)
def test_a_bad_number_of_a_part_is_refused(kind: Any, given: dict[str, Any]) -> None:
    for parameter in given:
        for value in BAD.get(parameter, NOT_WHOLE):
            with pytest.raises(InputError) as caught:
                kind(**(given | {parameter: value}))
            assert names(str(caught.value), parameter, value)


def test_claims_that_are_not_proved_are_warned_about() -> None:
    """The losses and parameters for which a published claim is refuted or unproved: `UnprovedClaim`."""
    for name, index in (("P0.A3", 2), ("P0.A4", 1), ("P0.A5", 2), ("P0.A6", 1)):
        entry = ENTRIES[name]
        setting = entry.settings[index]
        data = setting.admissible(np.random.default_rng(0).standard_normal((setting.n, setting.d)))
        with pytest.warns(UnprovedClaim):
            getattr(entry.module, entry.function)(data, Channel.sampling(np.random.default_rng(0)), **setting.parameters)
