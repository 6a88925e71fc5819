"""`check_mechanism`: nothing is found in mechanisms as they should be, and each check fails on one that is broken its way."""

# ruff: noqa: ARG005  (mechanisms in one line, each of which breaks one thing)

import functools
import math
import os
import signal
import threading
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.channel import L1, Channel
from tailproof.refimpl.claims import ADD_REMOVE, GDP, REPLACE_ONE, ApproxDP, Claim, PureDP
from tailproof.refimpl.laws import Gaussian, Laplace
from tailproof.refimpl.validation import FloatArray, InputError, records
from tailproof.verification import Admissible, check_mechanism
from tailproof.verification.mechanism_checks import families
from tailproof.verification.pair_checks import PAIR_CHECKS
from tests.verification import toys

ALARM = 1e-9  # of every audit here: all together stay below 1e-6
BOUNDED = ("zero", "duplicates", "bound", "searched")


def honest(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Sums of the columns of numbers in [−1, 1]: with k columns k-DP if a record is replaced, k/2-DP if it is added or removed."""
    clipped = np.clip(records("data", data, least=1), -1, 1)
    return clipped.sum(axis=0) + rng.laplace(scale=2.0, size=clipped.shape[1])


def broken(change: Callable[[FloatArray, FloatArray, np.random.Generator], Any]) -> Any:
    """The honest output, changed."""
    return lambda data, rng: change(data, honest(np.nan_to_num(data), rng), rng)


def raises_on_equal(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    if (data == data[0]).all():
        raise ZeroDivisionError("no spread")
    return honest(data, rng)


def writes(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    data -= data.mean()
    return rng.normal(size=1)


entropy = np.random.default_rng()


def overflows(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        return honest(data, rng) + np.exp(np.abs(data).max()) * 0


def checks(mechanism: Any, claim: Claim | str = "pure(eps=1)", **further: Any) -> dict[str, Callable[[], None]]:
    return dict(check_mechanism(mechanism, claim, **{"false_alarm": ALARM, "budget": 1500} | further))


def judge(check: Callable[[], None]) -> None:
    """A check that cannot say must not skip a test of ours."""
    try:
        check()
    except unittest.SkipTest as skipped:
        raise RuntimeError(f"skipped: {skipped}") from skipped


def failed(mechanism: Any, claim: Claim | str = "pure(eps=1)", **further: Any) -> dict[str, str]:
    """What fails, and what it says."""
    found = {}
    for name, check in checks(mechanism, claim, **further).items():
        try:
            check()
        except AssertionError as error:
            found[name] = str(error)
        except unittest.SkipTest:
            pass
    return found


@pytest.mark.parametrize("claim", ["pure(eps=1)", "approx(eps=1,delta=1e-5)", "zcdp(rho=.5)", "gdp(mu=1)"])
def test_nothing_is_found_in_a_mechanism_that_keeps_its_claim(claim: str) -> None:
    """The Gaussian noise is six times as wide as μ = 1 asks for."""

    def wider(data: FloatArray, rng: np.random.Generator) -> FloatArray:
        return np.clip(records("data", data, least=1), -1, 1).sum(axis=0) + rng.normal(scale=12.0, size=1)

    mechanism = honest if claim.startswith(("pure", "approx")) else wider
    assert failed(mechanism, claim, budget=600) == {}


def test_bounds_and_the_relation_choose_the_checks() -> None:
    assert {f"audit: {name}" for name in BOUNDED} == {
        name for name in checks(honest, bounds=(0, 1)) if name.startswith("audit")
    }
    unbounded = set(checks(honest))
    assert {"audit: outlier", "audit: sign flip", "finite on outliers"} <= unbounded
    assert "audit: bound" not in unbounded
    assert failed(honest, PureDP(2, ADD_REMOVE), columns=2, bounds=(-1, 1), budget=600) == {}
    removed = checks(toys.laplace_sum, PureDP(1, ADD_REMOVE))
    assert "refuses no records" not in removed
    assert "exact: composition" not in removed  # of a pure claim the losses add up
    assert "exact: composition" in checks(toys.laplace_sum, GDP(1))


@pytest.mark.parametrize("relation", [REPLACE_ONE, ADD_REMOVE])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0, 1), (-2, 3), (5, np.inf), (-np.inf, -7), (-1, np.inf)])
@pytest.mark.parametrize("shape", [(2, 1), (5, 3)])
def test_all_families_are_neighbours_within_the_bounds(
    relation: Any, bounds: tuple[float, float], shape: tuple[int, int]
) -> None:
    space = Admissible(*shape, *bounds, relation)
    found = families(space)
    assert {"zero", "duplicates"} <= set(found)
    for pairs in found.values():
        for pair in pairs:
            assert space.is_pair(pair)
            assert not np.array_equal(*pair)


@pytest.mark.parametrize(
    ("name", "mechanism", "text"),
    [
        ("accepts data", raises_on_equal, "raises on equal records: ZeroDivisionError: no spread"),
        ("accepts data", broken(lambda data, out, rng: str(out)), "must be a number"),
        ("output shape", broken(lambda data, out, rng: np.resize(out, len(np.unique(data)))), "shape of the output depends"),
        ("output finite", broken(lambda data, out, rng: out / (data.std() > 0)), "output on equal records is not finite"),
        ("finite on outliers", overflows, "is not finite"),
        ("leaves its input alone", writes, "changes the data"),
        ("repeats from its seed", broken(lambda data, out, rng: out + entropy.normal()), "hidden randomness"),
        (
            "draws from its generator",
            lambda data, rng: data.sum() + np.random.default_rng(3).laplace(),
            "no randomness",
        ),
        ("draws from its generator", broken(lambda data, out, rng: data.sum()), "no randomness"),
        ("refuses NaN", broken(lambda data, out, rng: out), "a NaN"),
        ("refuses infinity", broken(lambda data, out, rng: out), "an infinite number"),
        ("refuses no records", lambda data, rng: rng.normal(), "no records"),
        ("audit: zero", broken(lambda data, out, rng: out + 9 * (data[0] != 0)), "does not keep pure"),
        ("audit: outlier", broken(lambda data, out, rng: out + 9 * (data.max() > 1e5)), "does not keep pure"),
        ("audit: sign flip", broken(lambda data, out, rng: out + 9 * np.sign(data[0])), "does not keep pure"),
        ("audit: duplicates", broken(lambda data, out, rng: out + 9 * np.sign(np.median(data))), "does not keep pure"),
        ("audit: searched", broken(lambda data, out, rng: out + data.sum()), "does not keep pure"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_check_fails_on_a_mechanism_that_is_broken_its_way(
    name: str, mechanism: Any, text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for witnesses
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=text):
        judge(checks(mechanism)[name])


def test_a_bound_family_finds_what_happens_at_the_bound(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="does not keep"):
        judge(checks(lambda data, rng: 9 * (data[-1] == 5) + rng.laplace(size=1), bounds=(4, 5))["audit: bound"])


def test_a_constant_is_private_and_draws_nothing() -> None:
    judge(checks(lambda data, rng: 0.0)["draws from its generator"])


def test_a_claim_so_weak_that_nothing_may_vary_is_not_judged() -> None:
    with pytest.raises(unittest.SkipTest, match="may be chance"):
        checks(honest, "pure(eps=12)")["draws from its generator"]()


# --- exact checks ------------------------------------------------------------------------------------------------------------


def rounded_up(data: FloatArray, channel: Channel) -> FloatArray:
    """Claims a sensitivity that a sum of ceilings exceeds; the noise would do."""
    law = Laplace(np.ceil(np.clip(data, -1, 1)).sum(axis=0), 2.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=PureDP(1.0))


def short_of_noise(data: FloatArray, channel: Channel) -> FloatArray:
    """The whole claim holds, that of the release does not."""
    law = Laplace(np.clip(data, -1, 1).sum(axis=0), 2.0)
    return channel.release("sum", law, sensitivity=L1(2.0), spend=PureDP(0.5))


def overspends(data: FloatArray, channel: Channel) -> FloatArray:
    """Says that it spends 2, and spends 1."""
    law = Laplace(np.clip(data, -1, 1).sum(axis=0), 2.0)
    return channel.release("sum", law, sensitivity=L1(2.0), spend=PureDP(2.0))


def test_a_mechanism_with_a_channel_passes_all_exact_checks() -> None:
    exact = [name for name in checks(toys.laplace_sum) if name.startswith("exact: ")]
    further = ("forced replay", "every row", "state", "laws", "surroundings", "branches")
    assert exact == [f"exact: {name}" for name in (*PAIR_CHECKS, *further) if name != "accuracy"]
    for name in exact:
        judge(checks(toys.laplace_sum, columns=1)[name])


@pytest.mark.parametrize(
    ("name", "mechanism", "claim", "text"),
    [
        ("sensitivity", rounded_up, "pure(eps=1)", "ℓ1 move of the query: 2, claimed 1\nA = "),
        ("release privacy", short_of_noise, "pure(eps=1)", "largest loss .*: 1, claimed 0.5"),
        ("transcript", toys.laplace_sum, "pure(eps=0.9)", "transcript .*: 1, claimed 0.9"),
        ("closed", toys.leaks_outside, "zcdp(rho=.5)", "the output differs"),
        ("closed", toys.branches_on_data, "zcdp(rho=.5)", "the course of the run depends on the data"),
        ("ledger", overspends, "pure(eps=1)", "releases that touch a record: 1 .*: 2, claimed 1"),
    ],
)
def test_each_exact_check_fails_on_its_flaw(name: str, mechanism: Any, claim: str, text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        judge(checks(mechanism, claim)[f"exact: {name}"])


def test_several_releases_are_composed() -> None:
    def twice(data: FloatArray, channel: Channel, scale: float = 20.0) -> FloatArray:
        total = np.clip(data, -1, 1).sum(axis=0)
        first, second = (
            channel.release(name, Gaussian(total, scale), sensitivity=L1(2.0), spend=GDP(2 / scale)) for name in "ab"
        )
        return np.concatenate([first, second])

    judge(checks(twice, ApproxDP(1, 1e-5))["exact: transcript"])
    with pytest.raises(AssertionError, match="not certified: 2 releases differ, their losses composed"):
        judge(checks(functools.partial(twice, scale=4.0), ApproxDP(1, 1e-5))["exact: measured ledger"])


def test_a_law_without_a_formula_fails() -> None:
    @dataclass(frozen=True)
    class Shifted:
        by: float

        def sample(self, rng: np.random.Generator) -> FloatArray:
            return np.asarray(self.by + rng.standard_normal())

        def logpdf(self, value: FloatArray) -> float:
            return -0.5 * (float(value) - self.by) ** 2 - 0.5 * math.log(2 * math.pi)

    def mechanism(data: FloatArray, channel: Channel) -> FloatArray:
        return channel.release("sum", Shifted(float(np.tanh(data).mean())), sensitivity=None, spend=PureDP(1.0))

    with pytest.raises(AssertionError, match="undecided: sum: no formula"):
        judge(checks(mechanism)["exact: release privacy"])
    judge(checks(mechanism)["exact: laws"])


def mapped_sum(data: FloatArray, channel: Channel) -> FloatArray:
    """A record with an entry that is no number counts as zeros."""
    good = np.isfinite(data).all(axis=1)
    return toys.laplace_sum(np.where(good[:, np.newaxis], data, 0.0), channel)


def leaking_sum(data: FloatArray, channel: Channel) -> FloatArray:
    """Such a record takes all others along."""
    return toys.laplace_sum(data if np.isfinite(data).all() else np.ones_like(data), channel)


def poisoned_sum(data: FloatArray, channel: Channel) -> FloatArray:
    return mapped_sum(data, channel) * data.sum() / data.sum()


@pytest.mark.parametrize("name", ["refuses NaN", "refuses infinity"])
def test_what_is_mapped_record_by_record_is_as_good_as_refused(name: str) -> None:
    judge(checks(mapped_sum, PureDP(1))[name])
    for broken_one in (leaking_sum, poisoned_sum):
        with np.errstate(all="ignore"), pytest.raises(AssertionError, match="takes data with"):
            judge(checks(broken_one, PureDP(1))[name])


# --- expected failures -------------------------------------------------------------------------------------------------------


def test_an_expected_failure_passes_and_one_that_does_not_fail_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # outside of pytest nothing is reported; inside, see test_pytest_plugin
    lenient = broken(lambda data, out, rng: out)
    found = checks(lenient, expected_failures={"refuses NaN": "takes it for 0", "accepts data": "mistaken"})
    found["refuses NaN"]()
    with pytest.raises(AssertionError, match=r"accepts data: was expected to fail \(mistaken\), and does not"):
        found["accepts data"]()
    with pytest.raises(AssertionError, match="an infinite number"):
        found["refuses infinity"]()


@pytest.mark.usefixtures("interruptible")
def test_only_failed_assertions_are_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")

    def interrupted(data: FloatArray, rng: np.random.Generator) -> FloatArray:
        time.sleep(20)
        return honest(data, rng)

    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        checks(interrupted, expected_failures={"accepts data": "?"})["accepts data"]()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"expected_failures": {"refuses nan": "x"}}, "no check 'refuses nan' here; there are accepts data, output shape"),
        ({"expected_failures": {"exact: ledger": "no channel"}}, "no check 'exact: ledger'"),
        ({"bounds": (1, 0)}, "low must be below high"),
        ({"budget": 3}, "budget = 3"),
        ({"claim": "pure"}, "claim = 'pure'"),
    ],
)
def test_wrong_arguments_are_refused_at_once(given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        check_mechanism(honest, **{"claim": "pure(eps=1)"} | given)


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(InputError, match="must be f"):
        check_mechanism(lambda data: data, "pure(eps=1)")
