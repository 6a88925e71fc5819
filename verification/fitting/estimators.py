"""Linear models with differential privacy, as scikit-learn has its estimators: `PrivateRegressor` and `PrivateClassifier`.

scikit-learn is not needed.  With it they work in pipelines, searches and cross-validation; every fit spends its ε again.

Whatever is not data is public: the number of records, the columns' names and rules, the classes, every parameter.  `fit` takes
them as given and looks at none of the records to choose them.  A cell that its column's rule does not know never raises: see
`fitting.columns`.  A record whose target is missing, or whose label is none of the classes, counts as one that pulls nowhere.

What a fit released is in `coef_` and `intercept_`, in the units that the model sees, and what is known about it in `card_`.
`predict` and `score` use no privacy of their own: a score on private records is a release that no claim covers.
"""

from __future__ import annotations

import inspect
import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from tailproof._nearest import did_you_mean
from tailproof.refimpl.domains import Domain, parse_domain
from tailproof.refimpl.validation import FloatArray, InputError, choice
from tailproof.verification.fitting.card import Card, before, fit_task
from tailproof.verification.fitting.columns import (
    AsItIs,
    Cells,
    Column,
    Columns,
    Numeric,
    column_to_json,
    numbers_of,
    places_of,
    word_of,
)
from tailproof.verification.fitting.optimisers import OPTIMISERS, Task, checked, claim_of, loss_named, takes_of
from tailproof.verification.fitting.plans import moment_bound_of, plan_of

PURE = tuple(name for name, optimiser in OPTIMISERS.items() if optimiser.claim is None)
Declared = Mapping[str, Column] | Sequence[Column] | None


class _Linear:
    """What both models share."""

    epsilon: float
    loss: str
    columns: Declared
    domain: str | Domain
    fit_intercept: bool
    moment_order: float
    moment_bound: float | str | None
    algorithm: str
    preset: str
    options: Mapping[str, Any] | None
    strict: bool
    random_state: Any

    card_: Card
    coef_: FloatArray
    intercept_: float
    columns_: Columns
    n_features_in_: int

    _losses: ClassVar[tuple[str, ...]]
    _kind: ClassVar[str]

    # ----- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  (no parameter is an estimator)
        """The parameters by name."""
        return {name: getattr(self, name) for name in _names_of(type(self))}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        known = _names_of(type(self))
        for name in parameters:
            if name not in known:
                raise InputError(
                    f"Invalid parameter {name!r} for estimator {self}{did_you_mean(name, known)}. Valid parameters are: {known!r}."
                )
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items() if not _same(value, defaults[name].default))
        return f"{type(self).__name__}({shown})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "card_")

    # ----- fitting

    def _fit(
        self, names: Sequence[str], cells: Sequence[Cells], targets: FloatArray, known: NDArray[np.bool_], **said: Any
    ) -> None:
        """`targets` in the form that the loss takes; records that are not `known` pull nowhere."""
        choice("loss", self.loss, self._losses)
        choice("algorithm", self.algorithm, PURE)
        columns = Columns.of(self.columns, names)
        features = [*columns.features, *(["intercept"] if self.fit_intercept else [])]
        domain = parse_domain(self.domain, len(features)) if isinstance(self.domain, str) else self.domain
        parameters, loss = self._parameters(columns, domain), loss_named(self.loss, len(features))
        claim = claim_of(OPTIMISERS[self.algorithm], parameters)
        rng = _generator(self.random_state)
        rows = np.ones((len(targets), len(features) + 1))
        rows[:, : len(columns.features)] = columns.encode(cells, strict=self.strict)
        rows[~known, :-1] = 0.0
        rows[:, -1] = np.where(known, targets, 1.0)
        optimiser = OPTIMISERS[self.algorithm]
        task = Task(
            identifier=self.algorithm,
            optimiser=optimiser,
            parameters=parameters,
            claim=claim,
            loss=loss,
            domain=domain,
            rows=rows,
            features=features,
            target="y",
            public={"columns": columns.to_json(), **said, "strict": self.strict},
        )
        plan = plan_of(task)
        card = fit_task(task, rng, plan=plan, lines=before(task, plan), shuffled=optimiser.batches)
        weights = np.array(card.weights)
        self.columns_, self.card_ = columns, card
        self.coef_, self.intercept_ = weights[: len(columns.features)], float(weights[-1]) if self.fit_intercept else 0.0

    def _parameters(self, columns: Columns, domain: Domain) -> dict[str, Any]:
        """Those that the algorithm takes."""
        optimiser = OPTIMISERS[self.algorithm]
        given = {"loss": self.loss, "domain": self.domain, "epsilon": self.epsilon}
        if optimiser.plans:
            given |= {
                "moment_order": self.moment_order,
                "moment_bound": self._moment_bound(columns, domain),
                "preset": self.preset,
            }
        given |= dict(self.options or {})
        return checked(self.algorithm, given, takes_of(optimiser, given.get("moment_bound")))

    def _moment_bound(self, columns: Columns, domain: Domain) -> float | str:
        """As given; else from the columns' rules, or as for columns of second moment 1 where one of them has no bound."""
        if self.moment_bound is not None:
            return self.moment_bound
        longest = columns.norm_upper if math.isfinite(columns.norm_upper) else math.sqrt(len(columns.features))
        return moment_bound_of(
            loss_named(self.loss, domain.dimension), norm=longest, intercept=self.fit_intercept, domain=domain
        )

    def _margins(self, X: Any) -> FloatArray:
        if not hasattr(self, "card_"):
            raise _not_fitted(self)
        names, cells = cells_of(X)
        known = self.columns_.names
        if hasattr(self, "feature_names_in_") and names is not None and tuple(names) != known:
            odd = (
                [name for name in names if name not in known] or [name for name in known if name not in names] or [names[0]]
            )
            raise InputError(
                f"The feature names should match those that were passed during fit: {odd[0]!r} is not where it was, or is on one "
                "side only"
            )
        if len(cells) != len(known):
            raise InputError(
                f"X has {len(cells)} features, but {type(self).__name__} is expecting {len(known)} features as input"
            )
        return np.asarray(self.columns_.encode(cells, strict=self.strict) @ self.coef_ + self.intercept_)

    def _seen(self, X: Any) -> tuple[Sequence[str], list[Cells]]:
        """Names and cells of the records to fit; the names are kept where X has some."""
        names, cells = cells_of(X)
        self.n_features_in_ = len(cells)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if names is None:
            named = isinstance(self.columns, Mapping) and len(self.columns) == len(cells)
            names = (
                list(self.columns) if named and isinstance(self.columns, Mapping) else [f"x{j}" for j in range(len(cells))]
            )
        return names, cells

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags
        from sklearn.utils._tags import ClassifierTags, InputTags, RegressorTags

        classifier, declared = self._kind == "classifier", self.columns is not None
        return Tags(
            estimator_type=self._kind,
            target_tags=TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=ClassifierTags(multi_class=False) if classifier else None,
            regressor_tags=None if classifier else RegressorTags(),
            input_tags=InputTags(allow_nan=True, categorical=declared, string=declared),
        )


class PrivateRegressor(_Linear):
    """A linear model of a real target, under pure ε-differential privacy (one record replaced).

    `columns`: a rule for each column of X, `Numeric` or `Categorical`, by name or in order; without them X is numbers as they are.
    `target`: the rule of y, a `Numeric`; without it y is taken as it is.  `domain`: where the weights may lie, in units of the
    model.  `moment_bound`: G with (E L^k)^{1/k} ≤ G, k = `moment_order`, L the Lipschitz constant of a record's loss; by
    default the largest that the columns' rules allow; "private" chooses one with a tenth of ε (option `moment_share`).  A wrong
    G costs accuracy, never privacy.  `algorithm`, `preset`, `options`: as in `tailproof solve`.  `random_state`: for tests alone;
    whoever knows it can remove the noise.
    """

    _losses = ("absolute", "squared", "relu", "l4")
    _kind = "regressor"
    _estimator_type = "regressor"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        loss: str = "absolute",
        columns: Declared = None,
        target: Numeric | None = None,
        domain: str | Domain = "ball:2",
        fit_intercept: bool = True,
        moment_order: float = 2.0,
        moment_bound: float | str | None = None,
        algorithm: str = "P4.S2",
        preset: str = "tuned",
        options: Mapping[str, Any] | None = None,
        strict: bool = False,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.loss = loss
        self.columns = columns
        self.target = target
        self.domain = domain
        self.fit_intercept = fit_intercept
        self.moment_order = moment_order
        self.moment_bound = moment_bound
        self.algorithm = algorithm
        self.preset = preset
        self.options = options
        self.strict = strict
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """One private fit, which spends ε."""
        names, cells = self._seen(X)
        values = _targets(self, y, len(cells[0]))
        rule = AsItIs() if self.target is None else self.target
        if not isinstance(rule, AsItIs | Numeric):
            raise InputError(f"target = {self.target!r}: must be Numeric, or None")
        numbers = rule.encode(values, name="y", strict=self.strict)[:, 0]
        known = np.full(len(numbers), True) if getattr(rule, "missing", None) is not None else ~np.isnan(numbers_of(values))
        self._fit(names, cells, numbers, known, target=column_to_json(rule))
        return self

    def predict(self, X: Any) -> FloatArray:
        """The target of every record, in its own unit."""
        margins = self._margins(X)
        return margins if self.target is None else self.target.decode(margins)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R²: 1 less the mean square of what is not explained, over the variance."""
        found = self.predict(X)
        truth = np.asarray(_targets(self, y, len(found)), dtype=np.float64)
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        spread = float(weights @ (truth - np.average(truth, weights=weights)) ** 2)
        left = float(weights @ (truth - found) ** 2)
        return 1 - left / spread if spread > 0 else float(left == 0)


class PrivateClassifier(_Linear):
    """A linear model of a label with two values, under pure ε-differential privacy (one record replaced).

    `classes`: the two labels, of which the second is the positive one.  They must be given: a list of the labels that occur would
    depend on the records.  The other parameters are those of `PrivateRegressor`.
    """

    _losses = ("logistic", "hinge")
    _kind = "classifier"
    _estimator_type = "classifier"

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        classes: Sequence[Any] | None = None,
        epsilon: float = 1.0,
        loss: str = "logistic",
        columns: Declared = None,
        domain: str | Domain = "ball:2",
        fit_intercept: bool = True,
        moment_order: float = 2.0,
        moment_bound: float | str | None = None,
        algorithm: str = "P4.S2",
        preset: str = "tuned",
        options: Mapping[str, Any] | None = None,
        strict: bool = False,
        random_state: Any = None,
    ) -> None:
        self.classes = classes
        self.epsilon = epsilon
        self.loss = loss
        self.columns = columns
        self.domain = domain
        self.fit_intercept = fit_intercept
        self.moment_order = moment_order
        self.moment_bound = moment_bound
        self.algorithm = algorithm
        self.preset = preset
        self.options = options
        self.strict = strict
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """One private fit, which spends ε."""
        names, cells = self._seen(X)
        labels = _targets(self, y, len(cells[0]))
        if self.classes is None or len(self.classes) != 2 or len({word_of(label) for label in self.classes}) != 2:
            raise InputError(f"classes = {self.classes!r}: must be the two labels, the positive one last; they are public")
        places = places_of(labels, self.classes)
        if self.strict and (places < 0).any():
            raise InputError(f"y: record {int(np.argmin(places)) + 1} has none of the classes; strict refuses it")
        classes = [word_of(label) for label in self.classes]
        self._fit(names, cells, np.where(places == 1, 1.0, -1.0), places >= 0, classes=classes)
        self.classes_ = np.array(self.classes)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """⟨x, w⟩ + b of every record: positive for the second class."""
        return self._margins(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every record."""
        second = self._margins(X) > 0
        return np.asarray(self.classes_[second.astype(np.int64)])

    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of both classes, as the logistic model has them."""
        if self.loss != "logistic":
            raise AttributeError(f"predict_proba is for loss = 'logistic', not for {self.loss!r}")
        margins = self._margins(X)
        return np.column_stack([expit(-margins), expit(margins)])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of records whose class is predicted."""
        found = self.predict(X)
        right = places_of(_targets(self, y, len(found)), self.classes_.tolist()) == places_of(found, self.classes_.tolist())
        return float(
            np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64))
        )


# ------------------------------------------------------------------------------------------------------------------ tables


def cells_of(X: Any) -> tuple[list[str] | None, list[Cells]]:
    """The names, if the table has some that are words, and the cells, column by column."""
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise TypeError("X: a sparse matrix was passed, but dense data is required: use X.toarray()")
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = list(X.columns)
        cells = [np.asarray(X[name].to_numpy()) for name in names] if len(set(names)) == len(names) else list(X.to_numpy().T)
        _check_shape(len(X), len(names))
        words = all(isinstance(name, str) for name in names)
        return (names if words else None), cells
    table = np.asarray(X)
    if table.ndim == 0:
        raise InputError("Expected 2D array, got scalar array instead: X must be a table, one record a row")
    if table.ndim == 1:
        raise InputError(
            "Expected 2D array, got 1D array instead: X must be a table, one record a row. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    if table.ndim > 2:
        raise InputError(f"Found array with dim {table.ndim}: X must be a table, one record a row")
    if table.dtype.kind == "c":
        raise InputError("Complex data not supported: X must hold real numbers or words")
    _check_shape(*table.shape)
    return None, list(table.T)


def _check_shape(records: int, columns: int) -> None:
    if not records:
        raise InputError(f"Found array with 0 sample(s) (shape=({records}, {columns})) while a minimum of 1 is required.")
    if not columns:
        raise InputError(f"Found array with 0 feature(s) (shape=({records}, {columns})) while a minimum of 1 is required.")


def _targets(estimator: object, y: Any, records: int) -> Cells:
    """One a record."""
    if y is None:
        raise InputError(f"requires y to be passed, but the target y is None: {type(estimator).__name__} needs a target")
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        kind = getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", UserWarning)
        warnings.warn("A column-vector y was passed when a 1d array was expected", kind, stacklevel=3)
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {values.shape} instead")
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: y must hold real numbers or words")
    if len(values) != records:
        raise InputError(f"Found input variables with inconsistent numbers of samples: X has {records}, y has {len(values)}")
    return values


def _names_of(kind: type) -> list[str]:
    return sorted(inspect.signature(kind).parameters)


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and isinstance(value, str | int | float | None) and value == default


def _generator(state: Any) -> np.random.Generator:
    if isinstance(state, np.random.Generator):
        return state
    if isinstance(state, np.random.RandomState):
        return np.random.default_rng(state.randint(2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(state)


def _not_fitted(estimator: object) -> Exception:
    """Of scikit-learn's kind where that is in use."""
    kind = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", AttributeError)
    text = f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' before using this estimator."
    error: Exception = kind(text)
    return error
