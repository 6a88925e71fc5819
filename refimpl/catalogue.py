"""Every algorithm of the five papers and ours: id, name, place, published claim, and the implementation if there is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Literal

import numpy as np

from tailproof.refimpl.approx_dp import (
    accelerated,
    approximation,
    descent,
    framework,
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
from tailproof.refimpl.approx_dp.descent import turning_records
from tailproof.refimpl.approx_dp.framework import Fixed
from tailproof.refimpl.channel import Channel, Mechanism
from tailproof.refimpl.claims import ZCDP, Claim, PureDP
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.means import (
    clipped,
    iterative_updating,
    median_of_means,
    peeling,
    simple_clipping,
    soft_truncation,
    trimmed,
    truncated,
)
from tailproof.refimpl.means.median_of_means import truncated_median_of_means
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.pure_dp import (
    double,
    exponential,
    localise,
    localised_exponential,
    moment_choice,
    objective,
    population,
    single,
    structured,
)
from tailproof.refimpl.pure_dp.objective import ObjectivePlan
from tailproof.refimpl.pure_dp.plan import Phase, Plan
from tailproof.refimpl.validation import FloatArray

Neighbours = Iterator[tuple[FloatArray, FloatArray]]


def _unchanged(data: FloatArray) -> FloatArray:
    return data


def _labelled(data: FloatArray) -> FloatArray:
    """The last column as labels: its signs."""
    return np.column_stack([data[:, :-1], np.where(data[:, -1] < 0, -1.0, 1.0)])


def _moderate(data: FloatArray) -> FloatArray:
    """Entries of at most 1e4: for settings that differ from one that takes all in what happens after larger ones are dealt with."""
    return np.clip(data, -1e4, 1e4)


def _moderate_labelled(data: FloatArray) -> FloatArray:
    return _labelled(_moderate(data))


def _curved(data: FloatArray) -> FloatArray:
    """The first half of the columns as curvatures: their absolute values."""
    half = data.shape[1] // 2
    return np.column_stack([np.abs(data[:, :half]), data[:, half:]])


@dataclass(frozen=True)
class Pin:
    """A check whose finding here is not a plain pass, on purpose: its status, why, and between which multiples of the bound
    it lies.

    Nothing else is excused: another status, another size or another check fails.
    """

    check: str
    status: Literal["violated", "inconclusive", "skipped"]
    reason: str
    erratum: str = ""
    ratio: tuple[float, float] | None = None

    def covers(self, measured: float | None, bound: float | None) -> bool:
        if self.ratio is None:
            return True
        return bool(measured is not None and bound and self.ratio[0] <= measured / bound <= self.ratio[1])

    def at_most(self, ratio: float) -> bool:
        """Elsewhere than on the pair that it is about: no more than it says."""
        return self.ratio is None or ratio <= self.ratio[1]


def _refutes(erratum: str, **ratios: tuple[float, float]) -> tuple[Pin, ...]:
    """The checks that the shipped counterexample to a published claim fails, each with the excess that it shows."""
    return tuple(
        Pin(name.replace("_", " "), "violated", erratum, erratum=erratum, ratio=ratio) for name, ratio in ratios.items()
    )


@dataclass(frozen=True)
class Setting:
    """A size and parameters at which an algorithm is checked; public, chosen without any data.

    `admissible` turns any table into one that the algorithm accepts, record by record, and leaves such a table as it is.
    `effort` is the share of the usual number of searched pairs: less where a run takes milliseconds.
    `refuted` names the erratum that says that the published claim fails here; the shipped neighbours show it.
    `pins` say which checks do not pass here, and why; all others must.
    """

    n: int
    d: int
    parameters: dict[str, Any]
    admissible: Callable[[FloatArray], FloatArray] = _unchanged
    effort: float = 1.0
    refuted: str | None = None
    pins: tuple[Pin, ...] = ()

    def __str__(self) -> str:
        shown = {"n": self.n, "d": self.d, **self.parameters}
        return ", ".join(f"{name}={' '.join(str(value).split())}" for name, value in shown.items())


@dataclass(frozen=True)
class Implementation:
    """Where an algorithm lives and at which settings it is checked.

    The module holds the function, `privacy(**)` (the published claim; absent for helpers), `worst_neighbours(n, d, **)`
    where some are known and, where the claimed sensitivity is not attained, `sensitivity_supremum`.
    """

    module: ModuleType
    function: str
    settings: tuple[Setting, ...]
    conditional: str | None = None  # the function that gives the claim conditional on the hidden randomness
    query: bool = False  # a deterministic helper: returns a value, releases nothing

    @property
    def mechanism(self) -> Mechanism:
        function: Mechanism = getattr(self.module, self.function)
        return _released_exactly(function, self.module) if self.query else function

    def privacy(self, setting: Setting) -> Claim | None:
        """The published claim at this setting, None for a helper that claims nothing."""
        return _call(getattr(self.module, "privacy", None), setting)

    def conditional_privacy(self, setting: Setting) -> Claim | None:
        return _call(getattr(self.module, self.conditional) if self.conditional else None, setting)

    def worst_neighbours(self, setting: Setting) -> Neighbours:
        known: Callable[..., Neighbours] | None = getattr(self.module, "worst_neighbours", None)
        return known(setting.n, setting.d, **setting.parameters) if known else iter(())


def _call(function: Callable[..., Claim] | None, setting: Setting) -> Claim | None:
    """Call with those of the setting's parameters that the function names."""
    if function is None:
        return None
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = {"n": setting.n, **setting.parameters}
    return function(**{name: value for name, value in known.items() if name in named})


def _released_exactly(function: Callable[..., FloatArray], module: ModuleType) -> Mechanism:
    """A deterministic helper in the shape of a mechanism, so that its sensitivity can be checked like the others'."""

    def mechanism(data: FloatArray, channel: Channel, **parameters: Any) -> Any:
        reach = module.sensitivity(len(data), **parameters)
        return channel.query("value", function(data, **parameters), sensitivity=reach)

    return mechanism


@dataclass(frozen=True)
class Algorithm:
    id: str
    name: str
    place: str
    claim: str  # as published, in words
    implementation: Implementation | None = field(default=None, repr=False)
    function: str | None = None  # where a row that is not a mechanism lives
    study: str | None = None  # why it is for study only, and what to use instead

    @property
    def built(self) -> bool:
        return self.implementation is not None or self.function is not None

    @property
    def paper(self) -> str:
        return self.id.split(".")[0]


# No public number is 1, 2 or ½, none comes twice, and no size is a multiple of a number of parts: there a wrong formula could
# agree with the right one (at ρ = ½, √(2ρ) = 2ρ = 1).  `tests/verification/test_settings.py` refuses others.
_PRIVATE = {"epsilon": 0.83, "delta": 1.2e-3}

_CLIPPED = Implementation(clipped, "clipped_mean", (Setting(13, 3, {"clip": 1.3}),), query=True)
_SIMPLE = Implementation(simple_clipping, "simple_clipping_mean", (Setting(13, 3, {"clip": 1.3, "rho": 0.37}),))
_ITERATIVE = Implementation(
    iterative_updating,
    "iterative_updating_mean",
    (
        # groups of one size: only there is the amplified claim computed exactly
        Setting(80, 1, {"epsilon": 0.43, "delta": 1.2e-3, "clip": 1.3, "groups": 40, "steps": 3}, effort=0.3),
        Setting(23, 2, {**_PRIVATE, "clip": 0.7, "groups": 9, "steps": 5, "amplification": "none"}, effort=0.3),
        Setting(29, 3, {**_PRIVATE, "clip": 0.9, "groups": 12, "steps": 4, "amplification": "none"}, effort=0.1),
    ),
    conditional="conditional_privacy",
)
_TRUNCATED = Implementation(
    truncated,
    "truncated_mean",
    (Setting(53, 1, {**_PRIVATE, "failure": 0.07, "moment_order": 1.4, "moment_bound": 0.7}),),
)
_MEDIAN = Implementation(
    median_of_means,
    "truncated_median_of_means",
    (
        Setting(47, 2, {**_PRIVATE, "failure": 0.3, "truncation": 1.7}),  # 11 groups
        Setting(38, 1, {**_PRIVATE, "failure": 0.11, "truncation": 1.7}),  # 12 groups
        Setting(41, 1, {**_PRIVATE, "failure": 0.11, "truncation": 0.6, "median": "low"}),
    ),
)
_PEELING = Implementation(
    peeling,
    "peeled_mean",
    (
        # nine rounds: few do not show a forgotten √s, since the published noise is several times what is needed
        Setting(11, 10, {**_PRIVATE, "truncation": 1.3, "sparsity": 9}, effort=0.4),
        Setting(13, 4, {"epsilon": 0.83, "delta": 0.053, "truncation": 1.1, "sparsity": 1}, effort=0.5),
    ),
)
# a large ε and a small t: where the published calibration is nearest to tight (its zCDP bound is loose)
_TRIMMED_PARAMETERS = {"epsilon": 7.7, "delta": 1.2e-3, "lower": -0.9, "upper": 1.3, "trim": 29, "smoothness": 0.053}
_TRIMMED = Implementation(
    trimmed,
    "trimmed_mean",
    (
        Setting(61, 4, _TRIMMED_PARAMETERS, effort=0.5),
        Setting(61, 4, {**_TRIMMED_PARAMETERS, "clamp": "data", "iterations": 3}, effort=0.5),
    ),
)
_SOFT = Implementation(
    soft_truncation,
    "soft_truncated_mean",
    (Setting(11, 2, {**_PRIVATE, "second_moment": 1.7, "failure": 0.01, "iterations": 3}),),
)

# P1's optimisers: quadratics (a record is the centre), ill-conditioned ones, losses whose curvature depends on the record.
# An ε that is large: blocks are few here, and the noise must not be all that a far point of W adds to it.
_AGGREGATED = {"epsilon": 7.7, "delta": 1.2e-3, "blocks": 13, "most_steps": 20}
_LINE = {"loss": Quadratic(np.diag([1.6])), "domain": "box:-0.9,1.3"}
_AGGREGATE = Implementation(
    sample_aggregate,
    "sample_and_aggregate",
    (
        Setting(15, 1, {**_AGGREGATED, **_LINE, "noise": "tuned", "centres": "any"}, effort=0.2),
        Setting(27, 1, {**_AGGREGATED, **_LINE}, effort=0.2),
        Setting(
            42,
            2,
            {**_AGGREGATED, "loss": Quadratic(np.diag([1.6, 1e-3])), "domain": "ball:1.3", "noise": "tuned"},
            effort=0.1,
        ),
        Setting(29, 3, {**_AGGREGATED, "loss": "ridge:0.13:logistic", "domain": "ball:1.3"}, _labelled, effort=0.1),
    ),
)
_STEPS = {"domain": "ball:1.4", "steps": 3, "step_size": 0.43}
_TRIMMED_STEPS = Implementation(
    trimmed_descent,
    "trimmed_mean_descent",
    (
        Setting(185, 2, {"loss": "squared", **_STEPS, **_TRIMMED_PARAMETERS, "sampling": "disjoint"}, effort=0.1),
        Setting(61, 3, {"loss": Quadratic(np.diag([1.6, 1.5e-3, 0.7])), **_STEPS, **_TRIMMED_PARAMETERS}, effort=0.1),
        Setting(
            61,
            2,
            {"loss": "ridge:1.2:logistic", **_STEPS, "steps": 4, **_TRIMMED_PARAMETERS, "clamp": "data"},
            _labelled,
            effort=0.1,
        ),
    ),
)
_SOFT_PARAMETERS = {**_PRIVATE, **_STEPS, "second_moment": 1.7, "failure": 0.01}
_SOFT_STEPS = Implementation(
    soft_descent,
    "soft_truncation_descent",
    (
        Setting(11, 2, {"loss": Quadratic(np.diag([1.6, 1.5e-3])), **_SOFT_PARAMETERS}, effort=0.3),
        Setting(23, 3, {"loss": "squared", **_SOFT_PARAMETERS, "sampling": "disjoint"}, effort=0.3),
        Setting(11, 3, {"loss": "ridge:0.12:logistic", **_SOFT_PARAMETERS, "scale": 0.6}, _labelled, effort=0.3),
    ),
)

# Minimisers move by up to 2C/(λn) ≤ 1 here, so there is room for that in sets of radius 1.4.
_REGULARISED = {"domain": "ball:1.4", "weight": 0.7, "lipschitz": 1.3, "kappa": 0.12, "epsilon": 0.9}
_CONCENTRATED = {"domain": "box:-1.4,1.1", "weight": 0.7, "lipschitz": 1.3, "kappa": 0.12, "rho": 0.37}
_QUADRATIC = Quadratic(1.6 * np.eye(2))  # others take several times as long
_STEEP = Quadratic(np.diag([1.6, 0.05]))
_SINGLE = Implementation(
    single,
    "single_output_perturbation",
    (
        Setting(9, 3, {"loss": "absolute", **_CONCENTRATED}, effort=0.1),
        Setting(6, 2, {"loss": _QUADRATIC, **_REGULARISED}, effort=0.1),
        Setting(9, 3, {"loss": "hinge", **_REGULARISED}, _labelled, effort=0.1),
    ),
)
_LOCALISE = Implementation(
    localise,
    "localised_ball",
    (
        Setting(6, 2, {"loss": _QUADRATIC, "failure": 0.07, **_CONCENTRATED}, effort=0.1),
        Setting(9, 3, {"loss": "absolute", "failure": 0.07, **_REGULARISED}, effort=0.1),
    ),
)
_DOUBLE = Implementation(
    double,
    "double_output_perturbation",
    (
        Setting(5, 2, {"loss": _QUADRATIC, "reading": "B", **_CONCENTRATED, "rho": 1.7}, effort=0.05),
        Setting(5, 2, {"loss": _QUADRATIC, "reading": "A", **_REGULARISED}, effort=0.05),
        Setting(5, 3, {"loss": "hinge", "reading": "B", **_REGULARISED, "epsilon": 5.7}, _labelled, effort=0.05),
    ),
)
# A large κ, for the number of steps goes with κ⁻⁴; and a large ε, so that the noise does not leave the set.  Few pairs: the
# claimed Δ is more than the diameter of the set.
_STRUCTURED = Implementation(
    structured,
    "structured_output_perturbation",
    (Setting(3, 2, {"loss": "absolute", **_REGULARISED, "kappa": 7.0, "epsilon": 67.0}, effort=0.02),),
)
_THREE_PHASES = Plan(
    phases=(
        Phase(5, weight=0.7, lipschitz=1.3, kappa=0.12),
        Phase(4, weight=1.5, lipschitz=0.6, kappa=0.21),
        Phase(3, weight=2.7, lipschitz=0.45, kappa=0.17),
    ),
    repetitions=1,
    spend=PureDP(0.9),
    solver="single",
    bound=1.1,
)
_THREE_TIMES = Plan(
    phases=(Phase(3, weight=0.7, lipschitz=1.3, radius=0.63, kappa=0.12),),
    repetitions=3,
    spend=ZCDP(3.1),
    solver="double",
    bound=1.1,
    failure=0.07,
)
_POPULATION = Implementation(
    population,
    "population_localization",
    (
        Setting(14, 2, {"loss": _QUADRATIC, "domain": "ball:1.4", "plan": _THREE_PHASES, "epsilon": 0.9}, effort=0.05),
        Setting(10, 2, {"loss": "absolute", "domain": "ball:1.4", "plan": _THREE_TIMES, "rho": 3.1}, effort=0.05),
    ),
)
# Nets of a few hundred points; the clip is far below the gradients of far records.
_CHOICE = {"weight": 0.6, "lipschitz": 1.3, "smoothness": 1.7, "epsilon": 0.9}
_EXPONENTIAL = Implementation(
    exponential,
    "exponential_mechanism",
    (
        Setting(5, 1, {"loss": Quadratic(np.diag([1.6])), "domain": "box:-1.8,2.3", "mesh": 0.053, **_CHOICE}, effort=0.3),
        Setting(7, 3, {"loss": "squared", "domain": "ball:2.2", "mesh": 0.21, **_CHOICE, "epsilon": 3.7}, effort=0.2),
        Setting(7, 2, {"loss": _STEEP, "domain": "ball:1.1", "mesh": 0.11, **_CHOICE}, effort=0.2),
        Setting(
            7, 3, {"loss": "hinge", "domain": "ball:1.1", "mesh": 0.21, "smoothing": 0.17, **_CHOICE}, _labelled, effort=0.2
        ),
    ),
)
_LOCAL_CHOICE = {"weight": 0.7, "lipschitz": 1.3, "epsilon": 2.1, "domain": "ball:8.7", "kappa": 0.12, "failure": 0.07}
_WALKED = {"sampler": "walk", "mesh": 0.31}
_ON_NET = {"sampler": "grid", "mesh": 0.47, "domain": "ball:1.4", "share": 0.37, "lipschitz": 0.9}
_LOCAL_EXPONENTIAL = Implementation(
    localised_exponential,
    "localised_exponential",
    (
        Setting(7, 2, {"loss": "absolute", **_LOCAL_CHOICE, **_WALKED}, _moderate, effort=0.03),
        Setting(5, 1, {"loss": "affine", **_LOCAL_CHOICE}, effort=0.03),
        Setting(6, 3, {"loss": "logistic", **_LOCAL_CHOICE, **_ON_NET}, _moderate_labelled, effort=0.03),
    ),
)
_OBJECTIVE_PLAN = ObjectivePlan(epsilon=0.9, lipschitz=1.3, weight=0.6, bound=1.7, share=0.31, reserve=0.053)
_OBJECTIVE = Implementation(
    objective,
    "objective_perturbation",
    (
        Setting(6, 2, {"loss": "absolute", "domain": "ball:1.1", "plan": _OBJECTIVE_PLAN, "epsilon": 0.9}, effort=0.1),
        Setting(
            9,
            3,
            {"loss": "hinge", "domain": "box:-1.9,2.3", "plan": replace(_OBJECTIVE_PLAN, epsilon=2.1), "epsilon": 2.1},
            _labelled,
            effort=0.1,
        ),
        Setting(
            8, 3, {"loss": "logistic", "domain": "ball:1.1", "plan": _OBJECTIVE_PLAN, "epsilon": 0.9}, _labelled, effort=0.1
        ),
        Setting(6, 3, {"loss": "squared", "domain": "ball:1.1", "plan": _OBJECTIVE_PLAN, "epsilon": 0.9}, effort=0.1),
    ),
)

_LEVELS = {"low": 0.17, "high": 9.1, "ratio": 2.6, "failure": 0.31}  # six of them
_MOMENT = Implementation(
    moment_choice,
    "private_moment_bound",
    (
        Setting(23, 3, {"epsilon": 3.7, "moment_order": 2.3, **_LEVELS}, effort=0.3),
        Setting(29, 1, {"epsilon": 0.7, "moment_order": 3.4, **_LEVELS}, effort=0.3),
    ),
)

# Affine losses have the records as gradients, in every step: what is worst for the estimator is worst in all steps at once.
_MEAN_STEPS = {"domain": "ball:1.4", **_PRIVATE, "clip": 1.3, "learning_rate": 0.43}
_UPDATING = {"loss": Quadratic(np.diag([1.6])), **_MEAN_STEPS, "steps": 3, "estimator": "updating", "groups": 5}
_MEAN_DESCENT = Implementation(
    mean_descent,
    "private_gradient_descent",
    (
        Setting(13, 3, {"loss": "affine", **_MEAN_STEPS, "steps": 5}, effort=0.3),
        # a clip and a truncation so small that a variance is less than its deviation
        Setting(8, 4, {"loss": "record-quadratic", **_MEAN_STEPS, "clip": 0.11, "steps": 3}, _curved, effort=0.2),
        Setting(8, 3, {"loss": "logistic", **_MEAN_STEPS, "steps": 3}, _labelled, effort=0.1),
        Setting(12, 1, _UPDATING, effort=0.1),
        Setting(12, 1, {**_UPDATING, "amplification": "none"}, effort=0.1),
    ),
    conditional="conditional_privacy",
)
_MEDIAN_STEPS = {"domain": "box:-1.4,1.1", **_PRIVATE, "learning_rate": 0.43, "truncation": 1.7}
_DP_SCO = Implementation(
    median_descent,
    "dp_sco",
    (
        Setting(25, 2, {"loss": "affine", **_MEDIAN_STEPS, "steps": 3, "failure": 0.3}, effort=0.1),  # 11 groups
        Setting(
            70,
            2,
            {"loss": _STEEP, **_MEDIAN_STEPS, "truncation": 0.13, "steps": 3, "failure": 0.3, "convexity": "strong"},
            effort=0.2,
        ),
        Setting(
            19,
            1,
            {"loss": "affine", **_MEDIAN_STEPS, "steps": 16, "failure": 0.26, "convexity": "strong", "reading": "printed"},
            effort=0.3,
            refuted="P3.Alg2.batch",
            pins=(
                *_refutes("P3.Alg2.batch", ledger=(math.inf, math.inf), composition=(1.0, 100.0)),
                Pin(
                    "measured ledger",
                    "inconclusive",
                    "P3.Alg2.batch: all sixteen releases touch every record",
                    "P3.Alg2.batch",
                    (100.0, 100.2),
                ),
                Pin(
                    "transcript",
                    "inconclusive",
                    "P3.Alg2.batch: sixteen releases, composed",
                    "P3.Alg2.batch",
                    (100.0, 100.2),
                ),
            ),
        ),
    ),
)
_SPARSE = Implementation(
    sparse,
    "sparse_optimisation",
    (
        # nine rounds, as for peeling itself
        Setting(
            16,
            10,
            {"loss": "affine", **_PRIVATE, "sparsity": 9, "steps": 3, "learning_rate": 1.7, "truncation": 1.3},
            effort=0.1,
        ),
        # twelve steps: peeling spends so much less than it claims that fewer overlapping batches would not exceed the claim
        Setting(
            25,
            2,
            {
                "loss": _STEEP,
                **_PRIVATE,
                "sparsity": 1,
                "steps": 12,
                "learning_rate": 0.43,
                "truncation": 0.7,
                "radius": 1.4,
            },
            effort=0.1,
        ),
    ),
)
_CLIPPING = Fixed(simple_clipping_mean, {"clip": 1.3, "rho": 0.37})
_MEDIANS = Fixed(
    truncated_median_of_means, {**_PRIVATE, "failure": 0.3, "truncation": 1.7}, worst=median_of_means.worst_neighbours
)
_FRAMEWORK_STEPS = {"domain": "ball:1.4", "steps": 3, "learning_rate": 0.43}
_FRAMEWORK = Implementation(
    framework,
    "sco_framework",
    (
        Setting(8, 3, {"loss": "squared", **_FRAMEWORK_STEPS, "estimator": _CLIPPING}, effort=0.2),
        Setting(70, 2, {"loss": "affine", **_FRAMEWORK_STEPS, "estimator": _MEDIANS, "batching": "disjoint"}, effort=0.2),
    ),
)

# Algorithm 2's points are within C/λ = 39 of where they start: there is room for that.
_DESCENT = {"loss": "squared", "domain": "ball:47", "clip": 1.3, "step": 0.41, "smoothness": 2.3}
_CLIPPED_DESCENT = Implementation(
    descent,
    "clipped_descent",
    (
        Setting(9, 3, {**_DESCENT, "weight": 0.033, "steps": 300}, effort=0.1),
        Setting(
            9, 3, {**_DESCENT, "weight": 1.1, "steps": 3}, effort=0.1
        ),  # a strong pull and few steps: where roughness shows
        Setting(
            32,
            4,
            {
                "loss": "record-quadratic",
                "domain": Ball(np.zeros(2), 1e6),
                "clip": 1.0,
                "step": 1.0,
                "smoothness": 1.0,
                "weight": 2.0**-10,
                "steps": 8518,
                "start": turning_records(32, weight=2.0**-10)[2],
            },
            _curved,
            effort=0.01,
            refuted="P0.Alg2.stability",
            pins=_refutes("P0.Alg2.stability", sensitivity=(4.2, 4.3)),
        ),
    ),
    query=True,
)
_PHASED: dict[str, Any] = {
    "dimension": 2,
    "step": 1.7,
    "lipschitz": 97.0,
    "moment_bound": 0.6,
    "moment_order": 2.3,
    "horizon": 3.1,
}
_LNC_GM = Implementation(
    localised,
    "lnc_gm",
    (
        Setting(
            19,
            3,
            {
                "loss": "squared",
                "domain": "ball:47",
                "smoothness": 2.3,
                "phases": localised.published_phases(19, **_PHASED, rho=0.37),
                "rho": 0.37,
            },
            effort=0.05,
        ),
        Setting(
            19,
            3,
            {
                "loss": "logistic",
                "domain": "box:-8.3,9.7",
                "smoothness": 2.3,
                "phases": localised.published_phases(19, **_PHASED, epsilon=1.9, delta=1.2e-3),
                "epsilon": 1.9,
                "delta": 1.2e-3,
            },
            _labelled,
            effort=0.05,
        ),
        Setting(
            64,
            4,
            localised.counterexample(),
            _curved,
            effort=0.01,
            refuted="P0.Alg2.stability",
            pins=_refutes(
                "P0.Alg2.stability",
                sensitivity=(4.2, 4.3),
                release_privacy=(87.0, 88.0),
                measured_ledger=(87.0, 88.0),
                transcript=(87.0, 88.0),
            ),
        ),
    ),
)
_PHASES = (  # size, step, weight, clip, radius, steps
    (localised.Phase(4, 0.41, 0.13, 1.3, 48.0, 20), localised.Phase(2, 0.27, 0.7, 0.6, 1.1, 9)),
    (localised.Phase(3, 0.39, 0.17, 1.5, 44.0, 17), localised.Phase(2, 0.23, 0.8, 0.66, 1.2, 8)),
    (localised.Phase(3, 0.33, 0.21, 1.4, 41.0, 14), localised.Phase(2, 0.19, 0.9, 0.76, 1.6, 7)),
)
_THREE_STAGES = tuple(
    approximation.Stage(size, radius, phases)
    for size, radius, phases in zip((7, 5, 6), (9.3, 5.2, 3.6), _PHASES, strict=True)
)
_STAGED = {"loss": "squared", "domain": "ball:47", "smoothness": 2.3}
_TURNING = localised.counterexample(48)
_TURNED = _refutes(
    "P0.Alg2.stability",
    sensitivity=(3.5, 3.7),
    release_privacy=(8.2, 8.4),
    measured_ledger=(8.2, 8.4),
    transcript=(8.2, 8.4),
)
_TURNING_STAGE = {name: value for name, value in _TURNING.items() if name != "phases"}
_APPROXIMATION = Implementation(
    approximation,
    "private_stochastic_approximation",
    (
        Setting(20, 3, {**_STAGED, "stages": _THREE_STAGES, "rho": 0.37}, effort=0.05),
        Setting(
            48,
            4,
            {**_TURNING_STAGE, "stages": (approximation.Stage(48, 1e6, _TURNING["phases"]),)},
            _curved,
            effort=0.01,
            refuted="P0.Alg2.stability",
            pins=_TURNED,
        ),
    ),
)
_GROWING = tuple(approximation.Stage(size, None, phases) for size, phases in zip((6, 8, 10), _PHASES, strict=True))
_ITERATED = Implementation(
    iterated,
    "iterated_lnc_gm",
    (
        Setting(26, 3, {**_STAGED, "stages": _GROWING, "rho": 0.37}, effort=0.05),
        Setting(26, 3, {**_STAGED, "stages": _GROWING, "epsilon": 5.7, "delta": 1.2e-3}, effort=0.05),
        Setting(
            48,
            4,
            {**_TURNING_STAGE, "stages": (approximation.Stage(48, None, _TURNING["phases"]),)},
            _curved,
            effort=0.01,
            refuted="P0.Alg2.stability",
            pins=_TURNED,
        ),
    ),
)
_TWO_PARTS = (iterated_accelerated.Part(242, 1.3, 4, 2.3), iterated_accelerated.Part(251, 0.7, 3, 1.7))
_FEW_PARTS = (
    iterated_accelerated.Part(7, 1.3, 3, 2.3),
    iterated_accelerated.Part(8, 0.7, 3, 1.7),
    iterated_accelerated.Part(11, 0.9, 5, 2.7),
)
_ACCELERATED = {"loss": "squared", "domain": "ball:1.1"}
_ITERATED_ACCELERATED = Implementation(
    iterated_accelerated,
    "iterated_pnca_sgd",
    (
        Setting(
            495, 3, {**_ACCELERATED, "parts": _TWO_PARTS, "epsilon": 0.29, "delta": 1.2e-3, "noise": "record"}, effort=0.05
        ),
        Setting(27, 3, {**_ACCELERATED, "parts": _FEW_PARTS, "rho": 0.37, "noise": "central"}, effort=0.05),
    ),
    conditional="conditional_privacy",
)
_THREE_BATCHES = (
    localised.Phase(3, 0.41, 0.6, 1.3, 8.1, 3),
    localised.Phase(2, 0.29, 0.9, 0.7, 7.7, 3),
    localised.Phase(1, 0.23, 1.1, 0.8, 7.1, 3),
)
_ILL_CONDITIONED = {"loss": Quadratic(np.diag([1.6, 0.013])), "domain": "ball:8.7", "phases": _THREE_BATCHES, "kappa": 0.12}
_LOCALISED_EXTENSION = Implementation(
    repaired,
    "localised_extension",
    (Setting(7, 2, {**_ILL_CONDITIONED, "rho": 0.37}, effort=0.05),),
)
# Shuffling needs 16·log(8/δ)·√e records.
_PNCA: dict[str, Any] = {"loss": "squared", "domain": "ball:1.1", "clip": 1.3, "steps": 5, "proximity": 2.3}
_PNCA_SGD = Implementation(
    accelerated,
    "pnca_sgd",
    (
        Setting(242, 3, {**_PNCA, "epsilon": 0.29, "delta": 1.2e-3, "noise": "record"}, effort=0.1),
        Setting(
            242,
            3,
            {**_PNCA, "epsilon": 0.29, "delta": 1.2e-3, "noise": "batch", "steps": 48},
            effort=0.05,
            pins=(
                Pin(
                    "amplification conditions",
                    "inconclusive",
                    "P0.Alg6.variance: the box's noise is below the proof's",
                    "P0.Alg6.variance",
                ),
            ),
        ),
        Setting(13, 3, {**_PNCA, "rho": 0.37, "noise": "central"}, effort=0.3),
    ),
    conditional="conditional_privacy",
)
_DP_SGD = Implementation(
    sgd,
    "dp_sgd",
    (
        Setting(
            13,
            3,
            {
                "loss": "squared",
                "domain": "ball:1.1",
                "clip": 1.3,
                "batch": 6,
                "steps": 5,
                "step": 0.43,
                "epsilon": 0.9,
                "delta": 1.2e-3,
            },
            effort=0.3,
        ),
    ),
    conditional="conditional_privacy",
)

# On the unit ball in five dimensions with 1000 records, C = 1, λ = 0.1, κ = 0.1.
_D4_STUDY = "it makes about (1.24·R·M/α)² steps, 3.6e15 at n = 1000; P4.A4 proves the same accuracy in some dozens"
_A3_STUDY = (
    "it makes up to (2.5·R·L/α)² steps, 1.2e19 at n = 1000; P4.S1's minimiser proves the same accuracy in some dozens"
)

ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm("P0.A1", "clipped mean", "P0 Algorithm 1", "none (helper)", _CLIPPED),
    Algorithm(
        "P0.A2",
        "clipped regularised gradient method",
        "P0 Algorithm 2",
        "none (deterministic inner solver)",
        _CLIPPED_DESCENT,
    ),
    Algorithm("P0.A3", "LNC-GM, localised noisy clipped gradient method", "P0 Algorithm 3", "(ε,δ), ε ≤ √log(1/δ)", _LNC_GM),
    Algorithm("P0.A4", "private stochastic approximation (TNC, θ ≥ 2)", "P0 Algorithm 4", "(ε,δ)", _APPROXIMATION),
    Algorithm("P0.A5", "iterated LNC-GM (TNC, θ ≥ θ̄ > 1)", "P0 Algorithm 5", "(ε,δ), ε ≤ 2log(1/δ)", _ITERATED),
    Algorithm(
        "P0.A6",
        "PNCA-SGD, permuted noisy clipped accelerated SGD",
        "P0 Algorithm 6",
        "(ε,δ), ε = O(√(log(n/δ)/n)) by shuffling",
        _PNCA_SGD,
    ),
    Algorithm("P0.A7", "iterated PNCA-SGD", "P0 Algorithm 7", "(ε,δ), as P0.A6", _ITERATED_ACCELERATED),
    Algorithm("P0.B", "batched clipped DP-SGD baseline", "P0 §7", "(ε,δ) by an accountant", _DP_SGD),
    Algorithm("P0.R3", "LNC-GM on certified minimisers (repaired, ours)", "ours", "(ε,δ), or ρ-zCDP", _LOCALISED_EXTENSION),
    Algorithm("P1.A1", "sample-and-aggregate", "P1 Algorithm 1, Theorem 2", "(ε,δ)", _AGGREGATE),
    Algorithm("P1.A3", "gradient descent on trimmed means", "P1 Algorithm 3, Theorem 4", "zCDP → (ε,δ)", _TRIMMED_STEPS),
    Algorithm(
        "P1.A3.mean",
        "coordinate-wise trimmed mean with smooth sensitivity",
        "P1 Algorithm 3, one step",
        "zCDP → (ε,δ)",
        _TRIMMED,
    ),
    Algorithm(
        "P1.A4", "gradient descent on softly truncated means", "P1 Algorithm 4, Theorem 7", "zCDP → (ε,δ)", _SOFT_STEPS
    ),
    Algorithm("P1.A4.mean", "soft truncation mean", "P1 Algorithm 4, one step", "zCDP → (ε,δ)", _SOFT),
    Algorithm(
        "P2.A1",
        "gradient-descent framework over a private mean",
        "P2 Algorithm 1",
        "(ε,δ), ε ≤ 1, by composition",
        _MEAN_DESCENT,
    ),
    Algorithm("P2.A2", "simple clipping mean", "P2 Algorithm 2, Lemma 4", "ρ-zCDP", _SIMPLE),
    Algorithm(
        "P2.A3",
        "iterative updating mean",
        "P2 Algorithm 3",
        "(ε,δ), ε ≤ 8e²√(ln(4/δ)/k), by shuffling (Theorem 6)",
        _ITERATIVE,
    ),
    Algorithm("P3.A1", "one-dimensional truncated mean, DPODME_T", "P3 Algorithm 1", "(ε,δ)", _TRUNCATED),
    Algorithm("P3.A2", "DP-SCO (convex: full batch; strongly convex: disjoint batches)", "P3 Algorithm 2", "(ε,δ)", _DP_SCO),
    Algorithm("P3.A3", "truncated median of means, DPHDME", "P3 Algorithm 3", "(ε,δ)", _MEDIAN),
    Algorithm("P3.A4", "peeling", "P3 Algorithm 4", "(ε,δ)", _PEELING),
    Algorithm("P3.A5", "heavy-tailed private sparse optimisation", "P3 Algorithm 5", "(ε,δ)", _SPARSE),
    Algorithm("P3.A6", "SCO framework over any mean estimator", "P3 Algorithm 6", "none", _FRAMEWORK),
    Algorithm("P4.A1", "population localisation", "P4 Algorithm 1", "ε by disjoint data", _POPULATION),
    Algorithm("P4.A2", "output-perturbation localisation", "P4 Algorithm 2", "ε", _LOCALISE),
    Algorithm(
        "P4.A3",
        "adaptive inexact projected subgradient",
        "P4 Algorithm 3",
        "none",
        function="tailproof.refimpl.extension.joint.adaptive_subgradient",
        study=_A3_STUDY,
    ),
    Algorithm("P4.A4", "double output perturbation, readings A and B", "P4 Algorithm 4", "ε", _DOUBLE),
    Algorithm("P4.S1", "single output perturbation (ours)", "ours", "ε, or ρ-zCDP", _SINGLE),
    Algorithm("P4.S2", "objective perturbation of tempered losses (ours)", "ours", "ε", _OBJECTIVE),
    Algorithm("P4.S3", "private moment bound on a grid of norms (ours)", "ours", "ε", _MOMENT),
    Algorithm("P4.A5", "exponential mechanism with a projected-gradient score", "P4 Algorithm 5", "ε", _EXPONENTIAL),
    Algorithm("P4.A7", "localised exponential mechanism", "P4 Algorithms 6 and 7", "ε", _LOCAL_EXPONENTIAL),
    Algorithm(
        "P4.D4",
        "structured variant on second-order-cone subgradients",
        "P4 Theorem D.4",
        "ε",
        _STRUCTURED,
        study=_D4_STUDY,
    ),
    Algorithm(
        "P4.C6",
        "inexact projection on W ∩ ball",
        "P4 Lemma C.6",
        "none",
        function="tailproof.refimpl.projections.inexact_projection",
    ),
    Algorithm(
        "P4.B1",
        "impossibility pair for the exact extension",
        "P4 Theorem B.1",
        "none",
        function="tailproof.refimpl.pure_dp.impossibility.hidden_pair",
    ),
    Algorithm(
        "P4.G",
        "hard instances of the lower bounds",
        "P4 Appendix G; P0 Theorems 4, 5; P3 Theorems 2, 8, 9, 11",
        "none",
        function="tailproof.refimpl.hard_instances.spike_failure_lower",
    ),
)


def algorithm(identifier: str) -> Algorithm:
    for entry in ALGORITHMS:
        if entry.id == identifier:
            return entry
    raise KeyError(identifier)
