"""diffprivlib's other models: trees, principal components, naive Bayes, clusters, scaler."""

from __future__ import annotations

from itertools import product
from typing import Any

import laws_models as laws
import numpy as np
from harness import Case, Run, exactly
from making import EPSILONS, READING, case_of, model, one_moves, runs_of, settings

DIVIDES = "the sampler divides where it should multiply, and has another law than it states"
REPLACED_ONLY = "nothing was found for records that are added, and the documentation does not say which is meant"
TEN = "ten zeros, one becomes 1"


def cases() -> list[Case]:
    return [*trees(), *components(), *naive_bayes(), *clusters(), *scalers()]


# --- trees ----------------------------------------------------------------------------------------------------------------------


def trees() -> list[Case]:
    script, replaced = "diffprivlib_random_forest.py", exactly(lambda: laws.forest_replaced(1.0))
    one = "labels (0, 0) and (0, 1) in one leaf"
    return [
        *(
            case_of(subject, "one tree, a record replaced", replaced, one, note=READING, exceeded="inconclusive")
            for subject in ("DecisionTreeClassifier", "RandomForestClassifier")
        ),
        case_of(
            "RandomForestClassifier",
            "two trees, a record replaced",
            replaced,
            "labels (0, 0) and (0, 1) in one leaf of the first tree",
            script=script,
        ),
        case_of(
            "RandomForestClassifier",
            "two trees, a record taken away",
            exactly(lambda: laws.forest_added(1.0)),
            "labels (0, 1), and (1)",
            script=script,
            note="the records that follow move to other trees",
        ),
    ]


# --- principal components -------------------------------------------------------------------------------------------------------


def fit_components(centred: bool) -> Run:
    def run(x: Any, rng: np.random.Generator) -> Any:
        axes = model("PCA")(2, epsilon=1.0, data_norm=1.0, bounds=(-1, 1), centered=centred, **settings(rng))
        fitted = axes.fit(np.array(x))
        return np.concatenate([fitted.components_[0], fitted.explained_variance_])

    return run


def components() -> list[Case]:
    plane = np.zeros((10, 2)), np.vstack([np.zeros((9, 2)), [[1.0, 0.0]]])
    unit, script = "ten zeros, one becomes a unit vector", "diffprivlib_bingham.py"
    swap = "1000 vectors e₁ and 999 e₂, one e₁ becomes e₂"
    found = [
        case_of(
            "PCA",
            f"eigenvectors in the plane, n = {n + 1}",
            exactly(lambda e=e, n=n: laws.bingham_plane(e, n)),
            "unit vectors, one turned or zero",
            epsilon=e,
            note=f"{DIVIDES}, within ε all the same in the plane",
        )
        for e, n in product(EPSILONS, (1, 10))
    ]
    for dimension, e in product((3, 4, 5, 6, 8, 10), EPSILONS):
        test = exactly(lambda e=e, d=dimension: laws.bingham_swapped(e, d))
        setting = f"sensitivity 1, {dimension} × {dimension}"
        found.append(case_of("mechanisms.Bingham", setting, test, swap, epsilon=e, script=script, note=DIVIDES))
    for dimension, e in product((5, 8, 10), EPSILONS):
        test, note = exactly(lambda e=e, d=dimension: laws.first_component(e, d)), f"{DIVIDES}; {REPLACED_ONLY}"
        setting = f"n_components = 1, centred, {dimension} features"
        found.append(case_of("PCA", setting, test, swap, epsilon=e, note=note, exceeded="inconclusive"))
    found += [
        runs_of("PCA", f"data_norm = 1, {name}", fit_components(centred), plane, unit, 3000)
        for name, centred in (("centred", True), ("not centred", False))
    ]
    return found


# --- naive Bayes ----------------------------------------------------------------------------------------------------------------


def fit_bayes(low: float) -> Run:
    """The data are the labels."""

    def run(labels: Any, rng: np.random.Generator) -> Any:
        bayes = model("GaussianNB")(epsilon=1.0, bounds=(low, low + 1), **settings(rng))
        fitted = bayes.fit(np.full((len(labels), 1), low + 0.5), labels)
        return np.concatenate([fitted.class_count_, fitted.theta_[:, 0] * fitted.class_count_, fitted.var_[:, 0]])

    return run


def classes_told(labels: Any, rng: np.random.Generator) -> Any:
    bayes = model("GaussianNB")(epsilon=1.0, bounds=(0, 1), **settings(rng))
    return float(max(bayes.fit(np.full((len(labels), 1), 0.5), labels).classes_))


def classes_given(labels: Any, rng: np.random.Generator) -> Any:
    bayes = model("GaussianNB")(epsilon=1.0, bounds=(0, 1), **settings(rng))
    return float(bayes.partial_fit(np.full((len(labels), 1), 0.5), labels, classes=[0, 1, 7]).class_count_[2])


def naive_bayes() -> list[Case]:
    halves, flipped = np.repeat([0, 1], 20), np.repeat([0, 1], [19, 21])
    alone = np.array([0, 1] * 4 + [0, 7]), np.array([0, 1] * 5)
    label = "forty records in the middle, twenty of either label, one changes"
    seven, script = "a label 7 among 0 and 1", "diffprivlib_classes.py"
    return [
        runs_of(
            "GaussianNB",
            "bounds = (9, 10), a label changes",
            fit_bayes(9.0),
            (halves, flipped),
            label,
            8000,
            script="diffprivlib_gaussian_nb.py",
            note="records that are added change the sum of all counts, which is exact",
        ),
        runs_of("GaussianNB", "bounds = (0, 1), a label changes", fit_bayes(0.0), (halves, flipped), label, 8000),
        runs_of(
            "GaussianNB",
            "one record alone in its class",
            classes_told,
            alone,
            seven,
            600,
            script=script,
            note="there is no parameter for the classes, and no warning",
        ),
        runs_of(
            "GaussianNB",
            "one record alone in its class, partial_fit with all classes given",
            classes_given,
            alone,
            seven,
            600,
            script=script,
            note="the counts of classes that occur are at least 1, the others 0",
        ),
    ]


# --- clusters -------------------------------------------------------------------------------------------------------------------


def centres(bounds: tuple[float, float], count: int) -> Run:
    def run(x: Any, rng: np.random.Generator) -> Any:
        fitted = model("KMeans")(count, epsilon=1.0, bounds=bounds, **settings(rng)).fit(x)
        return np.sort(fitted.cluster_centers_.sum(axis=1))

    return run


def inertia(x: Any, rng: np.random.Generator) -> Any:
    fitted = model("KMeans")(1, epsilon=1.0, bounds=(0, 1), **settings(rng)).fit(x)
    return fitted.inertia_ - len(x) * fitted.cluster_centers_[0, 0] ** 2


def clusters() -> list[Case]:
    moved = np.repeat([[9.0], [10.0]], 20, axis=0), np.repeat([[9.0], [10.0]], [19, 21], axis=0)
    found = [
        runs_of("KMeans", "centres, bounds = (0, 1), one cluster", centres((0, 1), 1), one_moves(10, 0.0, 1.0), TEN, 4000),
        runs_of(
            "KMeans",
            "centres, bounds = (0, 1), two clusters",
            centres((0, 1), 2),
            one_moves(200, 0.0, 1.0),
            "two hundred zeros, one becomes 1",
            4000,
            script="diffprivlib_kmeans_empty.py",
        ),
        runs_of(
            "KMeans",
            "centres, bounds = (9, 10), two clusters",
            centres((9, 10), 2),
            moved,
            "twenty nines, twenty tens, one moves",
            3000,
            note="a record that leaves takes 9 out of a sum with noise for 1; the noise of the count hides it",
        ),
        runs_of(
            "KMeans",
            "inertia_, bounds = (0, 1)",
            inertia,
            one_moves(10, 0.0, 1.0),
            TEN,
            600,
            script="diffprivlib_kmeans_inertia.py",
            note="a documented attribute, without noise",
        ),
    ]
    for features, epsilon in product((10, 100), EPSILONS):
        test = exactly(lambda d=features, e=epsilon: laws.kmeans_corner(e, d))
        setting = f"centres, bounds = (0, 1), one cluster, {features} features"
        witness = "ten records at a corner of the bounds, one goes to the opposite one"
        script = "diffprivlib_kmeans_shares.py"
        found.append(case_of("KMeans", setting, test, witness, epsilon=epsilon, script=script))
    return found


# --- scaler ---------------------------------------------------------------------------------------------------------------------


def fit_scaler(x: Any, rng: np.random.Generator) -> Any:
    fitted = model("StandardScaler")(epsilon=1.0, bounds=(0, 1), **settings(rng)).fit(x)
    return np.array([fitted.mean_[0], fitted.var_[0]])


def scalers() -> list[Case]:
    note = "NaN is refused, though documented"
    return [runs_of("StandardScaler", "bounds = (0, 1)", fit_scaler, one_moves(10, 0.0, 1.0), TEN, 8000, note=note)]
