"""`tailproof experiment`: what it reads, what the methods are given, what is said of their runs."""

import gzip
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from tailproof.refimpl.approx_dp import localised, soft_descent, trimmed_descent
from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import zcdp_epsilon
from tailproof.refimpl.domains import parse_domain
from tailproof.refimpl.losses import L4, Logistic, Ridge, Squared
from tailproof.refimpl.validation import InputError
from tailproof.verification.cli import main
from tailproof.verification.experiments import EXPERIMENTS, adult, methods
from tailproof.verification.experiments.catalogue import Sizes, find, points
from tailproof.verification.experiments.data import linear_model, read_files, sparse_model, target, threshold_model
from tailproof.verification.experiments.methods import P0, P1, Method, Point, rho_for, variants
from tailproof.verification.experiments.problems import (
    classification_problem,
    penalised,
    problem_of_files,
    regression_problem,
    sparse_problem,
)
from tailproof.verification.experiments.running import bootstrap, evaluate, plan

Capture = pytest.CaptureFixture[str]

BACHELOR = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, "
)


@pytest.fixture
def libsvm(tmp_path: Path) -> str:
    """60 records of 3 features of norm √2 at most."""
    rng = np.random.default_rng(0)
    lines = []
    for label in rng.choice([-1, 1], size=60):
        first = 1 if label > 0 else 2
        lines.append(f"{label:+d} {first}:1 3:1" if rng.random() < 0.8 else f"{label:+d} {first}:1")
    file = tmp_path / "toy.libsvm"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def answer(capsys: Capture, command: list[str]) -> dict[str, Any]:
    assert main(["experiment", *command, "--jobs", "1", "--json", "-"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def refusal(capsys: Capture, command: list[str]) -> str:
    try:
        code: object = main(["experiment", *command])
    except SystemExit as stop:
        code = stop.code
    out, error = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert error.strip().count("\n") == 0
    return error


def method(among: tuple[Method, ...], name: str) -> Method:
    return next(m for m in among if m.name == name)


# ------------------------------------------------------------------------------------------------------------ the command


def test_without_a_name_all_are_listed_with_what_they_need(capsys: Capture) -> None:
    assert main(["experiment"]) == 0
    out = capsys.readouterr().out
    for entry in EXPERIMENTS:
        assert entry.name in out
        assert entry.needs in out
    assert {e["name"] for e in answer(capsys, [])["experiments"]} == {e.name for e in EXPERIMENTS}


SMALL = ["--quick", "--n", "40", "--runs", "2"]


@pytest.mark.parametrize("name", ["p0-l4", "p0-logistic"])
def test_on_a_file(name: str, libsvm: str, tmp_path: Path, capsys: Capture) -> None:
    plot = tmp_path / "curves.svg"
    value = answer(capsys, [name, "--data", libsvm, *SMALL, "--epsilon", "2", "--row-norm", "1.5", "--plot", str(plot)])
    assert plot.stat().st_size > 1000
    assert value["data"][0]["files"] == [
        {"file": "toy.libsvm", "sha256": hashlib.sha256(Path(libsvm).read_bytes()).hexdigest()}
    ]
    assert (value["data"][0]["train"], value["data"][0]["test"]) == (48, 12)
    rows = {(r["sweep"], r["method"]): r for r in value["results"]}
    for sweep, n, epsilon in (("n", 40, 8.0), ("epsilon", 48, 2.0)):
        for one in P0:
            row = rows[sweep, one.name]
            assert (row["n"], row["epsilon"], row["d"]) == (n, epsilon, 3)
            assert row["delta"] == pytest.approx(n**-1.1)
            if "skipped" not in row:
                low, high = row["interval"]
                assert low <= row["mean"] <= high
                assert len(row["scores"]["loss"]) == 2
    assert "Theorem 1 needs epsilon" in rows["n", "LNC-GM"]["skipped"]
    assert rows["n", "start"]["mean"] == pytest.approx(1.0 if name == "p0-l4" else math.log(2), rel=1e-4)
    assert rows["n", "no privacy"]["mean"] < rows["n", "start"]["mean"]
    assert "not private" in value["notes"][0]
    assert "user's promise" in value["notes"][1]
    assert (value["options"]["n"], value["options"]["row_norm"], value["options"]["hindsight"]) == ([40], 1.5, False)


def test_the_same_seed_gives_the_same_results_and_another_one_does_not(libsvm: str, capsys: Capture) -> None:
    command = ["p0-logistic", "--data", libsvm, *SMALL, "--epsilon", "2"]
    first, again, other = (answer(capsys, [*command, "--seed", seed])["results"] for seed in ("1", "1", "2"))
    for row in (*first, *again):
        row.pop("seconds", None)
    assert first == again
    assert [r.get("mean") for r in first] != [r.get("mean") for r in other]


def test_hindsight_adds_methods_that_are_said_not_to_be_private(
    libsvm: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "MOMENT_SCALES", (1.0, 0.5))
    monkeypatch.setattr(methods, "LENGTH_SCALES", (1.0,))
    value = answer(
        capsys, ["p0-logistic", "--data", libsvm, *SMALL, "--epsilon", "2", "--runs", "1", "--hindsight", "--steps", "9"]
    )
    assert first_phase(value)["steps"] == 9
    names = {r["method"] for r in value["results"]}
    assert {f"{m.name}, hindsight" for m in P0 if m.tunable} == {n for n in names if n.endswith("hindsight")}
    assert any("chosen by the test loss: not private" in note for note in value["notes"])
    rows = {r["method"]: r for r in value["results"] if r["sweep"] == "n"}
    for name in ("LNC-GM zCDP", "LNC-GM zCDP, hindsight"):
        like = "DP-SGD, hindsight" if "hindsight" in name else "DP-SGD"
        assert rows[name]["against_baseline"]["mean"] == pytest.approx(rows[name]["mean"] - rows[like]["mean"], abs=1e-4)


def first_phase(value: dict[str, Any]) -> dict[str, Any]:
    """The first phase of LNC-GM."""
    row = next(r for r in value["results"] if r["method"] == "LNC-GM zCDP")
    phase: dict[str, Any] = row["parameters"]["phases"][0]
    return phase


def test_two_data_sets_in_one_call(libsvm: str, tmp_path: Path, capsys: Capture) -> None:
    other = tmp_path / "other.libsvm.gz"
    other.write_bytes(gzip.compress(Path(libsvm).read_bytes()))
    flags = ["--data", libsvm, "--test", libsvm, "--data", str(other), "--test", libsvm]
    value = answer(capsys, ["p0-logistic", *flags, *SMALL, "--epsilon", "2", "--runs", "1"])
    assert [source["name"] for source in value["data"]] == ["toy.libsvm", "other.libsvm"]
    assert value["data"][0]["files"][0]["sha256"] == value["data"][1]["files"][0]["sha256"]
    first, second = ([r.get("mean") for r in value["results"] if r["data"] == s["name"]] for s in value["data"])
    assert first == second


@pytest.mark.parametrize("name", ["p0-l1-ball", "p1-ridge", "p1-logistic"])
def test_drawn(name: str, capsys: Capture) -> None:
    value = answer(capsys, [name, "--quick", "--runs", "1", "--n", "40"])
    assert {r["method"] for r in value["results"]} == {m.name for m in find(name).methods}
    sweeps = {r["sweep"] for r in value["results"]}
    assert sweeps == ({"n", "epsilon"} if name == "p0-l1-ball" else {"n", "d"})
    assert value["data"][0]["files"] == []


def test_the_table_says_intervals_and_reasons(capsys: Capture) -> None:
    assert (
        main(["experiment", "p1-logistic", "--quick", "--runs", "5", "--n", "60", "--jobs", "1", "--metric", "errors"]) == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert "95 % interval" in lines[2]
    (start,) = (line for line in lines if "n = 60" in line and "start" in line)
    assert start.endswith("worse")
    assert lines[-1].startswith("note: an experiment compares test errors")


def test_adult_as_it_comes(tmp_path: Path, capsys: Capture) -> None:
    for name, lines in (("adult.data", 80), ("adult.test", 20)):
        text = "".join(f"{BACHELOR}{'>50K' if i % 3 else '<=50K'}\n" for i in range(lines))
        (tmp_path / name).write_text(
            text if name == "adult.data" else "|1x3 Cross validator\n" + text.replace("K\n", "K.\n")
        )
    files = ["--data", str(tmp_path / "adult.data"), "--test", str(tmp_path / "adult.test")]
    value = answer(capsys, ["p1-logistic", *files, "--quick", "--n", "80", "--runs", "1"])
    assert (value["data"][0]["features"], value["data"][0]["row_norm"]) == (104, pytest.approx(math.sqrt(13)))
    assert {r["sweep"] for r in value["results"]} == {"n"}
    assert "by their encoding" in value["notes"][1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["p2"], "name = 'p2': is not known; the names are p0-l4"),
        (["p0-l4"], "data is missing: p0-l4 needs --data"),
        (["p0-l4", "--data", "nowhere"], "data = 'nowhere': there is no such file"),
        (["p0-l4", "--data", "FILE", "--test", "nowhere"], "test = 'nowhere': there is no such file"),
        (["p0-l4", "--data", "FILE", "--data", "FILE", "--test", "FILE"], "test: 1 files for 2 of data"),
        (["p0-l4", "--data", "FILE", "--n", "49"], "n = 49: is more than the 48 records"),
        (["p0-l4", "--data", "FILE", "--n", "3"], "n = 3"),
        (["p0-l4", "--data", "FILE", "--runs", "0"], "runs = 0"),
        (["p0-l4", "--data", "FILE", "--epsilon", "0"], "epsilon = 0"),
        (["p0-l4", "--data", "FILE", "--steps", "0"], "steps = 0"),
        (["p0-l4", "--data", "FILE", "--ridge", "-1"], "ridge = -1"),
        (["p0-l4", "--data", "FILE", "--moment-bound", "0"], "moment_bound = 0"),
        (["p0-l4", "--data", "FILE", "--row-norm", "0"], "row_norm = 0"),
        (["p0-l4", "--data", "FILE", "--features", "2"], "index 3 must be at most features = 2"),
        (["p0-l4", "--data", "FILE", "--plot", "x.txt"], "plot = 'x.txt': must end in one of .png"),
        (
            ["p0-l4", "--data", "FILE", "--plot", "/no/such/folder/x.png"],
            "--plot: '/no/such/folder/x.png': there is no folder '/no/such/folder'",
        ),
        (
            ["p0-l4", "--data", "FILE", "--json", "/no/such/folder/x"],
            "--json: '/no/such/folder/x': there is no folder",
        ),
        (["p0-l4", "--data", "FILE", "--domain", "cube:1"], "domain = 'cube:1'"),
        (["p0-l1-ball", "--data", "FILE"], "p0-l1-ball draws its own"),
        (["p0-l1-ball", "--domain", "ball:1"], "domain = 'ball:1': must be an l1 ball"),
        (["p1-ridge", "--hindsight"], "hindsight: is for P0's experiments"),
        (["p1-ridge", "--epsilon", "1", "2"], "has no sweep over it"),
        (["p1-ridge", "--quick", "--n", "40", "--runs", "1", "--jobs", "1", "--metric", "errors"], "targets are not labels"),
    ],
)
def test_wrong_input_is_one_line(more: list[str], said: str, libsvm: str, capsys: Capture) -> None:
    assert said in refusal(capsys, [libsvm if word == "FILE" else word for word in more])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1:1\n1 1:1\n", "has the label 0; labels must be -1 and 1"),
        ("a,b\n1,1\nx,1\n", "record 2 has a cell without a number"),
        ("b\n1\n", "at least one feature is needed"),
        ("1 1:1\n1 1:x\n", "line 2"),
        ("", "is empty"),
        ("1 1:1\n-1 1:1\n", "has 2 records; at least 5 are needed without a test file"),
    ],
)
def test_wrong_files(text: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x").write_text(text)
    assert said in refusal(capsys, ["p0-l4", "--data", str(tmp_path / "x")])


def test_a_test_file_of_another_width_is_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.csv").write_text("1,2,1\n" * 9)
    (tmp_path / "b.csv").write_text("1,1\n" * 9)
    text = refusal(capsys, ["p0-l4", "--data", str(tmp_path / "a.csv"), "--test", str(tmp_path / "b.csv")])
    assert "has 1 features, the training file 2" in text


# --------------------------------------------------------------------------------------------------------------------- data


def test_adult_s_features_are_those_of_uci_s_lists(tmp_path: Path) -> None:
    file = tmp_path / "adult.data"
    strange = BACHELOR.replace("State-gov", "?").replace("2174", "123456").replace("39", "-5")
    file.write_text(f"{BACHELOR}<=50K\n\n{strange}>50K\n")
    assert adult.is_adult(str(file))
    rows = adult.read_adult(str(file))
    assert rows.shape == (2, 105)
    assert rows[:, -1].tolist() == [-1.0, 1.0]
    assert rows[0, :5] == pytest.approx([0.39, 13 / 16, 0.02174, 0.0, 0.4])
    assert rows[1, :3] == pytest.approx([0.0, 13 / 16, 1.0])
    assert rows[:, 5:-1].sum(axis=1).tolist() == [8.0, 7.0]
    assert rows[0, 5 + adult.WORDS[1].split().index("State-gov")] == 1
    assert np.linalg.norm(rows[:, :-1], axis=1).max() <= adult.ROW_NORM


@pytest.mark.parametrize(
    ("line", "said"),
    [("1, 2, >50K", "must have 15 cells"), (BACHELOR.replace("39", "old") + ">50K", "cell 1 must be a number")],
)
def test_a_damaged_adult_file(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "adult").write_text(f"{BACHELOR}<=50K\n{line}\n")
    with pytest.raises(InputError, match=said):
        adult.read_adult(str(tmp_path / "adult"))


def test_what_is_held_out_is_not_trained_on(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("".join(f"{i},1\n" for i in range(100)))
    data = read_files(str(tmp_path / "x.csv"), None, features=None, seed=3)
    assert sorted([*data.train[:, 0], *data.test[:, 0]]) == list(range(100))
    small, _ = data.draw(30, 1, seed=5, run=2)
    large, _ = data.draw(60, 1, seed=5, run=2)
    assert np.array_equal(small, large[:30])
    assert not np.array_equal(small, data.draw(30, 1, seed=5, run=3)[0])


def test_laws_are_the_printed_ones() -> None:
    rng, n = np.random.default_rng(7), 200_000
    rows = linear_model(rng, n, 3)
    logs = np.log(rows[:, -1] - rows[:, :-1] @ target(3))
    assert logs.mean() == pytest.approx(1, abs=5.5 / math.sqrt(n))  # 5.5 standard deviations: false alarms below 1e-6
    assert logs.std() == pytest.approx(1, abs=5.5 / math.sqrt(2 * n))
    labels = threshold_model(rng, n, 3)
    assert set(labels[:, -1]) == {-1.0, 1.0}
    bounded = sparse_model(rng, n, 3)
    assert np.abs(bounded[:, -1]).max() <= 1


# ----------------------------------------------------------------------------------------------------- problems and methods


@pytest.mark.parametrize("name", ["l4", "squared", "logistic"])
def test_public_bounds_hold_for_all_rows_within_the_promise(name: str) -> None:
    known = {"domain": "ball:1.5", "dimension": 4, "ridge": 0.1, "row_norm": 2.0, "column": 2.0, "moment_bound": None}
    problem = problem_of_files(name, **known)  # type: ignore[arg-type]
    base = problem.loss.loss if isinstance(problem.loss, Ridge) else problem.loss
    rng = np.random.default_rng(1)
    x = rng.standard_normal((500, 4))
    x *= 2 / np.linalg.norm(x, axis=1, keepdims=True)
    rows = np.column_stack([x, rng.choice([-1.0, 1.0], 500)])
    law, reached = problem.law, 0.0
    for w in problem.domain.project(5 * rng.standard_normal((200, 4))):
        gradients = base.gradients(w, rows)
        reached = max(reached, float(np.linalg.norm(gradients, axis=1).max()))
        assert np.abs(problem.loss.gradients(w, rows)).max() <= law.mean_slope
        assert (problem.loss.gradients(w, rows) ** 2).mean(axis=0).max() <= law.second_moment
    assert 0.7 * law.lipschitz <= reached <= law.lipschitz == law.moment
    from tailproof.refimpl.approx_dp.gradients import smoothness_upper

    rough = smoothness_upper(problem.loss, rows, problem.domain).max()
    assert 0.9 * law.record_smoothness <= rough <= law.record_smoothness


def test_laws_of_drawn_gradients() -> None:
    rng = np.random.default_rng(2)
    for make, problem in (
        (linear_model, regression_problem(domain="ball:2", dimension=3, ridge=0.01)),
        (threshold_model, classification_problem(domain="ball:2", dimension=3, ridge=0.01)),
    ):
        rows, worst = make(rng, 20_000, 3), 0.0
        for w in problem.domain.project(9 * rng.standard_normal((40, 3))):
            gradients = problem.loss.gradients(w, rows)
            worst = max(worst, float((gradients**2).mean(axis=0).max()))
            assert np.abs(gradients.mean(axis=0)).max() <= problem.law.mean_slope + 0.5
        assert 0.3 * problem.law.second_moment < worst < 1.5 * problem.law.second_moment
    sparse = sparse_problem(domain="l1:1", dimension=3)
    rows = sparse_model(rng, 20_000, 3)
    slopes = np.linalg.norm(L4().gradients(np.array([1.0, 0, 0]), rows), axis=1)
    k = sparse.law.order
    assert float((slopes ** (2 * k)).mean() ** (1 / (2 * k))) <= sparse.law.moment


def test_the_losses_are_the_papers() -> None:
    kinds = [type(p.loss) for p in (sparse_problem(domain="l1:1", dimension=2),)]
    ridge = regression_problem(domain="ball:1", dimension=2, ridge=0.1).loss
    logistic = classification_problem(domain="ball:1", dimension=2, ridge=0.0).loss
    assert kinds == [L4]
    assert isinstance(ridge, Ridge)
    assert (type(ridge.loss), ridge.weight) == (Squared, 0.1)
    assert type(logistic) is Logistic


def test_the_budget_of_zcdp_variants_implies_the_claim() -> None:
    for epsilon, delta in ((0.5, 1e-5), (8.0, 4e-5)):
        rho = rho_for(epsilon, delta)
        assert epsilon * (1 - 1e-6) < zcdp_epsilon(rho, delta) <= epsilon


def test_parameters_of_p0_are_the_tuned_presets() -> None:
    known = {"domain": "ball:1", "dimension": 4, "ridge": 0.01, "row_norm": 2.0, "column": 2.0, "moment_bound": None}
    problem = problem_of_files("logistic", **known)  # type: ignore[arg-type]
    point = Point("epsilon", 1000, 4, 1.0, 1000**-1.1)
    chosen = plan(point, problem, method(P0, "LNC-GM"))
    law = {"dimension": 4, "diameter": problem.diameter, "smoothness": problem.law.record_smoothness}
    assert problem.diameter == pytest.approx(2)
    phases = localised.tuned_phases(1000, **law, moment_bound=2.0, moment_order=100.0, epsilon=1.0, delta=point.delta)  # type: ignore[arg-type]
    assert chosen.parameters["phases"] == phases
    assert plan(point, problem, method(P0, "PNCA-SGD shuffled")).reason
    descent = method(P0, "DP-SGD")
    clip = descent.choose(point, problem)["clip"]
    scaled = {variant.choose(point, problem)["clip"] / clip for variant in variants(descent)}
    assert sorted(scaled) == pytest.approx([0.02, 0.1, 0.3, 1.0])


@pytest.mark.parametrize(("loss", "radius"), [("l4", 1.0), ("l4", 9.0), ("logistic", 1.0), ("squared", 9.0)])
def test_the_reference_is_the_minimum(loss: str, radius: float) -> None:
    rows = linear_model(np.random.default_rng(4), 300, 4)
    rows[:, -1] = np.sign(rows[:, -1] - 4)
    function, ball = penalised(loss, 0.01), parse_domain(f"ball:{radius}", 4)
    point, _ = run(methods.minimise, rows, np.random.default_rng(0), loss=function, domain=ball)
    constraint = {"type": "ineq", "fun": lambda w: radius**2 - w @ w}
    best = minimize(function.mean_value, np.zeros(4), args=(rows,), constraints=constraint, options={"ftol": 1e-12})
    assert function.mean_value(point, rows) <= best.fun + 1e-7


def test_parameters_of_p1_are_those_of_appendix_c() -> None:
    problem, point = regression_problem(domain="ball:2", dimension=20, ridge=0.01), Point("n", 20_000, 20, 1.0, 1e-5)
    third = plan(point, problem, method(P1, "Alg. 3")).parameters
    assert (third["step_size"], third["trim"]) == (0.01, 1000)
    assert third.items() >= trimmed_descent.experiment_parameters(20_000).items()
    for name, sampling, step in (("Alg. 4", "full", 0.1), ("Alg. 4 stochastic", "disjoint", 1.0)):
        fourth = plan(point, problem, method(P1, name)).parameters
        assert (fourth["second_moment"], fourth["failure"], fourth["step_size"]) == (5.0, 0.01, step)
        assert fourth.items() >= soft_descent.experiment_parameters(sampling=sampling).items()
    assert plan(point, problem, method(P1, "RGD")).parameters["trim"] == 1000
    assert [m.name for m in P1 if "d" in m.sweeps] == ["start", "no privacy", "RGD", "Alg. 4 stochastic"]


def test_points_are_the_printed_ones() -> None:
    found = points(find("p0-l4").full, most=None, d=123)
    assert [p.epsilon for p in found if p.sweep == "epsilon"] == [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0]
    assert {p.n for p in found if p.sweep == "epsilon"} == {10_000}
    assert {p.epsilon for p in found if p.sweep == "n"} == {8.0}
    assert max(p.n for p in found) == 35_000
    assert all(p.delta == pytest.approx(p.n**-1.1) for p in found)
    first = points(find("p1-ridge").full, most=None, d=None)
    assert {(p.n, p.d) for p in first} == {(n, 20) for n in range(20_000, 100_001, 20_000)} | {
        (100_000, d) for d in (10, 20, 30, 40, 50)
    }
    assert [p.n for p in points(Sizes((10, 20, 30), 1.0), most=25, d=1) if p.sweep == "n"] == [10, 20, 25]


# ------------------------------------------------------------------------------------------------------------------ summary


def test_intervals_are_paired_and_cover() -> None:
    rng = np.random.default_rng(3)
    common, little = 10 * rng.standard_normal(12), 0.01 * rng.standard_normal(12)
    difference = bootstrap(common + little + 1 - common, seed=0)
    assert difference.interval[1] - difference.interval[0] < 0.05
    assert difference.interval[0] < 1 < difference.interval[1] or abs(difference.mean - 1) < 0.02
    alone = bootstrap(common, seed=0)
    assert alone.interval[1] - alone.interval[0] > 5
    assert bootstrap(np.array([2.0]), seed=0).interval == (2.0, 2.0)
    covered = [
        abs(s.mean) for _ in range(300) if (s := bootstrap(rng.standard_normal(20), seed=1)).interval[0] < 0 < s.interval[1]
    ]
    assert len(covered) > 240  # 0.93 of 300 expected; fewer than 240 has probability below 1e-6


def test_scores_by_hand() -> None:
    rows = np.array([[1.0, 0, 1], [0, 2, -1], [0, 0, 1]])
    scores = evaluate(Ridge(Logistic(), 0.5), np.array([1.0, 1.0]), rows)
    assert scores["mse"] == pytest.approx((0 + 9 + 1) / 3)
    assert scores["errors"] == pytest.approx(2 / 3)
    assert scores["loss"] == pytest.approx(np.log1p(np.exp([-1, 2, 0])).mean() + 0.5)
    assert "errors" not in evaluate(Squared(), np.zeros(1), np.array([[1.0, 0.5]]))
