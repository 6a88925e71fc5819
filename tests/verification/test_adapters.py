"""Adapters: every shape of mechanism as f(data, rng), with what is random in the auditor's hand where it can be."""

import functools
import pickle
import random
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.claims import ADD_REMOVE, REPLACE_ONE, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import audit
from tailproof.verification.adapters import claim_of_opendp, from_estimator, from_global_state, from_keyword, from_opendp

PAIR = (np.zeros((4, 2)), np.vstack([np.ones((1, 2)), np.zeros((3, 2))]))


def legacy(data: FloatArray, scale: float = 1.0) -> float:
    return float(data.sum() + scale * np.random.laplace() + 0 * random.random())  # noqa: NPY002


def by_keyword(data: FloatArray, *, random_state: Any, scale: float = 1.0) -> Any:
    draw = random_state if hasattr(random_state, "laplace") else np.random.default_rng(random_state)
    return data.sum() + draw.laplace(scale=scale)


class Ridge:
    """As scikit-learn's estimators are, with output perturbation; keeps count of its fits."""

    fits = 0

    def __init__(self, scale: float = 1.0, random_state: int | None = None) -> None:
        self.scale, self.random_state = scale, random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        return {"scale": self.scale, "random_state": self.random_state}

    def set_params(self, **given: Any) -> "Ridge":
        self.__dict__.update(given)
        return self

    def fit(self, X: FloatArray, y: FloatArray | None = None) -> "Ridge":
        assert not hasattr(self, "coef_")  # never fitted twice
        Ridge.fits += 1
        draw = np.random.default_rng(self.random_state)
        clipped = np.clip(X, 0, 1).sum(axis=0) if y is None else np.clip(X, 0, 1).T @ np.clip(y, 0, 1)
        self.coef_ = clipped + draw.laplace(scale=self.scale, size=X.shape[1])
        self.intercept_ = 0.0
        return self


def repeats(mechanism: Any) -> bool:
    first, again, other = (mechanism(PAIR[1], np.random.default_rng(seed)) for seed in (1, 1, 2))
    return bool(np.array_equal(first, again) and not np.array_equal(first, other))


@pytest.mark.parametrize("kind", ["generator", "seed", "legacy"])
def test_randomness_by_keyword(kind: str) -> None:
    mechanism = from_keyword(by_keyword, "random_state", kind=kind, scale=3.0)
    assert repeats(mechanism)
    assert repeats(pickle.loads(pickle.dumps(mechanism)))
    assert audit(mechanism, "pure(eps=0.7)", [PAIR], budget=400, confidence=1 - 1e-9).incidents == ()  # true: 2/3


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(InputError, match="kind = 'entropy'"):
        from_keyword(by_keyword, "random_state", kind="entropy")


def test_global_generators_are_seeded_and_put_back() -> None:
    mechanism = from_global_state(legacy, scale=2.0)
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    expected = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    assert repeats(mechanism)
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002
    assert audit(mechanism, "pure(eps=1)", [PAIR], budget=400, confidence=1 - 1e-9).incidents == ()


def test_keyword_arguments_need_no_adapter() -> None:
    def bound(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float) -> FloatArray:
        return data.sum() + rng.laplace(scale=scale, size=size)

    assert audit(functools.partial(bound, scale=0.2), "pure(eps=1)", [PAIR], budget=1000).verdict == "violated"


def test_an_estimator_is_fitted_anew_with_its_random_state() -> None:
    model = Ridge(scale=0.1)
    mechanism = from_estimator(model, ("coef_", "intercept_"))
    assert repeats(mechanism)
    assert mechanism(PAIR[1], np.random.default_rng(0)).shape == (2,)
    assert not hasattr(model, "coef_")
    assert repeats(from_estimator(model, ("coef_",), target=None))
    signs = from_estimator(model, ("coef_",), labels=lambda y: np.where(y > 0.5, 1.0, -1.0))
    assert signs(PAIR[0], np.random.default_rng(0)) == pytest.approx(
        np.random.default_rng(_state(0)).laplace(scale=0.1, size=1)
    )
    assert audit(mechanism, "pure(eps=1)", [PAIR], budget=2000, confidence=1 - 1e-9).verdict == "violated"  # true: 10


def _state(seed: int) -> int:
    return int(np.random.default_rng(seed).integers(2**32))


@pytest.mark.parametrize(
    ("given", "text"), [((3,), "must have a method fit"), ((Ridge(), ()), "attributes"), ((Ridge(), "coef_"), "attributes")]
)
def test_what_is_no_estimator_is_refused(given: tuple[Any, ...], text: str) -> None:
    with pytest.raises(InputError, match=text):
        from_estimator(*given)


def test_an_estimator_of_scikit_learn() -> None:
    """Stochastic gradient descent is random and not private: an audit tells one record from another."""
    linear_model = pytest.importorskip("sklearn.linear_model", reason="of the extra dev")
    model = linear_model.SGDRegressor(max_iter=5, tol=None)
    mechanism = from_estimator(model, ("coef_", "intercept_"))
    data = np.column_stack([np.linspace(-1, 1, 8), np.linspace(1, -1, 8)])
    other = data.copy()
    other[0] = (1.0, 1.0)
    assert np.array_equal(*(mechanism(data, np.random.default_rng(1)) for _ in range(2)))
    result = audit(mechanism, "pure(eps=1)", [(data, other)], budget=300, confidence=1 - 1e-9)
    assert result.verdict == "violated"
    assert not [incident for incident in result.incidents if incident.kind == "hidden randomness"]


# --- OpenDP: 250 MB once installed, so no part of the extra dev; these run where it is there --


@pytest.fixture
def dp() -> Any:
    prelude = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed (pip install opendp; 250 MB)")
    prelude.enable_features("contrib")
    return prelude


def bounded_sum(dp: Any, scale: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    return space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=scale)


def test_opendp_is_audited_against_its_own_claim_and_its_hidden_randomness_is_told(dp: Any) -> None:
    measurement = bounded_sum(dp, 1.0)
    claim = claim_of_opendp(measurement)
    assert isinstance(claim, PureDP)
    assert claim.epsilon == pytest.approx(1.0, abs=1e-6)
    assert claim.neighbouring is ADD_REMOVE
    pair = (np.ones((3, 1)), np.ones((2, 1)))
    result = audit(from_opendp(measurement), claim, [pair], budget=1500, confidence=1 - 1e-9)
    assert result.verdict == "consistent"
    assert [incident.kind for incident in result.incidents] == ["hidden randomness"]
    assert audit(from_opendp(bounded_sum(dp, 0.1)), claim, [pair], budget=1500, confidence=1 - 1e-9).verdict == "violated"


def test_claims_of_opendp_in_other_measures_and_metrics(dp: Any) -> None:
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    gaussian = space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_gaussian(scale=1.0)
    assert claim_of_opendp(gaussian, REPLACE_ONE) == ZCDP(gaussian.map(2), REPLACE_ONE)
    approximate = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), 1e-6)
    assert claim_of_opendp(approximate) == ApproxDP(*approximate.map(1), ADD_REMOVE)  # type: ignore[misc]
    vectors = (dp.vector_domain(dp.atom_domain(T=float, nan=False), size=2), dp.l1_distance(T=float)) >> dp.m.then_laplace(
        scale=1.0
    )
    with pytest.raises(InputError, match="L1Distance has no such neighbours"):
        claim_of_opendp(vectors)
    with pytest.raises(InputError, match="no claim here"):
        claim_of_opendp(dp.c.make_zCDP_to_approxDP(gaussian))
    whole = (
        (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
        >> dp.t.then_count()
        >> dp.m.then_laplace(scale=1.0)
    )
    assert np.isfinite(from_opendp(whole)(np.zeros((3, 1)), np.random.default_rng()))
    with pytest.raises(InputError, match="2 columns"):
        from_opendp(whole)(np.zeros((3, 2)), np.random.default_rng())
    assert np.shape(
        from_opendp(vectors, lambda table: table.sum(axis=0).tolist())(np.zeros((3, 2)), np.random.default_rng())
    ) == (2,)


def test_what_is_no_measurement_is_refused() -> None:
    with pytest.raises(InputError, match="must be a measurement of OpenDP"):
        from_opendp(print)
