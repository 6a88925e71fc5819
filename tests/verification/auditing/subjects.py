"""Subjects that behave badly; in a module of their own, for workers import them."""

import ctypes
import time
from typing import Any

import numpy as np

Rng = np.random.Generator
CALLS: list[int] = []


def scalar(data: np.ndarray, rng: Rng) -> float:
    return float(data.sum()) + rng.laplace()


def vectorised(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:
    return data.sum() + rng.laplace(size=size)


def raises_at_one(data: np.ndarray, rng: Rng) -> float:
    if data.sum() > 0.5:
        raise ZeroDivisionError("no such record")
    return rng.laplace()


def raises_sometimes(data: np.ndarray, rng: Rng) -> float:  # noqa: ARG001
    value = rng.random()
    if value > 0.98:
        raise RuntimeError("did not converge")
    return value


def exits(data: np.ndarray, rng: Rng) -> float:  # noqa: ARG001
    raise SystemExit(3)


def not_finite(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:
    outputs = vectorised(data, rng, size)
    outputs[-1] = np.nan
    return outputs


def overflows(data: np.ndarray, rng: Rng) -> float:  # noqa: ARG001
    return float("inf")


def changing_shape(data: np.ndarray, rng: Rng) -> Any:  # noqa: ARG001
    return rng.random(int(rng.integers(1, 3)))


def one_short(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:
    return vectorised(data, rng, size)[1:]


def shape_of_the_data(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:
    return rng.random((size, len(data)))


def ragged(data: np.ndarray, rng: Rng, size: int) -> Any:  # noqa: ARG001
    return [[1.0]] * (size - 1) + [[1.0, 2.0]]


def nothing(data: np.ndarray, rng: Rng) -> None:  # noqa: ARG001
    return None


def text(data: np.ndarray, rng: Rng, size: int) -> Any:  # noqa: ARG001
    return ["a"] * size


def complex_numbers(data: np.ndarray, rng: Rng, size: int) -> Any:  # noqa: ARG001
    return np.ones(size) * 1j


def own_seed(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:  # noqa: ARG001
    return data.sum() + np.random.default_rng(0).laplace(size=size)


def own_randomness(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:  # noqa: ARG001
    return data.sum() + np.random.default_rng().laplace(size=size)


def one_draw(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:
    return np.full(size, data.sum() + rng.laplace())


def changes_its_data(data: np.ndarray, rng: Rng, size: int) -> np.ndarray:
    data += 1
    return rng.laplace(size=size - 1)


def moody(data: np.ndarray, rng: Rng) -> float:
    """By the last record: well, hangs after some runs, dies."""
    if data[-1, 0] == 2:
        ctypes.string_at(0)
    if data[-1, 0] == 1:
        CALLS.append(1)
        time.sleep(0.06 if len(CALLS) < 10 else 600)
    return rng.laplace()


def hangs_on_ones(data: np.ndarray, rng: Rng) -> float:
    if data.sum() == len(data):
        time.sleep(600)
    return float(data.sum()) + rng.laplace()


def plain(*arguments: object) -> float:
    """Whatever it is called with."""
    return float(len(arguments))
