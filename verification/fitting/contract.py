"""The checks of scikit-learn's `check_estimator` that contradict privacy, each with its reason.

Pass one of these to `check_estimator(estimator, expected_failed_checks=…)`.  Every other check passes; a test runs them all.
`check_estimators_nan_inf`, which wants missing values refused, is not made for estimators that say they take them, as these do.
"""

from __future__ import annotations

_TARGETS = (
    "what a record holds must not decide whether a fit ends: a target that is no number counts as one that pulls nowhere"
)

_CELLS = "a cell that is no number counts as missing: refusing it would tell of one record"

REGRESSOR = {"check_supervised_y_no_nan": _TARGETS, "check_dtype_object": _CELLS}

CLASSIFIER = {
    "check_supervised_y_no_nan": _TARGETS,
    "check_dtype_object": _CELLS,
    "check_classifiers_classes": "the classes are public parameters: a list of the labels that occur would tell of one record",
    "check_classifiers_one_label": "that all records have one label must not be revealed: noise hides it",
    "check_classifiers_regression_target": "a label that is none of the classes must not end the fit: one record could do that",
    "check_classifier_not_supporting_multiclass": "a third label must not end the fit: one record could do that",
}
