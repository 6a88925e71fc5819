"""`check_mechanism`: many small named checks of one mechanism, for `pytest.mark.parametrize`.

    @pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in check_mechanism(f, "pure(eps=1)")])
    def test_f(check):
        check()

A check raises `AssertionError` when the mechanism fails it, and `unittest.SkipTest` when it cannot say.  Audits take their share
of the session's false-alarm budget (see `sessions`); everything else is exact, but for "draws from its generator", which takes
chance for the lack of it with probability at most 2e-9.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Setting
from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import REPLACE_ONE, Claim
from tailproof.refimpl.validation import FloatArray, InputError, whole
from tailproof.verification import outcomes
from tailproof.verification.assertions import Mechanism, assert_private, failed_assertion
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.audit import LEAST_SEARCHED, RECORDS, checked_claim
from tailproof.verification.auditing.outputs import SubjectFailed
from tailproof.verification.auditing.runner import Runner, is_vectorised, runner_of, shows_its_channel
from tailproof.verification.auditing.runs import COINCIDENCE, hidden_randomness, no_randomness, of_sides, repetition
from tailproof.verification.auditing.search import Candidate
from tailproof.verification.ending import TIME_LIMIT, Patience, set_patience
from tailproof.verification.pair_checks import Measurement, compare_or_say_why_not
from tailproof.verification.subject import Pair
from tailproof.verification.transcripts.every_row import removals
from tailproof.verification.transcripts.forcing import check_all
from tailproof.verification.transcripts.suite import Excess, Suite

__tracebackhide__ = failed_assertion  # pytest's traceback of a failure ends at the line of the test
Check = tuple[str, Callable[[], None]]

BUDGET = 4000  # runs of each audit
OUTLIER = 1e6
FAR = 1e12
OUTCOME_PAIRS = 60
BATCH, MOST = 64, 5000  # runs that are looked at for randomness


def check_mechanism(
    mechanism: Mechanism,
    claim: Claim | str,
    *,
    records: int = RECORDS,
    columns: int = 1,
    bounds: tuple[float, float] | None = None,
    budget: int = BUDGET,
    false_alarm: float | None = None,
    seed: int = 0,
    expected_failures: Mapping[str, str] | None = None,
    time_limit: float | None = TIME_LIMIT,
) -> Iterator[Check]:
    """Yields (name, check) for every check that applies to data of `records` × `columns` numbers within the bounds.

    `budget` is that of each audit, `false_alarm` its chance to call a true claim refuted (default: a share of the session's).
    `time_limit` is in seconds of computing, for one run of a function (None: any time): one that does not end fails.
    `expected_failures` names checks that are known to fail, with the reason: one that does not fail is an error, and so is a
    name that no check has.
    """
    low, high = (-math.inf, math.inf) if bounds is None else bounds
    stated = checked_claim(claim)
    case = _Case(
        mechanism=mechanism,
        claim=stated,
        space=Admissible(records, columns, low, high, stated.neighbouring),
        budget=whole("budget", budget, least=LEAST_SEARCHED),
        false_alarm=false_alarm,
        seed=whole("seed", seed, least=0),
        patience=set_patience(mechanism, time_limit),
    )
    runner_of(mechanism)  # refuses what cannot be called
    checks = {name: NamedCheck(name, check) for name, check in _checks(case)}
    expected = dict(expected_failures or {})
    unknown = [name for name in expected if name not in checks]
    if unknown:
        raise InputError(f"expected_failures: there is no check {unknown[0]!r} here; there are {', '.join(checks)}")
    for name, reason in expected.items():
        checks[name] = replace(checks[name], expected_failure=reason)
    return iter(checks.items())


@dataclass(frozen=True, eq=False)
class NamedCheck:
    """A check that is expected to fail must fail; under pytest it is reported as an expected failure then."""

    name: str
    check: Callable[[], None]
    expected_failure: str | None = None

    def __call__(self) -> None:
        if self.expected_failure is None:
            self.check()
            return
        try:
            self.check()
        except AssertionError:
            if "PYTEST_CURRENT_TEST" in os.environ and "pytest" in sys.modules:
                sys.modules["pytest"].xfail(self.expected_failure)
            return
        raise AssertionError(f"{self.name}: was expected to fail ({self.expected_failure}), and does not")

    def __repr__(self) -> str:
        return f"<check {self.name!r}>"


# --- what is checked --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Case:
    mechanism: Mechanism
    claim: Claim
    space: Admissible
    budget: int
    false_alarm: float | None
    seed: int
    patience: Patience

    def call(self, data: Any, seed: int = 0) -> Any:
        """One run, as it is."""
        rng, subject = np.random.default_rng([self.seed, seed]), self.mechanism
        if isinstance(subject, Runner):
            return subject.sample(data, rng, 1)[0]
        if shows_its_channel(subject):
            return self.patience.call(run, subject, data, rng)[0]
        if is_vectorised(subject):
            return self.patience.call(subject, data, rng, 1)[0]
        return self.patience.call(subject, data, rng)

    def tried(self, data: FloatArray, what: str) -> FloatArray:
        """One run that has to work."""
        try:
            output = self.call(data.copy())
        except Exception as error:
            raise AssertionError(f"raises on {what}: {type(error).__name__}: {error}") from error
        array = np.asarray(output)
        if array.dtype.kind not in "biuf":
            raise AssertionError(f"returns {output!r} on {what}; must be a number or an array of numbers")
        return array

    def typical(self) -> FloatArray:
        """Numbers in the middle of what is admissible, all different."""
        space = self.space
        low, high = (max(space.low, -1.0), min(space.high, 1.0)) if space.low < 1 and space.high > -1 else _ends(space)
        steps = (np.arange(space.records * space.columns) + 0.5) / (space.records * space.columns)
        return (low + (high - low) * steps).reshape(space.records, space.columns)

    def legal(self) -> dict[str, FloatArray]:
        shape, (low, high) = (self.space.records, self.space.columns), _ends(self.space)
        return {
            "ordinary data": self.typical(),
            "equal records": np.full(shape, _middle(self.space)),
            "the smallest records": np.full(shape, low),
            "the largest records": np.full(shape, high),
        }

    @functools.cached_property
    def suite(self) -> Suite:
        """The exact checks of what goes through a channel."""
        space = self.space
        pairs = [pair for family in families(space).values() for pair in family]
        shape = (space.records, space.columns)
        return Suite(self.mechanism, self.claim, shape, space.low, space.high, pairs, self.seed, self.patience)


def _ends(space: Admissible) -> tuple[float, float]:
    """The bounds, or a hundred in their place (away from the other one)."""
    low = space.low if math.isfinite(space.low) else min(-100.0, space.high - 100.0)
    return low, space.high if math.isfinite(space.high) else max(100.0, low + 100.0)


def _middle(space: Admissible) -> float:
    return min(max(0.0, space.low), space.high)


def _checks(case: _Case) -> Iterator[Check]:
    def named(name: str, check: Callable[..., None], *arguments: Any) -> Check:
        return name, functools.partial(check, case, *arguments)

    yield named("accepts data", _accepts_data)
    yield named("output shape", _output_shape)
    yield named("output finite", _output_finite)
    if not (math.isfinite(case.space.low) and math.isfinite(case.space.high)):
        yield named("finite on outliers", _finite_on_outliers)
    yield named("outcomes", _outcomes)
    yield named("leaves its input alone", _leaves_its_input_alone)
    if not getattr(case.mechanism, "hidden_randomness", False):
        yield named("repeats from its seed", _repeats_from_its_seed)
    yield named("draws from its generator", _draws_from_its_generator)
    yield named("refuses NaN", _refuses, math.nan, "a NaN")
    yield named("refuses infinity", _refuses, math.inf, "an infinite number")
    if case.claim.neighbouring is REPLACE_ONE:  # under add-remove, no records are the neighbour of one
        yield named("refuses no records", _refuses_no_records)
    for family, pairs in families(case.space).items():
        yield named(f"audit: {family}", _audit, pairs)
    yield named("audit: searched", _audit, None)
    if not isinstance(case.mechanism, Runner) and shows_its_channel(case.mechanism):
        for check in case.suite.checks():
            yield named(f"exact: {check}", _exact, check)


# --- a function as it should be -----------------------------------------------------------------------------------------------


def _accepts_data(case: _Case) -> None:
    for what, data in case.legal().items():
        case.tried(data, what)


def _output_shape(case: _Case) -> None:
    shapes = {what: case.tried(data, what).shape for what, data in case.legal().items()}
    if len(set(shapes.values())) > 1:
        raise AssertionError(f"the shape of the output depends on the data: {shapes}")


def _output_finite(case: _Case) -> None:
    for what, data in case.legal().items():
        _finite(case.tried(data, what), what)


def _finite(output: FloatArray, what: str) -> None:
    if not np.isfinite(output).all():
        raise AssertionError(f"the output on {what} is not finite: {output}")


def _finite_on_outliers(case: _Case) -> None:
    """One record far out, and all."""
    for value in (FAR, -FAR):
        if not case.space.low <= value <= case.space.high:
            continue
        one = case.typical()
        one[0] = value
        for data, what in ((one, f"data with a record of {value:g}"), (np.full(one.shape, value), f"records of {value:g}")):
            _finite(case.tried(data, what), what)


def _outcomes(case: _Case) -> None:
    """Neighbours end the same way, on data made to break computations."""
    rng = np.random.default_rng(case.seed)
    space = case.space
    made = itertools.islice(outcomes.adversarial_pairs(space.records, space.columns, rng), OUTCOME_PAIRS)
    pairs = [(np.clip(a, space.low, space.high), np.clip(b, space.low, space.high)) for a, b in made]
    if space.neighbouring is not REPLACE_ONE:
        pairs = [shorter for pair in pairs for shorter in removals(pair)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes.check_outcomes(case.call, pairs, case.seed)
    if not found.measurement.passes:
        a, b = (side.tolist() for side in found.pair)
        raise AssertionError(f"{_said(found.measurement)}\nA = {a}\nB = {b}")


def _leaves_its_input_alone(case: _Case) -> None:
    data = case.typical()
    before = data.copy()
    case.call(data)
    if not np.array_equal(data, before):
        raise AssertionError("changes the data it is given")


def _repeats_from_its_seed(case: _Case) -> None:
    data = case.typical()
    incident = hidden_randomness(runner_of(case.mechanism), (data, data), case.seed)
    if incident is not None:
        raise AssertionError(str(incident))


def _draws_from_its_generator(case: _Case) -> None:
    """Batches from different seeds differ, and a mechanism that never varies returns the same on all data.

    That n runs are all alike on the one data set and all alike, but others, on its neighbour has probability (pq)ⁿ ≤ ((p+q)/2)²ⁿ,
    and (p+q)/2 is how often a guess of the side is right, which the claim bounds.
    """
    accuracy = limits.accuracy_upper(case.claim, limits.parameter(case.claim)) + limits.delta(case.claim)
    size = max(BATCH, math.ceil(math.log(COINCIDENCE) / (2 * math.log(accuracy)))) if accuracy < 1 else MOST + 1
    if size > MOST:
        raise unittest.SkipTest(f"under {case.claim} outputs that never vary may be chance")
    runner, pair = runner_of(case.mechanism), families(case.space)["duplicates"][0]
    try:
        here, again = (runner.run(pair[0], case.seed + k, size).reshape(size, -1) for k in (1, 2))
        there = runner.run(pair[1], case.seed + 3, size).reshape(size, -1)
    except SubjectFailed as failed:
        raise AssertionError(str(failed)) from failed
    said = repetition(here, again)
    if said is not None:
        raise AssertionError(": ".join(said))
    incident = no_randomness(of_sides(here, there), pair)
    if incident is not None:
        raise AssertionError(str(incident))


def _refuses(case: _Case, value: float, what: str) -> None:
    """Refused, or mapped record by record: then such a record is like any other, which only a channel shows exactly."""
    data = case.typical()
    data[-1, -1] = value
    if isinstance(case.mechanism, Runner) or not shows_its_channel(case.mechanism):
        _refused(case, data, what)
        return
    try:
        output = np.asarray(case.call(data.copy()))
    except Exception:
        return
    subject = replace(case.suite.subject, setting=Setting(len(data), data.shape[1], {}))
    for pair in ((case.typical(), data), (data, case.typical())):
        sides = pair if case.space.neighbouring is REPLACE_ONE else removals(pair)[0]
        found = check_all(subject, compare_or_say_why_not(subject, sides, case.seed))
        if not found.passes:
            raise AssertionError(f"takes data with {what}, and does not keep its claim then: {_said(found)}")
    if output.dtype.kind not in "biuf" or not np.isfinite(output).all():
        raise AssertionError(
            f"takes data with {what} and returns {output!r}; must map such a record to another one, or raise"
        )


def _refuses_no_records(case: _Case) -> None:
    _refused(case, np.empty((0, case.space.columns)), "no records")


def _refused(case: _Case, data: FloatArray, what: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning is no refusal
            output = case.call(data)
    except Exception:
        return
    raise AssertionError(f"takes data with {what} and returns {output!r}; must raise an error that says what is wrong")


# --- audits -----------------------------------------------------------------------------------------------------------------


def families(space: Admissible) -> dict[str, list[Pair]]:
    """Structured neighbours by kind: a record that leaves zero, goes from bound to bound, far out, away from duplicates, to its
    negative."""
    n, k = space.records - 1, space.columns
    (low, high), middle = _ends(space), _middle(space)

    def pair(others: float | FloatArray, before: float, after: float, place: int = 0) -> Pair:
        rows = np.full((n, k), others) if np.ndim(others) == 0 else np.asarray(others)
        goes = space.neighbouring is not REPLACE_ONE
        return Candidate(rows, np.full(k, after if goes else before), None if goes else np.full(k, after), place).pair

    halves = np.where(np.arange(n)[:, np.newaxis] < n // 2, low, high) + np.zeros((n, k))
    ends = [end for end in (low, high) if end != middle]
    found = {
        "zero": [pair(middle, middle, end) for end in ends],
        "duplicates": [pair(high, high, low), pair(low, low, high), pair(halves, low, high, n // 2)],
    }
    if math.isfinite(space.low) or math.isfinite(space.high):
        found["bound"] = [pair(low, low, high, n), pair(high, low, high), pair(middle, low, high)]
    far = [value for value in (OUTLIER, -OUTLIER) if space.low <= value <= space.high and not low <= value <= high]
    if far:
        found["outlier"] = [pair(middle, middle, value) for value in far] + [pair(halves, middle, far[0])]
    size = min(-low, high)
    if size > 0:
        found["sign flip"] = [pair(middle, size, -size), pair(size, size, -size), pair(-size, size, -size)]
    return found


def _audit(case: _Case, pairs: list[Pair] | None) -> None:
    assert_private(
        case.mechanism,
        case.claim,
        pairs,
        space=case.space if pairs is None else None,
        budget=case.budget,
        false_alarm=case.false_alarm,
    )


# --- exact checks of what goes through a channel --------------------------------------------------------------------------------


def _exact(case: _Case, check: str) -> None:
    """An excess fails, whether or not it proves that the claim is false; so does what could not be measured."""
    found = case.suite.worst(check)
    measured = found.measurement
    if measured.passes:
        return
    raise AssertionError(f"{_said(measured)}\n{_where(case, found)}\n{_again(case, check, found)}")


def _said(found: Measurement) -> str:
    if found.exceeds and found.conclusive:
        return _excess(found)
    if found.exceeds:
        return f"not certified: {_excess(found)}"
    return f"undecided: {found.undecided}"


def _excess(found: Measurement) -> str:
    if math.isinf(found.measured):
        return found.detail
    return f"{found.detail}: {found.measured:.10g}, claimed {found.bound:.10g}"


def _where(case: _Case, found: Excess) -> str:
    sides = [np.asarray(case.suite.subject.setting.admissible(side)).tolist() for side in found.pair]
    return f"A = {sides[0]}\nB = {sides[1]}"


def _again(case: _Case, check: str, found: Excess) -> str:
    """The call that measures it again."""
    name = getattr(case.mechanism, "__name__", "mechanism")
    path = "" if found.path is None else f", path={found.path.to_json()}"
    return (
        f"again: tailproof.verification.replay_check({name}, {str(case.claim)!r}, {check!r}, A, B, seed={found.seed}{path})"
    )
