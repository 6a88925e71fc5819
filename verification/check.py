"""The main job: every implemented algorithm through every check, its mutants through the same checks, all as findings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm, Implementation
from tailproof.refimpl.channel import ReplayDiverged
from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import amplification, marginal, mutants, neighbours, outcomes, privacy_loss, utility
from tailproof.verification.calibration import PUBLISHED, check_calibration
from tailproof.verification.composition import FALSE_ALARM, check_composition
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.ending import of_a_mechanism
from tailproof.verification.expected import applying, expected_checks
from tailproof.verification.pair_checks import (
    PAIR_CHECKS,
    Measurement,
    check_on,
    compare_or_say_why_not,
    diverged,
    raises_on_data,
    worse,
)
from tailproof.verification.query_check import check_queries, plain_algorithms, query_data
from tailproof.verification.recorded_runs import is_recorded, own_vectors_finding
from tailproof.verification.report import PASSING, Finding, Status
from tailproof.verification.seeds import task_seed
from tailproof.verification.sensitivity import search_sensitivity
from tailproof.verification.subject import Pair, Subject, subject_of, worst_pairs
from tailproof.verification.transcripts.every_row import pairs_of_rows
from tailproof.verification.transcripts.forcing import Path, check_all, check_along, forced_paths
from tailproof.verification.transcripts.state import check_state
from tailproof.verification.witness import witness_of


@dataclass(frozen=True)
class Effort:
    """How much is tried: restarts and steps of each search, transcripts of each composition, runs of each utility check,
    forced paths of each pair, records that are changed alone.
    """

    restarts: int
    steps: int
    transcripts: int
    runs: int
    forced: int
    rows: int

    def share(self, share: float) -> Effort:
        """That much of each search, of each composition and of what is forced; a few at least."""
        restarts, steps, transcripts = (
            max(1, round(share * count)) for count in (self.restarts, self.steps, self.transcripts)
        )
        forced, rows = (max(8, round(share * count)) for count in (self.forced, self.rows))
        return replace(self, restarts=restarts, steps=steps, transcripts=transcripts, forced=forced, rows=rows)


QUICK = Effort(restarts=4, steps=120, transcripts=300, runs=100, forced=60, rows=64)
FULL = Effort(restarts=8, steps=400, transcripts=4000, runs=2000, forced=400, rows=1000)


# --- one subject, one check ---------------------------------------------------------------------------------------------


def _status(measurement: Measurement, passed: Status = "consistent") -> Status:
    if measurement.exceeds:
        return "violated" if measurement.conclusive else "inconclusive"
    return "inconclusive" if measurement.undecided else passed


def _pairs(subject: Subject, seed: int) -> list[Pair]:
    """The neighbours that ship beside the algorithm, then, unless these refute its claim, structured ones of every size."""
    if subject.setting.refuted is not None:
        return worst_pairs(subject.algorithm, subject.setting)
    rng = np.random.default_rng(seed)
    n, d = subject.setting.n, subject.setting.d
    return worst_pairs(subject.algorithm, subject.setting) + list(
        neighbours.structured(n, d, rng, scales=(1.0, 1e6), directions=1)
    )


@dataclass(frozen=True)
class _Case:
    """What was measured, and what it takes to measure it again."""

    measurement: Measurement
    pair: Pair
    seed: int
    path: Path | None = None


def _worst_of_pairs(subject: Subject, seed: int, *, one_is_enough: bool) -> dict[str, _Case]:
    """Every check on every given pair, each with a seed of its own: for each check, its worst pair.

    A violated check looks no further; if one is enough, neither do the others.
    """
    worst: dict[str, _Case] = {}
    pending = list(PAIR_CHECKS)
    for index, pair in enumerate(_pairs(subject, seed)):
        own = task_seed(seed, index)
        compared = compare_or_say_why_not(subject, pair, own)
        violated = []
        for name in pending:
            found = check_on(name, subject, compared)
            if name not in worst or worse(worst[name].measurement, found) is found:
                worst[name] = _Case(found, pair, own)
            if found.exceeds and found.conclusive:
                violated.append(name)
        pending = [name for name in pending if name not in violated]
        if not pending or (violated and one_is_enough):
            break
    return worst


def _pair_findings(subject: Subject, seed: int, *, one_is_enough: bool = False) -> Iterator[Finding]:
    for name, case in _worst_of_pairs(subject, seed, one_is_enough=one_is_enough).items():
        finding = _of_case(subject, name, case, passed="certified" if name == "ledger" else "consistent")
        if name == "transcript" and subject.claim is not None and not subject.mutant:
            finding = _with_losses(finding, subject, case.pair, case.seed)
        yield finding


def _of_case(subject: Subject, name: str, case: _Case, passed: Status = "consistent") -> Finding:
    return _finding(subject, name, case.measurement, case.seed, pair=case.pair, path=case.path, passed=passed)


def _further_findings(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    """Rare values, every record, and what is kept between runs."""
    yield _of_case(subject, "forced replay", _forced(subject, seed, effort))
    yield _of_case(subject, "every row", _every_row(subject, seed, effort))
    pair = _pairs(subject, seed)[0]
    yield _of_case(subject, "state", _Case(check_state(subject, pair, seed), pair, seed))
    yield outcomes_finding(subject, seed, effort)


def outcomes_finding(subject: Subject, seed: int, effort: Effort) -> Finding:
    """Runs on data made to break them end the same way on neighbours."""
    found, variant = outcomes.check_subject(subject, seed, effort.share(subject.setting.effort).rows)
    case = _Case(found.measurement, found.pair, found.seed)
    return _of_case(variant if found.measurement.exceeds else subject, "outcomes", case)


def _forced(subject: Subject, seed: int, effort: Effort) -> _Case:
    """Every check along chosen values, on the first pairs and, to be seen from both sides, on the first one turned round."""
    pairs = _pairs(subject, seed)
    few = effort.share(subject.setting.effort)
    chosen = [pairs[0], pairs[0][::-1], *pairs[1:2]][: 1 if few.forced < 12 else 3]
    worst: _Case | None = None
    for index, pair in enumerate(chosen):
        own = task_seed(seed, "forced", index)
        for path in forced_paths(subject, pair, own, few.forced):
            found = check_along(subject, pair, path, own)
            if worst is None or worse(worst.measurement, found) is found:
                worst = _Case(found, pair, own, path)
            if found.exceeds and found.conclusive:
                return worst
    assert worst is not None
    return worst


def _every_row(subject: Subject, seed: int, effort: Effort) -> _Case:
    few = effort.share(subject.setting.effort)
    own = task_seed(seed, "rows")
    worst: _Case | None = None
    for pair, pair_seed, compared in pairs_of_rows(subject, own, most=few.rows, sets=2 if few.rows >= 16 else 1):
        found = check_all(subject, compared)
        if worst is None or worse(worst.measurement, found) is found:
            worst = _Case(found, pair, pair_seed)
        if found.exceeds and found.conclusive:
            break
    assert worst is not None
    return worst


def _with_losses(finding: Finding, subject: Subject, pair: Pair, seed: int) -> Finding:
    if not math.isfinite(finding.measured or 0.0):
        return finding  # it raises, or its course depends on the data: there are no losses
    found = privacy_loss.losses_on(subject, pair, seed)
    return finding if found is None else replace(finding, losses=found.to_json())


def _finding(
    subject: Subject,
    name: str,
    measurement: Measurement,
    seed: int,
    *,
    pair: Pair | None = None,
    path: Path | None = None,
    runs: int | None = None,
    passed: Status = "consistent",
    confidence: float = 1.0,
) -> Finding:
    return Finding(
        algorithm=subject.algorithm,
        check=name,
        status=_status(measurement, passed),
        measured=measurement.measured,
        bound=measurement.bound,
        confidence=confidence,
        seed=seed,
        detail=f"{measurement.detail}; {measurement.undecided}" if measurement.undecided else measurement.detail,
        setting=str(subject.setting),
        witness=witness_of(subject, name, seed, pair=pair, path=path, runs=runs) if measurement.exceeds else None,
    )


def pinned(subject: Subject, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Every finding against what is expected beside the setting: a pin names the check, its status and why.

    What is pinned and did not come is a failure of its own: the counterexample no longer refutes, or the reason is gone.
    """
    pins = {pin.check: pin for pin in subject.setting.pins}
    met: set[str] = set()
    for finding in findings:
        pin = pins.get(finding.check)
        if pin is None or finding.status != pin.status or not pin.covers(finding.measured, finding.bound):
            yield finding
            continue
        met.add(pin.check)
        errata = (pin.erratum,) if pin.erratum else ()
        yield replace(finding, expected=True, detail=f"{finding.detail}; {pin.reason}", reason=pin.reason, errata=errata)
    for name in pins.keys() - met:
        said = f"{name} was expected to be {pins[name].status} ({pins[name].reason}), and is not"
        yield Finding(subject.algorithm, f"pinned: {name}", "violated", detail=said, setting=str(subject.setting))


def privacy_findings(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    """Sensitivity (given pairs, then search), every release's privacy, the transcript, the channel, the ledgers, rare values,
    rows.
    """
    stages = [partial(_pair_findings, subject, seed)]
    if isinstance(subject.checked_claim, ApproxDP):
        stages.append(partial(_composition, subject, seed, effort))
    stages += [partial(_further_findings, subject, seed, effort), partial(_searched, subject, seed, effort)]
    for stage in stages:
        yield from told(subject, stage)
    yield from told(subject, partial(amplification_findings, subject, seed))


def told(subject: Subject, stage: Callable[[], Iterable[Finding]], name: str = "raises") -> Iterator[Finding]:
    """The findings of a stage; that the mechanism raises where no check expects it is one of them, under this name."""
    try:
        yield from stage()
    except Exception as error:
        if not of_a_mechanism(error):
            raise
        measured = diverged(error) if isinstance(error, ReplayDiverged) else raises_on_data(error)
        setting = str(subject.setting)
        yield Finding(
            subject.algorithm,
            name,
            "violated",
            measured=measured.measured,
            bound=measured.bound,
            detail=measured.detail,
            setting=setting,
        )


def _searched(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    share = subject.setting.effort
    searches = effort.share(share)
    attained = search_sensitivity(subject, seed=seed, restarts=searches.restarts, steps=searches.steps, starts=share)
    searched = _finding(subject, "sensitivity", attained.measurement, seed, pair=attained.pair)
    yield replace(
        searched,
        check="sensitivity search",
        detail=f"{searched.detail}; best of {attained.tried} pairs tried",
        tried=attained.tried,
    )


def amplification_findings(subject: Subject, seed: int) -> Iterator[Finding]:
    """Of a claim over hidden orders: what the cited theorem asks for, and the claim itself on neighbours whose others are alike.

    That all releases keep the claim given the orders is what the other checks say.
    """
    asked = amplification.conditions(subject)
    if not (asked or subject.amplified) or not isinstance(subject.claim, ApproxDP):
        return
    setting, failed = str(subject.setting), [condition for condition in asked if not condition.holds]
    if asked:
        status: Status = "inconclusive" if failed and subject.amplified else "certified"
        detail = ("not met: " if failed else "all met: ") + "; ".join(map(str, failed or asked))
        if not subject.amplified:
            detail = f"not needed, as {subject.conditional} given the order implies {subject.claim}; {detail}"
        named = tuple(condition.erratum for condition in failed if condition.erratum) if status == "inconclusive" else ()
        yield Finding(
            subject.algorithm, "amplification conditions", status, seed=seed, detail=detail, setting=setting, errata=named
        )
    try:
        measured = amplification.check_amplified(subject, seed)
    except NoExactFormula as error:
        yield _not_computed(subject, seed, error)
        return
    yield _finding(subject, "amplified claim", measured, seed)


def _not_computed(subject: Subject, seed: int, error: NoExactFormula) -> Finding:
    """Where nothing is amplified the claim follows from what holds given the order; otherwise nothing is known."""
    status: Status = "inconclusive" if subject.amplified else "certified"
    detail = f"{subject.conditional} given the order implies {subject.claim}"
    if subject.amplified:
        detail = f"{subject.claim} rests on hidden randomness, and is not computed here: {error}"
    return Finding(subject.algorithm, "amplified claim", status, seed=seed, detail=detail, setting=str(subject.setting))


def _further_amplification(identifier: str, seed: int) -> Iterator[Finding]:
    """At settings where the amplification is needed, and where it is known to fail."""
    for subject in amplification.trial_subjects(identifier):
        found = list(amplification_findings(subject, task_seed(seed, identifier, subject.setting_index)))
        asked = {name for name in applying(expected_checks(subject)) if name.startswith("amplif")}
        yield from pinned(subject, [*found, *_missing(subject, asked, found)])
    if identifier == "P0.A6":
        claim, lower = amplification.beyond_the_box(7970, log_delta=300.0)
        detail = (
            f"P0.Alg6.variance: the box's noise, n = T = 7970, {claim}: all noisy gradients together have log δ(ε) ≥ {lower:.1f}; "
            "that says nothing about the output"
        )
        yield Finding(
            identifier,
            "amplified claim, tiny δ",
            "inconclusive",
            seed=seed,
            detail=detail,
            expected=True,
            errata=("P0.Alg6.variance",),
            reason="P0.Alg6.variance: a bound for all noisy gradients says nothing about the output",
        )


def _composition(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    """Only where several releases differ between the neighbours; otherwise the transcript check is exact.

    At most so many transcripts, and more only where they speak against the claim.
    """
    given, transcripts = worst_pairs(subject.algorithm, subject.setting), effort.share(subject.setting.effort).transcripts
    for pair in given + [(neighbour, data) for data, neighbour in given]:
        compared = compare_or_say_why_not(subject, pair, seed)
        if isinstance(compared, Measurement) or len(compared.changed) > 1:
            measurement = check_composition(subject, *pair, seed, runs=transcripts)
            yield _finding(
                subject, "composition", measurement, seed, pair=pair, runs=transcripts, confidence=1 - FALSE_ALARM
            )


def output_finding(identifier: str, seed: int, effort: Effort) -> Finding:
    """The claim against the published output alone."""
    subject, pair = marginal.audited(identifier)
    runs = marginal.AUDITED[identifier].runs * effort.runs // QUICK.runs
    measured = marginal.check_output(subject, pair, seed, runs=runs)
    return _finding(subject, "final iterate", measured, seed, pair=pair, runs=runs, confidence=1 - marginal.FALSE_ALARM)


def calibration_finding(subject: Subject, seed: int) -> Finding:
    """On the worst of several data sets: a scale or a sensitivity may follow the data."""
    found = [(check_calibration(subject, data, seed), data) for data, _ in query_data(subject, seed)]
    measurement, data = max(found, key=lambda case: case[0].ratio)
    return _finding(subject, "calibration", measurement, seed, pair=(data, data), passed="certified")


def utility_finding(subject: Subject, seed: int, effort: Effort) -> Finding:
    measurement = utility.check_utility(subject.algorithm, subject.mechanism, seed, runs=effort.runs)
    return _finding(subject, "utility", measurement, seed, runs=effort.runs, confidence=1 - utility.FALSE_ALARM)


def parts_of(entry: Algorithm) -> list[str]:
    """What is checked about one published algorithm, in parts that can be done one by one: every setting, then what needs one."""
    assert entry.implementation is not None
    parts = [f"setting {index}" for index, _ in enumerate(entry.implementation.settings)] + ["amplification"]
    parts += ["output"] if entry.id in marginal.AUDITED else []
    parts += ["utility"] if entry.id in utility.BOUNDS else []
    return parts + (["vectors"] if is_recorded(entry.id) else [])


def part_findings(entry: Algorithm, part: str, seed: int, effort: Effort) -> Iterator[Finding]:
    assert entry.implementation is not None
    if part == "amplification":
        yield from _further_amplification(entry.id, seed)
    elif part == "output":
        yield output_finding(entry.id, task_seed(seed, entry.id, "final iterate"), effort)
    elif part == "vectors":
        yield own_vectors_finding(entry)
    elif part == "utility":
        subject = subject_of(entry.id, 0, implementation=entry.implementation)
        yield utility_finding(subject, task_seed(seed, entry.id, "utility"), effort)
    else:
        yield from _setting_findings(entry, int(part.removeprefix("setting ")), seed, effort)


def _setting_findings(entry: Algorithm, index: int, seed: int, effort: Effort) -> Iterator[Finding]:
    assert entry.implementation is not None
    subject = subject_of(entry.id, index, implementation=entry.implementation)
    yield from subject_findings(
        subject, task_seed(seed, entry.id, index), effort, task_seed(seed, entry.id, index, "calibration")
    )


def subject_findings(subject: Subject, seed: int, effort: Effort, calibration_seed: int = 0) -> Iterator[Finding]:
    """Everything about one subject at its setting, each finding against what is expected there."""
    found = list(privacy_findings(subject, seed, effort))
    if subject.algorithm in plain_algorithms():
        found += told(subject, lambda: [query_finding(subject, task_seed(seed, "query"))], "published query")
    if subject.algorithm in PUBLISHED:
        found += told(subject, lambda: [calibration_finding(subject, calibration_seed)], "calibration")
    asked = applying(expected_checks(subject))
    said = [finding for finding in found if finding.check in asked or finding.status not in PASSING]
    yield from pinned(subject, [*said, *_missing(subject, asked, said)])


def _missing(subject: Subject, asked: set[str], found: Iterable[Finding]) -> Iterator[Finding]:
    """A check that says nothing is not one that passes."""
    for name in sorted(asked - {finding.check for finding in found}):
        yield Finding(
            subject.algorithm, name, "skipped", detail=f"missing: {name}: nothing was checked", setting=str(subject.setting)
        )


def query_finding(subject: Subject, seed: int) -> Finding:
    """What is released, against the plain algorithm written from the paper; the worst of several data sets."""
    worst: tuple[Measurement, FloatArray, int, int] | None = None
    for at, (data, forced) in enumerate(query_data(subject, seed)):
        found = check_queries(subject, data, seed + at, forced=forced)
        if worst is None or worse(worst[0], found) is found:
            worst = (found, data, seed + at, forced)
    assert worst is not None
    measurement, data, own, forced = worst
    return _finding(subject, "published query", measurement, own, pair=(data, data), runs=forced)


def honest_findings(entry: Algorithm, seed: int, effort: Effort) -> Iterator[Finding]:
    """Everything about one published algorithm."""
    for part in parts_of(entry):
        yield from part_findings(entry, part, seed, effort)


# --- mutants ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MutantResult:
    algorithm: str
    name: str
    kind: str
    killed_by: tuple[str, ...]
    witness: dict[str, Any] | None

    @property
    def killed(self) -> bool:
        return bool(self.killed_by)


def judge_mutant(candidate: mutants.Mutant, seed: int, effort: Effort = QUICK) -> MutantResult:
    """Which checks of the mutant's class say violated, at the first setting where any does."""
    implementation = mutants.build(candidate)
    killers: dict[str, dict[str, Any] | None] = {}
    for findings in _mutant_findings(candidate, implementation, seed, effort):
        killers = {finding.check: finding.witness for finding in findings if finding.status == "violated"}
        if killers:
            break
    return MutantResult(
        candidate.algorithm,
        candidate.name,
        candidate.kind,
        tuple(killers),
        next((witness for witness in killers.values() if witness is not None), None),
    )


def _mutant_findings(
    candidate: mutants.Mutant, implementation: Implementation, seed: int, effort: Effort
) -> Iterator[list[Finding]]:
    """Setting by setting, those apart at which the published algorithm is refuted itself."""
    if candidate.kind == "amplification":
        for subject in amplification.trial_subjects(candidate.algorithm, implementation.mechanism, candidate.name):
            yield list(amplification_findings(subject, task_seed(seed, candidate.algorithm, candidate.seed_key)))
        return
    for index, setting in enumerate(implementation.settings):
        if setting.refuted is not None:
            continue
        subject = subject_of(candidate.algorithm, index, implementation=implementation, mutant=candidate.name)
        key = task_seed(seed, candidate.algorithm, candidate.seed_key, index)
        if candidate.kind == "utility":
            yield [utility_finding(subject, task_seed(seed, candidate.algorithm, candidate.seed_key), effort)]
            return
        if candidate.kind == "calibration":
            yield [calibration_finding(subject, key)]
        else:
            yield list(_pair_findings(subject, key, one_is_enough=True))


def implemented(only: list[str] | None = None) -> list[Algorithm]:
    return [a for a in ALGORITHMS if a.implementation is not None and (not only or a.id in only)]
