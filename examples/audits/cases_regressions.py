"""diffprivlib's regressions, over bounds, data norm, regularisation, ε, with and without an intercept."""

from __future__ import annotations

from itertools import product
from typing import Any

import laws
import numpy as np
from harness import Case, Run, exactly
from making import EPSILONS, case_of, model, one_moves, runs_of, settings

REACH = 8.0  # of intercepts; further out the solver's default tolerance is coarser than the law
NORMS = (0.1, 1.0, 10.0, 100.0)
BOUNDS = ((-1, 1), (-1, 0), (0, 1), (-0.1, 1), (0.5, 1), (0, 100))


def cases() -> list[Case]:
    return [
        *linear(),
        *linear_with_intercept(),
        *logistic(),
        *logistic_with_intercept(),
        *logistic_attributes(),
        *perturbed_objectives(),
    ]


# --- LinearRegression -----------------------------------------------------------------------------------------------------------


def linear() -> list[Case]:
    found = []
    for bounds, epsilon in product(BOUNDS, EPSILONS):
        test = exactly(lambda b=bounds, e=epsilon: laws.linear_regression(*b, e))
        setting, witness = f"bounds_X = {bounds}, no intercept", "two records at the bounds, one replaced"
        script = "diffprivlib_linear_regression.py"
        found.append(case_of("LinearRegression", setting, test, witness, epsilon=epsilon, script=script))
    return found


def fit_line(bounds: tuple[float, float]) -> Run:
    """The data are x; y is 0."""

    def run(x: Any, rng: np.random.Generator) -> Any:
        line = model("LinearRegression")(epsilon=1.0, bounds_X=bounds, bounds_y=(-1, 1), **settings(rng))
        fitted = line.fit(x, np.zeros(len(x)))
        return np.array([fitted.coef_[0], fitted.intercept_])

    return run


def linear_with_intercept() -> list[Case]:
    found = []
    for bounds, epsilon in product(((-1, 1), (-1, 0), (0, 1), (0.5, 1), (0, 100)), EPSILONS):
        cut_off = exactly(lambda b=bounds, e=epsilon: laws.linear_regression_intercept(*b, e, cut=b[0]))
        twice = exactly(lambda b=bounds, e=epsilon: laws.linear_regression_intercept(*b, e, cut=b[1]))
        found += [
            case_of(
                "LinearRegression",
                f"bounds_X = {bounds}, intercept",
                cut_off,
                "any two records, one replaced, where the mean of x is cut off at its lower bound",
                epsilon=epsilon,
                script="diffprivlib_linear_regression_intercept.py",
            ),
            case_of(
                "LinearRegression",
                f"bounds_X = {bounds}, intercept, the budget of both means",
                twice,
                "records (upper, 1), one becomes (lower, −1), where both means are cut off at their upper bounds",
                epsilon=epsilon,
                script="diffprivlib_linear_regression_budget.py",
            ),
        ]
    for low, high in ((0, 1), (-1, 1)):
        near = low + 0.03 * (high - low)
        found.append(
            runs_of(
                "LinearRegression",
                f"bounds_X = {low, high}, intercept, as it runs",
                fit_line((low, high)),
                one_moves(10, near, high),
                f"ten records, x = {near:g}, one becomes {high}",
                1200,
                script="diffprivlib_linear_regression_intercept.py",
            )
        )
    return found


# --- LogisticRegression ---------------------------------------------------------------------------------------------------------


def logistic() -> list[Case]:
    found = []
    for norm, strength, epsilon in product(NORMS, (0.01, 1.0, 100.0), EPSILONS):
        test = exactly(lambda n=norm, c=strength, e=epsilon: laws.logistic_regression(n, c, e))
        setting, script = f"data_norm = {norm:g}, C = {strength:g}, no intercept", "diffprivlib_logistic_regression.py"
        found.append(
            case_of("LogisticRegression", setting, test, "two records, one replaced", epsilon=epsilon, script=script)
        )
    for norm, epsilon in product(NORMS, EPSILONS):
        test = exactly(lambda n=norm, e=epsilon: laws.logistic_regression_classes(n, 1.0, e))
        setting, script = f"data_norm = {norm:g}, C = 1, three classes", "diffprivlib_logistic_regression.py"
        witness = "one record of each class at 0 beside one that is replaced; no intercept"
        found.append(case_of("LogisticRegression", setting, test, witness, epsilon=epsilon, script=script))
    return found


def logistic_with_intercept() -> list[Case]:
    found = []
    for norm, strength, epsilon in product(NORMS, (0.01, 1.0), EPSILONS):
        test = exactly(lambda n=norm, c=strength, e=epsilon: laws.logistic_regression_intercept(n, c, e, reach=REACH))
        setting = f"data_norm = {norm:g}, C = {strength:g}, intercept"
        witness = f"ten records, x = 0 for all but one; |intercept| up to {REACH:g}"
        script = "diffprivlib_logistic_regression_intercept.py"
        found.append(case_of("LogisticRegression", setting, test, witness, epsilon=epsilon, script=script))
    return found


def iterations(x: Any, rng: np.random.Generator) -> Any:
    """Labels are 0 and 1 in turn."""
    curve = model("LogisticRegression")(epsilon=1.0, data_norm=1.0, fit_intercept=False, **settings(rng))
    return float(curve.fit(x, np.arange(len(x)) % 2).n_iter_[0])


def classes(labels: Any, rng: np.random.Generator) -> Any:
    curve = model("LogisticRegression")(epsilon=1.0, data_norm=1.0, fit_intercept=False, **settings(rng))
    return float(max(curve.fit(np.zeros((len(labels), 1)), labels).classes_))


def logistic_attributes() -> list[Case]:
    return [
        runs_of(
            "LogisticRegression",
            "n_iter_, data_norm = 1, C = 1, no intercept",
            iterations,
            one_moves(100, 0.0, 1.0),
            "a hundred records at 0, one becomes 1",
            1200,
            script="diffprivlib_logistic_regression_iterations.py",
            note="a documented attribute",
        ),
        runs_of(
            "LogisticRegression",
            "one record alone in its class",
            classes,
            (np.array([0, 1] * 4 + [0, 7]), np.array([0, 1] * 5)),
            "a label 7 among 0 and 1",
            600,
            script="diffprivlib_classes.py",
            note="there is no parameter for the classes, and no warning",
        ),
    ]


def perturbed_objectives() -> list[Case]:
    """The mechanism inside, given a bound of second derivatives that is one: function_sensitivity = norm/4."""
    found = []
    for norm, epsilon in product(NORMS, EPSILONS):
        test = exactly(lambda n=norm, e=epsilon: laws.logistic_regression(n, 1.0, e, function=n / 4))
        setting = f"logistic losses, data_sensitivity = {norm:g}, function_sensitivity = {norm / 4:g}, alpha = 1"
        note = "with a bound of the second derivative, which LogisticRegression does not give it"
        found.append(case_of("mechanisms.Vector", setting, test, "two records, one replaced", epsilon=epsilon, note=note))
    return found
