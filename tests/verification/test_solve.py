"""`tailproof solve` with the optimisers: what it says before and after a run, and what it refuses."""

import json
import math
import re
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from tailproof.refimpl.approx_dp import localised, presets
from tailproof.refimpl.claims import PureDP, zcdp_epsilon
from tailproof.refimpl.domains import unit_ball
from tailproof.refimpl.pure_dp.plan import Phase, Plan
from tailproof.refimpl.pure_dp.population import assumption_for, plan_for, population_localization
from tailproof.verification.cli import main
from tailproof.verification.fitting import optimisers, plans
from tailproof.verification.fitting.card import CERTIFICATE

Capture = pytest.CaptureFixture[str]
PUBLIC = ["--domain", "ball:1", "--epsilon", "1"]
MOMENTS = ["--moment-order", "2", "--moment-bound", "2"]
PHASES = ["solve", "P4.A1", "--loss", "absolute", *PUBLIC, *MOMENTS]
SCALE = ["--set", "weight=2", "lipschitz=3"]


@pytest.fixture
def trips(tmp_path: Path) -> str:
    """400 records: two features, a column of words, a real target, labels of three kinds."""
    rng = np.random.default_rng(0)
    x = rng.standard_t(2.5, size=(400, 2))
    minutes = x @ [0.5, -0.5] + rng.standard_normal(400)
    lines = [
        f"{a!r},{b!r},word,{t!r},{int(t > 0)},{'late' if t > 0 else 'early'},{1 if t > 0 else -1}"
        for a, b, t in zip(*x.T.tolist(), minutes.tolist(), strict=True)
    ]
    file = tmp_path / "trips.csv"
    file.write_text("dist,speed,name,minutes,bit,word,sign\n" + "\n".join(lines) + "\n")
    return str(file)


def features(path: str, *more: str) -> list[str]:
    return ["--data", path, "--columns", "dist", "speed", *more]


def answer(capsys: Capture, command: list[str]) -> dict[str, Any]:
    assert main([*command, "--seed", "1", "--json", "-"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def refusal(capsys: Capture, command: list[str]) -> str:
    """The one line that an error is."""
    try:
        code: object = main(command)
    except SystemExit as stop:
        code = stop.code
    out, error = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert error.strip().count("\n") == 0
    assert "Traceback" not in error
    return error


# ------------------------------------------------------------------------------------------------------------------ P4.S2

OBJECTIVE = ["solve", "P4.S2", "--loss", "absolute", *PUBLIC, *MOMENTS]


def test_objective_perturbation_says_plan_and_bound_before_and_its_two_spends_after(trips: str, capsys: Capture) -> None:
    command = [*OBJECTIVE, *features(trips, "--target", "minutes")]
    assert main([*command, "--seed", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "claim: pure(eps=1), replace-one"
    at = {word: next(i for i, line in enumerate(lines) if line.startswith(word)) for word in ("plan:", "bound:", "ledger:")}
    assert at["plan:"] < at["bound:"] < at["ledger:"]
    assert lines[at["ledger:"]].endswith("records, spending pure(eps=0.99) and pure(eps=0.01)")
    value = answer(capsys, command)
    assert value["plan"]["bound"] < 2
    assert not value["shuffled"]
    assert np.linalg.norm(value["weights"]) <= 1
    tuned = answer(capsys, [*command, "--set", "preset=tuned"])
    assert tuned["plan"]["lipschitz"] < value["plan"]["lipschitz"]
    assert tuned["claim"] == value["claim"]


def test_objective_perturbation_returns_the_start_where_there_are_too_few_records(trips: str, capsys: Capture) -> None:
    command = ["solve", "P4.S2", "--loss", "absolute", "--domain", "ball:1", "--epsilon", "0.001", *MOMENTS]
    value = answer(capsys, [*command, *features(trips, "--target", "minutes")])
    assert value["weights"] == [0.0, 0.0]
    assert value["ledger"] == [{"records": 400, "releases": 0, "spends": []}]
    assert main([*command, *features(trips, "--target", "minutes")]) == 0
    assert re.search(r"about \d+ records or epsilon = \d", " ".join(capsys.readouterr().out.split()))


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--loss", "squared"], "no bound is known for squared loss"),
        (["--loss", "l4"], "rank one"),
        (["--domain", "l1:1"], "must be a ball, a box or an ellipsoid"),
        (["--no-shuffle"], "shuffle is not a parameter"),
        (["--rho", "1"], "rho is not a parameter"),
        (["--failure", "0.1"], "failure is not a parameter"),
        (["--set", "preset=best"], "preset = 'best'"),
        (["--epsilon", "0"], "epsilon = 0"),
    ],
)
def test_what_objective_perturbation_refuses(more: list[str], text: str, trips: str, capsys: Capture) -> None:
    assert text in refusal(capsys, [*OBJECTIVE, *features(trips, "--target", "minutes"), *more])


# ------------------------------------------------------------------------------------------------------------------ P4.A1


def test_population_localisation(trips: str, capsys: Capture) -> None:
    value = answer(capsys, [*PHASES, *features(trips, "--target", "minutes")])
    assert set(value) == {
        *("algorithm", "records", "features", "target", "positive", "shuffled", "parameters", "claim", "plan"),
        *("ledger", "certificate", "weights", "preset", "facts", "notes", "bound", "public"),
    }
    ball = unit_ball(2)
    known = assumption_for(ball, np.zeros(2), moment_order=2, moment_bound=2)
    plan = plan_for(known, size=400, epsilon=1, rho=None)
    assert len(plan.phases) >= 2
    assert value["plan"] == json.loads(json.dumps(plan.to_json()))
    assert value["claim"] == {"claim": "pure", "epsilon": 1.0, "neighbouring": "replace-one"} | value["claim"]
    assert value["ledger"] == [{"records": 400, "releases": 1, "spends": [str(PureDP(1.0))]}]
    assert value["features"] == ["dist", "speed"]
    assert value["parameters"]["moment_bound"] == 2
    assert ball.contains(value["weights"])


def test_what_is_said_before_and_after_the_run(trips: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    before = []

    def watched(*arguments: Any, **parameters: Any) -> Any:
        before.append(capsys.readouterr().out)
        return population_localization(*arguments, **parameters)

    monkeypatch.setitem(optimisers.OPTIMISERS, "P4.A1", replace(optimisers.OPTIMISERS["P4.A1"], function=watched))
    assert main([*PHASES, *features(trips, "--target", "minutes")]) == 0
    said, after = before[0], capsys.readouterr().out
    plan = plan_for(assumption_for(unit_ball(2), np.zeros(2), moment_order=2, moment_bound=2), size=400, epsilon=1, rho=None)
    assert "claim: pure(eps=1), replace-one" in said
    assert f"at most {plan.bound:.6g} in expectation" in said
    for phase in plan.phases:
        assert f"{phase.size}" in said
        assert f"{phase.weight:.6g}" in said
        assert f"{phase.lipschitz:.6g}" in said
    assert "ledger: 1 release(s) touch each of 400 records, spending pure(eps=1) each" in after
    assert f"certificate: {CERTIFICATE}" in after
    assert "speed" in after


def test_nothing_that_depends_on_the_data_is_told_but_the_weights(trips: str, capsys: Capture) -> None:
    """Two data sets, one transcript of words: they differ in the weights alone."""
    other = Path(trips).with_name("other.csv")
    lines = Path(trips).read_text().splitlines()
    other.write_text("\n".join([lines[0], *(f"{i},1,word,{-i * i},0,early,-1" for i in range(400))]) + "\n")
    texts, values = [], []
    for path in (trips, str(other)):
        values.append(answer(capsys, [*PHASES, *features(path, "--target", "minutes")]))
        assert main([*PHASES, *features(path, "--target", "minutes"), "--seed", "1"]) == 0
        texts.append(capsys.readouterr().out.partition("feature  weight")[0])
    assert texts[0] == texts[1]
    first, second = (v.pop("weights") for v in values)
    assert first != second
    assert values[0] == values[1]


def test_the_seed_decides_and_without_one_runs_differ(trips: str, capsys: Capture) -> None:
    command = [*PHASES, *features(trips, "--target", "minutes")]
    assert answer(capsys, command)["weights"] == answer(capsys, command)["weights"]
    loose = []
    for _ in range(2):
        assert main([*command, "--json", "-"]) == 0
        loose.append(json.loads(capsys.readouterr().out)["weights"])
    assert loose[0] != loose[1]


def test_records_are_shuffled_unless_told_otherwise(trips: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(data: np.ndarray, *arguments: Any, **parameters: Any) -> Any:
        seen.append(data.copy())
        return population_localization(data, *arguments, **parameters)

    monkeypatch.setitem(optimisers.OPTIMISERS, "P4.A1", replace(optimisers.OPTIMISERS["P4.A1"], function=watched))
    command = [*PHASES, *features(trips, "--target", "minutes")]
    assert answer(capsys, command)["shuffled"]
    assert answer(capsys, [*command, "--shuffle"])["shuffled"]
    assert not answer(capsys, [*command, "--no-shuffle"])["shuffled"]
    mixed, again, kept = seen
    np.testing.assert_array_equal(mixed, again)
    assert not np.array_equal(mixed, kept)
    np.testing.assert_array_equal(mixed[np.lexsort(mixed.T)], kept[np.lexsort(kept.T)])
    np.testing.assert_array_equal(kept, np.loadtxt(trips, delimiter=",", skiprows=1, usecols=(0, 1, 3)))


@pytest.mark.parametrize(("more", "product"), [((), "n·ε = 0.4"), (("--failure", "0.1"), "n·ε = 0.4")])
def test_too_few_records_for_any_phase(more: tuple[str, ...], product: str, trips: str, capsys: Capture) -> None:
    command = ["solve", "P4.A1", "--loss", "absolute", "--domain", "ball:1", "--epsilon", "0.001", *MOMENTS, *more]
    assert main([*command, *features(trips, "--target", "minutes")]) == 0
    text = capsys.readouterr().out
    assert "without using the data" in text
    assert product in text
    assert "the excess risk of the starting point is at most 2, if" in text
    assert "ledger: no release touches 400 records, which spend nothing" in text
    assert "certificate: nothing was minimised" in text
    value = answer(capsys, [*command, *features(trips, "--target", "minutes")])
    assert value["weights"] == [0.0, 0.0]
    assert value["plan"]["phases"] == []
    assert value["ledger"] == [{"records": 400, "releases": 0, "spends": []}]


def test_with_high_probability(trips: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan with repetitions; real ones begin at millions of records."""
    phases = (Phase(40, 1.0, 3.0, 1.0), Phase(20, 8.0, 2.0, 0.5))
    monkeypatch.setattr(plans, "plan_for", lambda *_, **__: Plan(phases, 3, PureDP(1.0), "single", 1.25, 0.01))
    command = [*PHASES, "--failure", "0.01", *features(trips, "--target", "minutes")]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "the excess risk is at most 1.25 with probability at least 0.99, if" in text
    assert "3 × 40" in text
    assert answer(capsys, command)["ledger"] == [
        {"records": 220, "releases": 0, "spends": []},
        {"records": 180, "releases": 1, "spends": ["pure(eps=1)"]},
    ]


def test_the_tuned_preset(trips: str, capsys: Capture) -> None:
    command = [*PHASES, *features(trips, "--target", "minutes")]
    theory, tuned = (answer(capsys, [*command, "--set", f"preset={name}"]) for name in ("theory", "tuned"))
    assert tuned["plan"]["phases"] != theory["plan"]["phases"]
    assert tuned["plan"]["bound"] > theory["plan"]["bound"]
    assert tuned["ledger"] == theory["ledger"]


def test_progress_is_shown_on_a_terminal_only(trips: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [*PHASES, *features(trips, "--target", "minutes")]
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(command) == 0
    assert "phase 1 of" in capsys.readouterr().err


def test_the_weights_file(trips: str, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "weights.json"
    value = answer(capsys, [*PHASES, *features(trips, "--target", "minutes", "--weights", str(out))])
    written = json.loads(out.read_text())
    assert {"weights", "plan", "claim", "parameters", "features", "target", "algorithm"} <= set(written)
    assert all(value[key] == item for key, item in written.items())


# ----------------------------------------------------------------------------------------------------- the other optimisers


@pytest.mark.parametrize(
    ("identifier", "more", "releases", "spend"),
    [
        ("P4.S1", [], 1, "pure(eps=1)"),
        ("P4.A2", ["--failure", "0.1"], 1, "pure(eps=1)"),
        ("P4.A4", [], 2, "pure(eps=0.5)"),
        ("P4.A4", ["--set", "reading=B", "--failure", "0.2"], 2, "pure(eps=0.5)"),
    ],
)
def test_one_and_two_releases(
    identifier: str, more: list[str], releases: int, spend: str, trips: str, capsys: Capture
) -> None:
    command = ["solve", identifier, "--loss", "hinge", *PUBLIC, *SCALE, *more, *features(trips)]
    value = answer(capsys, command)
    assert value["ledger"] == [{"records": 400, "releases": releases, "spends": [spend] * releases}]
    assert value["plan"] is None
    assert value["target"] == "sign"
    assert ("radius" in value) == (identifier == "P4.A2")
    assert np.linalg.norm(value["weights"]) <= 1 + 1e-12
    assert main([*command, "--seed", "1"]) == 0
    text = capsys.readouterr().out
    reach = 2.2 * 3 / (2 * 400)  # (2 + 2κ)C/(λn)
    assert f"moves what is found by at most {reach:.6g}" in text
    assert f"accuracy: α = {0.01 * 9 / (2 * 2 * 400**2):.6g}" in text
    assert f"{6**0.5 * reach * releases:.6g}, {'twice' if releases == 2 else 'once'}; it spends {spend}" in text
    assert ("ball: within" in text) == (identifier == "P4.A2")


@pytest.mark.parametrize("more", [[], ["sampler=grid", "mesh=0.5"], ["spread=diameter"]])
def test_localised_exponential(more: list[str], trips: str, capsys: Capture) -> None:
    chosen = [word for one in more for word in ("--set", one)]
    command = ["solve", "P4.A7", "--loss", "hinge", *PUBLIC, *SCALE, *chosen, *features(trips)]
    value = answer(capsys, command)
    assert value["ledger"] == [{"records": 400, "releases": 2, "spends": ["pure(eps=0.5)"] * 2}]
    assert np.linalg.norm(value["weights"]) <= 1 + 1e-12
    assert main([*command, "--seed", "1"]) == 0
    text = capsys.readouterr().out
    radius = (chi2.isf(0.05, 4) / 2 * 2.2 / 0.5 + 0.1) * 3 / (2 * 400)
    temperature = 4 * 3 * radius * (1 / 400 + 1e-6) / 0.5
    assert f"T is at most {temperature * (2 if more == ['spread=diameter'] else 1):.6g}" in text
    near = math.sqrt(2 * chi2.isf(0.05, 4) / 2 * temperature / 2)
    assert (f"distance: {near:.6g} at most" in text) == (not more)
    for wrong in ("sampler=gibbs", "spread=radius", "share=2", "mesh=0"):
        assert main([*command, "--set", wrong]) == 2
        assert wrong.split("=")[0] in capsys.readouterr().err


def test_structured(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x.svm").write_text("1 1:1\n-1 1:2\n1 1:-1\n")
    command = [
        "solve",
        "P4.D4",
        "--loss",
        "hinge",
        "--domain",
        "ball:0.1",
        "--rho",
        "0.5",
        "--data",
        str(tmp_path / "x.svm"),
    ]
    command += ["--set", "weight=1", "lipschitz=1", "kappa=1"]
    assert answer(capsys, command)["ledger"][0]["spends"] == ["zcdp(rho=0.25)"] * 2
    assert main([*command, "most_steps=2"]) == 2
    refused = capsys.readouterr().err
    assert "steps are planned" in refused
    assert "P4.D4 is for study; P4.A4 takes the same arguments" in refused
    assert main(["solve", "P4.A3", *command[2:]]) == 2
    assert "'P4.A3': is for study, and solve does not take it" in capsys.readouterr().err
    command[1] = "P4.A4"
    assert answer(capsys, command)["ledger"][0]["spends"] == ["zcdp(rho=0.25)"] * 2


def test_losses_without_a_target(trips: str, capsys: Capture) -> None:
    """Half the squared distance and a weight of 1: P4.S1 finds half the mean of the records, if there is hardly any noise."""
    command = ["solve", "P4.S1", "--loss", "quadratic", "--domain", "ball:5", "--epsilon", "1e9", *features(trips)]
    value = answer(capsys, [*command, "--set", "weight=1", "lipschitz=100", "kappa=1e-4"])
    rows = np.loadtxt(trips, delimiter=",", skiprows=1, usecols=(0, 1))
    np.testing.assert_allclose(value["weights"], rows.mean(axis=0) / 2, atol=1e-4)
    assert value["target"] is None
    assert answer(capsys, ["solve", "P4.S1", "--loss", "affine", *PUBLIC, *SCALE, *features(trips)])["target"] is None


# ------------------------------------------------------------------------------------------------------------- the records


@pytest.fixture
def rows_seen(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    seen: list[np.ndarray] = []

    def watched(data: np.ndarray, _channel: Any, **_: Any) -> Any:
        seen.append(data)
        return np.zeros(data.shape[1] - 1)

    monkeypatch.setitem(
        optimisers.OPTIMISERS, "P4.S1", optimisers.Optimiser(watched, optimisers.OPTIMISERS["P4.S1"].parameters)
    )
    return seen


@pytest.mark.parametrize(
    ("target", "positive", "flipped"),
    [("sign", None, False), ("sign", "-1", True), ("bit", "1", False), ("bit", "0.0", True), ("word", "late", False)],
)
def test_labels(
    target: str, positive: str | None, flipped: bool, trips: str, capsys: Capture, rows_seen: list[np.ndarray]
) -> None:
    more = ["--target", target] + ([] if positive is None else ["--positive", positive])
    value = answer(capsys, ["solve", "P4.S1", "--loss", "logistic", *PUBLIC, *SCALE, *features(trips, *more)])
    signs = np.loadtxt(trips, delimiter=",", skiprows=1, usecols=6)
    np.testing.assert_array_equal(rows_seen[0][:, -1], -signs if flipped else signs)
    assert value["positive"] == positive


def test_intercept_and_order_of_columns(trips: str, capsys: Capture, rows_seen: list[np.ndarray]) -> None:
    columns = ["--data", trips, "--columns", "speed", "dist", "--target", "minutes", "--intercept"]
    value = answer(capsys, ["solve", "P4.S1", "--loss", "absolute", *PUBLIC, *SCALE, *columns])
    assert value["features"] == ["speed", "dist", "intercept"]
    expected = np.loadtxt(trips, delimiter=",", skiprows=1, usecols=(1, 0, 3))
    np.testing.assert_array_equal(rows_seen[0], np.insert(expected, 2, 1.0, axis=1))


def test_the_default_target(tmp_path: Path, capsys: Capture, rows_seen: list[np.ndarray]) -> None:
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    (tmp_path / "x").write_text("1 1:5\n-1 3:2\n")
    command = ["solve", "P4.S1", "--loss", "absolute", *PUBLIC, *SCALE, "--data"]
    assert answer(capsys, [*command, str(tmp_path / "x.npy")])["target"] == "2"
    assert answer(capsys, [*command, str(tmp_path / "x"), "--features", "4"])["features"] == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(rows_seen[1], [[5, 0, 0, 0, 1], [0, 0, 2, 0, -1]])
    answer(capsys, [*command, str(tmp_path / "x"), "--target", "3"])  # then the label is no feature
    np.testing.assert_array_equal(rows_seen[2], [[5, 0, 0], [0, 0, 2]])


# -------------------------------------------------------------------------------------------------- a private moment bound


@pytest.mark.parametrize("identifier", ["P4.S2", "P4.A1"])
def test_a_private_moment_bound(identifier: str, trips: str, capsys: Capture) -> None:
    command = ["solve", identifier, "--loss", "absolute", "--domain", "ball:1", "--epsilon", "4", "--moment-order", "2"]
    command += [*features(trips, "--target", "minutes"), "--moment-bound", "private", "--set", "moment_share=0.25"]
    value = answer(capsys, command)
    assert value["claim"]["epsilon"] == 4
    assert value["ledger"][0]["spends"][0] == "pure(eps=1)"
    assert value["parameters"]["moment_bound"] == "private"
    assert main([*command, "--seed", "1"]) == 0
    before, _, after = capsys.readouterr().out.partition("plan: made when")
    assert "it spends pure(eps=1)" in before
    assert f"moment bound: G = {value['moment_bound']:.6g}, released" in after
    assert "bound: the excess risk" in after
    assert "moment_share = 2.0" in refusal(capsys, [*command[:-1], "moment_share=2"])
    assert "records at pure" in refusal(capsys, [*command[:-1], "moment_share=0.01"])
    assert "moment_share is not a parameter" in refusal(capsys, [*command, "--moment-bound", "2"])
    assert "moment-bound" in refusal(capsys, [*command, "--moment-bound", "secret"])


def test_a_private_moment_bound_is_pure(trips: str, capsys: Capture) -> None:
    command = [*changed("--epsilon", None), "--moment-bound", "private", "--rho", "1", *features(trips)]
    assert "needs epsilon" in refusal(capsys, command)


# ------------------------------------------------------------------------------------------------------- rules for columns

RULES = {
    "dist": {"kind": "numeric", "low": -2, "high": 2, "unit": "km"},
    "name": {"kind": "categorical", "levels": ["other", "word"]},
    "minutes": {"kind": "numeric", "low": -10, "high": 10},
}


def described(tmp_path: Path, **more: Any) -> list[str]:
    (tmp_path / "rules.json").write_text(json.dumps(RULES | more))
    return ["--describe", str(tmp_path / "rules.json"), "--columns", "dist", "name"]


def test_rules_for_columns(trips: str, tmp_path: Path, capsys: Capture, rows_seen: list[np.ndarray]) -> None:
    command = ["solve", "P4.S1", "--loss", "absolute", *PUBLIC, *SCALE, "--data", trips, "--target", "minutes"]
    value = answer(capsys, [*command, *described(tmp_path), "--intercept"])
    assert value["features"] == ["dist", "name=other", "name=word", "intercept"]
    assert value["public"]["columns"]["dist"]["unit"] == "km"
    assert value["public"]["target"]["low"] == -10
    raw = np.loadtxt(trips, delimiter=",", skiprows=1, usecols=(0, 3)).clip([-2, -10], [2, 10]) / [2, 10]
    one = np.ones(len(raw))
    np.testing.assert_allclose(rows_seen[0], np.column_stack([raw[:, 0], 0 * one, one, one, raw[:, 1]]), atol=1e-15)


def test_rules_give_the_moment_bound(trips: str, tmp_path: Path, capsys: Capture) -> None:
    command = [
        "solve",
        "P4.S2",
        "--loss",
        "absolute",
        *PUBLIC,
        "--moment-order",
        "2",
        "--data",
        trips,
        "--target",
        "minutes",
    ]
    value = answer(capsys, [*command, *described(tmp_path)])
    assert value["parameters"]["moment_bound"] == pytest.approx(math.sqrt(2))
    value = answer(capsys, [*command, *described(tmp_path), "--moment-bound", "1.5"])
    assert value["parameters"]["moment_bound"] == 1.5
    squared = [*command, "--loss", "squared", "--set", "preset=tuned"]
    value = answer(capsys, [*squared, *described(tmp_path)])
    assert value["parameters"]["moment_bound"] == pytest.approx(math.sqrt(2) * (math.sqrt(2) + 1))
    free = {"kind": "numeric", "low": -1, "high": 1, "clip": False}
    assert "the target has no bound" in refusal(capsys, [*squared, *described(tmp_path, minutes=free)])
    assert "clip = false has no bound" in refusal(capsys, [*command, *described(tmp_path, dist=free)])
    assert "must be numeric" in refusal(capsys, [*command, *described(tmp_path, minutes=RULES["name"])])
    assert "says nothing of column 'speed'" in refusal(capsys, [*command, *described(tmp_path), "speed"])


# ------------------------------------------------------------------------------------------------------------- wrong input


def changed(flag: str, value: str | None) -> list[str]:
    """PHASES with another value of a flag, or without it."""
    at = PHASES.index(flag)
    return [*PHASES[:at], *([] if value is None else [f"{flag}={value}"]), *PHASES[at + 2 :], "--target", "minutes"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (changed("--moment-order", "1.9"), "moment_order = 1.9: must be >= 2"),
        (changed("--moment-order", "nan"), "moment_order"),
        (changed("--moment-order", None), "moment_order is missing: P4.A1 takes loss, domain, epsilon"),
        (changed("--moment-bound", "0"), "moment_bound = 0.0: must be > 0"),
        (changed("--moment-bound", "inf"), "moment_bound"),
        (changed("--moment-bound", "x"), "moment-bound"),
        (changed("--epsilon", "0"), "epsilon = 0.0: must be > 0"),
        (changed("--epsilon", "-1"), "epsilon = -1.0: must be > 0"),
        (changed("--epsilon", None), "exactly one of them"),
        ([*changed("--epsilon", "1"), "--rho", "1"], "exactly one of them"),
        ([*changed("--epsilon", None), "--rho", "0"], "rho = 0.0: must be > 0"),
        ([*changed("--epsilon", "1"), "--delta", "0.1"], "delta is not a parameter"),
        ([*changed("--epsilon", "1"), "--failure", "1"], "failure = 1.0"),
        ([*changed("--epsilon", "1"), "--set", "weight=1"], "weight is not a parameter"),
        ([*changed("--epsilon", "1"), "--set", "epsilon=1"], "epsilon is given already"),
        ([*changed("--epsilon", "1"), "--set", "preset=best"], "preset = 'best'"),
        (changed("--loss", "cubic"), "loss = 'cubic'"),
        (changed("--loss", None), "loss is missing"),
        ([*changed("--loss", "affine")], "target = 'minutes': the loss affine has none"),
        ([*changed("--loss", "quadratic")], "target = 'minutes': the loss quadratic has none"),
        ([*changed("--loss", "absolute"), "--positive", "1"], "positive = '1': the loss absolute has no labels"),
        (changed("--domain", "cube:1"), "domain = 'cube:1'"),
        (changed("--domain", "ball:0"), "radius"),
        (changed("--domain", "ball:1e15"), "domain: reaches"),
        ([*PHASES, "--target", "hours"], "column = 'hours': must be one of dist, speed, name"),
        ([*PHASES, "--target", "dist"], "'dist' is the target"),
        ([*PHASES, "--target", "name"], "record 1 has no finite number in column 'name'"),
        ([*PHASES, "--target", "minutes", "--features", "2"], "features = 2: is for LIBSVM"),
        (
            [*PHASES, "--target", "minutes", "--weights", "no/such/place.json"],
            "--weights: 'no/such/place.json': there is no",
        ),
        (
            [*PHASES, "--target", "minutes", "--json", "no/such/place.json"],
            "--json: 'no/such/place.json': there is no",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_parameters(command: list[str], said: str, trips: str, capsys: Capture) -> None:
    assert said in refusal(capsys, [*command, *features(trips)])


@pytest.mark.parametrize(
    ("identifier", "more", "said"),
    [
        ("P4.S1", ["--set", "lipschitz=1"], "weight is missing"),
        ("P4.S1", ["--set", "weight=0", "lipschitz=1"], "weight = 0.0: must be > 0"),
        ("P4.S1", ["--set", "weight=1", "lipschitz=-1"], "lipschitz = -1.0: must be > 0"),
        ("P4.S1", ["--set", "weight=1", "lipschitz=big"], "lipschitz = 'big'"),
        ("P4.S1", ["--set", "kappa=0", "weight=1", "lipschitz=1"], "kappa = 0.0"),
        ("P4.S1", ["--failure", "0.1", *SCALE], "failure is not a parameter"),
        ("P4.S1", ["--moment-order", "2", *SCALE], "moment_order is not a parameter"),
        ("P4.S1", ["--no-shuffle", *SCALE], "shuffle is not a parameter"),
        ("P4.A2", SCALE, "failure is missing"),
        ("P4.A4", ["--set", "reading=C", "weight=1", "lipschitz=1"], "reading = 'C'"),
        ("P4.A4", ["--failure", "0", *SCALE], "failure = 0.0"),
        ("P4.D4", ["--set", "reading=B", "weight=1", "lipschitz=1"], "reading is not a parameter"),
        ("P4.D4", ["--set", "most_steps=0", "weight=1", "lipschitz=1"], "most_steps = 0"),
        ("P4.S1", ["--target", "bit", *SCALE], "--positive VALUE"),
        ("P4.S1", ["--target", "word", *SCALE], "--positive VALUE"),
        ("P4.S1", ["--target", "bit", "--positive", "2", *SCALE], "must have one other value; there are 0.0, 1.0"),
        ("P4.S1", ["--target", "bit", "--positive", "yes", *SCALE], "positive = 'yes': must be a number"),
        ("P4.S1", ["--target", "word", "--positive", "1", *SCALE], "one other value; there are early, late"),
    ],
)
def test_wrong_parameters_of_the_others(identifier: str, more: list[str], said: str, trips: str, capsys: Capture) -> None:
    assert said in refusal(capsys, ["solve", identifier, "--loss", "hinge", *PUBLIC, *more, *features(trips)])


# ------------------------------------------------------------------------------------------------- gradient descent

APPROXIMATE = ["--loss", "squared", "--epsilon", "1", "--delta", "1e-4"]
STEPS = ["steps=3", "learning_rate=0.2"]
DESCENTS = {
    "P2.A1": ["--domain", "ball:1", "--set", *STEPS, "clip=2"],
    "P3.A2": ["--domain", "ball:1", "--failure", "0.1", "--set", *STEPS, "truncation=2"],
    "P3.A5": ["--set", *STEPS, "truncation=2", "sparsity=1"],
}


@pytest.mark.parametrize("identifier", DESCENTS)
def test_gradient_descent(identifier: str, trips: str, capsys: Capture) -> None:
    command = ["solve", identifier, *APPROXIMATE, *DESCENTS[identifier], *features(trips, "--target", "minutes")]
    value = answer(capsys, command)
    assert value["claim"] == {"claim": "approx", "epsilon": 1.0, "delta": 1e-4, "neighbouring": "replace-one"}
    assert len(value["weights"]) == 2
    assert sum(book["records"] for book in value["ledger"]) == 400
    assert {book["releases"] for book in value["ledger"]} == {2 if identifier == "P3.A5" else 3}
    assert value["shuffled"] == (identifier != "P2.A1")
    assert value["certificate"].startswith("none")


def test_a_large_delta_is_noted(trips: str, capsys: Capture) -> None:
    command = ["solve", "P2.A1", "--loss", "squared", "--epsilon", "1", "--delta", "0.01", *DESCENTS["P2.A1"]]
    assert main([*command, *features(trips, "--target", "minutes")]) == 0
    assert "note: delta = 0.01: is not below 1/n = 0.0025" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("identifier", "more", "said"),
    [
        ("P2.A1", ["--epsilon", "1.5"], "epsilon = 1.5: must lie in [0, 1]"),
        ("P2.A1", ["--shuffle"], "shuffle is not a parameter"),
        ("P2.A1", ["--rho", "1"], "rho is not a parameter"),
        ("P3.A2", ["--delta", "0"], "delta = 0.0"),
        ("P3.A5", ["--domain", "ball:1"], "domain is not a parameter"),
    ],
)
def test_wrong_parameters_of_gradient_descent(
    identifier: str, more: list[str], said: str, trips: str, capsys: Capture
) -> None:
    command = ["solve", identifier, *APPROXIMATE, *DESCENTS[identifier], *more, *features(trips, "--target", "minutes")]
    assert said in refusal(capsys, command)


# ------------------------------------------------------------------------------------------------------------ presets

NORMS = ["--moment-order", "4", "--moment-bound", "5"]
COORDINATES = ["--moment-order", "2", "--moment-bound", "9"]
ROUGH, STEEP, CURVED = ["--record-smoothness", "50"], ["--smoothness", "3"], ["--strong-convexity", "0.5"]
PRESETS = {
    "P0.A3": [*NORMS, *ROUGH],
    "P0.A4": [*NORMS, *ROUGH],
    "P0.A5": [*NORMS, *ROUGH, "--theta", "1.5"],
    "P0.A6": [*NORMS, *STEEP],
    "P0.A7": [*NORMS, *STEEP, "--theta", "1.5"],
    "P0.B": ["--moment-bound", "5"],
    "P0.R3": [*NORMS, *ROUGH],
    "P1.A1": [*COORDINATES, *CURVED],
    "P1.A3": [*STEEP, "--mean-slope", "4"],
    "P1.A4": [*COORDINATES, *STEEP],
    "P2.A1": [*NORMS, *STEEP],
    "P3.A2": [*COORDINATES, *STEEP],
    "P3.A5": [*COORDINATES, *STEEP, "--true-sparsity", "1"],
}


def by_preset(identifier: str, trips: str, *more: str, kind: str = "tuned") -> list[str]:
    where = [] if identifier == "P3.A5" else ["--domain", "ball:1"]
    rest = features(trips, "--target", "minutes")
    return ["solve", identifier, *APPROXIMATE, *where, *PRESETS[identifier], "--preset", kind, *rest, *more]


def test_every_optimiser_of_the_presets_is_there() -> None:
    assert set(PRESETS) == set(presets.OPTIMISERS)
    assert set(PRESETS) <= set(optimisers.OPTIMISERS)


@pytest.mark.parametrize("identifier", PRESETS)
def test_the_tuned_preset_of_every_optimiser(identifier: str, trips: str, capsys: Capture) -> None:
    value = answer(capsys, by_preset(identifier, trips))
    claim = value["claim"]
    if identifier in ("P1.A3", "P1.A4"):
        assert zcdp_epsilon(claim["rho"], 1e-4, tight=False) == pytest.approx(1)
    else:
        assert (claim["claim"], claim["epsilon"], claim["delta"]) == ("approx", 1.0, 1e-4)
    assert value["preset"] == "tuned"
    assert len(value["weights"]) == 2
    assert sum(book["records"] for book in value["ledger"]) == 400
    flags = PRESETS[identifier]
    assert value["facts"] == {flags[i][2:].replace("-", "_"): float(flags[i + 1]) for i in range(0, len(flags), 2)}


def flags_of(identifier: str) -> list[tuple[str, str]]:
    """Every public number that is needed; P3.A2's strong convexity is not."""
    return [(identifier, flag) for flag in PRESETS[identifier] if flag.startswith("--")]


@pytest.mark.parametrize(("identifier", "flag"), [pair for identifier in PRESETS for pair in flags_of(identifier)])
def test_a_missing_public_number_is_named(identifier: str, flag: str, trips: str, capsys: Capture) -> None:
    command = by_preset(identifier, trips)
    at = command.index(flag)
    assert f"{flag} is missing: the tuned preset of {identifier}" in refusal(capsys, command[:at] + command[at + 2 :])


def test_parameters_are_said_before_the_run_and_may_be_replaced(trips: str, capsys: Capture) -> None:
    assert main([*by_preset("P0.A3", trips), "--seed", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    phases = localised.tuned_phases(
        400, dimension=2, diameter=2.0, smoothness=50.0, moment_bound=5.0, moment_order=4.0, epsilon=1.0, delta=1e-4
    )
    assert lines[2:5] == ["parameters: the tuned preset, from public numbers alone", "  smoothness = 50", "  phases:"]
    for phase, line in zip(phases, lines[7:], strict=False):
        assert line.split() == [f"{number:.6g}" for number in vars(phase).values()]
    assert lines[11].startswith("ledger:")
    value = answer(capsys, by_preset("P0.B", trips, "--set", "steps=7", "output=last"))
    assert (value["parameters"]["steps"], value["parameters"]["output"]) == (7, "last")
    assert max(book["releases"] for book in value["ledger"]) <= 7


def test_the_ledger_of_random_batches_is_one_line(trips: str, capsys: Capture) -> None:
    assert main([*by_preset("P0.B", trips), "--seed", "1"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("ledger"))
    assert "releases touch each of 400 records" in line
    assert line.endswith("the claim counts that the batches are random")


def test_theory(trips: str, capsys: Capture) -> None:
    value = answer(capsys, by_preset("P1.A3", trips, *CURVED, kind="theory"))
    assert value["parameters"]["trim"] == 1
    assert value["parameters"]["steps"] == 36  # ⌈3/0.5·log 400⌉
    assert "no theorem chooses the parameters of P0.B" in refusal(capsys, by_preset("P0.B", trips, kind="theory"))
    assert "Theorem 6 needs epsilon <=" in refusal(capsys, by_preset("P0.A6", trips, kind="theory"))
    assert "--lipschitz is missing" in refusal(capsys, by_preset("P0.A3", trips, kind="theory"))


def test_a_theory_that_would_run_for_days_is_refused(tmp_path: Path, capsys: Capture) -> None:
    np.save(tmp_path / "x.npy", np.ones((20_000, 2)))
    command = ["solve", "P0.A3", *APPROXIMATE, "--domain", "ball:1", *PRESETS["P0.A3"], "--preset", "theory"]
    text = refusal(capsys, [*command, "--lipschitz", "10", "--data", str(tmp_path / "x.npy")])
    assert "would take 2e+13 gradients of single records" in text


@pytest.mark.parametrize("identifier", ["P0.A3", "P0.A4", "P0.A5"])
def test_a_refuted_claim_is_marked(identifier: str, trips: str, capsys: Capture) -> None:
    flags = ["--domain", "ball:1", *PRESETS[identifier], "--epsilon", "1", "--delta", "1e-4", "--seed", "1"]
    assert main(["solve", identifier, "--loss", "quadratic", *flags, *features(trips)]) == 0
    out = capsys.readouterr().out
    assert "REFUTED" in out.splitlines()[1]
    assert "note: loss = Quadratic" in out
    assert main([*by_preset(identifier, trips), "--seed", "1"]) == 0
    assert "REFUTED" not in capsys.readouterr().out


def test_the_repaired_variant_is_certified_and_not_marked(trips: str, capsys: Capture) -> None:
    flags = ["--domain", "ball:1", *PRESETS["P0.R3"], "--epsilon", "1", "--delta", "1e-4", "--seed", "1"]
    assert main(["solve", "P0.R3", "--loss", "quadratic", *flags, *features(trips)]) == 0
    out = capsys.readouterr().out
    assert "REFUTED" not in out
    assert f"certificate: {CERTIFICATE}" in out


@pytest.mark.parametrize(
    ("identifier", "more", "said"),
    [
        ("P0.A3", ["--epsilon", "8"], "Theorem 1 needs epsilon <="),
        ("P0.A3", ["--set", "phases=3"], "phases is not a parameter"),
        ("P0.A3", ["--rho", "1"], "rho is not a parameter"),
        ("P0.A5", ["--theta", "1"], "theta_bar = 1.0: must be > 1"),
        ("P0.B", ["--shuffle"], "shuffle is not a parameter"),
        ("P1.A4", ["--moment-order", "3"], "moment_order = 3.0: must be 2 for P1.A4"),
        ("P2.A1", ["--preset", "best"], "--preset: 'best': must be one of theory, tuned"),
        ("P0.A3", ["--loss", "absolute"], "must be smooth"),
    ],
)
def test_wrong_numbers_of_presets(identifier: str, more: list[str], said: str, trips: str, capsys: Capture) -> None:
    with suppress(SystemExit):
        assert main(by_preset(identifier, trips, *more)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "flag", [["--target", "dist"], ["--positive", "1"], ["--intercept"], ["--shuffle"], ["--loss", "hinge"]]
)
def test_mean_estimators_refuse_what_is_for_optimisers(flag: list[str], trips: str, capsys: Capture) -> None:
    command = ["solve", "P2.A2", "--rho", "1", "--set", "clip=1", *features(trips)]
    assert f"{flag[0][2:]} is not a parameter" in refusal(capsys, [*command, *flag])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b\n1,nan\n", "record 1 has no finite number in column 'b'"),
        ("a,b\n1,1\n1e61,1\n", "record 2 has no finite number in column 'a', or one beyond 1e+60"),
        ("a,b\n1,1\ninf,1\n", "record 2 has no finite number"),
        ("a,b\n1,1\nx,1\n", "record 2 has no finite number"),
        ("a,b\n1,1\n1,\n", "record 2 has no finite number in column 'b'"),
        ("b\n1\n", "at least one feature is needed"),
    ],
)
def test_wrong_data(text: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x.csv").write_text(text)
    assert said in refusal(capsys, [*PHASES, "--data", str(tmp_path / "x.csv")])


@pytest.mark.parametrize(
    ("text", "positive", "said"),
    [
        ("a,b\n1,yes\n2,\n", "yes", "record 2 has no label in column 'b'"),
        ("a,b\n1,1\n2,nan\n", "1", "record 2 has no label"),
        ("1 1:1\nnan 1:1\n", "1", "record 2 has no finite number in column 'label'"),
        ("1 1:1\ninf 1:1\n", "1", "record 2 has no finite number in column 'label'"),
    ],
)
def test_missing_labels_are_no_second_value(text: str, positive: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x").write_text(text)
    command = ["solve", "P4.S1", "--loss", "hinge", *PUBLIC, *SCALE, "--data", str(tmp_path / "x"), "--positive", positive]
    assert said in refusal(capsys, command)


def test_the_help_says_how_to_choose_the_moment_bound(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["solve", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        "without looking at the data",
        "must satisfy (E L^k)^(1/k) <= G",
        "L <= ||x|| (||x|| R + |t|)",
        "G = s sqrt(d) for k = 2",
        "the privacy claim still holds, but the accuracy bound does not",
        "If G is too large, you lose accuracy",
        "units, physical limits, earlier studies or public data",
        "--positive",
        "can undo the noise",
    ):
        assert words in text
