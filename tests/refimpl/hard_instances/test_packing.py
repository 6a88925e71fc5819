"""Codes: words of the kind that is said, as far apart as is said, and at least as many as the papers' bounds promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tailproof.refimpl.hard_instances import sign_code, sparse_code, weight_code
from tailproof.refimpl.validation import FloatArray, InputError


def _apart(code: FloatArray) -> int:
    differ = (code[:, np.newaxis] != code).sum(axis=2)
    return int(differ[~np.eye(len(code), dtype=bool)].min())


@pytest.mark.parametrize(("d", "distance"), [(1, 1), (5, 1), (8, 3), (24, 6), (40, 5)])
def test_sign_codes(d: int, distance: int) -> None:
    code = sign_code(d, distance=distance, most=200)
    assert set(np.unique(code)) == {-1.0, 1.0}
    assert _apart(code) >= distance
    assert len(code) >= 2 ** (d / 20)  # P0's |V|, which is for distance d/8
    np.testing.assert_array_equal(sign_code(d, distance=distance, most=200), code)


@pytest.mark.parametrize("d", [2, 6, 16, 32])
def test_words_of_constant_weight(d: int) -> None:
    code = weight_code(d, weight=d // 2, distance=math.ceil(d / 8), most=100)
    assert (code.sum(axis=1) == d // 2).all()
    assert set(np.unique(code)) == {0.0, 1.0}
    assert _apart(code) >= d / 8
    assert len(code) >= 2 ** (7 * d / 128)  # P3's Lemma 21


@pytest.mark.parametrize(("d", "s"), [(6, 1), (10, 3), (50, 4), (200, 5)])
def test_sparse_words(d: int, s: int) -> None:
    code = sparse_code(d, sparsity=s, distance=math.ceil(s / 2), most=300)
    assert ((code != 0).sum(axis=1) == s).all()
    assert set(np.unique(code)) == {-1.0, 0.0, 1.0}
    assert _apart(code) >= s / 2
    assert len(code) >= min(300, math.exp(s / 2 * math.log((d - s) / (s / 2))))  # P3's Lemma 28
    assert len(sparse_code(d, sparsity=s, distance=1, most=7)) == 7


def test_bad_input() -> None:
    with pytest.raises(InputError, match="distance"):
        sign_code(3, distance=4)
    with pytest.raises(InputError, match="weight"):
        weight_code(3, weight=4, distance=1)
    with pytest.raises(InputError, match="no two words"):
        weight_code(3, weight=3, distance=1)
