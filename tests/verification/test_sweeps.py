"""Sweeps: verdicts on risks whose slopes are known, rates with their choices, the instances' public numbers, the command."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.bounds.errata import errata
from tailproof.bounds.theorems import theorem, theorems
from tailproof.refimpl.approx_dp.median_descent import published_convex
from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import ApproxDP, classical_gaussian_scale, split_for_advanced
from tailproof.refimpl.means.median_of_means import number_of_groups
from tailproof.refimpl.problems import StudentT
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import sweep_runs
from tailproof.verification.cli import main
from tailproof.verification.planted import judged, planted
from tailproof.verification.shown import render
from tailproof.verification.sweep_cases import (
    CASES,
    UNMEASURED,
    Instance,
    fourth_power,
    linear,
    power_growth,
    sparse_regression,
    student,
)
from tailproof.verification.sweeps import (
    Explicit,
    Point,
    _against,
    analyse,
    bound_at,
    exceeded,
    overview,
    parts,
    points_of,
    sentence,
    sweep,
    unexplained,
)
from tailproof.verification.workers import Workers

GRID = np.array([1e3, 3e3, 1e4, 3e4])


def risks(slope: float, runs: int = 30, spread: float = 0.2) -> FloatArray:
    """x^slope times factors between e^−spread and e^spread, the same at all values (as paired seeds make it, nearly)."""
    factors = np.exp(np.linspace(-spread, spread, runs))
    turned = np.array([np.roll(factors, 7 * row) for row in range(len(GRID))])
    return GRID[:, np.newaxis] ** slope * turned


@pytest.mark.parametrize(
    ("slope", "direction", "verdict"),
    [
        (-0.5, 1, "level"),
        (-0.75, 1, "falls"),
        (-0.25, 1, "grows"),
        (-0.25, -1, "falls"),
        (-0.75, -1, "grows"),
        (-0.1, 0, "shown"),
    ],
)
def test_a_wrong_exponent_of_a_quarter_is_seen(slope: float, direction: int, verdict: str) -> None:
    """The factors are spread evenly, so that no chance is involved but the bootstrap's: limits are about 0.07 away."""
    found = analyse(GRID, risks(slope), GRID**-0.5, np.full(4, 10.0), quantile=None, seed=0, direction=direction)
    assert found["verdict"] == verdict
    middle, low, high = found["slope"]
    assert middle == pytest.approx(slope, abs=1e-9)
    assert low < slope < high
    assert high - low < 0.2
    assert found["bound_slope"] == pytest.approx(-0.5)
    assert found["ratio_slope"][0] == pytest.approx(slope + 0.5)


@pytest.mark.parametrize(
    ("slope", "exponent"), [(-0.5, "agrees"), (-0.58, "near"), (-0.42, "near"), (-0.75, "differs"), (-0.25, "differs")]
)
def test_exponents(slope: float, exponent: str) -> None:
    """Limits are less than 0.08 away, and near is up to 1/8, either way and in any direction."""
    for direction in (-1, 0, 1):
        found = analyse(GRID, risks(slope), GRID**-0.5, np.full(4, 10.0), quantile=None, seed=0, direction=direction)
        assert found["exponent"] == exponent


def test_limits_are_those_of_the_mean_of_logarithms() -> None:
    """Against the normal approximation of the slope's law: least squares of independent means."""
    rng = np.random.default_rng(5)
    data = np.exp(0.3 * rng.standard_normal((4, 400)))
    low, high = (
        analyse(GRID, data, np.ones(4), np.full(4, 9.0), quantile=None, seed=1, direction=1)["slope"][i] for i in (1, 2)
    )
    logs = np.log(GRID) - np.log(GRID).mean()
    deviations = data.std(axis=1) / data.mean(axis=1) / 20
    spread = 2.326 * math.sqrt(np.sum((logs * deviations) ** 2)) / (logs @ logs)
    assert (high - low) / 2 == pytest.approx(spread, rel=0.15)


def test_uninformative_values_do_not_count() -> None:
    data = risks(-0.5)
    starts = np.full(4, 2.5 * data[1].mean())  # the first value is above half of it
    found = analyse(GRID, data, GRID**-0.25, starts, quantile=None, seed=0, direction=1)
    assert found["informative"] == 3
    assert found["verdict"] == "falls"
    starts = np.full(4, 1.5 * data[1].mean())
    found = analyse(GRID, data, GRID**-0.25, starts, quantile=None, seed=0, direction=1)
    assert (found["informative"], found["verdict"], found["slope"]) == (2, "saturated", None)


def test_quantiles_are_order_statistics() -> None:
    data = np.tile(np.arange(1.0, 21.0), (4, 1))
    found = analyse(GRID, data, np.ones(4), np.full(4, 99.0), quantile=0.75, seed=0, direction=1)
    assert {row["measured"] for row in found["points"]} == {16.0}


def test_choices_explain_letters() -> None:
    """P0's Theorem 1 with a and b of its proof, by hand."""
    letters = {"R2k": 2.0, "D": 3.0, "n": 1e4, "d": 2.0, "delta": 1e-6, "eps": 0.5, "k": 4.0, "xi": 1e-3, "p": 1.0}
    share = (math.sqrt(2 * math.log(1e6)) / (0.5 * 1e4)) ** 0.75
    by_hand = 2 * 3 * (0.01 + share) + 3 * math.sqrt(math.log(1e3)) / (4 * 100)
    assert bound_at(replace(theorem("P0.T1"), derived=None), letters) == pytest.approx(by_hand)
    b = (math.sqrt(2 * math.log(1e6) * math.log(1e4)) / (0.5 * 1e4)) ** 0.75
    a, logs = 0.01 + b, math.sqrt(math.log(1e4) * math.log(1e3))
    derived = (
        2 * 3 * max(a / 1e4, b / 100, 2 * a**2 * logs / 100)
        + 3 * min(2 * a, 2 * a**2 / (100 * b), 0.01 / logs)
        + 2 * 3 * b**2 * min(1 / a, 1 / (100 * b), 0.01 / (2 * a**2 * logs))
        + 3 * math.log(1e4) * math.sqrt(math.log(1e3)) * min(200 * a, 2 * a**2 / b, 1 / logs)
    )
    assert bound_at(theorem("P0.T1"), letters) == pytest.approx(derived)


def test_without_logs() -> None:
    """Every logarithm is 1, also those of the choices."""
    letters = {"u": 2.0, "n": 1e4, "eps": 0.5, "delta": 1e-6, "xi": 0.1, "v": 0.5}
    assert bound_at(theorem("P3.T1"), letters, logs=False) == pytest.approx(2 ** (2 / 3) * (1 / 5e3) ** (1 / 3))
    log = math.log(1e6) ** 0.5 * math.log(10)
    assert bound_at(theorem("P3.T1"), letters) == pytest.approx(2 ** (2 / 3) * (log / 5e3) ** (1 / 3))
    known = {"R2k": 2.0, "D": 3.0, "n": 1e4, "d": 2.0, "delta": 1e-6, "eps": 0.5, "k": 4.0, "xi": 1e-3, "p": 1.0}
    b = (math.sqrt(2) / (0.5 * 1e4)) ** 0.75
    a = 0.01 + b
    by_hand = (
        2 * 3 * max(a / 1e4, b / 100, 2 * a**2 / 100)
        + 3 * min(2 * a, 2 * a**2 / (100 * b), 0.01)
        + 2 * 3 * b**2 * min(1 / a, 1 / (100 * b), 0.01 / (2 * a**2))
        + 3 * min(200 * a, 2 * a**2 / b, 1)
    )
    assert bound_at(theorem("P0.T1"), known, logs=False) == pytest.approx(by_hand)


# -------------------------------------------------------------------------------------------- bounds with explicit constants


def runs_beyond(count: int, runs: int = 100) -> FloatArray:
    return np.where(np.arange(runs) < count, 2.0, 0.5)


@pytest.mark.parametrize(("beyond", "verdict"), [(0, "confirmed"), (10, "consistent"), (20, "consistent"), (60, "violated")])
def test_an_inequality_in_probability(beyond: int, verdict: str) -> None:
    """P(Bin(100, 0.2) ≥ 60) is 1e-18; Clopper and Pearson's limit of 10 in 100 at 99 % is 0.19, of a third of the error 0.21."""
    found = _against(Explicit(1.0, 0.2), runs_beyond(beyond), share=1 / 3)
    assert found["verdict"] == verdict
    assert found["measured"] == beyond / 100
    assert binom.cdf(beyond, 100, found["limit"]) == pytest.approx(0.01 / 3)
    assert found["chance"] == pytest.approx(binom.sf(beyond - 1, 100, 0.2))


@pytest.mark.parametrize(("upper", "verdict"), [(1.2, "confirmed"), (0.75, "consistent"), (0.2, "violated")])
def test_an_inequality_of_the_mean(upper: float, verdict: str) -> None:
    """A mean of 0.65 of 400 values up to 4, by Hoeffding: 0.2 has a probability below 1e-20, and the limit is 0.96."""
    found = _against(Explicit(upper, None, most=4.0), runs_beyond(40, 400), share=1.0)
    assert (found["verdict"], found["what"]) == (verdict, "mean")
    assert found["measured"] == pytest.approx(0.65)
    assert 0.65 < found["limit"] < 1.2


def test_an_exceeded_inequality_fails() -> None:
    """With a constant that is a hundredth of the true one nearly all runs are beyond the bound."""
    case = sweep_runs.chosen("P3.R1")
    honest = sweep(case, over="n", grid=(500, 1000, 2000), runs=40, seed=0)
    assert honest["explicit"] == "confirmed"  # no run is beyond a bound of which 3/4 may be
    assert exceeded([honest]) == []

    def broken(values: dict[str, float]) -> Point:
        point = case.at(values)
        assert point.explicit is not None
        return replace(point, explicit=replace(point.explicit, upper=point.explicit.upper / 100, failure=0.05))

    found = sweep(replace(case, at=broken), over="n", grid=(500, 1000, 2000), runs=40, seed=0)
    assert found["explicit"] == "violated"
    assert len(exceeded([found])) == 1
    assert exceeded([found])[0] in sweep_runs.failures([found])
    assert "with explicit constants" in render(overview(found))
    assert sentence(found).count("violated") == 1


@pytest.mark.parametrize("identifier", ["P4.OURS.single", "P4.P3.2", "P4.TE.1"])
def test_the_minimiser_that_distances_are_from(identifier: str) -> None:
    """With an enormous ε, a clip that no record exceeds and no slack there is next to no distance."""
    case = sweep_runs.chosen(identifier)
    point = case.at({**case.values, "n": 50.0, "eps": 1.0})
    rng = np.random.default_rng(0)
    data = point.sample(rng)
    loose = {**point.parameters, "epsilon": 1e6, "lipschitz": 100.0}
    loose |= {"kappa": 1e-3} if "kappa" in loose else {}
    output, _ = run(point.mechanism, data, rng, **loose)
    assert point.excess(output, data) < 0.01
    assert point.excess(output + 0.1, data) > 0.05


# ---------------------------------------------------------------------------------------------------------- planted exponents


@pytest.mark.parametrize(("identifier", "grid"), [("P4.OURS.single", (100, 1000, 10000)), ("P3.R1", (1000, 10000, 100000))])
def test_a_planted_quarter_is_found(identifier: str, grid: tuple[int, ...]) -> None:
    """Slopes have standard deviations of about 0.03: a quarter is 8 of them away, limits are 2.3 away, so that each of these three
    fails with a probability below 1e-7."""
    case = sweep_runs.chosen(identifier)
    points = points_of(case, over="n", grid=grid)
    parts_ = parts(case, over="n", grid=points, runs=100, seed=5)
    risks_ = [risk for task in parts_ for risk in task.function(*task.arguments)]
    found = judged(case, risks_, over="n", points=points, runs=100, seed=5)
    assert found["honest"]["exponent"] != "differs"
    assert found["optimistic"][0] == "grows"
    assert found["pessimistic"][1] != "agrees"
    assert found["honest"]["points"][0]["bound_slope"] == pytest.approx(-0.5)


def test_a_statement_that_differs_cannot_be_caught() -> None:
    case = sweep_runs.chosen("P3.R1")
    points = points_of(case, over="n", grid=GRID)
    for slope, caught in ((-0.5, True), (0.5, False), (-2.0, False)):
        found = judged(case, risks(slope).ravel().tolist(), over="n", points=points, runs=30, seed=0)
        assert found["caught"] is caught
    assert planted(theorem("P3.T1"), "n", -0.25).derived == f"({theorem('P3.T1').derived})*n**(-0.25)"


def test_every_theorem_about_an_optimiser_is_swept_or_says_why_not() -> None:
    """Numbered upper bounds of P0 to P3 that name an algorithm."""
    numbered = {s.id for s in theorems() if s.kind == "upper" and s.algorithms and re.fullmatch(r"P[0-3]\.T\d+", s.id)}
    numbered -= {"P1.T1"}  # of any points, not of an estimator: `sample_aggregate`'s tests check it
    covered = {case.statement for case in CASES if case.preset == "theory"} | set(UNMEASURED)
    assert numbered - covered == {"P0.T10", "P0.T11"} & numbered  # steps of the proofs of Theorems 1 and 2
    for case in CASES:
        assert case.algorithm in theorem(case.statement).algorithms
        assert set(case.grids) <= set(case.values)


def test_reasons_name_errata_that_exist() -> None:
    known = {entry.id for entry in errata()}
    for reason in (*UNMEASURED.values(), *(case.reason for case in CASES)):
        named = re.findall(r"P\d\.\S+(?=:)", reason)
        assert set(named) <= known


@pytest.mark.parametrize("n", [400, 10**6, 10**12])
def test_what_theorem_6_of_p3_hides(n: int) -> None:
    """The noise of its steps at d = 1, ε = 1, δ = 1e-4: thousands of times R, and η·V²/2 above 300; the start has risk ½."""
    steep = 0.5 + 100**0.25
    chosen = published_convex(n, 1, epsilon=1.0, moment_order=2.0, gradient_bound=steep, diameter=2.0)
    share = split_for_advanced(ApproxDP(1.0, 1e-4), chosen.steps)
    group = n // number_of_groups(n, 1, failure=chosen.failure)
    noise = classical_gaussian_scale(2 * chosen.truncation / group, share.epsilon, share.delta)
    assert noise > 3000 * steep
    assert chosen.learning_rate * noise**2 / 2 > 300


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_can_be_made_at_all_its_values(case: object) -> None:
    assert isinstance(case, type(CASES[0]))
    for over, grid in case.grids.items():
        for value in (min(grid), max(grid)):
            point = case.at({**case.values, over: value})
            assert point.start > 0
            assert 0 < bound_at(theorem(case.statement), {**point.letters, over: value}) < math.inf


# ------------------------------------------------------------------------------------------- the instances' public numbers


def gradient_norms(instance: Instance, records: FloatArray, point: FloatArray) -> FloatArray:
    return np.linalg.norm(instance.loss.gradients(point, records), axis=1)


def support(sizes: dict[float, float], d: int) -> tuple[FloatArray, FloatArray]:
    """All records of d independent coordinates with these values and probabilities."""
    rows = np.array(list(itertools.product(sizes, repeat=d)))
    return rows, np.array([math.prod(sizes[x] for x in row) for row in rows])


def points_of_the_ball(instance: Instance, rng: np.random.Generator) -> FloatArray:
    d, ball = instance.domain.dimension, instance.domain
    far = rng.standard_normal((60, d))
    ends = ball.center + np.concatenate([np.eye(d), -np.eye(d), far / np.linalg.norm(far, axis=1, keepdims=True)])
    return np.vstack([ends, ball.project(ball.center + rng.standard_normal((20, d)))])


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("theta", [2.0, 4.0])
def test_power_growth_knows_its_moments(d: int, theta: float) -> None:
    instance = power_growth({"d": d, "theta": theta, "k": 4.0})
    far = 20**0.25
    records, chances = support({0.0: 0.95, far: 0.025, -far: 0.025}, d)
    for w in points_of_the_ball(instance, np.random.default_rng(1)):
        norms = gradient_norms(instance, records, w)
        assert (chances @ norms**8) ** (1 / 8) <= instance.known["norm_moment"]
        assert norms.max() <= instance.known["lipschitz"] * (1 + 1e-12)


def test_fourth_powers_know_their_moments() -> None:
    instance = fourth_power({"d": 2, "k": 2.0})
    features, chances = support({1.0: 0.475, -1.0: 0.475, 2.0: 0.025, -2.0: 0.025}, 2)
    records = np.column_stack([features, features[:, 0] / 2])
    for w in points_of_the_ball(instance, np.random.default_rng(2)):
        norms = gradient_norms(instance, records, w)
        assert (chances @ norms**4) ** (1 / 4) <= instance.known["norm_moment"]
        assert norms.max() <= instance.known["lipschitz"]
        rough = 12 * (features @ (w - [0.5, 0.0])) ** 2 * np.sum(features**2, axis=1)
        assert rough.max() <= instance.known["record_smoothness"]


def test_linear_losses_know_their_moments() -> None:
    instance = linear({"d": 3, "k": 4.0, "v": 0.5})
    lengths, chances = np.array([0.5, 0.5 + 100**0.25, 0.5 - 100**0.25]), np.array([0.99, 0.005, 0.005])
    assert instance.known["norm_moment"] == pytest.approx((chances @ np.abs(lengths) ** 8) ** (1 / 8))
    assert instance.known["coordinate_moment"] == pytest.approx(chances @ (np.abs(lengths) / math.sqrt(3)) ** 1.5)
    assert instance.known["lipschitz"] == pytest.approx(lengths.max())


@pytest.mark.parametrize("d", [1, 3])
def test_means_know_their_moments(d: int) -> None:
    """Second moments on the whole ball, in closed form: E(w_j − x_j)² and E⟨u, w − x⟩²."""
    instance = student(2.5)({"d": d})
    variance, mean = StudentT(2.5).variance(), 0.5 / math.sqrt(d)
    assert instance.known["coordinate_moment"] == pytest.approx(variance + (1 + mean) ** 2)
    assert instance.known["direction_moment"] >= math.sqrt(variance + 1.5**2) * (1 - 1e-9)
    assert instance.known["mean_slope"] >= 1 + mean
    assert "norm_moment" not in instance.known  # no fourth moment


def test_sparse_regression_bounds_the_moments_of_its_gradients() -> None:
    """E|∂_j f|^{1+v} at the start and 1 away from w*, over a grid of the noise's quantiles and of Gaussian features."""
    values = {"d": 6, "s": 2, "v": 0.5}
    instance = sparse_regression(values)
    rng = np.random.default_rng(3)
    records = instance.problem.sample(rng, 400_000)
    for w in (np.zeros(6), np.append(1 / math.sqrt(2) + 1, [1 / math.sqrt(2), 0, 0, 0, 0])):
        moments = np.mean(np.abs(instance.loss.gradients(w, records)) ** 1.5, axis=0)
        assert moments.max() <= instance.known["coordinate_moment"]  # which is 1.6 times as much or more: no chance decides


# ------------------------------------------------------------------------------------------------------------------ the command


def test_a_sweep_is_the_same_for_any_number_of_workers() -> None:
    case = sweep_runs.chosen("P3.T1")
    one, two = (
        sweep(case, over="n", grid=(500, 1000, 2000), runs=12, seed=3, workers=Workers(jobs=jobs)) for jobs in (1, 2)
    )
    assert one == two
    assert one["points"][0]["ratio"] == one["points"][0]["measured"] / one["points"][0]["bound"]
    assert one != sweep(case, over="n", grid=(500, 1000, 2000), runs=12, seed=4)
    assert "slope in log n" in render(overview(one))


def test_an_unexplained_growth_fails() -> None:
    """A rate that falls by n more than it should: measured / rate grows, as it is far from the limits."""
    case = replace(sweep_runs.chosen("P1.T8"), reason="")
    wrong = replace(theorem("P1.T8"), derived=f"({theorem('P1.T8').derived})/n**2")
    found = sweep(case, over="n", grid=(1e3, 1e4, 1e5), runs=10, seed=0, statement=wrong)
    assert found["verdict"] == "grows"
    assert len(unexplained([found])) == 1
    assert sweep_runs.failures([found]) == unexplained([found])
    assert sweep_runs.failures([{**found, "preset": "tuned"}]) == []
    assert sweep_runs.failures([{**found, "over": "d"}]) == []
    assert unexplained([{**found, "reason": "P1.(2): as found"}]) == []
    assert sentence({**found, "reason": "P1.(2): as found"}).endswith("P1.(2): as found")


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    plot = f"{tmp_path}/picture.svg"
    words = ["sweep", "P3.T1", "--over", "n=500,1000,2000", "--runs", "6", "--epsilon", "0.5", "--plot", plot, "--json", "-"]
    assert main([*words, "--jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["at"] for row in found["points"]] == [500, 1000, 2000]
    assert found["values"]["eps"] == 0.5
    with open(plot) as file:
        drawn = file.read()
    assert "<svg" in drawn
    slope, theorem = (f"{value:.2f}".replace("-", "−") for value in (found["slope"][0], found["bound_slope"]))
    assert f": slope {slope}, theorem {theorem}" in drawn  # in the title
    assert f"measured, 6 runs, 95 %: slope {slope} [" in drawn
    assert "rate of P3.T1, scaled: slope" in drawn
    assert "×10" not in drawn  # numbers are plain
    assert ("allowed: the theorem" in drawn) == all(row.get("explicit") for row in found["points"])
    assert "not counted" not in drawn
    assert main(["sweep"]) == 0
    assert "P2.T7" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["P9.T1"], "id = 'P9.T1': is not known"),
        (["P2.T7"], "P2.Thm7.start"),
        (["P3.T1", "--over", "n=9:3:4"], "empty range"),
        (["P3.T1", "--over", "n=3:9"], "COUNT"),
        (["P3.T1", "--over", "n=1000,2000"], "at least three"),
        (["P3.T1", "--over", "n=a,b,c"], "must be a number"),
        (["P3.T1", "--over", "k=1,2,3"], "over = 'k'"),
        (["P3.T1", "--over", "what"], "NAME=LOW:HIGH:COUNT"),
        (["P3.T1", "--set", "k=3"], "k: does not apply"),
        (["P3.T1", "--over", "eps=0.1:1:3", "--epsilon", "1"], "epsilon: does not apply"),
        (["P3.T1", "--over", "eps=1:2:3"], "epsilon = "),
        (["P3.T1", "--problem", "nothing"], "problem = 'nothing'"),
        (["P3.T1", "--runs", "2"], "runs = 2"),
        (["P3.T1", "--resume"], "resume: needs a checkpoint"),
        (["P3.T1", "--cluster", "nowhere"], "cluster = 'nowhere'"),
        (["P3.T1", "--over", "n=500,600,700", "--runs", "3", "--plot", "/no/such/folder/x.svg"], "there is no folder"),
    ],
)
def test_bad_requests(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["sweep", *words, "--jobs", "1"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_grid_that_cannot_be_run_is_refused_before_anything_is_run() -> None:
    with pytest.raises(InputError, match="epsilon"):
        sweep(sweep_runs.chosen("P2.T4"), over="eps", grid=(0.5, 1.0, 2.0), runs=10**6, seed=0)
