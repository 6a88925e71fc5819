"""`tailproof solve`: run a private mean estimator or an optimiser on a user's file.

What is said before a run (plan, claim, bound) comes from public numbers alone.  What is said after it is what the algorithm
released, and what is true of every run: the gap of a minimisation and the work it took depend on the data and are not told.
"""

from __future__ import annotations

import argparse
import inspect
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
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
from tailproof.refimpl.catalogue import ALGORITHMS, Implementation, Setting
from tailproof.refimpl.channel import Mechanism, Transcript, ledger, run, spends_of
from tailproof.refimpl.claims import ZCDP, ApproxDP, Claim, PureDP, UnprovedClaim, claim_to_json
from tailproof.refimpl.domains import Domain, Localised, parse_domain
from tailproof.refimpl.extension.batched import LARGEST_RECORD
from tailproof.refimpl.extension.certified import accuracy_for
from tailproof.refimpl.extension.joint import StepLimitError
from tailproof.refimpl.laws import PerturbedMinimiser
from tailproof.refimpl.losses import Loss, Quadratic, Ridge, parse_loss
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.localise import localise
from tailproof.refimpl.pure_dp.localised_exponential import distance_upper, localised_exponential, temperature_upper
from tailproof.refimpl.pure_dp.objective import (
    ObjectivePlan,
    accuracy_of,
    curvature_of,
    objective_perturbation,
    objective_plan,
    tilt_scale,
)
from tailproof.refimpl.pure_dp.perturbation import Budget, RegularisedProblem, budget, halved, noise_square_mean
from tailproof.refimpl.pure_dp.plan import Assumption, Phase, Plan
from tailproof.refimpl.pure_dp.population import assumption_for, plan_for, population_localization
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.pure_dp.structured import structured_output_perturbation
from tailproof.refimpl.pure_dp.tilted import covered
from tailproof.refimpl.validation import FloatArray, InputError, choice, known, probability, real, records, whole
from tailproof.verification.datafile import Table as DataTable
from tailproof.verification.datafile import read_table, read_words
from tailproof.verification.facts import Numbers, as_json, described, given_facts, parameters_of
from tailproof.verification.report import number
from tailproof.verification.shown import Shown, Table

Tell = Callable[[Shown], None]

FLAGS = ("epsilon", "delta", "rho", "loss", "domain", "preset")
TILTED = "the minimiser under the random tilt was proved to be as near as the plan says before noise was added"
CERTIFICATE = "every minimisation was proved to be within α of its minimum before noise was added"


def solve(arguments: argparse.Namespace, *, announce: Tell, progress: Tell | None = None) -> tuple[dict[str, Any], Shown]:
    """(JSON value, readable lines); what must be known before the run is told to `announce`."""
    for name in ("json", "weights"):
        check_writable(name, getattr(arguments, name))
    names = [*_usable(), *OPTIMISERS]
    arguments.id = known("id", arguments.id, names, f"solve takes {', '.join(names)}")
    if arguments.id in OPTIMISERS:
        return _optimise(arguments, OPTIMISERS[arguments.id], announce, progress)
    return _estimate(arguments)


# -------------------------------------------------------------------------------------------------------- mean estimators


def _estimate(arguments: argparse.Namespace) -> tuple[dict[str, Any], Shown]:
    implementation = _usable()[arguments.id]
    signature = inspect.signature(implementation.mechanism).parameters.values()
    takes = {p.name: p.default for p in signature if p.kind is inspect.Parameter.KEYWORD_ONLY}
    given, foreign = _given(arguments), ("target", "positive", "intercept", "shuffle", "weights")
    given |= {name: value for name in foreign if (value := getattr(arguments, name)) is not None}
    parameters = _checked(arguments.id, given, takes)
    source = read_table(arguments.data, features=arguments.features)
    data = records("data", source.select(arguments.columns) if arguments.columns else source.rows)
    n, d = data.shape
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate, transcript = run(implementation.mechanism, data, np.random.default_rng(arguments.seed), **parameters)
    claim = implementation.privacy(Setting(n, d, parameters))
    assert claim is not None
    books, vector, notes = _books(transcript, n), np.atleast_1d(estimate).tolist(), [str(note.message) for note in caught]
    value = {
        "algorithm": arguments.id,
        "records": n,
        "parameters": parameters,
        "claim": claim_to_json(claim),
        "ledger": books,
        "estimate": vector,
        "notes": notes,
    }
    lines = [f"{arguments.id} on {n} records of {d} columns", _claim_line(claim), *_ledger_lines(books)]
    lines += [*(f"note: {note}" for note in notes), "estimate: " + " ".join(f"{x:.10g}" for x in vector)]
    return value, "\n".join(lines)


def _usable() -> dict[str, Implementation]:
    estimators = {a.id: a.implementation for a in ALGORITHMS if a.implementation is not None and not a.implementation.query}
    return {
        name: entry for name, entry in estimators.items() if entry.module.__name__.startswith("tailproof.refimpl.means.")
    }


# -------------------------------------------------------------------------------------------------------------- optimisers

MOST_BOOKS = 8  # a ledger of more lines is summed up
NEEDED = inspect.Parameter.empty  # in place of a default
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
_BUDGET = {"loss": NEEDED, "epsilon": NEEDED, "delta": NEEDED}
_DESCENT = {**_BUDGET, "steps": NEEDED, "learning_rate": NEEDED}
_SOLVER = {**_COMMON, "weight": NEEDED, "lipschitz": NEEDED, "kappa": 0.1}


def _by_preset(identifier: str, claim: Callable[..., Claim], **more: bool) -> Optimiser:
    """Parameters from public numbers; `--set` replaces those that are numbers or words."""
    return Optimiser(presets.optimiser(identifier), {**_BUDGET, "domain": NEEDED}, claim=claim, preset="tuned", **more)


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
    "P4.S1": Optimiser(single_output_perturbation, _SOLVER),
    "P4.A2": Optimiser(localise, {**_SOLVER, "failure": NEEDED}),
    "P4.A4": Optimiser(double_output_perturbation, {**_SOLVER, "failure": 0.05, "reading": "A"}, halves=True),
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

    def problem(self, **scale: Any) -> RegularisedProblem:
        return RegularisedProblem.of(loss=self.loss, domain=self.region, columns=self.rows.shape[1], **scale)


def _optimise(
    arguments: argparse.Namespace, optimiser: Optimiser, announce: Tell, progress: Tell | None
) -> tuple[dict[str, Any], Shown]:
    task = _task(arguments, optimiser)
    n, parameters = len(task.rows), task.parameters
    plan = (_objective_plan(task) if arguments.id == "P4.S2" else _plan(task)) if optimiser.plans else None
    heading = f"{arguments.id} on {n} records of {len(task.features)} features"
    said = _lines_of(task, plan) if plan else _parameter_lines(task) if optimiser.descends else _noise_lines(task)
    announce([heading, _claim_line(task.claim) + task.warning, *said])

    rng, shuffled = np.random.default_rng(arguments.seed), optimiser.batches and arguments.shuffle is not False
    rows = task.rows[rng.permutation(n)] if shuffled else task.rows
    settings = {**parameters, "loss": task.loss} | ({} if task.domain is None else {"domain": task.domain})
    if plan is not None:
        settings["plan"] = plan
    if isinstance(plan, Plan):
        settings["progress"] = progress
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # a solver's warnings depend on the data
        warnings.simplefilter("always", UnprovedClaim)
        try:
            found, transcript = run(optimiser.function, rows, rng, **settings)
        except StepLimitError as error:  # of P4.D4, from public parameters, before its first step
            raise InputError(f"most_steps: {error}") from None
    weights = found.center if isinstance(found, Localised) else found
    books, certificate = _books(transcript, n), _certificate(transcript)
    if optimiser.descends and not optimiser.certified:
        certificate = "none: gradient steps, without a bound of their error"
    value = {
        "algorithm": arguments.id,
        "records": n,
        "features": task.features,
        "target": task.target,
        "positive": arguments.positive,
        "shuffled": shuffled,
        "preset": task.preset or parameters.get("preset"),
        "facts": task.facts,
        "parameters": as_json(parameters),
        "claim": claim_to_json(task.claim),
        "plan": None if plan is None else plan.to_json(),
        "ledger": books,
        "certificate": certificate,
        "notes": (notes := sorted({str(note.message) for note in caught} | set(_weak(task)))),
        "weights": weights.tolist(),
    }
    lines = [*_ledger_lines(books), f"certificate: {certificate}", *(f"note: {note}" for note in notes)]
    if isinstance(found, Localised):
        value["radius"] = found.radius
        lines.append(
            f"ball: within {found.radius:.6g} of the weights lies the minimiser of the regularised extension, with "
            f"probability at least {1 - parameters['failure']:g}"
        )
    rows_of_text = [[name, f"{weight:.10g}"] for name, weight in zip(task.features, weights, strict=True)]
    return value, [*lines, Table(rows_of_text, ["feature", "weight"])]


def _certificate(transcript: Transcript) -> str:
    if not transcript.spending:
        return "nothing was minimised"
    return TILTED if isinstance(transcript.spending[0].law, PerturbedMinimiser) else CERTIFICATE


def weights_document(value: dict[str, Any]) -> dict[str, Any]:
    """What `--weights` writes: all that is needed to use the weights and to know what they are."""
    return {key: item for key, item in value.items() if key not in ("ledger", "certificate")}


# ----- what is said before the run


def _parameter_lines(task: Task) -> list[Shown]:
    """All of a descent's parameters; what its ρ means in terms of (ε, δ)."""
    given = {name: value for name, value in task.parameters.items() if name not in _BUDGET and name != "domain"}
    budgets = {name: task.parameters[name] for name in ("epsilon", "delta")}
    implied = [] if isinstance(task.claim, ApproxDP) else [f"  it implies {ApproxDP(**budgets)}"]
    source = "as given" if task.preset is None else f"the {task.preset} preset, from public numbers alone"
    return [*implied, f"parameters: {source}", *described(given)]


def _weak(task: Task) -> list[str]:
    delta, n = task.parameters.get("delta", 0), len(task.rows)
    return [f"delta = {delta!r}: is not below 1/n = {1 / n:.3g}"] if delta >= 1 / n else []


def _plan(task: Task) -> Plan:
    """The plan of P4.A1."""
    task.problem(weight=1.0, lipschitz=1.0, kappa=1.0)  # refuses what every phase would refuse
    given = {name: task.parameters[name] for name in ("epsilon", "rho", "failure", "preset") if name in task.parameters}
    return plan_for(_assumption(task), size=len(task.rows), **given)


def _objective_plan(task: Task) -> ObjectivePlan:
    """The plan of P4.S2."""
    task.problem(weight=1.0, lipschitz=1.0, kappa=1.0)  # refuses what does not fit together
    covered(task.region)
    preset = task.parameters.get("preset", "theory")
    return objective_plan(
        _assumption(task), task.loss, size=len(task.rows), epsilon=task.parameters["epsilon"], preset=preset
    )


def _lines_of(task: Task, plan: Plan | ObjectivePlan) -> list[Shown]:
    return _plan_lines(task, plan) if isinstance(plan, Plan) else _objective_lines(task, plan)


def _objective_lines(task: Task, plan: ObjectivePlan) -> list[Shown]:
    known, n = _assumption(task), len(task.rows)
    G, k, d = known.moment_bound, known.moment_order, known.dimension
    moment = f"if the records are independent draws of one law with (E ||x||^{k:g})^(1/{k:g}) <= {G:g}"
    if plan.weight is None:
        return [
            "plan: the public starting point, the middle of the domain, is returned without using the data:",
            f"  n·ε = {n * plan.epsilon:g} is too small for {d} weights; no plan has a bound below that of the starting point",
            f"bound: the excess risk of the starting point is at most {plan.bound:.6g}, {moment}",
        ]
    r = accuracy_of(plan, n, dimension=d, reach=known.reach, far=known.far)
    trivial = plan.bound >= G * known.diameter
    return [
        "plan: from public numbers alone; all records are used at once",
        f"  clip C = {number(plan.lipschitz)}, curvature B = {number(curvature_of(plan, n))}, weight Λ = {number(plan.weight)}",
        f"  tilt of root mean square length {(d * (d + 1)) ** 0.5 * tilt_scale(plan) / n:.6g} per record; minimiser within {r:.3g}",
        f"bound: the excess risk is at most {plan.bound:.6g} in expectation, {moment}"
        + ("; every point of the domain has it" if trivial else ""),
        f"  (that of the starting point, which needs no data, is at most {G * known.reach:.6g})",
    ]


def _assumption(task: Task) -> Assumption:
    start, given = task.region.interior_point(), task.parameters
    return assumption_for(task.region, start, moment_order=given["moment_order"], moment_bound=given["moment_bound"])


def _accuracy(phase: Phase) -> float:
    return accuracy_for(lipschitz=phase.lipschitz, weight=phase.weight, size=phase.size, kappa=phase.kappa)


def _plan_lines(task: Task, plan: Plan) -> list[Shown]:
    known, n, claim = _assumption(task), len(task.rows), task.budget
    G, k = known.moment_bound, known.moment_order
    moment = f"if the records are independent draws of one law with (E L^{k:g})^(1/{k:g}) <= {G:g}"
    holds = "in expectation" if plan.failure is None else f"with probability at least {1 - plan.failure:g}"
    if not plan.phases:
        product = f"n·ε = {n * claim.epsilon:g}" if isinstance(claim, PureDP) else f"n·√ρ = {n * claim.rho**0.5:g}"
        return [
            "plan: no phases. The public starting point, the middle of the domain, is returned without using the data:",
            f"  {product} is too small for {known.dimension} weights; no plan has a bound {holds} below that of the starting point",
            f"bound: the excess risk of the starting point is at most {plan.bound:.6g}, {moment}",
        ]
    times = f"{plan.repetitions} × " if plan.repetitions > 1 else ""
    cells = [
        [str(i), f"{times}{p.size}", number(p.weight), number(p.lipschitz), f"{_accuracy(p):.3g}"]
        for i, p in enumerate(plan.phases, start=1)
    ]
    return [
        "plan: from public numbers alone; no record is used in two phases",
        Table(cells, ["phase", "records", "weight λ", "clip C", "accuracy α"], indent=2),
        f"bound: the excess risk is at most {plan.bound:.6g} {holds}, {moment}",
        f"  (that of the starting point, which needs no data, is at most {G * known.reach:.6g})",
    ]


def _noise_lines(task: Task) -> list[str]:
    """What the optimisers without a plan do; their parameters are checked on the way."""
    given = {**task.optimiser.parameters, **task.parameters}
    if "failure" in given:
        probability("failure", given["failure"])
    if "reading" in given:
        choice("reading", given["reading"], ("A", "B"))
    if "most_steps" in given:
        whole("most_steps", given["most_steps"], least=1)
    scale, n = {name: given[name] for name in ("weight", "lipschitz", "kappa")}, len(task.rows)
    reach, accuracy = task.problem(**scale).sensitivity_upper(n), accuracy_for(size=n, **scale)
    if task.optimiser.samples:
        return _sampling_lines(task, given)
    spend = halved(task.budget) if task.optimiser.halves else task.budget
    noise = noise_square_mean(dimension=task.region.dimension, sensitivity=reach, spend=spend) ** 0.5
    return [
        f"accuracy: α = {accuracy:.6g}, so that replacing one record moves what is found by at most {reach:.6g}",
        f"noise: of root mean square length {noise:.6g}, {'twice' if task.optimiser.halves else 'once'}; it spends {spend}",
    ]


def _sampling_lines(task: Task, given: dict[str, Any]) -> list[str]:
    epsilon, share, n = task.parameters["epsilon"], probability("share", given["share"]), len(task.rows)
    sampler = choice("sampler", given["sampler"], ("rejection", "grid", "walk"))
    twice = choice("spread", given["spread"], ("reach", "diameter")) == "diameter"
    law = {name: given[name] for name in ("weight", "lipschitz", "share", "failure", "kappa")}
    law |= {"dimension": task.region.dimension, "epsilon": epsilon}
    lines = [
        f"budget: localisation spends {share * epsilon:.6g} of ε, a draw from a density ∝ exp(−risk/T) around what it finds "
        f"{(1 - share) * epsilon:.6g} (sampler: {sampler})",
        f"temperature: T is at most {temperature_upper(n, **law) * (1 + twice):.6g}",
    ]
    if sampler == "rejection" and not twice:
        near, failure = distance_upper(n, **law), 2 * given["failure"]
        lines.append(f"distance: {near:.6g} at most from the minimiser of the regularised extension, but for {failure:g}")
    return lines


# ----- the records


def _task(arguments: argparse.Namespace, optimiser: Optimiser) -> Task:
    kind = (arguments.preset or optimiser.preset) if optimiser.descends else None
    if kind is None:
        facts, parameters = dict[str, Any](), _checked(arguments.id, _given(arguments), optimiser.parameters)
    else:
        facts, parameters = _facts_and_parameters(arguments, optimiser)
    if arguments.shuffle is not None and not optimiser.batches:
        raise InputError(f"shuffle is not a parameter: {arguments.id} uses all records at once, in any order")
    claim: Claim
    if optimiser.claim is None:
        claim = budget(epsilon=parameters.get("epsilon"), rho=parameters.get("rho"))
    else:
        claim = optimiser.claim(epsilon=parameters["epsilon"], delta=parameters["delta"])
    name = str(parameters["loss"])
    label = _target_kind(_loss(name, 1))
    if label == "none" and arguments.target is not None:
        raise InputError(f"target = {arguments.target!r}: the loss {name} has none; columns choose the features")
    if label != "label" and arguments.positive is not None:
        raise InputError(f"positive = {arguments.positive!r}: the loss {name} has no labels; hinge and logistic have")
    source = read_table(arguments.data, features=arguments.features)
    target = None if label == "none" else source.position(arguments.target or source.label or source.columns[-1])
    chosen = _feature_positions(arguments, source, target)
    features = [source.columns[j] for j in chosen] + (["intercept"] if arguments.intercept else [])
    if not features:
        raise InputError("columns: at least one feature is needed")
    rows = np.ones((len(source.rows), len(features) + (target is not None)))
    for j, position in enumerate(chosen):
        rows[:, j] = _finite(source, position)
    if target is not None:
        rows[:, -1] = _finite(source, target) if label == "real" else _labels(arguments, source, target)
    d, column = len(features), None if target is None else source.columns[target]
    domain = parse_domain(str(parameters["domain"]), d) if "domain" in optimiser.parameters else None
    if kind is not None:
        sizes: Numbers = {"records": len(rows), "dimension": d, "domain": domain}
        sizes["claim"] = {name: parameters[name] for name in ("epsilon", "delta")}
        parameters = parameters_of(arguments.id, facts, kind, **sizes) | parameters
    return Task(optimiser, parameters, claim, _loss(name, d), domain, rows, features, column, kind, facts)


def _facts_and_parameters(arguments: argparse.Namespace, optimiser: Optimiser) -> tuple[Numbers, Numbers]:
    """The public numbers, for the preset, and what is given besides; `--set` replaces what the preset chooses."""
    facts = given_facts(arguments)
    given = {name: value for name in FLAGS if name != "preset" and (value := getattr(arguments, name)) is not None}
    signature = inspect.signature(optimiser.function).parameters.values()
    open_to_all = {p.name for p in signature if p.kind is inspect.Parameter.KEYWORD_ONLY} - set(NOT_ON_THE_COMMAND_LINE)
    needed = {name: NEEDED for name in (*_BUDGET, "domain") if name in optimiser.parameters}
    known = needed | dict.fromkeys(sorted(open_to_all - set(needed)), "by preset")
    return facts, _checked(arguments.id, given | _settings(arguments, given), known)


def _loss(name: str, dimension: int) -> Loss:
    """As `parse_loss`; and `quadratic`, half the squared distance of the weights from the record."""
    return Quadratic(np.eye(dimension)) if name == "quadratic" else parse_loss(name)


def _target_kind(loss: Loss) -> str:
    base = loss.loss if isinstance(loss, Ridge) else loss
    return "none" if isinstance(base, Quadratic) else base.target


def _feature_positions(arguments: argparse.Namespace, source: DataTable, target: int | None) -> list[int]:
    if not arguments.columns:
        return [j for j, name in enumerate(source.columns) if j != target and name != source.label]
    chosen = [source.position(name) for name in arguments.columns]
    if len(set(chosen)) < len(chosen):
        raise InputError("columns: no column may be chosen twice")
    if target in chosen:
        raise InputError(f"columns: {source.columns[target]!r} is the target; it cannot be a feature, too")
    return chosen


def _finite(source: DataTable, position: int) -> FloatArray:
    column = source.rows[:, position]
    good = np.abs(column) <= LARGEST_RECORD
    if not good.all():
        raise InputError(
            f"data: record {int(np.argmin(good)) + 1} has no finite number in column {source.columns[position]!r}, or one "
            f"beyond {LARGEST_RECORD:g}"
        )
    return column


def _labels(arguments: argparse.Namespace, source: DataTable, position: int) -> FloatArray:
    """±1.  Which value stands for 1 is for the user to say: read off the data it would depend on them."""
    column = source.rows[:, position]
    if arguments.positive is None:
        if np.isin(column, (-1.0, 1.0)).all():
            return column
        raise InputError(
            f"data: the labels in column {source.columns[position]!r} must be -1 and 1; of two other values name the one "
            f"that stands for 1 by --positive VALUE"
        )
    one, labels = arguments.positive, _words(source, position)
    if labels is None:
        labels = [repr(label) for label in (_finite(source, position) + 0.0).tolist()]
        try:
            one = repr(real("positive", float(one)) + 0.0)  # one zero, not two
        except ValueError:
            raise InputError(f"positive = {one!r}: must be a number, as the labels are") from None
    others = sorted(set(labels) - {one})
    if len(others) > 1:
        raise InputError(f"positive = {one}: the labels must have one other value; there are {', '.join(others[:4])}")
    return np.where(np.array(labels) == one, 1.0, -1.0)


def _words(source: DataTable, position: int) -> list[str] | None:
    """The labels of a column of words; None if it holds numbers."""
    if source.words is None or not np.isnan(source.rows[:, position]).any():
        return None
    words = read_words(source.words, position)
    if any(missing := [word.lower() in ("", "nan") for word in words]):
        raise InputError(f"data: record {missing.index(True) + 1} has no label in column {source.columns[position]!r}")
    return words


# --------------------------------------------------------------------------------------------------------- shared by both


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The flags and the `--set` pairs."""
    given = {name: value for name in FLAGS if (value := getattr(arguments, name)) is not None} | given_facts(arguments)
    return given | _settings(arguments, given)


def _settings(arguments: argparse.Namespace, given: Numbers) -> Numbers:
    """The `--set` pairs, none of which is given by a flag."""
    settings: Numbers = {}
    for pair in arguments.set:
        name, equals, text = pair.partition("=")
        if not equals:
            raise InputError(f"set = {pair!r}: must read NAME=VALUE")
        if name in given or name in settings:
            raise InputError(f"set = {pair!r}: {name} is given already")
        settings[name] = _value(text)
    return settings


def _checked(identifier: str, given: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The parameters given, if the algorithm takes them all and needs no others."""
    unknown = [name for name in given if name not in known]
    needed = [name for name, default in known.items() if default is NEEDED and name not in given]
    if unknown or needed:
        wrong = f"{unknown[0]} is not a parameter{did_you_mean(unknown[0], known)}" if unknown else f"{needed[0]} is missing"
        takes = (name if default is NEEDED else f"{name} (default {default})" for name, default in known.items())
        raise InputError(f"{wrong}: {identifier} takes {', '.join(takes)}")
    return given


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _claim_line(claim: Claim) -> str:
    return f"claim: {claim}, {claim.neighbouring}"


def _books(transcript: Transcript, size: int) -> list[dict[str, Any]]:
    """How many records are touched by so many releases with these spends."""
    counts: dict[tuple[int, tuple[str, ...]], int] = {}
    for names, count in ledger(transcript, size).items():
        key = len(names), tuple(str(spend) for spend in spends_of(transcript, names))[:3]
        counts[key] = counts.get(key, 0) + count
    return [{"records": count, "releases": key[0], "spends": list(key[1])} for key, count in counts.items()]


def _ledger_lines(books: list[dict[str, Any]]) -> list[str]:
    used = [b for b in books if b["releases"]]
    if len(used) > MOST_BOOKS and len({spend for b in used for spend in b["spends"]}) == 1:  # of random batches
        counts, total = [b["releases"] for b in used], sum(b["records"] for b in used)
        often = f"{min(counts)} to {max(counts)} releases touch each of {total} records"
        return [f"ledger: {often}, spending {used[0]['spends'][0]} each; the claim counts that the batches are random"]
    return [
        f"ledger: {b['releases']} release(s) touch each of {b['records']} records, spending {_spent(b['spends'])}"
        if b["releases"]
        else f"ledger: no release touches {b['records']} records, which spend nothing"
        for b in books
    ]


def _spent(spends: list[str]) -> str:
    """One for all releases, or one by one (where they differ there are two)."""
    return f"{spends[0]} each" if len(set(spends)) == 1 else " and ".join(spends)


def check_writable(name: str, path: str | None) -> None:
    """Before the run: its result must not be lost, as the budget would be spent."""
    if path in (None, "-"):
        return
    place = Path(str(path))
    if place.is_dir() or not os.access(place if place.exists() else place.parent, os.W_OK):
        raise InputError(f"{name} = {path!r}: cannot be written")
