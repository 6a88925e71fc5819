"""P4's errata: every gap can be absent, and what `found` says still stands does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tailproof.bounds.erratum import Gap, stands
from tailproof.bounds.papers import p4
from tailproof.bounds.papers import p4_errata as module
from tailproof.refimpl.domains import Ball, Localised
from tailproof.refimpl.extension.certified import accuracy_for
from tailproof.refimpl.pure_dp.perturbation import RegularisedProblem, certified_point

LINE: dict[str, Any] = {"counts": [100, 900], "clip": 2.0, "weight": 1.0, "centre": 0.6}
STAGE: dict[str, Any] = {"epsilon": 1.0, "failure": 0.05}
HARMLESS: list[tuple[Callable[..., Gap], dict[str, Any]]] = [
    (module._whole_domain_gap, {"n": 10**3, "d": 10, "k": 2.0, "epsilon": 1.0, "weight": 0.001}),
    (module._known_instance_gap, {"failure": 0.1, "known": False}),
    (module._adaptive_query_gap, {"lipschitz": 1.0, "radius": 1.0, "adaptive": False}),
    (module._local_bias_gap, {"slopes": [2.0, -0.5]} | LINE | STAGE),
    (module._local_bias_gap, {"slopes": [10.0, -0.5]} | LINE | STAGE | {"epsilon": 1e-3}),  # W_loc is all of W
    (module._decoder_gap, {"constant": 0.25, "large": 0.25, "small": 0.25}),
    (module._order_gap, {"described": "D", "here": "E"}),
]


@pytest.mark.parametrize(("gap", "arguments"), HARMLESS)
def test_a_gap_can_be_absent(gap: Callable[..., Gap], arguments: dict[str, Any]) -> None:
    assert not stands(gap(**arguments))


def test_every_gap_is_seen_absent() -> None:
    gaps = {value for name, value in vars(module).items() if name.startswith("_") and name.endswith("_gap")}
    assert gaps <= {gap for gap, _ in HARMLESS}


# What `found` says.


def test_one_perturbation_over_the_whole_domain_has_the_rate() -> None:
    values, ours = zip(
        *(module._whole_domain_gap(n=n, d=10, k=2.0, epsilon=1.0, weight=1.0) for n in (10**4, 10**6, 10**8, 10**10)),
        strict=True,
    )
    assert all(later / sooner == pytest.approx(0.1, rel=1e-6) for sooner, later in itertools.pairwise(ours))
    quotients = np.divide(values, ours)
    assert quotients[1:] / quotients[:-1] == pytest.approx(100 ** (1 / 6), rel=1e-6)  # (nε/d)^{(k−1)/(k(k+1))}


def test_the_bias_is_too_large_with_the_papers_own_clip() -> None:
    n, epsilon, slopes, counts = 1000, 0.1, [10.0, 0.0], [5, 995]
    moment = math.sqrt(np.average(np.square(slopes), weights=counts))
    gap = module._local_bias_gap(
        slopes=slopes,
        counts=counts,
        clip=moment * math.sqrt(n * epsilon),
        weight=100.0,
        centre=0.6,
        epsilon=epsilon,
        failure=0.05,
    )
    assert gap[0] > 10 * gap[1]


def test_the_extension_and_its_minimiser_on_the_line_by_brute_force() -> None:
    grid = np.linspace(0.0, 1.0, 2001)
    slopes = [10.0, -0.5]
    extended = [np.min(s * grid[:, None] + 2.0 * np.abs(grid[None] - grid[:, None]), axis=0) for s in slopes]
    for s, values in zip(slopes, extended, strict=True):
        assert [module._extended(s, w, 2.0) for w in grid] == pytest.approx(values, abs=1e-12)
    penalty = 0.5 * (grid - 0.6) ** 2
    plain = np.average([s * grid for s in slopes], axis=0, weights=[100, 900]) + penalty
    clipped = np.average(extended, axis=0, weights=[100, 900]) + penalty
    minimisers = module._line_minimisers(slopes=slopes, **LINE)
    assert minimisers == pytest.approx((grid[plain.argmin()], grid[clipped.argmin()]), abs=1e-3)


@pytest.mark.parametrize("slopes", [[10.0, -0.5], [3.0, -0.5], [-7.0, 1.0], [10.0, -9.0]])
def test_the_gradient_bias_holds_over_the_whole_domain(slopes: list[float]) -> None:
    plain, extended = module._line_minimisers(slopes=slopes, **LINE)
    excess = np.maximum(np.square(slopes) - LINE["clip"] ** 2, 0.0)
    bound = np.average(np.sqrt(excess), weights=LINE["counts"])
    assert LINE["weight"] * abs(plain - extended) <= bound + 1e-12


def test_the_distance_by_values_fails_for_some_clip() -> None:
    plain, extended = module._line_minimisers(slopes=[10.0, -0.5], **LINE)
    _, bias_claimed = module._local_bias_gap(slopes=[10.0, -0.5], **LINE, **STAGE)
    assert (plain - extended) ** 2 > 2 * bias_claimed / LINE["weight"]


@pytest.mark.parametrize("inner_is_local", [False, True])
def test_the_second_stage_minimises_another_function_if_the_infimum_is_local(inner_is_local: bool) -> None:
    rows = np.array([[10.0, 0.0, -100.0]] + [[0.0, -0.3, -100.0]] * 4)
    setting: dict[str, Any] = {"lipschitz": 2.0, "weight": 1.0, "kappa": 1e-3}
    problem = RegularisedProblem.of(loss="absolute", domain=Ball(np.zeros(2), 1.0), columns=3, center=[0.3, 0.3], **setting)
    first = certified_point(problem.on(rows), problem.accuracy(len(rows)))
    local = Localised(problem.domain, first, 0.1)
    inner = local if inner_is_local else problem.domain
    second = certified_point(problem.on(rows, inner=inner, within=local), accuracy_for(size=len(rows), **setting))
    moved, certified = float(np.linalg.norm(first - second)), 2 * 1e-3 * 2.0 / len(rows)
    assert (moved > 30 * certified) if inner_is_local else (moved <= certified)


@pytest.mark.parametrize("failure", [0.1, 1e-3, 1e-12])
def test_the_decoder_bound_is_at_least_the_failure_probability_for_a_small_constant(failure: float) -> None:
    spent = 0.25 * (1 + math.log(1 / failure))
    assert p4.decoding_error_lower(size=2, epsilon=spent, changed=1) >= failure
