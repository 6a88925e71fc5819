"""Columns: every cell has a stated place, record by record."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.validation import InputError
from tailproof.verification.fitting.columns import (
    AsItIs,
    Categorical,
    Column,
    Columns,
    Numeric,
    column_from_json,
    column_to_json,
    read_columns,
)

ODD = [
    None,
    math.nan,
    math.inf,
    -math.inf,
    1e300,
    -1e300,
    5e-324,
    "",
    "x",
    "2",
    {},
    [],
    b"2",
    10**5000,
    1j,
    True,
    np.float64(3),
]
KINDS: list[Column | AsItIs] = [
    Numeric(0, 10),
    Numeric(0, 10, missing=4),
    Numeric(-1e308, 1e307, clip=False),
    Numeric(0, 1e-300, clip=False),
    Categorical(("x", 2, "y")),
    Categorical(("x", 2, "y"), missing="y"),
    AsItIs(),
]


def cells(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_cell_has_a_place_of_its_own(kind: Column | AsItIs) -> None:
    """Whatever the other records hold: so neighbours stay neighbours."""
    together = kind.encode(cells(ODD), name="c")
    assert np.isfinite(together).all()
    assert np.abs(together).max() <= 1e60
    assert (np.linalg.norm(together, axis=1) <= kind.largest).all()
    assert together.shape == (len(ODD), kind.width)
    for cell, row in zip(ODD, together, strict=True):
        np.testing.assert_array_equal(kind.encode(cells([cell]), name="c")[0], row)


def test_numbers() -> None:
    found = Numeric(0, 10, unit="m").encode(cells([0, 5, "10", 11, -math.inf, None]), name="c")[:, 0]
    np.testing.assert_array_equal(found, [-1, 0, 1, 1, -1, 0])
    found = Numeric(0, 10, missing=10, clip=False).encode(np.array([20.0, math.nan]), name="c")[:, 0]
    np.testing.assert_array_equal(found, [3, 1])
    np.testing.assert_array_equal(Numeric(10, 30).decode(np.array([-1.0, 0.5])), [10, 25])


def test_levels() -> None:
    kind = Categorical(("red", 1))
    found = kind.encode(cells(["red", 1.0, "1", True, " red ", "blue", None]), name="c")
    np.testing.assert_array_equal(found, [[1, 0], [0, 1], [0, 1], [0, 1], [1, 0], [0, 0], [0, 0]])
    assert kind.features("c") == ["c=red", "c=1"]
    filled = Categorical(("red", 1), missing="red").encode(cells(["blue"]), name="c")
    np.testing.assert_array_equal(filled, [[1, 0]])
    np.testing.assert_array_equal(Categorical((1, 2)).encode(np.array([2, 1, 3]), name="c"), [[0, 1], [1, 0], [0, 0]])


@pytest.mark.parametrize(
    ("kind", "cell", "said"),
    [
        (Numeric(0, 1), None, "record 2 is no finite number"),
        (Numeric(0, 1), 2, "record 2 is not between 0 and 1"),
        (Categorical((0,)), 1, "record 2 is none of the levels"),
        (AsItIs(), 1e61, "record 2 is no number"),
    ],
)
def test_strict(kind: Column | AsItIs, cell: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"{said}.*'c'"):
        kind.encode(cells([0, cell]), name="c", strict=True)
    kind.encode(cells([0, cell]), name="c")
    kind.encode(cells([0, 0]), name="c", strict=True)
    assert Numeric(0, 1, clip=False).encode(cells([2]), name="c", strict=True) == 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Numeric(1, 1), "low must be below high"),
        (lambda: Numeric(-1.7e308, 1.7e308), "their distance"),
        (lambda: Numeric(0, 1, missing=2), "missing = 2.0"),
        (lambda: Categorical(()), "levels"),
        (lambda: Categorical((1, "1")), "each of them once"),
        (lambda: Categorical(("a",), missing="b"), "missing = 'b'"),
        (lambda: Columns.of([Numeric(0, 1)], ["a", "b"]), "has 1 entries; X has 2"),
        (lambda: Columns.of({"a": Numeric(0, 1)}, ["b"]), "'a' is on one side only"),
        (lambda: Columns.of(["a"], ["a"]), "must be Numeric or Categorical"),  # type: ignore[list-item]
    ],
)
def test_wrong_rules(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_a_table() -> None:
    columns = Columns.of({"b": Categorical(("u", "v")), "a": Numeric(0, 2)}, ["a", "b"])
    assert columns.features == ["a", "b=u", "b=v"]
    assert columns.norm_upper == math.sqrt(2)
    np.testing.assert_array_equal(columns.encode([cells([2]), cells(["v"])]), [[1, 0, 1]])
    assert Columns.of(None, ["a"]).norm_upper == math.inf


def test_files(tmp_path: Path) -> None:
    declared = {"a": Numeric(0, 2, missing=1, unit="m", clip=False), "b": Categorical(("u", 2), missing="u")}
    file = tmp_path / "columns.json"
    file.write_text(json.dumps({name: column_to_json(kind) for name, kind in declared.items()}))
    assert read_columns(str(file)) == declared
    for wrong in ({}, {"kind": "other"}, {"kind": "numeric", "low": 0}, {"kind": "numeric", "low": 1, "high": 0}, 3):
        with pytest.raises(InputError, match="column 'a'"):
            column_from_json("a", wrong)
    for text in ("{", "[]", "{}"):
        file.write_text(text)
        with pytest.raises(InputError, match="describe"):
            read_columns(str(file))
