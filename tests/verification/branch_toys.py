"""Mechanisms with a choice that ordinary data never make otherwise, and honest ones without any.

Each is (data, channel) -> something.  What they do on the rare side does not matter here: whether it is reached does.
"""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tailproof.refimpl.channel import L2
from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.laws import Gaussian


def out(channel: Any, value: Any) -> Any:
    return channel.release("out", Gaussian(np.atleast_1d(np.float64(value)), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))


def median(x, c):  # type: ignore[no-untyped-def]
    if np.median(x) > 1234.5:
        return out(c, 1)
    return out(c, 0)


def entry(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1 if x[3, 0] == 7 else 0)


def tiny_norm(x, c):  # type: ignore[no-untyped-def]
    if 0 < np.linalg.norm(x) < 1e-9:
        return out(c, 1)
    return out(c, 0)


def distinct(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1) if len(np.unique(x)) == 3 else out(c, 0)


def all_above(x, c):  # type: ignore[no-untyped-def]
    if (x[:, 0] > 40).all():
        return out(c, 1)
    return out(c, 0)


def loop(x, c):  # type: ignore[no-untyped-def]
    total = x.sum()
    while total > 777.75:
        total = total / 2
    return out(c, total)


def items(x, c):  # type: ignore[no-untyped-def]
    scale = 1.0
    for value in x[x > 91234.5]:
        scale = float(value)
    return out(c, scale)


def comprehension(x, c):  # type: ignore[no-untyped-def]
    return out(c, len([v for v in x[:, 0].tolist() if v == -55.5]))


def where(x, c):  # type: ignore[no-untyped-def]
    return out(c, np.where(x > 88888, 1000, 0).sum())


def mask(x, c):  # type: ignore[no-untyped-def]
    y = np.zeros(x.shape)
    y[x < -31.25e3] = 1
    return out(c, y.sum())


def stored(x, c):  # type: ignore[no-untyped-def]
    flag = x.mean() == 2.5
    return out(c, 1000 * flag)


def shorted(x, c):  # type: ignore[no-untyped-def]
    hit = (x.max() > 5555 and x.min() < -7777) or False
    return out(c, float(hit))


def asserted(x, c):  # type: ignore[no-untyped-def]
    assert x.sum() != 12345, "no"
    return out(c, 0)


def caught(x, c):  # type: ignore[no-untyped-def]
    try:
        value = 1 / float(x[2, 0])
    except ZeroDivisionError:
        value = 1000.0
    return out(c, value)


def looked_up(x, c):  # type: ignore[no-untyped-def]
    return out(c, {True: 1000, False: 0}[bool(x.max() > 4321)])


def matched(x, c):  # type: ignore[no-untyped-def]
    match int(x[0, 0]):
        case 42:
            return out(c, 1)
        case _:
            return out(c, 0)


def clipped_far(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1000 * np.clip(x.mean(), -1e7, 1e7))


def smaller(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1e6 * max(0.0, float(x.mean()) - 1e5))


def signed(x, c):  # type: ignore[no-untyped-def]
    return out(c, 100 * np.sign(x.sum() - 3333))


def by_operator(x, c):  # type: ignore[no-untyped-def]
    return out(c, operator.gt(float(x.std()), 8765.5))


def by_ufunc(x, c):  # type: ignore[no-untyped-def]
    return out(c, np.greater(x, 65432.1).sum())


def nested(x, c):  # type: ignore[no-untyped-def]
    if x.mean() < -4e4:
        if x[0, 0] == 13.25:
            return out(c, 2)
        return out(c, 1)
    return out(c, 0)


def _helper(value):  # type: ignore[no-untyped-def]
    return 1000 if value > 999.5 else 0


def by_helper(x, c):  # type: ignore[no-untyped-def]
    return out(c, _helper(np.median(x)))


def closure(limit):  # type: ignore[no-untyped-def]
    def inner(x, c):  # type: ignore[no-untyped-def]
        return out(c, 1 if x.min() > limit else 0)

    return inner


class Rare:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __call__(self, x: Any, c: Any) -> Any:
        return out(c, self.rare(x))

    def rare(self, x: Any) -> int:
        return 1 if np.abs(x).sum() > self.limit else 0


def with_limit(x, c, limit):  # type: ignore[no-untyped-def]
    return out(c, 1 if x.sum() == limit else 0)


def tied(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1 if x[0, 0] == x[-1, 0] else 0)


def ordered(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1 if (np.diff(x[:, 0]) > 0).all() else 0)


def close(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1 if np.isclose(x.mean(), 17.5) else 0)


def without_source() -> Any:
    scope: dict[str, Any] = {"np": np, "out": out}
    exec("def hidden(x, c):\n    if np.median(x) > 1234.5:\n        return out(c, 1)\n    return out(c, 0)\n", scope)
    return scope["hidden"]


def hashed(x, c):  # type: ignore[no-untyped-def]
    return out(c, 1 if hashlib.sha256(x.tobytes()).hexdigest().startswith("00000000") else 0)


HIDDEN: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        median,
        entry,
        tiny_norm,
        distinct,
        all_above,
        loop,
        items,
        comprehension,
        where,
        mask,
        stored,
        shorted,
        asserted,
        caught,
        looked_up,
        matched,
        clipped_far,
        smaller,
        signed,
        by_operator,
        by_ufunc,
        nested,
        by_helper,
        tied,
        ordered,
        close,
    )
}
HIDDEN |= {
    "closure": closure(1e4),
    "object": Rare(4e5),
    "method": Rare(4e5).__call__,
    "partial": functools.partial(with_limit, limit=-64.5),
}


# --- honest ---------------------------------------------------------------------------------------------------------------


def clipped_mean(x, c, clip=1.5, mode="plain"):  # type: ignore[no-untyped-def]
    if clip <= 0:
        raise ValueError("clip")
    if mode == "other":
        return out(c, 0)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    rows = np.where(norms > clip, x * (clip / np.maximum(norms, 1e-300)), x)
    return out(c, rows.mean())


def iterated(x, c, steps=3):  # type: ignore[no-untyped-def]
    point = 0.0
    for step in range(steps):
        channel = c.part(f"{step}", range(len(x)))
        noisy = out(channel, np.clip(x - point, -1, 1).mean())
        if abs(noisy[0]) > 1e9:  # what was released decides
            break
        point = point + float(noisy[0])
    return point


def median_of_blocks(x, c, blocks=2):  # type: ignore[no-untyped-def]
    size = len(x) // blocks
    if size == 0:
        raise ValueError("blocks")
    means = [np.clip(x[k * size : (k + 1) * size], -1, 1).mean() for k in range(blocks)]
    return out(c, np.median(means))


def bounded(x, c, low=0.0, high=1.0):  # type: ignore[no-untyped-def]
    return out(c, np.clip(x, low, high).mean())


def guarded(x, c):  # type: ignore[no-untyped-def]
    if x.ndim != 2 or len(x) == 0:
        raise ValueError("shape")
    if not np.isfinite(x).all():
        raise ValueError("finite numbers")
    return out(c, np.clip(x, -1, 1).mean())


def guarded_twice(data, c):  # type: ignore[no-untyped-def]
    rows = np.asarray(data, dtype=float)
    if not np.isfinite(rows).all():
        raise ValueError("finite numbers")
    if np.isnan(rows).any() or np.any(np.isinf(data)):
        raise ValueError("numbers")
    return out(c, np.clip(rows, -1, 1).mean())


def asks_something_else(data, c):  # type: ignore[no-untyped-def]
    rows = np.asarray(data, dtype=float)
    if not np.isfinite(rows).all():
        raise ValueError("finite numbers")
    with np.errstate(all="ignore"):
        rows = 1 / (np.sin(rows) - 0.123456789)
    if np.isinf(rows).any():
        raise ValueError("numbers")
    return out(c, np.clip(data, -1, 1).mean())


def refuses_rarely(x, c):  # type: ignore[no-untyped-def]
    if not np.isfinite(x).all() or hashlib.sha256(x.tobytes()).hexdigest().startswith("00000000"):
        raise ValueError("finite numbers")
    return out(c, np.clip(x, -1, 1).mean())


HONEST: dict[str, Callable[..., Any]] = {
    one.__name__: one for one in (clipped_mean, iterated, median_of_blocks, guarded, guarded_twice)
}
