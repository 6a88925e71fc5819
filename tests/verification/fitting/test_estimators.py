"""Models as scikit-learn has them: its checks, what they refuse, and what no record decides."""

import json
import math
import pickle
import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import tailproof
from tailproof import Categorical, Numeric, PrivateClassifier, PrivateRegressor
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import parse_loss
from tailproof.refimpl.pure_dp.moment_choice import steepness_upper
from tailproof.refimpl.validation import InputError
from tailproof.verification.fitting import contract

ESTIMATORS = [
    (PrivateRegressor(epsilon=10), contract.REGRESSOR),
    (PrivateClassifier(epsilon=10, classes=(0, 1)), contract.CLASSIFIER),
]
BY_CHANCE = {"check_classifiers_one_label"}


def sample(n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """A number, a word and a target that follows both; objects, as tables of people are."""
    rng = np.random.default_rng(seed)
    age, home = rng.uniform(20, 60, n), rng.choice(["town", "land"], n)
    spent = 0.5 * age + 10 * (home == "town") + rng.standard_normal(n)
    table = np.empty((n, 2), dtype=object)
    table[:, 0], table[:, 1] = age, home
    return table, spent


COLUMNS = (Numeric(20, 60, unit="years"), Categorical(("town", "land")))


def regressor(**more: Any) -> PrivateRegressor:
    return PrivateRegressor(**{"epsilon": 10, "columns": COLUMNS, "target": Numeric(0, 50), "random_state": 0} | more)


@pytest.mark.filterwarnings("ignore:Estimator Private.* does not inherit")
@pytest.mark.parametrize(("estimator", "contradict"), ESTIMATORS, ids=lambda value: type(value).__name__)
def test_the_checks_of_scikit_learn(estimator: Any, contradict: dict[str, str]) -> None:
    """All pass but those that contradict privacy; each of these does fail, but for one that noise decides."""
    pytest.importorskip("sklearn", minversion="1.6", reason="of the extra dev")
    checks = import_module("sklearn.utils.estimator_checks")
    failed = set()
    for subject, check in checks.estimator_checks_generator(estimator):
        name = getattr(check, "func", check).__name__
        try:
            check(subject)
        except AssertionError:
            if name not in contradict:
                raise
            failed.add(name)
        except checks.SkipTest:
            continue
    assert failed - BY_CHANCE == set(contradict) - BY_CHANCE


def test_scikit_learn_is_not_needed() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from tailproof import PrivateRegressor as R\n"
        "m = R(epsilon=10).fit([[0.], [1.]] * 50, [0., 1.] * 50)\n"
        "print(m, m.predict([[1.]]).shape, R(**m.get_params()).set_params(epsilon=2).epsilon)\n"
        "try: R().predict([[1.]])\nexcept AttributeError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("PrivateRegressor(epsilon=10) (1,) 2\nThis PrivateRegressor instance is not fitted yet")


def test_a_model_of_people() -> None:
    X, y = sample(4000)
    model = regressor().fit(X, y)
    assert model.score(*sample(seed=1)) > 0.9
    assert model.score(X, np.full(len(y), 7.0), sample_weight=np.ones(len(y))) == 0
    labels = np.where(y > 30, "much", "little")
    for loss in ("logistic", "hinge"):
        other = PrivateClassifier(
            classes=("little", "much"), loss=loss, columns=COLUMNS, epsilon=10, domain="ball:5", random_state=0
        )
        assert other.fit(X, labels).score(X, labels) > 0.9
        assert set(other.predict(X)) == {"little", "much"}
        assert ((other.decision_function(X) > 0) == (other.predict(X) == "much")).all()
        assert other.score(X, np.full(len(y), "other")) == 0
    with pytest.raises(AttributeError, match="predict_proba is for loss = 'logistic'"):
        other.predict_proba(X)


WORST = (None, math.nan, math.inf, -math.inf, 1e300, "word", {}, [], 10**5000)


@pytest.mark.parametrize("worst", WORST, ids=lambda worst: f"{type(worst).__name__}")
@pytest.mark.parametrize("declared", [True, False])
def test_no_cell_and_no_label_decides_whether_a_fit_ends(worst: Any, declared: bool) -> None:
    X, y = sample(30)
    X[3, 0], X[4, 1] = worst, worst
    targets = y.astype(object)
    targets[5] = worst
    more = {} if declared else {"columns": None, "target": None}
    assert np.isfinite(regressor(**more).fit(X, targets).coef_).all()
    labels = (y > 30).astype(object)
    labels[5] = worst
    model = PrivateClassifier(classes=(False, True), columns=COLUMNS if declared else None).fit(X, labels)
    assert np.isfinite(model.predict_proba(X)).all()
    if declared:
        with pytest.raises(InputError, match="strict refuses it"):
            regressor(strict=True).fit(X, targets)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_record_without_a_class_pulls_nowhere(loss: str) -> None:
    """A fit to such records alone, with hardly any noise, returns the start."""
    quiet = {"algorithm": "P4.S1", "epsilon": 1e6, "options": {"weight": 1.0, "lipschitz": 1.0}}
    model = PrivateClassifier(classes=("a", "b"), loss=loss, **quiet).fit(np.ones((200, 1)), np.full(200, "c"))
    assert np.abs([*model.coef_, model.intercept_]).max() < 1e-4
    silent = PrivateRegressor(**quiet).fit(np.ones((200, 1)), np.full(200, math.nan))
    assert np.abs([*silent.coef_, silent.intercept_]).max() < 1e-4


def test_the_card_holds_all_that_is_public_and_no_record() -> None:
    X, y = sample(50)
    X[7, 0] = 31.4159265358979
    model = regressor(random_state=None).fit(X, y)
    value = model.card_.to_json()
    assert json.loads(json.dumps(value)) == value
    assert value["claim"] == {"claim": "pure", "epsilon": 10, "neighbouring": "replace-one"}
    assert value["records"] == 50
    assert value["features"] == ["x0", "x1=town", "x1=land", "intercept"]
    assert value["public"]["columns"]["x0"]["unit"] == "years"
    assert value["public"]["target"]["high"] == 50
    assert value["parameters"]["moment_bound"] == pytest.approx(math.sqrt(3))
    assert value["bound"] == value["plan"]["bound"]
    assert value["ledger"] == [{"records": 50, "releases": 2, "spends": ["pure(eps=9.9)", "pure(eps=0.1)"]}]
    assert value["weights"] == [*model.coef_, model.intercept_]
    text = model.card_.to_text()
    for part in ("claim: pure(eps=10)", "certificate: ", "bound: ", "public: columns", "x1=town"):
        assert part in text
    kept = pickle.dumps(model)
    assert np.float64(31.4159265358979).tobytes() not in kept
    scaled = COLUMNS[0].encode(X[7:8, 0], name="x")[0, 0]
    assert np.float64(scaled).tobytes() not in kept
    assert len(kept) < 5000


def test_other_algorithms() -> None:
    X, y = sample(300)
    model = regressor(domain=Ball(np.zeros(4), 1.5)).fit(X, y)
    assert json.loads(json.dumps(model.card_.to_json()))["parameters"]["domain"] == {"center": [0, 0, 0, 0], "radius": 1.5}
    assert "phase" in regressor(algorithm="P4.A1").fit(X, y).card_.to_text()
    options = {"weight": 0.5, "lipschitz": 1.0}
    assert regressor(algorithm="P4.S1", options=options).fit(X, y).card_.to_json()["ledger"][0]["releases"] == 1


@pytest.mark.parametrize("algorithm", ["P4.S2", "P4.A1"])
def test_a_private_moment_bound(algorithm: str) -> None:
    """Its part of ε, its level and the plan that is made of it are in the card; it is near the records' own moment."""
    X, y = sample(2000)
    model = regressor(algorithm=algorithm, moment_bound="private", options={"moment_share": 0.2}).fit(X, y)
    value, text = model.card_.to_json(), model.card_.to_text()
    assert value["claim"]["epsilon"] == 10
    assert value["ledger"][0]["spends"][0] == "pure(eps=2)"
    assert value["ledger"][0]["spends"][1] in ("pure(eps=7.92)", "pure(eps=8)")
    scaled = np.column_stack([model.columns_.encode(list(X.T)), np.ones(len(X))])
    assert 0.8 < value["moment_bound"] / np.sqrt((scaled**2).sum(axis=1).mean()) < 2
    assert value["bound"] == value["plan"]["bound"]
    assert "it spends pure(eps=2)" in text
    assert f"moment bound: G = {value['moment_bound']:.6g}, released" in text
    assert model.score(X, y) > 0.5
    with pytest.raises(InputError, match=r"moment_bound = 'private': needs .* records at pure"):
        regressor(algorithm=algorithm, moment_bound="private", epsilon=0.1).fit(X[:100], y[:100])


def test_the_default_moment_bound_is_the_steepest_that_the_rules_allow() -> None:
    """Brute force over records at the ends of the rules and weights at the end of the domain."""
    rng = np.random.default_rng(0)
    for name in ("absolute", "squared", "l4", "hinge", "logistic", "ridge:0.3:squared"):
        loss = parse_loss(name)
        upper, steepest = steepness_upper(loss, norm=2.0, target=1.0, reach=3.0), 0.0
        for sign in (-1, 1):
            for _ in range(50):
                x, w = rng.standard_normal((2, 2))
                x *= 2 / np.linalg.norm(x)
                w = 3 * sign * x / 2 if rng.uniform() < 0.5 else 3 * w / np.linalg.norm(w)
                for t in (-1.0, 1.0):
                    steepest = max(steepest, float(np.linalg.norm(loss.gradients(w, [[*x, t]])[0])))
        assert 0.9 * upper <= steepest <= upper * (1 + 1e-12)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda X, y: regressor(epsilon=0).fit(X, y), "epsilon = 0.0"),
        (lambda X, y: regressor(loss="hinge").fit(X, y), "loss = 'hinge'"),
        (lambda X, y: regressor(algorithm="P2.A2").fit(X, y), "algorithm = 'P2.A2'"),
        (lambda X, y: regressor(options={"wait": 1}).fit(X, y), "wait is not a parameter"),
        (lambda X, y: regressor(target=COLUMNS[1]).fit(X, y), "must be Numeric"),
        (lambda X, y: regressor(columns=COLUMNS[:1]).fit(X, y), "has 1 entries; X has 2 columns"),
        (lambda X, y: regressor(domain="cube:1").fit(X, y), "domain = 'cube:1'"),
        (lambda X, y: regressor().fit(X, y).predict(X[:, :1]), "X has 1 features, but PrivateRegressor is expecting 2"),
        (lambda X, y: PrivateClassifier().fit(X, y > 30), "classes = None"),
        (lambda X, y: PrivateClassifier(classes=(1, "1")).fit(X, y > 30), "classes = "),
        (lambda *_: regressor().set_params(epsilno=1), "epsilon"),
    ],
)
def test_wrong_public_numbers(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make(*sample(20))


class Frame:
    """As much of a data frame as is needed."""

    def __init__(self, **columns: Any) -> None:
        self.named = columns
        self.columns = list(columns)

    def __len__(self) -> int:
        return len(next(iter(self.named.values())))

    def __getitem__(self, name: str) -> Any:
        return Frame(**{name: self.named[name]})

    def to_numpy(self) -> Any:
        return np.array(next(iter(self.named.values())), dtype=object)


def test_frames_are_read_by_name() -> None:
    X, y = sample(100)
    frame = Frame(home=X[:, 1], age=X[:, 0])
    rules = {"age": COLUMNS[0], "home": COLUMNS[1]}
    model = regressor(columns=rules).fit(frame, y)
    assert model.card_.features == ["home=town", "home=land", "age", "intercept"]
    assert model.feature_names_in_.tolist() == ["home", "age"]
    assert model.predict(frame).shape == (100,)
    with pytest.raises(InputError, match="feature names should match"):
        model.predict(Frame(age=X[:, 0], home=X[:, 1]))


def test_the_facade_has_them() -> None:
    assert {"PrivateRegressor", "PrivateClassifier", "Numeric", "Categorical"} <= set(tailproof.__all__)
