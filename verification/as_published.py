"""Somebody's implementation through a published algorithm's own checks: `tailproof verify --as P2.A2 mine:clipped_mean`.

A function of (data, channel, …) goes through the settings, neighbours, calibration, forced replays, records and test vectors of the
published algorithm.  Its releases may have other names: the k-th is held against the k-th published one.  A function of
(data, rng, …) is a black box: its outputs are audited on the published algorithm's worst neighbours, at every setting, under
the published claim.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tailproof._nearest import did_you_mean
from tailproof.refimpl.catalogue import Algorithm, Setting
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import neighbours
from tailproof.verification.auditing.audit import audit
from tailproof.verification.auditing.runner import shows_its_channel
from tailproof.verification.branches import Exploration, blocking_in_all
from tailproof.verification.check import Effort, subject_findings
from tailproof.verification.ending import patience_with
from tailproof.verification.recorded_runs import in_its_place, published_names, vectors_finding
from tailproof.verification.report import Finding, Status
from tailproof.verification.seeds import task_seed
from tailproof.verification.subject import Pair, Subject, subject_of, worst_pairs
from tailproof.verification.transcripts.choices import check_choices, explored
from tailproof.verification.transcripts.suite import code_reaches

BUDGET = 20_000  # runs of each audit of a black box
CONFIDENCE = 1 - 1e-6
MOST_PAIRS = 6
EXPLORED, LEAST_EXPLORED = 200, 40  # runs that look for rare data, at each setting


def findings_as(
    entry: Algorithm, function: Callable[..., Any], names: Mapping[str, str], seed: int, effort: Effort
) -> Iterator[Finding]:
    """Everything about this function in the published algorithm's place, setting by setting."""
    assert entry.implementation is not None
    accepted = parameters_of(function, entry, names)
    seen = []
    for index, setting in enumerate(entry.implementation.settings):
        if setting.refuted is not None:
            continue  # the published claim fails there by itself
        subject, own = subject_of(entry.id, index, implementation=entry.implementation), task_seed(seed, entry.id, index)
        if not shows_its_channel(function):
            yield from _as_a_black_box(subject, function, accepted, own)
            continue
        theirs = _in_the_place_of(subject, function, accepted)
        yield from subject_findings(theirs, own, effort, task_seed(own, "calibration"))
        seen.append(_choices(theirs, function, accepted, own))
    if shows_its_channel(function):
        yield branches_finding(entry, seen, seed)
        yield vectors_finding(entry, function, accepted)
        found = code_reaches(function)
        status: Status = "inconclusive" if found.exceeds else "consistent"
        yield Finding(entry.id, "surroundings", status, found.measured, found.bound, seed=seed, detail=found.detail)


def parameters_of(function: Callable[..., Any], entry: Algorithm, names: Mapping[str, str]) -> dict[str, str]:
    """Published name to the function's own.  Every parameter that some setting has must be taken."""
    assert entry.implementation is not None
    published = {name for setting in entry.implementation.settings for name in setting.parameters}
    for name in names:
        if name not in published:
            raise InputError(f"map = {name!r}: {entry.id} has no such parameter{did_you_mean(name, published)}")
    taken = inspect.signature(function).parameters
    anything = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in taken.values())
    missing = sorted(name for name in published if names.get(name, name) not in taken and not anything)
    if missing:
        wanted = names.get(missing[0], missing[0])
        raise InputError(
            f"{entry.id} has the parameter {missing[0]!r}, and the function takes no {wanted!r}; "
            f"say which it is with --map {missing[0]}=NAME"
        )
    return {name: names.get(name, name) for name in published}


def _in_the_place_of(subject: Subject, function: Callable[..., Any], accepted: dict[str, str]) -> Subject:
    setting = subject.setting
    names = published_names(subject.mechanism, setting.admissible(np.zeros((setting.n, setting.d))), setting.parameters)
    return replace(subject, mechanism=in_its_place(function, accepted, names), patience=patience_with(function))


def _choices(theirs: Subject, function: Callable[..., Any], accepted: dict[str, str], seed: int) -> Exploration:
    setting = theirs.setting
    given = {accepted[name]: value for name, value in setting.parameters.items()}
    pairs = _some_pairs(theirs, seed)
    budget = max(LEAST_EXPLORED, round(setting.effort * EXPLORED))
    return explored(theirs, functools.partial(function, **given), pairs, budget=budget, seed=seed)


def branches_finding(entry: Algorithm, seen: Sequence[Exploration], seed: int) -> Finding:
    """The choices of the function's own code that no setting took: what happens there was not looked at."""
    found = check_choices(blocking_in_all(seen))
    status: Status = "inconclusive" if found.undecided else "consistent"
    return Finding(entry.id, "branches", status, found.measured, found.bound, seed=seed, detail=found.detail)


def _as_a_black_box(
    subject: Subject, function: Callable[..., Any], accepted: dict[str, str], seed: int
) -> Iterator[Finding]:
    """One audit at this setting: the shipped neighbours and structured ones."""
    setting = subject.setting
    if subject.claim is None:
        said = f"{subject.algorithm} claims nothing, and outputs alone show no sensitivity; take data and channel"
        yield Finding(subject.algorithm, "audit", "inconclusive", seed=seed, detail=said, setting=str(setting))
        return
    chosen = _some_pairs(subject, seed)
    result = audit(
        _with_parameters(function, setting, accepted),
        subject.claim,
        chosen,
        budget=BUDGET,
        confidence=CONFIDENCE,
        seed=seed,
        shrinks=False,
    )
    yield Finding(
        subject.algorithm,
        "audit",
        result.verdict,
        confidence=CONFIDENCE,
        seed=seed,
        detail=str(result).splitlines()[0],
        setting=str(setting),
    )


def _some_pairs(subject: Subject, seed: int) -> list[Pair]:
    """The published algorithm's worst neighbours first, then structured ones."""
    setting = subject.setting
    pairs = worst_pairs(subject.algorithm, setting)
    pairs += list(neighbours.structured(setting.n, setting.d, np.random.default_rng(seed), scales=(1.0, 1e6), directions=1))
    return [(setting.admissible(first), setting.admissible(second)) for first, second in pairs[:MOST_PAIRS]]


def _with_parameters(function: Callable[..., Any], setting: Setting, accepted: dict[str, str]) -> Callable[..., Any]:
    def mechanism(data: FloatArray, rng: np.random.Generator) -> Any:
        return function(data, rng, **{accepted[name]: value for name, value in setting.parameters.items()})

    return mechanism
