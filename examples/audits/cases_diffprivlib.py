"""diffprivlib: every model and tool, most mechanisms, and the accountant; libraries are imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any

import laws
import numpy as np
from harness import Case, Run, at_most, by_runs, exactly

from refimpl.claims import ApproxDP, PureDP

EPSILONS = (0.1, 1.0, 5.0)
REACH = 8.0  # of intercepts; further out the solver's default tolerance is coarser than the law
BINGHAM = (
    "the sampler divides where it should multiply, and has another law than it states, within ε all the same in the plane"
)
READING = (
    "2ε: the noise is for a record that is added, while that of means is for one that is replaced; the documentation does not "
    "say which"
)


def _case(subject: str, setting: str, test: Any, witness: str, *, epsilon: float = 1.0, **more: str) -> Case:
    return Case("diffprivlib", subject, f"{setting}, ε = {epsilon:g}", PureDP(epsilon), test, witness, **more)


def _runs(
    subject: str, setting: str, run: Run, pair: tuple[Any, Any], witness: str, budget: int, epsilon: float = 1.0, **more: str
) -> Case:
    return _case(subject, setting, by_runs(run, pair, budget=budget), witness, epsilon=epsilon, **more)


def _state(rng: np.random.Generator) -> np.random.RandomState:
    """The generator of an audit, as diffprivlib takes it."""
    return np.random.RandomState(rng.bit_generator)


def _settings(rng: np.random.Generator) -> dict[str, Any]:
    """An accountant of its own for every run: the default one keeps a list that grows."""
    return {"random_state": _state(rng), "accountant": import_module("diffprivlib.accountant").BudgetAccountant()}


def _model(name: str) -> Any:
    return getattr(import_module("diffprivlib.models"), name)


def _tool(name: str) -> Any:
    return getattr(import_module("diffprivlib.tools"), name)


# --- regressions ----------------------------------------------------------------------------------------------------------------


def linear_regressions() -> list[Case]:
    found = []
    script = "diffprivlib_linear_regression.py"
    for bounds, epsilon in product(((-1, 1), (-1, 0), (0, 1), (-0.1, 1), (0.5, 1), (0, 100)), EPSILONS):
        setting = f"bounds_X = {bounds}, bounds_y = (-1, 1), no intercept"
        test = exactly(lambda b=bounds, e=epsilon: laws.linear_regression(*b, e))
        witness = "two records at the bounds, one replaced"
        found.append(_case("LinearRegression", setting, test, witness, epsilon=epsilon, script=script))

    def with_intercept(x: Any, rng: np.random.Generator) -> Any:
        model = _model("LinearRegression")(epsilon=1.0, bounds_X=(0, 1), bounds_y=(-1, 1), **_settings(rng))
        fitted = model.fit(x, np.zeros(len(x)))
        return np.array([fitted.coef_[0], fitted.intercept_])

    pair = np.full((10, 1), 0.03), np.vstack([np.full((9, 1), 0.03), [[1.0]]])
    found.append(
        _runs(
            "LinearRegression",
            "bounds_X = (0, 1), bounds_y = (-1, 1), intercept",
            with_intercept,
            pair,
            "ten records, x = 0.03, one becomes 1",
            1200,
            script="diffprivlib_linear_regression_intercept.py",
        )
    )
    return found


def logistic_regressions() -> list[Case]:
    found = []
    for norm, strength, epsilon in product((0.1, 1.0, 10.0, 100.0), (0.01, 1.0), EPSILONS):
        setting = f"data_norm = {norm:g}, C = {strength:g}, no intercept"
        test = exactly(lambda n=norm, c=strength, e=epsilon: laws.logistic_regression(n, c, e))
        script = "diffprivlib_logistic_regression.py"
        found.append(_case("LogisticRegression", setting, test, "two records, one replaced", epsilon=epsilon, script=script))
    for norm, epsilon in product((0.1, 1.0, 10.0, 100.0), EPSILONS):
        setting = f"data_norm = {norm:g}, C = 1, intercept"
        test = exactly(lambda n=norm, e=epsilon: laws.logistic_regression_intercept(n, 1.0, e, reach=REACH))
        witness = f"ten records, x = 0 for all but one; |intercept| up to {REACH:g}"
        script = "diffprivlib_logistic_regression_intercept.py"
        found.append(_case("LogisticRegression", setting, test, witness, epsilon=epsilon, script=script))
    return found


# --- other models ---------------------------------------------------------------------------------------------------------------


def naive_bayes(low: float) -> Run:
    """The data are the labels."""

    def run(labels: Any, rng: np.random.Generator) -> Any:
        model = _model("GaussianNB")(epsilon=1.0, bounds=(low, low + 1), **_settings(rng))
        fitted = model.fit(np.full((len(labels), 1), low + 0.5), labels)
        return np.concatenate([fitted.class_count_, fitted.theta_[:, 0] * fitted.class_count_, fitted.var_[:, 0]])

    return run


def classes_told(labels: Any, rng: np.random.Generator) -> Any:
    model = _model("GaussianNB")(epsilon=1.0, bounds=(0, 1), **_settings(rng))
    return float(max(model.fit(np.full((len(labels), 1), 0.5), labels).classes_))


def centres(bounds: tuple[float, float], clusters: int) -> Run:
    def run(x: Any, rng: np.random.Generator) -> Any:
        fitted = _model("KMeans")(clusters, epsilon=1.0, bounds=bounds, **_settings(rng)).fit(x)
        return np.sort(fitted.cluster_centers_.sum(axis=1))

    return run


def inertia(x: Any, rng: np.random.Generator) -> Any:
    fitted = _model("KMeans")(1, epsilon=1.0, bounds=(0, 1), **_settings(rng)).fit(x)
    return fitted.inertia_ - len(x) * fitted.cluster_centers_[0, 0] ** 2


def scaler(x: Any, rng: np.random.Generator) -> Any:
    fitted = _model("StandardScaler")(epsilon=1.0, bounds=(0, 1), **_settings(rng)).fit(x)
    return np.array([fitted.mean_[0], fitted.var_[0]])


def components(centred: bool) -> Run:
    def run(x: Any, rng: np.random.Generator) -> Any:
        model = _model("PCA")(2, epsilon=1.0, data_norm=1.0, bounds=(-1, 1), centered=centred, **_settings(rng))
        fitted = model.fit(np.array(x))
        return np.concatenate([fitted.components_[0], fitted.explained_variance_])

    return run


def kmeans_spent(features: int) -> float:
    """What counts and sums of all iterations spend for a claim of 1: their shares are swapped on the way."""
    share = float(np.cbrt(4 * features * 0.225**2))
    return (1 + features * share) / (features + share)


def other_models() -> list[Case]:
    halves, flipped = np.repeat([0, 1], 20), np.repeat([0, 1], [19, 21])
    ten = np.zeros((10, 1)), np.array([[0.0]] * 9 + [[1.0]])
    plane = np.zeros((10, 2)), np.vstack([np.zeros((9, 2)), [[1.0, 0.0]]])
    clusters = np.repeat([[9.0], [10.0]], 20, axis=0), np.repeat([[9.0], [10.0]], [19, 21], axis=0)
    alone = np.array([0, 1] * 4 + [0, 7]), np.array([0, 1] * 5)
    forest, shown, unit = "diffprivlib_random_forest.py", "ten zeros, one becomes 1", "ten zeros, one becomes a unit vector"
    label = "forty records in the middle, twenty of either label, one changes"
    return [
        _case(
            "RandomForestClassifier",
            "one tree, a record replaced",
            exactly(lambda: laws.forest_replaced(1.0)),
            "labels (0, 0) and (0, 1) in one leaf",
            script=forest,
        ),
        _case(
            "RandomForestClassifier",
            "two trees, a record taken away",
            exactly(lambda: laws.forest_added(1.0)),
            "labels (0, 1), and (1)",
            script=forest,
            note="the records that follow move to other trees",
        ),
        *(
            _case(
                "PCA",
                f"eigenvectors in the plane, n = {n + 1}",
                exactly(lambda e=e, n=n: laws.bingham(e, n)),
                "unit vectors, one turned or zero",
                epsilon=e,
                note=BINGHAM,
            )
            for e, n in product(EPSILONS, (1, 10))
        ),
        _runs("PCA", "data_norm = 1, centred", components(True), plane, unit, 3000),
        _runs("PCA", "data_norm = 1, not centred", components(False), plane, unit, 3000),
        _runs(
            "GaussianNB",
            "bounds = (9, 10), a label changes",
            naive_bayes(9.0),
            (halves, flipped),
            label,
            8000,
            script="diffprivlib_gaussian_nb.py",
            note="records that are added change the sum of all counts, which is exact",
        ),
        _runs("GaussianNB", "bounds = (0, 1), a label changes", naive_bayes(0.0), (halves, flipped), label, 8000),
        _runs(
            "GaussianNB",
            "one record alone in its class",
            classes_told,
            alone,
            "a label 7 among 0 and 1",
            600,
            script="diffprivlib_gaussian_nb_classes.py",
            note="there is no parameter for the classes, and no warning",
        ),
        _runs("KMeans", "centres, bounds = (0, 1), one cluster", centres((0, 1), 1), ten, shown, 4000),
        _runs(
            "KMeans",
            "centres, bounds = (9, 10), two clusters",
            centres((9, 10), 2),
            clusters,
            "twenty nines, twenty tens, one moves",
            3000,
            note="a record that leaves takes 9 out of a sum with noise for 1; the noise of the count hides it",
        ),
        _runs(
            "KMeans",
            "inertia_, bounds = (0, 1)",
            inertia,
            ten,
            shown,
            600,
            script="diffprivlib_kmeans_inertia.py",
            note="a documented attribute, without noise",
        ),
        _case(
            "KMeans",
            "100 features, the budget of all releases",
            exactly(lambda: kmeans_spent(100)),
            "1 + d·r against d + r shares, r³ = 4d·0.225²",
            note="the shares of counts and sums are swapped; centres alone are published, so that this decides nothing",
            exceeded="inconclusive",
        ),
        _runs("StandardScaler", "bounds = (0, 1)", scaler, ten, shown, 8000, note="NaN is refused, though documented"),
    ]


# --- tools ----------------------------------------------------------------------------------------------------------------------


def tool(name: str, **settings: Any) -> Run:
    def run(data: Any, rng: np.random.Generator) -> Any:
        found = _tool(name)(data, **_settings(rng), **settings)
        return np.ravel(found[0] if isinstance(found, tuple) else found)

    return run


def weighted_histogram(records: Any, rng: np.random.Generator) -> Any:
    return _tool("histogram")(records[:, 0], epsilon=1.0, bins=2, range=(0, 1), weights=records[:, 1], **_settings(rng))[0]


def plane_histogram(points: Any, rng: np.random.Generator) -> Any:
    return _tool("histogram2d")(*points.T, epsilon=1.0, bins=2, range=[[0, 1]] * 2, **_settings(rng))[0].ravel()


def tools() -> list[Case]:
    ten, shown = (np.zeros(10), np.array([0.0] * 9 + [1.0])), "ten zeros, one becomes 1"
    aside, moves = (np.array([0.0] + [0.5] * 9), np.array([1.0] + [0.5] * 9)), "nine at 0.5, one goes from 0 to 1"
    found = []
    for name, epsilon in product(("mean", "var", "std", "sum", "count_nonzero", "median"), EPSILONS):
        settings: dict[str, Any] = {"epsilon": epsilon} | ({} if name == "count_nonzero" else {"bounds": (0, 1)})
        pair, witness = (aside, moves) if name == "median" else (ten, shown)
        found.append(_runs(f"tools.{name}", "bounds = (0, 1)", tool(name, **settings), pair, witness, 10000, epsilon))
    unit: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1)}
    columns = np.full((10, 3), -5.0), np.vstack([np.full((9, 3), -5.0), np.full((1, 3), 5.0)])
    found += [
        _runs("tools.quantile", "0.9, bounds = (0, 1)", tool("quantile", quant=0.9, **unit), aside, moves, 10000),
        _runs(
            "tools.percentile",
            "25, 50, 75, bounds = (0, 1)",
            tool("percentile", percent=[25, 50, 75], **unit),
            aside,
            moves,
            10000,
        ),
        _runs(
            "tools.mean",
            "axis = 0, three columns, bounds = (-5, 5)",
            tool("mean", axis=0, epsilon=1.0, bounds=(-5, 5)),
            columns,
            "ten records at -5, one goes to 5",
            10000,
        ),
    ]
    return found + histograms() + missing_numbers()


def histograms() -> list[Case]:
    gone, fewer = "a record taken away", "four records in a bin, or three"
    low = np.full(4, 0.25)
    line = tool("histogram", epsilon=1.0, bins=2, range=(0, 1))
    cube = tool("histogramdd", epsilon=1.0, bins=2, range=[(0, 1)] * 3)
    return [
        _runs("tools.histogram", f"two bins, {gone}", line, (low, low[1:]), fewer, 10000),
        _runs(
            "tools.histogram",
            "two bins, a record replaced",
            line,
            (low, np.array([0.25] * 3 + [0.75])),
            "four records in a bin, one moves",
            20000,
            note=READING,
            exceeded="inconclusive",
        ),
        _runs(
            "tools.histogram",
            f"weights up to 10, {gone}",
            weighted_histogram,
            (np.array([[0.25, 10.0], [0.75, 1.0]]), np.array([[0.75, 1.0]])),
            "a record of weight 10",
            4000,
            script="diffprivlib_histogram_weights.py",
        ),
        _runs(
            "tools.histogram2d",
            f"four bins, {gone}",
            plane_histogram,
            (np.full((4, 2), 0.25), np.full((3, 2), 0.25)),
            fewer,
            10000,
        ),
        _runs(
            "tools.histogramdd", f"eight bins, {gone}", cube, (np.full((4, 3), 0.25), np.full((3, 3), 0.25)), fewer, 10000
        ),
    ]


def missing_numbers() -> list[Case]:
    unit: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1)}
    nan = np.full(38, np.nan)
    spread = np.append(nan, [0.0, 1.0]), np.append(nan, [0.0, 0.0])
    there = "the numbers that are there are (0, 1) or (0, 0)"
    tens = np.full(12, 10.0), np.append(np.full(11, 10.0), np.nan)
    return [
        _runs(
            "tools.nanmean",
            "nine of ten NaN, bounds = (0, 1)",
            tool("nanmean", **unit),
            (np.append(nan[:9], 1.0), np.append(nan[:9], 0.0)),
            "the number that is there is 0 or 1",
            4000,
            script="diffprivlib_nanmean.py",
        ),
        *(
            _runs(
                f"tools.{name}",
                "38 of 40 NaN, bounds = (0, 1)",
                tool(name, **unit),
                spread,
                there,
                4000,
                script="diffprivlib_nanvar.py",
            )
            for name in ("nanvar", "nanstd")
        ),
        _runs(
            "tools.nansum",
            "bounds = (9, 10), a number becomes NaN",
            tool("nansum", epsilon=1.0, bounds=(9, 10)),
            tens,
            "twelve tens, or eleven and NaN",
            4000,
            script="diffprivlib_nansum.py",
        ),
    ]


# --- mechanisms and accountant --------------------------------------------------------------------------------------------------


def mechanism(name: str, **settings: Any) -> Run:
    def run(value: Any, rng: np.random.Generator) -> Any:
        made = getattr(import_module("diffprivlib.mechanisms"), name)(random_state=_state(rng), **settings)
        return made.randomise(value)

    return run


def chosen_by(name: str) -> Run:
    """The data are the utilities."""

    def run(utility: Any, rng: np.random.Generator) -> Any:
        kind = getattr(import_module("diffprivlib.mechanisms"), name)
        return float(kind(epsilon=1.0, sensitivity=1, utility=list(utility), random_state=_state(rng)).randomise())

    return run


def response(value: Any, rng: np.random.Generator) -> Any:
    binary = import_module("diffprivlib.mechanisms").Binary
    return float(binary(epsilon=1.0, value0="no", value1="yes", random_state=_state(rng)).randomise(value) == "yes")


LIMITS: dict[str, tuple[int, int] | None] = {
    "Laplace": None,
    "LaplaceTruncated": (0, 2),
    "LaplaceFolded": (0, 2),
    "LaplaceBoundedDomain": (0, 2),
    "Snapping": (-10, 10),
    "Staircase": None,
    "Geometric": None,
    "GeometricTruncated": (0, 3),
    "GeometricFolded": (0, 3),
}


def mechanisms() -> list[Case]:
    found = []
    for name, limits in LIMITS.items():
        settings: dict[str, Any] = {} if limits is None else {"lower": limits[0], "upper": limits[1]}
        setting = "sensitivity 1" + ("" if limits is None else f", in [{limits[0]}, {limits[1]}]")
        pair = (0, 1) if name.startswith("Geometric") else (0.0, 1.0)
        run = mechanism(name, epsilon=1.0, sensitivity=1, **settings)
        found.append(_runs(f"mechanisms.{name}", setting, run, pair, "0 and 1", 10000))
    for name in ("Gaussian", "GaussianAnalytic", "GaussianDiscrete", "LaplaceBoundedNoise"):
        pair = (0, 1) if name == "GaussianDiscrete" else (0.0, 1.0)
        run = mechanism(name, epsilon=0.9, delta=1e-3, sensitivity=1)
        test = by_runs(run, pair, budget=4000 if name == "GaussianDiscrete" else 10000)
        claim = ApproxDP(0.9, 1e-3)
        found.append(Case("diffprivlib", f"mechanisms.{name}", "(0.9, 0.001), sensitivity 1", claim, test, "0 and 1"))
    for name in ("Exponential", "PermuteAndFlip"):
        pair = ([3, 0, 0], [2, 1, 1])
        found.append(
            _runs(f"mechanisms.{name}", "three candidates", chosen_by(name), pair, f"{pair[0]} and {pair[1]}", 20000)
        )
    found.append(_runs("mechanisms.Binary", "two values", response, ("no", "yes"), "no and yes", 10000))
    return found


def accountant() -> list[Case]:
    """`total` of k spends of ε₀ with a slack, against the composition of randomised responses."""
    found = []
    for times, single, slack in ((10, 0.1, 1e-6), (100, 0.1, 1e-6), (30, 1.0, 1e-5), (300, 0.05, 1e-9)):

        def exact(k: int = times, e: float = single, s: float = slack) -> float:
            spender = import_module("diffprivlib.accountant").BudgetAccountant(slack=s)
            for _ in range(k):
                spender.spend(e, 0)
            return laws.composed_response_delta(e, k, float(spender.total()[0]))

        test = at_most(exact, lambda s=slack: s)
        setting = f"{times} × ε = {single:g}, slack {slack:g}"
        witness = "randomised responses: δ at the ε it states"
        claim, stated = ApproxDP(times * single, slack), f"δ ≤ {slack:g} at its ε"
        found.append(Case("diffprivlib", "BudgetAccountant.total", setting, claim, test, witness, stated=stated))
    return found


def cases() -> list[Case]:
    return [
        *linear_regressions(),
        *logistic_regressions(),
        *other_models(),
        *tools(),
        *mechanisms(),
        *accountant(),
    ]
