"""Audits from outside: verdicts, bounds against the truth, the command."""

import json
import math
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.channel import L1, Channel
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.laws import Laplace
from tailproof.refimpl.validation import InputError
from tailproof.verification import audit
from tailproof.verification.auditing import Admissible, CommandRunner, zoo
from tailproof.verification.auditing.runner import FunctionRunner
from tailproof.verification.auditing.runs import source
from tailproof.verification.cli import main
from tests.verification.auditing import subjects

PAIR = [(0.0, 1.0)]
PROGRAM = shlex.join([sys.executable, str(Path(__file__).parent / "program.py")])
RUNS = 250
TOO_MANY = int(binom.isf(1e-7, RUNS, 0.05))  # alarms at a nominal 5 %: more have a chance below 1e-7


def laplace(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.laplace(size=size)


def response(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Randomised response, ε = 1: every output attains it."""
    return np.where(rng.random(size) < math.e / (1 + math.e), data, 1 - data)


def leaky(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Exactly (1, 0.05)-DP: names the side, or answers at random."""
    return np.where(rng.random(size) < 0.05, 10 + data, response(data, rng, size))


def gaussian(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.normal(size=size)


def vector(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + 3 * rng.laplace(size=(size, 3))


def same(data: float, rng: np.random.Generator, size: int) -> np.ndarray:  # noqa: ARG001
    return rng.standard_cauchy(size)


EXACT: list[tuple[Any, Claim]] = [
    (laplace, PureDP(1.0)),
    (response, PureDP(1.0)),
    (leaky, ApproxDP(1.0, 0.05)),
    (gaussian, GDP(1.0)),
    (response, ZCDP(math.tanh(0.5))),
    (same, GDP(0.01)),
    (vector, PureDP(1.0)),
]


@pytest.mark.parametrize(("subject", "claim"), EXACT, ids=lambda value: str(getattr(value, "__name__", value)))
@pytest.mark.parametrize("sequential", [False, True])
def test_exact_claims_are_rarely_refuted(subject: Any, claim: Claim, sequential: bool) -> None:
    """A bound above the truth and a refuted claim are the same event here; false-alarm probability of this test 1e-7 each."""
    budget, runs = (160, 40) if sequential else (300, 100 if subject is vector else RUNS)
    allowed = TOO_MANY if runs == RUNS else int(binom.isf(1e-7, runs, 0.05))
    results = [
        audit(subject, claim, PAIR, budget=budget, confidence=0.95, exhaustive=not sequential, seed=seed)
        for seed in range(runs)
    ]
    assert sum(result.verdict == "violated" for result in results) <= allowed
    assert all((result.verdict == "violated") == (result.p_value <= 0.05) for result in results)


def test_half_the_scale_is_found() -> None:
    """1000 samples per side.  If one audit finds it with probability .98 or more, 14 of 20 or more do but for a chance of 1e-7."""

    def subject(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
        return data + 0.5 * rng.laplace(size=size)

    found = [audit(subject, PureDP(1.0), PAIR, budget=2000, confidence=0.95, seed=seed) for seed in range(20)]
    assert sum(result.verdict == "violated" for result in found) >= 14
    soon = [audit(subject, PureDP(1.0), PAIR, budget=20_000, confidence=0.95, seed=s) for s in range(9)]
    assert np.median([result.samples for result in soon]) < 1000


def test_bounds_are_close_to_the_truth() -> None:
    """Far from it by 10 standard errors of the bound itself."""
    assert 0.9 < audit(laplace, PureDP(1.0), PAIR, budget=200_000, confidence=1 - 1e-7).lower < 1
    assert 0.9 < audit(gaussian, GDP(1.0), PAIR, budget=200_000, confidence=1 - 1e-7).lower < 1
    assert 0.85 < audit(response, ZCDP(math.tanh(0.5)), PAIR, budget=200_000, confidence=1 - 1e-7).lower / math.tanh(0.5) < 1
    assert 0.85 < audit(leaky, ApproxDP(1.0, 0.05), PAIR, budget=200_000, confidence=1 - 1e-7).lower < 1


def test_one_run_at_a_time() -> None:
    """A large shift, so that the verdict has no chance to differ; and the same seed gives the same."""
    calls = []

    def subject(data: np.ndarray, rng: np.random.Generator) -> list[float]:
        calls.append(1)
        return [30 * float(data.sum()) + float(rng.laplace()), 0.0]

    pairs = [(np.zeros((3, 2)), np.zeros((3, 2))), (np.zeros((3, 2)), np.eye(3)[:, :2])]
    first, again = (audit(subject, "pure(eps=1)", pairs, budget=600, seed=5) for _ in range(2))
    assert len(calls) == first.samples + again.samples < 1200
    assert first.verdict == "violated"
    assert first.lower == again.lower
    assert first.witness == again.witness
    assert first.witness["pair"] == 1
    assert first.witness["neighbour"] == np.eye(3)[:, :2].tolist()
    assert first.pairs_tried == 2


def test_runners_are_taken_as_they_are() -> None:
    class Mine:
        def sample(self, data: float, rng: np.random.Generator, size: int) -> np.ndarray:
            return (40 * data + rng.normal(size=size))[:, None]

    assert audit(Mine(), GDP(1.0), PAIR, budget=500).verdict == "violated"
    assert audit(FunctionRunner(laplace), PureDP(2.0), PAIR, budget=500, confidence=1 - 1e-7).verdict == "consistent"


def test_sorted_outputs_are_put_in_random_order() -> None:
    """Sides are fair coins, every output is kept; 500 in order by chance is out of the question."""
    drawn: list[np.ndarray] = []

    def subject(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
        drawn.append(np.sort(laplace(data, rng, size)))
        return drawn[-1]

    samples = source(FunctionRunner(subject), ((0.0, 1.0),), 0).draw(0, 1000)
    for part, side in zip(drawn, (-1, 1), strict=True):
        mine = samples.outputs[samples.labels == side, 0]
        assert sorted(mine) == list(part) != list(mine)
        assert 380 < len(mine) < 620  # 7.6 standard deviations


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"claim": "pure(eps=-1)"}, "epsilon"),
        ({"claim": "dp"}, "claim"),
        ({"claim": 3}, "claim"),
        ({"claim": "pure(eps=50)"}, "no audit can refute"),
        ({"pairs": None, "budget": 300}, "searched"),
        ({"space": Admissible(2, 1)}, "space"),
        ({"pairs": None, "space": []}, "space"),
        ({"pairs": None, "space": Admissible(2, 1, neighbouring=ADD_REMOVE)}, "add-remove"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"time_limit": 1.0, "mechanism": lambda data, rng: data + rng.random()}, "define it at the top level"),
        ({"pairs": []}, "pairs"),
        ({"pairs": [1, 2]}, "pairs"),
        ({"pairs": [(0.0, 1.0)] * 100}, "budget"),
        ({"budget": 10}, "budget"),
        ({"confidence": 1.0}, "confidence"),
        ({"seed": -1}, "seed"),
        ({"mechanism": 3}, "mechanism"),
        ({"mechanism": lambda data: data}, r"must be f\(data, rng\)"),
    ],
)
def test_wrong_input(changes: dict[str, Any], named: str) -> None:
    arguments = {"mechanism": laplace, "claim": "pure(eps=1)", "pairs": PAIR, "budget": 1000, **changes}
    with pytest.raises(InputError, match=named):
        audit(**arguments)


# --- subjects that fail ----------------------------------------------------------------------------------------------------


FAILING: list[tuple[Any, str]] = [
    (subjects.raises_at_one, "raised"),
    (subjects.not_finite, "not finite"),
    (subjects.changing_shape, "shape changed"),
    (subjects.text, "wrong type"),
    (subjects.own_seed, "ignores its generator"),
    (subjects.one_draw, "one draw per batch"),
]


@pytest.mark.parametrize(("subject", "kind"), FAILING, ids=lambda value: str(getattr(value, "__name__", value)))
@pytest.mark.parametrize("sequential", [False, True])
def test_a_subject_that_fails_is_reported_with_its_pair(subject: Any, kind: str, sequential: bool) -> None:
    pair = (np.zeros((2, 1)), np.array([[0.0], [1.0]]))
    found = audit(subject, PureDP(1.0), [pair], budget=1000, exhaustive=not sequential)
    assert found.verdict == "inconclusive"
    assert found.lower == 0
    incident = next(one for one in found.incidents if one.kind == kind)
    assert incident.pair is not None
    assert all(map(np.array_equal, incident.pair, pair))
    assert json.loads(json.dumps(found.to_json()))["incidents"][0]["pair"] == [side.tolist() for side in pair]
    assert incident.of("the subject") in str(found)


@pytest.mark.parametrize("sequential", [False, True])
def test_what_was_collected_before_a_failure_is_not_lost(sequential: bool) -> None:
    """A shift of 20 standard deviations in a thousand runs before the first failure, which is reported beside the verdict."""
    calls = []

    def subject(data: float, rng: np.random.Generator) -> float:
        calls.append(1)
        if len(calls) > 1000:
            raise MemoryError("enough")
        return 20 * data + rng.normal()

    budget = 1500 if not sequential else 10**6
    found = audit(subject, PureDP(1.0 if not sequential else 8.0), PAIR, budget=budget, exhaustive=not sequential)
    assert found.incidents[0].kind == "raised"
    if sequential:  # ε = 8 would take thousands of guesses: nothing is refuted, but the bound from a thousand runs stands
        assert found.verdict == "inconclusive"
        assert found.lower > 1
    else:
        assert found.verdict == "violated"
        assert 250 < found.witness["guesses"] < 1000


def test_a_failure_never_helps_to_refute() -> None:
    """Randomised response that fails on a third of its outputs: kept samples are those before it, and the claim is exact.  Alarms
    of 200 audits at 5 %: more than allowed have a chance below 1e-7."""

    def subject(data: float, rng: np.random.Generator) -> float:
        output = float(response(data, rng, 1)[0])
        if output == 1 and rng.random() < 0.003:
            raise ValueError("not this one")
        return output

    found = [audit(subject, PureDP(1.0), PAIR, budget=400, confidence=0.95, seed=seed) for seed in range(200)]
    assert sum(one.verdict == "inconclusive" for one in found) > 50
    assert sum(one.verdict == "violated" for one in found) <= int(binom.isf(1e-7, 200, 0.05))


def test_one_failing_pair_among_others() -> None:
    pairs = [(np.zeros((2, 1)), np.array([[0.0], [1.0]])), (np.zeros((2, 1)), np.array([[0.0], [-30.0]]))]

    def subject(data: np.ndarray, rng: np.random.Generator) -> float:
        if data.sum() > 0:
            raise ZeroDivisionError
        return float(data.sum()) + rng.laplace()

    for sequential in (False, True):
        found = audit(subject, PureDP(1.0), pairs, budget=800, exhaustive=not sequential)
        assert found.verdict == "violated"
        assert found.witness["pair"] == 1
        assert [one.kind for one in found.incidents] == ["raised"]


def test_hidden_and_absent_randomness_are_told() -> None:
    pair = (np.zeros((2, 1)), np.array([[0.0], [1.0]]))
    found = audit(subjects.own_randomness, PureDP(1.0), [pair], budget=500, confidence=1 - 1e-9)
    assert found.verdict == "consistent"
    assert [one.kind for one in found.incidents] == ["hidden randomness"]
    found = audit(lambda data, rng: float(data.sum()) + 0 * rng.random(), PureDP(1.0), [pair], budget=500)
    assert found.verdict == "violated"
    assert [one.kind for one in found.incidents] == ["no randomness"]


def test_a_hanging_subject_is_killed() -> None:
    pair = (np.zeros((2, 1)), np.ones((2, 1)))
    found = audit(subjects.hangs_on_ones, PureDP(1.0), [pair], budget=100, time_limit=5.0)  # others need microseconds
    assert found.verdict == "inconclusive"
    assert [one.kind for one in found.incidents] == ["timed out"]


# --- neighbours that are searched --------------------------------------------------------------------------------------------


def test_where_to_search_may_be_stated_in_numbers() -> None:
    """As on the command line: the same pairs as those of the space that the numbers describe."""

    def half(data: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        return np.clip(data, 0, 1).sum() + rng.laplace(scale=0.25, size=size)

    stated = audit(half, "pure(eps=1)", records=3, columns=1, bounds=(0, 1), budget=2000)
    space = audit(half, "pure(eps=1)", space=[Admissible(3, 1, 0.0, 1.0)], budget=2000)
    assert (stated.verdict, stated.lower, stated.samples) == (space.verdict, space.lower, space.samples)
    assert stated.pair is not None
    assert all(len(side) == 3 and ((side >= 0) & (side <= 1)).all() for side in stated.pair)
    with pytest.raises(InputError, match="records, columns, bounds: say where neighbours are searched"):
        audit(half, "pure(eps=1)", [stated.pair], columns=1)


GROSS = ["laplace-half", "noisy-max-value", "svt-stoddard", "unclipped-mean"]


@pytest.mark.parametrize("name", GROSS)
@pytest.mark.parametrize("sequential", [False, True])
def test_neighbours_are_searched(name: str, sequential: bool) -> None:
    """If one audit finds it with probability .85 or more, one of eight does but for a chance of 3e-7."""
    one = zoo.specimen(name)
    found = [
        audit(one.subject, one.claim, space=one.space, budget=6000, confidence=0.95, exhaustive=not sequential, seed=seed)
        for seed in range(8)
    ]
    assert any(result.verdict == "violated" for result in found)
    assert all(result.samples <= 6000 for result in found)
    worst = next(result for result in found if result.verdict == "violated")
    assert one.space.is_pair((np.array(worst.witness["data"]), np.array(worst.witness["neighbour"])))
    assert worst.pairs_tried > 1


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("searched", [False, True])
def test_every_run_is_counted_and_the_budget_is_kept(sequential: bool, searched: bool) -> None:
    runs = []

    def subject(data: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        runs.append(size)
        return rng.normal(size=size) + 0 * data.sum()

    where: Any = {"space": Admissible(3, 2)} if searched else {"pairs": [(np.zeros((3, 1)), np.ones((3, 1)))]}
    found = audit(subject, PureDP(0.5), **where, budget=1700, confidence=1 - 1e-7, exhaustive=not sequential)
    assert found.verdict == "consistent"
    assert sum(runs) == found.samples
    assert 1600 < found.samples <= 1700


def test_nothing_is_said_about_the_data() -> None:
    """Outliers are tried; columns that a subject refuses are incidents."""

    def unclipped(data: np.ndarray, rng: np.random.Generator) -> float:
        features, target = data[:, :-1], data[:, -1]
        if not features.size:
            raise IndexError("no features")
        return float(target.mean()) + rng.laplace() / len(data)

    found = audit(unclipped, PureDP(1.0), budget=4000)
    assert found.verdict == "violated"
    assert "no features" in found.incidents[0].message
    assert np.shape(found.witness["data"])[1] in (2, 8)


@pytest.mark.parametrize("name", ["laplace", "geometric", "svt-lyu", "vector-laplace", "ignores-data"])
@pytest.mark.parametrize("sequential", [False, True])
def test_searching_costs_no_confidence(name: str, sequential: bool) -> None:
    """Alarms of 60 audits at 5 %: more than allowed have a chance below 1e-7."""
    one = zoo.specimen(name)
    found = [
        audit(one.subject, one.claim, space=one.space, budget=600, confidence=0.95, exhaustive=not sequential, seed=seed)
        for seed in range(60)
    ]
    assert sum(result.verdict == "violated" for result in found) <= int(binom.isf(1e-7, 60, 0.05))


def test_a_subject_that_shows_its_channel() -> None:
    """Half the noise, found by replay; the search takes few runs and the audit is of the outputs."""

    def halved(data: np.ndarray, channel: Channel) -> float:
        clipped = np.clip(data[:, 0], -1, 1)
        law = Laplace(clipped.mean(), scale=1 / len(data))
        return float(channel.release("mean", law, sensitivity=L1(2 / len(data)), spend=PureDP(1.0)))

    found = audit(halved, PureDP(1.0), space=Admissible(5, 1), budget=3000, confidence=0.99)
    assert found.verdict == "violated"
    first, second = (np.clip(found.witness[side], -1, 1).sum() for side in ("data", "neighbour"))
    assert abs(first - second) > 1.9  # the worst pair there is, which replay can tell from others exactly


def test_programs_are_audited() -> None:
    with CommandRunner(PROGRAM) as runner:
        pair = (np.zeros((2, 1)), np.full((2, 1), 10.0))
        assert audit(runner, PureDP(1.0), [pair], budget=1000).verdict == "violated"
    with CommandRunner(f"{PROGRAM} die") as runner:
        found = audit(runner, PureDP(1.0), space=Admissible(2, 1, 0.0, 1.0), budget=400)
    assert found.verdict == "inconclusive"
    assert "out of memory" in found.incidents[0].message


# --- the command -------------------------------------------------------------------------------------------------------------

MODULE = """
import numpy as np
def mean(data, rng): return float(data.mean()) + rng.laplace() / len(data)
def bad(data, rng, size): return data.sum() + 0.05 * rng.laplace(size=size)
def fails(data, rng): raise ValueError("odd data")
def pairs(): return [(np.zeros(3), np.zeros(3)), (np.zeros(3), np.array([0.0, 0.0, 1.0]))]
def number(): return 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "audited_subject.py").write_text(MODULE)
    (tmp_path / "a.csv").write_text("x\n0\n0\n0\n")
    (tmp_path / "b.csv").write_text("x\n0\n0\n1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "audited_subject"


def test_command(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    rest = ["--claim", "pure(eps=1)", "--budget", "2000", "--json", "-"]
    assert main(["audit", f"{module}:bad", "--pairs", f"{module}:pairs", *rest]) == 1
    found = json.loads(capsys.readouterr().out)
    keys = {"verdict", "claim", "epsilon_lower", "confidence", "samples", "pairs_tried", "seconds", "witness"}
    assert keys <= set(found)
    assert found["verdict"] == "violated"
    assert found["pairs_tried"] == 2
    assert found["confidence"] == 0.999
    files = ["--data", "a.csv", "--neighbour", "b.csv"]
    assert main(["audit", f"{module}:mean", *files, *rest, "--confidence", "0.9999999"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "consistent"
    assert main(["audit", f"{module}:bad", *files, "--claim", "gdp(mu=1)", "--sequential", "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["mu_lower"] >= 1
    assert found["samples"] < 2000
    assert main(["audit", f"{module}:mean", *files, "--claim", "zcdp(rho=3)", "--budget", "500"]) == 0
    assert "consistent: zcdp(rho=3)" in capsys.readouterr().out


def test_the_command_searches_and_reports_failures(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    rest = ["--claim", "pure(eps=1)", "--json", "-"]
    assert main(["audit", f"{module}:bad", "--bounds", "0:1", "--columns", "1", "--budget", "2000", *rest]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["pairs_tried"] > 1
    assert abs(np.sum(found["witness"]["data"]) - np.sum(found["witness"]["neighbour"])) > 0
    assert main(["audit", f"{module}:bad", "--data", "b.csv", "--budget", "2000", *rest]) == 1
    assert np.shape(json.loads(capsys.readouterr().out)["witness"]["data"]) == (3, 1)
    assert main(["audit", f"{module}:fails", "--pairs", f"{module}:pairs", "--time-limit", "0", *rest]) == 4
    said = capsys.readouterr()
    assert said.err == "error: audited_subject:fails raised ValueError: odd data (audited_subject.py:5)\n"
    found = json.loads(said.out)
    assert (found["verdict"], found["incidents"][0]["kind"]) == ("inconclusive", "raised")
    assert "odd data" in found["incidents"][0]["message"]
    files = ["--data", "a.csv", "--neighbour", "b.csv", "--budget", "200"]
    for _ in range(2):  # in one process, too
        assert main(["audit", "--command", PROGRAM, *files, "--claim", "pure(eps=1)", "--add-remove"]) == 0
        assert "consistent" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mechanism", "options", "named"),
    [
        ("nowhere_to_be_found:f", ["--data", "a.csv", "--neighbour", "b.csv"], "no module"),
        ("audited_subject", [], "MODULE:FUNCTION"),
        ("audited_subject:absent", [], "no function absent"),
        ("audited_subject:mean", ["--budget", "300"], "searched"),
        ("audited_subject:mean", ["--neighbour", "b.csv"], "--data beside it"),
        ("audited_subject:mean", ["--bounds", "1"], "LOW:HIGH"),
        ("audited_subject:mean", ["--bounds", "1:0"], "low must be below high"),
        ("audited_subject:mean", ["--data", "b.csv", "--bounds", "2:3"], "outside of the bounds"),
        ("audited_subject:mean", ["--data", "b.csv", "--columns", "2"], "are those of the data"),
        ("audited_subject:mean", ["--records", "0"], "records"),
        ("audited_subject:mean", ["--time-limit", "-1"], "time_limit"),
        ("audited_subject:mean", ["--command", "cat"], "either"),
        ("audited_subject:mean", ["--data", "a.csv", "--neighbour", "c.csv"], "no such file"),
        ("audited_subject:mean", ["--pairs", "audited_subject:number"], "must return"),
        ("audited_subject:mean", ["--pairs", "audited_subject:pairs", "--data", "a.csv"], "either"),
    ],
)
def test_wrong_commands(
    module: str, mechanism: str, options: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert module == "audited_subject"
    assert main(["audit", mechanism, "--claim", "pure(eps=1)", *options]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert named in lines[0]
