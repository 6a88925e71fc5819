"""opendp: measurements on numbers and on records, with the claims of their own privacy maps.

Their noise has its own source of randomness, which no seed governs: what is found differs a little from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from harness import Case, Run, by_runs

from refimpl.claims import ZCDP, Claim, PureDP

Make = Callable[[], Any]


def _library() -> Any:
    library = import_module("opendp.prelude")
    library.enable_features("contrib", "honest-but-curious")
    return library


def noise(name: str, kind: type, **settings: Any) -> Make:
    """On a number, of sensitivity 1."""

    def make() -> Any:
        dp = _library()
        domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
        return getattr(dp.m, name)(domain, dp.absolute_distance(T=kind), **settings)

    return make


def noisy_sum() -> Any:
    dp = _library()
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False))
    return dp.t.make_sum(domain, dp.symmetric_distance()) >> dp.m.then_laplace(scale=1.0)


def noisy_mean() -> Any:
    """Ten records: a replacement moves the mean by a tenth."""
    dp = _library()
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=10)
    return dp.t.make_mean(domain, dp.symmetric_distance()) >> dp.m.then_laplace(scale=0.1)


def noisy_count() -> Any:
    dp = _library()
    count = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
    return count >> dp.m.then_laplace(scale=1.0)


def noisy_max() -> Any:
    dp = _library()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(domain, dp.linf_distance(T=float), dp.max_divergence(), scale=2.0)


def response() -> Any:
    return _library().m.make_randomized_response_bool(prob=1 / (1 + math.exp(-1.0)))


def running(make: Make) -> Run:
    """Made once."""
    kept: list[Any] = []

    def run(value: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
        if not kept:
            kept.append(make())
        return float(kept[0](value))

    return run


def cases() -> list[Case]:
    half, zeros, one = [0.5] * 10, [0.0] * 10, [0.0] * 9 + [1.0]
    rows: list[tuple[str, str, Claim, Make, tuple[Any, Any], str]] = [
        ("make_laplace", "floats, scale 1", PureDP(1.0), noise("make_laplace", float, scale=1.0), (0.0, 1.0), "0 and 1"),
        ("make_laplace", "integers, scale 1", PureDP(1.0), noise("make_laplace", int, scale=1.0), (0, 1), "0 and 1"),
        (
            "make_geometric",
            "scale 1, in [0, 2]",
            PureDP(1.0),
            noise("make_geometric", int, scale=1.0, bounds=(0, 2)),
            (0, 1),
            "0 and 1",
        ),
        ("make_gaussian", "floats, scale 2", ZCDP(0.125), noise("make_gaussian", float, scale=2.0), (0.0, 1.0), "0 and 1"),
        ("make_gaussian", "integers, scale 2", ZCDP(0.125), noise("make_gaussian", int, scale=2.0), (0, 1), "0 and 1"),
        ("make_randomized_response_bool", "truth 1/(1 + 1/e)", PureDP(1.0), response, (False, True), "no and yes"),
        (
            "make_noisy_max",
            "scale 2, ℓ∞ 1",
            PureDP(1.0),
            noisy_max,
            ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0]),
            "(1, 0, 0) and (0, 1, 1)",
        ),
        ("make_sum", "in (0, 1), a record added", PureDP(1.0), noisy_sum, (half, [*half, 1.0]), "ten records, or eleven"),
        ("make_mean", "ten in (0, 1), one replaced", PureDP(1.0), noisy_mean, (zeros, one), "ten zeros, one becomes 1"),
        ("make_count", "a record added", PureDP(1.0), noisy_count, ([1] * 4, [1] * 5), "four records, or five"),
    ]
    return [
        Case("opendp", subject, setting, claim, by_runs(running(make), pair, budget=10000), witness)
        for subject, setting, claim, make, pair, witness in rows
    ]
