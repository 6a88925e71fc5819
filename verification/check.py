"""The main job: every implemented algorithm through every check, its mutants through the same checks, all as findings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm, Implementation
from tailproof.refimpl.claims import ApproxDP
from tailproof.verification import amplification, marginal, mutants, neighbours, privacy_loss, utility
from tailproof.verification.calibration import PUBLISHED, check_calibration
from tailproof.verification.composition import FALSE_ALARM, check_composition
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.ledger import check_ledger
from tailproof.verification.pair_checks import PAIR_CHECKS, Measurement, check_on, compare_or_say_why_not, run_pair_check
from tailproof.verification.report import Finding, Status
from tailproof.verification.seeds import task_seed
from tailproof.verification.sensitivity import search_sensitivity
from tailproof.verification.subject import Pair, Subject, subject_of, worst_pairs
from tailproof.verification.witness import calibration_data, witness_of


@dataclass(frozen=True)
class Effort:
    """How much is tried: restarts and steps of each search, transcripts of each composition, runs of each utility check."""

    restarts: int
    steps: int
    transcripts: int
    runs: int

    def share(self, share: float) -> Effort:
        """That much of each search and of each composition."""
        restarts, steps, transcripts = (
            max(1, round(share * count)) for count in (self.restarts, self.steps, self.transcripts)
        )
        return replace(self, restarts=restarts, steps=steps, transcripts=transcripts)


QUICK = Effort(restarts=4, steps=120, transcripts=300, runs=100)
FULL = Effort(restarts=8, steps=400, transcripts=4000, runs=2000)


# --- one subject, one check ---------------------------------------------------------------------------------------------


def _status(measurement: Measurement, passed: Status = "consistent") -> Status:
    if not measurement.exceeds:
        return passed
    return "violated" if measurement.conclusive else "inconclusive"


def _pairs(subject: Subject, seed: int) -> list[Pair]:
    """The neighbours that ship beside the algorithm, then, unless these refute its claim, structured ones of every size."""
    if subject.setting.refuted is not None:
        return worst_pairs(subject.algorithm, subject.setting)
    rng = np.random.default_rng(seed)
    n, d = subject.setting.n, subject.setting.d
    return worst_pairs(subject.algorithm, subject.setting) + list(
        neighbours.structured(n, d, rng, scales=(1.0, 1e6), directions=1)
    )


def _pair_findings(subject: Subject, seed: int, *, one_is_enough: bool = False) -> Iterator[Finding]:
    """The ledger, and every check on every given pair: for each check, its worst pair, if any has an exact formula.

    A violated check looks no further; if one is enough, neither do the others.
    """
    if subject.claim is not None:
        books = check_ledger(subject, seed)
        yield _finding(subject, "ledger", books, seed, passed="certified")
        if books.exceeds and one_is_enough:
            return
    worst: dict[str, tuple[Measurement, Pair]] = {}
    pending = [name for name in PAIR_CHECKS if subject.claim is not None or name != "transcript"]
    for pair in _pairs(subject, seed):
        compared = compare_or_say_why_not(subject, pair, seed)
        violated = []
        for name in pending:
            with suppress(NoExactFormula):
                found = check_on(name, subject, compared)
                if name not in worst or found.ratio > worst[name][0].ratio:
                    worst[name] = (found, pair)
                if found.exceeds and found.conclusive:
                    violated.append(name)
        pending = [name for name in pending if name not in violated]
        if not pending or (violated and one_is_enough):
            break
    for name in PAIR_CHECKS:
        if name in worst:
            finding = _finding(subject, name, worst[name][0], seed, pair=worst[name][1])
            yield (
                _with_losses(finding, subject, worst[name][1], seed)
                if name == "transcript" and not subject.mutant
                else finding
            )


def _with_losses(finding: Finding, subject: Subject, pair: Pair, seed: int) -> Finding:
    found = privacy_loss.losses_on(subject, pair, seed)
    return finding if found is None else replace(finding, losses=found.to_json())


def _finding(
    subject: Subject,
    name: str,
    measurement: Measurement,
    seed: int,
    *,
    pair: Pair | None = None,
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
        detail=measurement.detail,
        setting=str(subject.setting),
        witness=witness_of(subject, name, seed, pair=pair, runs=runs) if measurement.exceeds else None,
    )


def refutation_findings(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    """The shipped counterexample to a published claim: a violation is what its erratum says, and none is a failure."""
    erratum, violated = subject.setting.refuted, False
    assert erratum is not None
    sampled = _composition(subject, seed, effort) if isinstance(subject.checked_claim, ApproxDP) else iter(())
    for finding in chain(_pair_findings(subject, seed), sampled):
        expected = finding.status == "violated"
        violated = violated or expected
        yield (
            replace(finding, expected=True, detail=f"{finding.detail}; {erratum}", errata=(erratum,))
            if expected
            else finding
        )
    if not violated:
        detail = f"{erratum}: the shipped counterexample no longer refutes the published claim"
        setting = str(subject.setting)
        yield Finding(
            subject.algorithm, "refutation", "violated", seed=seed, detail=detail, setting=setting, errata=(erratum,)
        )


def privacy_findings(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    """Sensitivity (given pairs, then search), every release's privacy, the transcript, the channel, the ledger."""
    yield from _pair_findings(subject, seed)
    if isinstance(subject.checked_claim, ApproxDP):
        yield from _composition(subject, seed, effort)
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
    yield from amplification_findings(subject, seed)


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
        if subject.amplified:
            detail = f"{subject.claim} rests on hidden randomness, and is not computed here: {error}"
            yield Finding(subject.algorithm, "amplified claim", "inconclusive", seed=seed, detail=detail, setting=setting)
        return
    yield _finding(subject, "amplified claim", measured, seed)


def _further_amplification(identifier: str, seed: int) -> Iterator[Finding]:
    """At settings where the amplification is needed, and where it is known to fail."""
    for subject in amplification.trial_subjects(identifier):
        yield from amplification_findings(subject, task_seed(seed, identifier, subject.setting_index))
    if identifier == "P0.A6":
        claim, lower = amplification.beyond_the_box(7970, log_delta=300.0)
        detail = (
            f"P0.Alg6.variance: the box's noise, n = T = 7970, {claim}: all noisy gradients together have log δ(ε) ≥ {lower:.1f}; "
            "that says nothing about the output"
        )
        yield Finding(
            identifier, "amplified claim, tiny δ", "inconclusive", seed=seed, detail=detail, errata=("P0.Alg6.variance",)
        )


def _composition(subject: Subject, seed: int, effort: Effort) -> Iterator[Finding]:
    """Only where several releases differ between the neighbours; otherwise the transcript check is exact."""
    given, transcripts = worst_pairs(subject.algorithm, subject.setting), effort.share(subject.setting.effort).transcripts
    for pair in given + [(neighbour, data) for data, neighbour in given]:
        try:
            run_pair_check("transcript", subject, pair, seed)
        except NoExactFormula:
            measurement = check_composition(subject, *pair, seed, runs=transcripts)
            finding = _finding(
                subject, "composition", measurement, seed, pair=pair, runs=transcripts, confidence=1 - FALSE_ALARM
            )
            losses = privacy_loss.of_transcripts(measurement.losses, subject)
            yield finding if losses is None else replace(finding, losses=losses.to_json())


def output_finding(identifier: str, seed: int, effort: Effort) -> Finding:
    """The claim against the published output alone."""
    subject, pair = marginal.audited(identifier)
    runs = marginal.AUDITED[identifier].runs * effort.runs // QUICK.runs
    measured = marginal.check_output(subject, pair, seed, runs=runs)
    return _finding(subject, "final iterate", measured, seed, pair=pair, runs=runs, confidence=1 - marginal.FALSE_ALARM)


def calibration_finding(subject: Subject, seed: int) -> Finding:
    measurement = check_calibration(subject, calibration_data(subject.setting, seed), seed)
    return _finding(subject, "calibration", measurement, seed, passed="certified")


def utility_finding(subject: Subject, seed: int, effort: Effort) -> Finding:
    measurement = utility.check_utility(subject.algorithm, subject.mechanism, seed, runs=effort.runs)
    return _finding(subject, "utility", measurement, seed, runs=effort.runs, confidence=1 - utility.FALSE_ALARM)


def parts_of(entry: Algorithm) -> list[str]:
    """What is checked about one published algorithm, in parts that can be done one by one: every setting, then what needs one."""
    assert entry.implementation is not None
    parts = [f"setting {index}" for index, _ in enumerate(entry.implementation.settings)] + ["amplification"]
    parts += ["output"] if entry.id in marginal.AUDITED else []
    return parts + (["utility"] if entry.id in utility.BOUNDS else [])


def part_findings(entry: Algorithm, part: str, seed: int, effort: Effort) -> Iterator[Finding]:
    assert entry.implementation is not None
    if part == "amplification":
        yield from _further_amplification(entry.id, seed)
    elif part == "output":
        yield output_finding(entry.id, task_seed(seed, entry.id, "final iterate"), effort)
    elif part == "utility":
        subject = subject_of(entry.id, 0, implementation=entry.implementation)
        yield utility_finding(subject, task_seed(seed, entry.id, "utility"), effort)
    else:
        yield from _setting_findings(entry, int(part.removeprefix("setting ")), seed, effort)


def _setting_findings(entry: Algorithm, index: int, seed: int, effort: Effort) -> Iterator[Finding]:
    assert entry.implementation is not None
    subject = subject_of(entry.id, index, implementation=entry.implementation)
    key = task_seed(seed, entry.id, index)
    if subject.setting.refuted:
        yield from refutation_findings(subject, key, effort)
        return
    yield from privacy_findings(subject, key, effort)
    if entry.id in PUBLISHED:
        yield calibration_finding(subject, task_seed(seed, entry.id, index, "calibration"))


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
