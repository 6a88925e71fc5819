"""Parameters as JSON and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, Setting
from tailproof.verification.amplification import TRIALS
from tailproof.verification.vectors.parameters import from_json, to_json

SETTINGS = [
    (row.id, number, setting)
    for row in ALGORITHMS
    if row.implementation is not None
    for number, setting in enumerate([*row.implementation.settings, *TRIALS.get(row.id, ())])
]


def same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if hasattr(first, "__dataclass_fields__"):
        return type(first) is type(second) and to_json(first) == to_json(second)
    return bool(first == second) and type(first) is type(second)


@pytest.mark.parametrize(("identifier", "number", "setting"), SETTINGS, ids=[f"{i}-{n}" for i, n, _ in SETTINGS])
def test_every_setting_comes_back(identifier: str, number: int, setting: Setting) -> None:  # noqa: ARG001
    given = dict(setting.parameters)
    back = from_json(json.loads(json.dumps(to_json(given))))
    assert given.keys() == back.keys()
    for name, value in given.items():
        assert same(value, back[name]), name
