"""Bad input: one clear error that names the argument, before any record is looked at."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.validation import InputError

BUILT = [
    entry
    for entry in ALGORITHMS
    if entry.implementation and entry.implementation.module.__name__.startswith("tailproof.refimpl.means.")
]
CASES = [(entry, index) for entry in BUILT for index in range(len(entry.implementation.settings))]  # type: ignore[union-attr]

NOT_POSITIVE = [0, -1.0, math.nan, math.inf, "x", None, [1.0], True]
NOT_PROBABILITY = [0, 1, -0.1, 1.5, math.nan, "x"]
NOT_WHOLE = [0, -1, 1.5, math.nan, "x"]
BAD: dict[str, list[Any]] = {
    "clip": NOT_POSITIVE,
    "rho": NOT_POSITIVE,
    "epsilon": NOT_POSITIVE,
    "delta": NOT_PROBABILITY,
    "failure": NOT_PROBABILITY,
    "truncation": NOT_POSITIVE,
    "second_moment": NOT_POSITIVE,
    "moment_bound": NOT_POSITIVE,
    "moment_order": [1, 0.5, 2.1, math.nan, "x"],
    "scale": [0, -1.0, math.nan, math.inf, "x"],
    "smoothness": [0, -1.0, math.nan, math.inf, "x"],
    "trim": NOT_WHOLE,
    "groups": NOT_WHOLE,
    "steps": NOT_WHOLE,
    "sparsity": NOT_WHOLE,
    "lower": [math.nan, math.inf, 5.0, "x"],
    "upper": [math.nan, -math.inf, -5.0, "x"],
    "iterations": NOT_WHOLE,
    "clamp": ["both", None, 3],
    "median": ["high", None],
    "method": ["magic", None],
    "amplification": ["some", None],
}


class Untouchable:
    """Data that must not be looked at."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the data were looked at before the parameters were checked")


def call(entry: Algorithm, index: int, data: Any, **changes: Any) -> Any:
    implementation = entry.implementation
    assert implementation is not None
    parameters = {**implementation.settings[index].parameters, **changes}
    function = getattr(implementation.module, implementation.function)
    if implementation.query:
        return function(data, **parameters)
    return function(data, Channel.sampling(np.random.default_rng(0)), **parameters)


def parameters_of(entry: Algorithm) -> list[str]:
    implementation = entry.implementation
    assert implementation is not None
    function = getattr(implementation.module, implementation.function)
    return list(function.__kwdefaults__ or {}) + list(implementation.settings[0].parameters)


@pytest.mark.parametrize(
    ("entry", "name", "value"),
    [
        pytest.param(entry, name, value, id=f"{entry.id}-{name}-{value}")
        for entry in BUILT
        for name in dict.fromkeys(parameters_of(entry))
        for value in BAD.get(name, [])
        if not (value is None and name == "start")
    ],
)
def test_a_bad_parameter_is_refused_before_the_data_are_looked_at(entry: Algorithm, name: str, value: Any) -> None:
    if name == "smoothness" and value is None:
        pytest.fail("None is the default of smoothness")
    with pytest.raises(InputError) as caught:
        call(entry, 0, Untouchable(), **{name: value})
    assert any(word in str(caught.value) for word in (name, "lower", "upper") if word == name or name in ("lower", "upper"))


def test_every_parameter_of_every_estimator_is_covered() -> None:
    """`start` and `accept_unproved` have tests of their own."""
    names = {name for entry in BUILT for name in parameters_of(entry)}
    assert names - set(BAD) == {"start", "accept_unproved"}


@pytest.mark.parametrize(("entry", "index"), CASES, ids=[f"{entry.id}-{index}" for entry, index in CASES])
@pytest.mark.parametrize(
    "data",
    [
        [],
        [[]],
        [1.0],
        [[1.0, 2.0]],
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros((2, 2, 2)),
        3.0,
        "text",
        [["a", "b"], ["c", "d"]],
        None,
        {"a": 1},
        [[1.0, 2.0], [3.0]],
    ],
    ids=str,
)
def test_malformed_data_are_refused(entry: Algorithm, index: int, data: Any) -> None:
    with pytest.raises(InputError, match="data"):
        call(entry, index, data)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(CASES), st.sampled_from([math.nan, math.inf, -math.inf]), st.integers(0, 10**6))
def test_a_single_non_finite_entry_is_refused(case: tuple[Algorithm, int], bad: float, position: int) -> None:
    entry, index = case
    assert entry.implementation is not None
    setting = entry.implementation.settings[index]
    data = np.zeros((setting.n, setting.d))
    data.flat[position % data.size] = bad
    with pytest.raises(InputError, match="finite"):
        call(entry, index, data)


@pytest.mark.parametrize(("entry", "index"), CASES, ids=[f"{entry.id}-{index}" for entry, index in CASES])
@pytest.mark.parametrize("size", [0.0, 1e-300, 1e12, 1e200, 1.7e308])
@pytest.mark.filterwarnings("ignore::tailproof.refimpl.claims.UnprovedClaim")
def test_extreme_finite_data_are_accepted(entry: Algorithm, index: int, size: float) -> None:
    """An error here would depend on private data."""
    assert entry.implementation is not None
    setting = entry.implementation.settings[index]
    signs = np.where(np.arange(setting.n * setting.d).reshape(setting.n, setting.d) % 3 == 0, -1.0, 1.0)
    assert np.isfinite(call(entry, index, size * signs)).all()
