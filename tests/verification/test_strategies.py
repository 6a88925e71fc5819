"""Strategies: admissible pairs, small counterexamples, bounds, and a clear word where hypothesis is missing."""

import importlib.util
import math
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from tailproof.refimpl import problems
from tailproof.refimpl.claims import ADD_REMOVE
from tailproof.refimpl.losses import Absolute
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import Admissible, strategies
from tailproof.verification.strategies import (
    data_sets,
    domains,
    heavy_tailed_data,
    heavy_tailed_laws,
    losses,
    neighbouring,
    numbers,
)

Pair = tuple[FloatArray, FloatArray]
few = settings(max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@few
@given(neighbouring(records=(1, 6), columns=2, bounds=(-1, 3)))
def test_replaced_records_make_admissible_pairs(pair: Pair) -> None:
    space = Admissible(len(pair[0]), 2, -1, 3)
    assert space.is_pair(pair)
    assert int((pair[0] != pair[1]).any(axis=1).sum()) == 1


@few
@given(neighbouring(records=(2, 6), columns=(1, 3), relation=ADD_REMOVE))
def test_removed_records_make_admissible_pairs(pair: Pair) -> None:
    first, second = pair
    assert Admissible(len(first), first.shape[1], neighbouring=ADD_REMOVE).is_pair(pair)
    assert len(second) == len(first) - 1
    assert np.abs(first).max() <= strategies.LARGEST


def test_a_counterexample_shrinks_to_one_record_of_zero_and_one() -> None:
    first, second = find(neighbouring(), lambda pair: True, settings=few)  # noqa: ARG005
    assert first.tolist() == [[0.0]]
    assert second.tolist() == [[1.0]]
    data, other = find(neighbouring(), lambda pair: len(pair[0]) >= 3 and abs(pair[1].sum()) > 10, settings=few)
    assert data.tolist() == [[0.0]] * 3
    assert np.count_nonzero(other) == 1
    assert abs(other.sum()) == 11.0
    small = find(data_sets(records=(0, 5), bounds=(2, 8)), lambda table: table.size > 1 and table.max() > 4, settings=few)
    assert sorted(small.ravel().tolist()) == [2.0, 5.0]


def test_large_tables_are_drawn_and_shrink() -> None:
    table = find(data_sets(records=(1, 500), columns=3, bounds=(1, 9)), lambda found: len(found) > 99, settings=few)
    assert table.shape == (100, 3)
    assert (table == 1).all()


@few
@given(st.data())
def test_all_finite_numbers_are_there_on_request(data: st.DataObject) -> None:
    drawn = data.draw(numbers((-math.inf, math.inf)))
    assert math.isfinite(drawn)
    assert 0 <= data.draw(numbers((0, math.inf))) < math.inf


def test_numbers_beyond_the_default_are_drawn_without_bounds() -> None:
    assert find(numbers((-math.inf, math.inf)), lambda x: x > 1e200, settings=few) > 1e200


@few
@given(heavy_tailed_laws(moment=1.5))
def test_laws_have_the_moment_and_no_exponential_one(law: problems.DataLaw) -> None:
    assert law.absolute_moment(1.5) < math.inf
    far = [float(law.survival(law.upper_quantile(1e-3) * factor)) for factor in (1, 10)]
    assert (
        far[1] > far[0] ** 9
    )  # an exponential tail is the tenth power; lognormal ones, σ ≥ 0.5, and powers stay above this


@few
@given(heavy_tailed_data(records=5, columns=(1, 2)), domains(2), losses())
def test_data_domains_and_losses_fit_together(data: FloatArray, domain: object, loss: object) -> None:
    assert data.shape in {(5, 1), (5, 2)}
    assert np.isfinite(data).all()
    assert domain.dimension == 2  # type: ignore[attr-defined]
    table = np.ones((3, loss.columns(2)))  # type: ignore[attr-defined]
    inside = domain.project(np.zeros(2))  # type: ignore[attr-defined]
    assert np.isfinite(loss.values(inside, table)).all()  # type: ignore[attr-defined]


def test_the_simplest_domain_and_loss_come_first() -> None:
    domain = find(domains(2), lambda found: True, settings=few)  # noqa: ARG005
    assert type(domain).__name__ == "Ball"
    assert (domain.center.tolist(), domain.radius) == ([0.0, 0.0], 1.0)
    assert find(losses(), lambda found: True, settings=few) == Absolute()  # noqa: ARG005


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: neighbouring(records=0), "records = 0"),
        (lambda: neighbouring(records=(3, 2)), "records = 2"),
        (lambda: neighbouring(columns=0), "columns = 0"),
        (lambda: neighbouring(bounds=(1, 1)), "low < high"),
        (lambda: data_sets(bounds=(math.nan, 1)), "low < high"),
        (lambda: domains(0), "dimension = 0"),
        (lambda: heavy_tailed_laws(0), "moment = 0"),
    ],
)
def test_wrong_arguments_are_named(make: object, text: str) -> None:
    with pytest.raises(InputError, match=text):
        find(make(), lambda found: True, settings=few)  # type: ignore[operator]  # noqa: ARG005


def test_where_hypothesis_is_missing_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    spec = importlib.util.spec_from_file_location("strategies_alone", strategies.__file__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=r"pip install 'tailproof\[testing\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
