"""The optimisers that fit a model to records: what they take, and one run of one of them on records in the form its loss takes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tailproof._nearest import did_you_mean
from tailproof.refimpl.approx_dp import (
    accelerated,
    approximation,
    iterated,
    localised,
    mean_descent,
    median_descent,
    presets,
    repaired,
    sample_aggregate,
    sgd,
    sparse,
    trimmed_descent,
)
from tailproof.refimpl.approx_dp.gradients import is_monotone_when_clipped
from tailproof.refimpl.channel import Mechanism, Transcript, run
from tailproof.refimpl.claims import ZCDP, Claim, PureDP, UnprovedClaim
from tailproof.refimpl.domains import Domain, Localised
from tailproof.refimpl.extension.joint import StepLimitError
from tailproof.refimpl.losses import Loss, Quadratic, Ridge, parse_loss
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.localise import localise
from tailproof.refimpl.pure_dp.localised_exponential import localised_exponential
from tailproof.refimpl.pure_dp.moment_choice import FAILURE, HIGH, LOW, SHARE, split, with_private_bound
from tailproof.refimpl.pure_dp.objective import ObjectivePlan, objective_perturbation
from tailproof.refimpl.pure_dp.perturbation import KAPPA, Budget, RegularisedProblem, budget
from tailproof.refimpl.pure_dp.plan import Plan
from tailproof.refimpl.pure_dp.population import population_localization
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.pure_dp.structured import structured_output_perturbation
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.facts import Numbers

NEEDED = inspect.Parameter.empty  # in place of a default
PRIVATE = "private"  # in place of a moment bound
BOUND_PARAMETERS: Numbers = {"moment_share": SHARE, "moment_low": LOW, "moment_high": HIGH, "moment_failure": FAILURE}
NOT_ON_THE_COMMAND_LINE = ("phases", "stages", "parts", "start", "center", "rho", "accept_unproved", "domain")


@dataclass(frozen=True)
class Optimiser:
    """An optimiser and the parameters that the command line has for it, with their defaults."""

    function: Mechanism
    parameters: dict[str, Any]
    plans: bool = False  # its own weights and clips
    halves: bool = False  # two releases, each with half of the budget
    samples: bool = False  # from a density around what it localises
    claim: Callable[..., Claim] | None = None  # of (ε, δ): P0 to P3, where nothing is minimised to a proved accuracy
    certified: bool = False  # but for this one, whose phases are
    preset: presets.Kind | None = None  # by default; without one the parameters are the user's
    batches: bool = False  # uses records in the order given

    @property
    def descends(self) -> bool:
        return self.claim is not None


_COMMON = {"loss": NEEDED, "domain": NEEDED, "epsilon": None, "rho": None}
BUDGET = {"loss": NEEDED, "epsilon": NEEDED, "delta": NEEDED}
_DESCENT = {**BUDGET, "steps": NEEDED, "learning_rate": NEEDED}
_SOLVER = {**_COMMON, "weight": NEEDED, "lipschitz": NEEDED, "kappa": KAPPA}
_OUTPUT = {**_SOLVER, "kappa": None}  # `KAPPA`, or what floats allow


def _by_preset(identifier: str, claim: Callable[..., Claim], **more: bool) -> Optimiser:
    """Parameters from public numbers; `--set` replaces those that are numbers or words."""
    return Optimiser(presets.optimiser(identifier), {**BUDGET, "domain": NEEDED}, claim=claim, preset="tuned", **more)


OPTIMISERS = {
    "P0.A3": _by_preset("P0.A3", localised.privacy, batches=True),
    "P0.A4": _by_preset("P0.A4", approximation.privacy, batches=True),
    "P0.A5": _by_preset("P0.A5", iterated.privacy, batches=True),
    "P0.A6": _by_preset("P0.A6", accelerated.privacy),
    "P0.A7": _by_preset("P0.A7", accelerated.privacy, batches=True),
    "P0.B": _by_preset("P0.B", sgd.privacy),
    "P0.R3": _by_preset("P0.R3", repaired.privacy, batches=True, certified=True),
    "P1.A1": _by_preset("P1.A1", sample_aggregate.privacy, batches=True),
    "P1.A3": _by_preset("P1.A3", trimmed_descent.privacy, batches=True),
    "P1.A4": _by_preset("P1.A4", trimmed_descent.privacy, batches=True),
    "P2.A1": Optimiser(
        presets.optimiser("P2.A1"),
        {
            **_DESCENT,
            "domain": NEEDED,
            "clip": NEEDED,
            "estimator": "clipping",
            "groups": None,
            "inner_steps": 1,
            "amplification": "published",
            "method": "auto",
        },
        claim=mean_descent.privacy,
    ),
    "P3.A2": Optimiser(
        presets.optimiser("P3.A2"),
        {**_DESCENT, "domain": NEEDED, "truncation": NEEDED, "failure": NEEDED, "convexity": "convex"},
        claim=median_descent.privacy,
        batches=True,
    ),
    "P3.A5": Optimiser(
        presets.optimiser("P3.A5"),
        {**_DESCENT, "sparsity": NEEDED, "truncation": NEEDED, "radius": None},
        claim=sparse.privacy,
        batches=True,
    ),
    "P4.A1": Optimiser(
        population_localization,
        {**_COMMON, "moment_order": NEEDED, "moment_bound": NEEDED, "failure": None, "preset": "theory"},
        plans=True,
        batches=True,
    ),
    "P4.S2": Optimiser(
        objective_perturbation,
        {
            "loss": NEEDED,
            "domain": NEEDED,
            "epsilon": NEEDED,
            "moment_order": NEEDED,
            "moment_bound": NEEDED,
            "preset": "theory",
        },
        plans=True,
    ),
    "P4.S1": Optimiser(single_output_perturbation, _OUTPUT),
    "P4.A2": Optimiser(localise, {**_OUTPUT, "failure": NEEDED}),
    "P4.A4": Optimiser(double_output_perturbation, {**_OUTPUT, "failure": 0.05, "reading": "A"}, halves=True),
    "P4.A7": Optimiser(
        localised_exponential,
        {
            **{name: default for name, default in _SOLVER.items() if name != "rho"},
            "failure": 0.05,
            "sampler": "rejection",
            "share": 0.5,
            "spread": "reach",
            "mesh": None,
        },
        samples=True,
    ),
    "P4.D4": Optimiser(structured_output_perturbation, {**_SOLVER, "failure": 0.05, "most_steps": 20_000}, halves=True),
}

CLIPPED_DESCENTS = [OPTIMISERS[identifier].function for identifier in ("P0.A3", "P0.A4", "P0.A5")]


@dataclass(frozen=True, eq=False)
class Task:
    """An optimiser, its parameters, and the records in the form the loss takes, [features | target]."""

    identifier: str
    optimiser: Optimiser
    parameters: dict[str, Any]
    claim: Claim
    loss: Loss
    domain: Domain | None
    rows: FloatArray
    features: list[str]
    target: str | None
    preset: presets.Kind | None = None
    facts: Numbers = field(default_factory=dict)
    public: Numbers = field(default_factory=dict)  # what else is: the rules of the columns, say

    @property
    def region(self) -> Domain:
        """Of what is minimised over one."""
        assert self.domain is not None
        return self.domain

    @property
    def budget(self) -> Budget:
        """Of the optimisers of P4."""
        assert isinstance(self.claim, PureDP | ZCDP)
        return self.claim

    @property
    def warning(self) -> str:
        """Where the published claim is known to be false."""
        if self.optimiser.function not in CLIPPED_DESCENTS or is_monotone_when_clipped(self.loss, self.region.dimension):
            return ""
        return "; REFUTED for such losses in dimensions above 1 (erratum P0.Alg2.stability): P0.R3 is the repaired variant"

    @property
    def chooses_bound(self) -> bool:
        """Whether a part of ε is for a private moment bound."""
        return self.parameters.get("moment_bound") == PRIVATE

    def with_bound(self, bound: float) -> Task:
        """What is left to do once the moment bound is known: with the rest of ε."""
        _, rest = split(self.parameters["epsilon"], self.parameters.get("moment_share", SHARE))
        kept = {name: value for name, value in self.parameters.items() if name not in BOUND_PARAMETERS}
        return replace(self, parameters=kept | {"moment_bound": bound, "epsilon": rest.epsilon}, claim=rest)

    def problem(self, **scale: Any) -> RegularisedProblem:
        return RegularisedProblem.of(loss=self.loss, domain=self.region, columns=self.rows.shape[1], **scale)


def checked(identifier: str, given: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The parameters given, if the algorithm takes them all and needs no others."""
    unknown = [name for name in given if name not in known]
    needed = [name for name, default in known.items() if default is NEEDED and name not in given]
    if unknown or needed:
        wrong = f"{unknown[0]} is not a parameter{did_you_mean(unknown[0], known)}" if unknown else f"{needed[0]} is missing"
        takes = (name if default is NEEDED else f"{name} (default {default})" for name, default in known.items())
        raise InputError(f"{wrong}: {identifier} takes {', '.join(takes)}")
    return given


def loss_named(name: str, dimension: int) -> Loss:
    """As `parse_loss`; and `quadratic`, half the squared distance of the weights from the record."""
    return Quadratic(np.eye(dimension)) if name == "quadratic" else parse_loss(name)


def target_kind(loss: Loss) -> str:
    base = loss.loss if isinstance(loss, Ridge) else loss
    return "none" if isinstance(base, Quadratic) else base.target


def takes_of(optimiser: Optimiser, moment_bound: Any) -> Numbers:
    """The parameters with their defaults; more of them where the moment bound is to be private."""
    return optimiser.parameters | (BOUND_PARAMETERS if optimiser.plans and moment_bound == PRIVATE else {})


def claim_of(optimiser: Optimiser, parameters: Numbers) -> Claim:
    """Refuses a budget that is none."""
    if optimiser.claim is None:
        return budget(epsilon=parameters.get("epsilon"), rho=parameters.get("rho"))
    return optimiser.claim(epsilon=parameters["epsilon"], delta=parameters["delta"])


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run released, and the notes on it that are the same for all data."""

    weights: FloatArray
    radius: float | None
    transcript: Transcript
    notes: list[str]


def run_task(
    task: Task,
    rng: np.random.Generator,
    *,
    plan: Plan | ObjectivePlan | None = None,
    shuffled: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Outcome:
    """One run; the records in random order if `shuffled`."""
    rows = task.rows[rng.permutation(len(task.rows))] if shuffled else task.rows
    settings = {**task.parameters, "loss": task.loss} | ({} if task.domain is None else {"domain": task.domain})
    function = task.optimiser.function
    if task.chooses_bound:
        del settings["moment_bound"]
        function = partial(with_private_bound, solve=function)
    if plan is not None:
        settings["plan"] = plan
    if isinstance(plan, Plan):
        settings["progress"] = progress
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # a solver's warnings depend on the data
        warnings.simplefilter("always", UnprovedClaim)
        try:
            found, transcript = run(function, rows, rng, **settings)
        except StepLimitError as error:  # of P4.D4, from public parameters, before its first step
            instead = (
                "P4.D4 is for study; P4.A4 takes the same arguments and proves the same accuracy in some dozens of steps"
            )
            raise InputError(f"most_steps: {error}.  {instead}") from None
    notes = [str(note.message) for note in caught]
    if isinstance(found, Localised):
        return Outcome(found.center, found.radius, transcript, notes)
    return Outcome(np.asarray(found), None, transcript, notes)
