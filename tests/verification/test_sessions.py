"""The false-alarm budget of a session: shares that sum to it, whatever the number of calls, order, workers, reruns or forks."""

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import ClaimRefuted, assert_private, sessions
from tailproof.verification.sessions import Session, share_of_process, share_of_worker

PAIR = (np.zeros((1, 1)), np.ones((1, 1)))


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests may run in a worker themselves."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    found = Session(false_alarm=0.4)
    monkeypatch.setattr(sessions, "current", lambda: found)
    return found


def randomised_response(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """1-DP, and no better: every output tells as much as the claim allows."""
    bit = float(data[0, 0] > 0)
    return np.where(rng.random(size) < np.e / (1 + np.e), bit, 1 - bit)


def test_the_first_shares_are_those_of_the_series_and_never_exceed_the_budget() -> None:
    session = Session(false_alarm=1e-3)
    shares = [session.charge().false_alarm for _ in range(1000)]
    assert shares[:4] == pytest.approx([1e-3 / 2, 1e-3 / 6, 1e-3 / 12, 1e-3 / 20], rel=1e-14)
    exact = sum(Fraction(1, k * (k + 1)) for k in range(1, 1001))
    assert exact == 1 - Fraction(1, 1001)
    assert session.spent == pytest.approx(1e-3 * float(exact), rel=1e-12)
    assert all(later < earlier for earlier, later in pairwise(shares))


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_all_workers_that_there_may_ever_be_have_shares_that_sum_to_one(count: int) -> None:
    shares = [Fraction(share_of_worker(f"gw{number}", str(count))) for number in range(60 * count)]
    assert abs(sum(shares) - 1) < Fraction(1, 10**12)  # 2^−60, and the rounding of 1/count
    assert shares[0] == Fraction(0.5 / count)


def test_a_worker_takes_its_share_and_one_without_a_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert share_of_process() == 1 / 8
    assert Session(false_alarm=0.1).charge().false_alarm == pytest.approx(0.1 / 8 / 2)
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "mine")
    with pytest.raises(InputError, match="'mine'"):
        Session().charge()
    assert Session().charge(stated=1e-4).false_alarm == 1e-4


def test_what_a_test_draws_depends_on_its_name_and_not_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def seeds(order: list[str]) -> dict[str, list[int]]:
        session, found = Session(), {}
        for test in order:
            monkeypatch.setenv("PYTEST_CURRENT_TEST", f"{test} (call)")
            session.starts(test)
            found[test] = [session.charge().seed for _ in range(3)]
        return found

    one, other = seeds(["a::x", "a::y[b (c) d]"]), seeds(["a::y[b (c) d]", "a::x", "a::x"])
    assert one == other
    assert len({seed for test in one.values() for seed in test}) == 6
    assert Session(seed=1).charge().seed != Session(seed=0).charge().seed


def test_a_rerun_has_its_seed_again_and_is_charged_anew(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "a::x (call)")
    session.starts("a::x")
    first = session.charge()
    session.starts("a::x")
    again = session.charge()
    assert (again.seed, again.number, again.test) == (first.seed, 1, "a::x")
    assert again.false_alarm == pytest.approx(0.4 / 6)
    assert session.charge().number == 2


def test_a_forked_process_is_refused_unless_it_states_its_own(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.charge()
    monkeypatch.setattr(os, "getpid", lambda: session.process + 1)
    with pytest.raises(InputError, match="forked"):
        session.charge()
    assert session.charge(stated=1e-6).false_alarm == 1e-6
    assert (session.audits, session.spent, session.stated) == (2, pytest.approx(0.2), 1e-6)


def test_what_a_call_states_is_not_charged(session: Session) -> None:
    session.charge(stated=0.01)
    assert session.charge().false_alarm == pytest.approx(0.2)
    assert session.account() == {"audits": 2, "spent": pytest.approx(0.2), "stated": 0.01, "budget": 0.4}


def test_the_environment_states_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    place: dict[str, Any] = {"false_alarm": "0.25", "seed": "3", "witnesses": "here", "process": os.getpid()}
    monkeypatch.setattr(sessions, "_OUTSIDE", place)
    monkeypatch.setitem(__import__("sys").modules, "tailproof.pytest_plugin", None)
    monkeypatch.delenv(sessions.VARIABLE, raising=False)
    found = sessions.current()
    assert (found.false_alarm, found.seed, found.folder) == (0.25, 3, "here")
    assert sessions.current() is found
    del place["session"]
    monkeypatch.setenv(sessions.VARIABLE, "1e-5")
    assert sessions.current().false_alarm == 1e-5
    for text in ("0", "1", "-1", "nan", "small"):
        monkeypatch.setattr(sessions, "_OUTSIDE", {})
        monkeypatch.setenv(sessions.VARIABLE, text)
        with pytest.raises(InputError, match=r"TAILPROOF_FALSE_ALARM = .* between 0 and 1"):
            sessions.current()
    monkeypatch.setattr(sessions, "_OUTSIDE", {"seed": "x"})
    monkeypatch.delenv(sessions.VARIABLE)
    with pytest.raises(InputError, match="tailproof_seed"):
        sessions.current()


def test_sessions_of_true_claims_seldom_raise_an_alarm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """120 sessions of 5 audits of a mechanism that is exactly as private as claimed, budget 0.4.  Each session raises an alarm with
    probability at most 0.4; this test fails with probability at most 1e-6 whatever the seeds."""
    alarms = 0
    for number in range(120):
        found = Session(false_alarm=0.4, seed=number)
        monkeypatch.setattr(sessions, "current", lambda found=found: found)
        try:
            for _ in range(5):
                assert_private(randomised_response, "pure(eps=1)", [PAIR], budget=100, folder=tmp_path)
        except ClaimRefuted:
            alarms += 1
        assert found.spent <= 0.4
    record_property("sessions with a false alarm, share of 0.4", alarms / 120)
    assert binom.sf(alarms - 1, 120, 0.4) > 1e-6
    assert alarms > 0  # it has power: the first audits alone err in about 0.15, and 120 times not with probability 4e-9
