"""The errata: every discrepancy is there, the rechecks can come out false, and what `found` says still stands does."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pytest

from bounds import errata as module
from bounds import explicit
from bounds.errata import Erratum, errata

ALL = errata()


def test_ids_are_unique_and_carry_their_paper() -> None:
    assert len({erratum.id for erratum in ALL}) == len(ALL)
    assert all(erratum.id.startswith(erratum.paper + ".") for erratum in ALL)


@pytest.mark.parametrize("erratum", ALL, ids=lambda erratum: erratum.id)
def test_the_discrepancy_is_there(erratum: Erratum) -> None:
    start = time.perf_counter()
    assert erratum.recheck()
    assert time.perf_counter() - start < 1
    assert erratum.evidence["measured"] > erratum.evidence["allowed"]
    assert erratum.kind in {"privacy", "rate", "constant", "typo"}
    assert erratum.printed
    assert erratum.found.endswith(".")


@pytest.mark.parametrize("erratum", ALL, ids=lambda erratum: erratum.id)
def test_evidence_survives_json(erratum: Erratum) -> None:
    assert json.loads(json.dumps(erratum.evidence, allow_nan=False)) == erratum.evidence


HARMLESS = [
    (module._gaussian_gap(explicit.p0_gaussian_scale), {"epsilon": 1.0, "delta": 0.99}),
    (module._gaussian_gap(explicit.p3_gaussian_scale), {"epsilon": 1.0, "delta": 0.01}),
    (module._peeling_gap, {"epsilon": 0.9, "delta": 0.5}),
    (module._union_gap, {"failures": [1 / 40, 1 / 6], "claimed_failure": 1 / 4}),
    (module._last_iterate_gap, {"squared_contraction": 1.0}),
    (module._direction_gap, {"points": [-1.0, -1.0], "centre": -1.0}),
    (module._randomiser_gap, {"size": 1, "rho": 0.01, "clip": 1.0}),
    (module._aggregate_gap, {"d": 4, "radius": 1.0, "epsilon": 1.0}),
    (module._trim_step_gap, {"data": [-1.0, 0.0, 1.0], "trim": 1}),
    (module._trim_event_gap, {"data": [0.4], "trim": 0, "t": 0.5}),
    (module._trim_event_gap, {"data": [9.0], "trim": 0, "t": 0.5}),
    (
        module._soft_sensitivity_gap,
        {"record": 10.0, "replacement": 0.0, "scale": 1.0, "beta": 1.0},
    ),
    (
        module._soft_noise_gap,
        {"n": 1000, "d": 5, "steps": 10, "variance": 1.0, "xi": 0.05, "strong": 1.0, "weak": 1.0},
    ),
    (module._descent_gap, {"slope": 0.1, "smoothness": 0.1, "step": 10.0}),
    (module._conversion_gap, {"rho": 1.0, "delta": 1e-5}),
    (module._clip_step_gap, {"constant": 0.5, "clip": 1.0}),
    (module._chernoff_range_gap, {"n": 1, "clip": 1.0, "moment": 1.0, "t": 0.5}),
    (module._shuffle_term_gap, {"epsilon0": 1.0, "groups": 1}),
    (module._equality_gap, {"left": 6.0, "right": 6.0}),
    (module._shuffle_condition_gap, {"groups": 10**6, "delta": 1e-5}),
    (module._group_variance_gap, {"n": 100, "groups": 1, "clip": 1.0, "rho": 1.0}),
    (module._desymmetrise_gap, {"functions": (1 - 3 * np.eye(3)).tolist()}),
    (module._contraction_gap, {"functions": [[0.0], [1.0]], "n": 1}),
    (module._density_gap, {"scale": 1.0, "reach": 0.5}),
    (module._two_sided_gap, {"n": 2, "xi": 0.4}),
    (module._sampling_step_gap, {"n": 100, "v": 0.5, "epsilon": 1.0, "delta": 1e-5, "xi": 0.1}),
    (module._vanishing_rate_gap, {"n": 100, "v": 1.0, "epsilon": 1.0, "delta": 1e-5, "xi": 0.1}),
    (module._group_mean_gap, {"constant": 1.0, "groups": 1, "size": 2}),
    (module._laplace_max_gap, {"d": 10, "xi": 0.01}),
]


@pytest.mark.parametrize(("gap", "arguments"), HARMLESS)
def test_a_gap_can_be_absent(gap: module.Gap, arguments: dict[str, object]) -> None:
    assert not module._stands(gap(**arguments))


def test_the_desymmetrisation_counterexample_is_the_least_of_its_kind() -> None:
    assert module._desymmetrise_gap(functions=(1 - 4 * np.eye(4)).tolist()) == (2.0, 2.0)
    assert module._desymmetrise_gap(functions=(1 - 5 * np.eye(5)).tolist()) == (2.5, 2.0)


@pytest.mark.parametrize(("value", "scale"), [(-1.0, 1.0), (1.0, 2.0), (-1.0, 2.0), (1.0, 0.5)])
def test_the_displayed_soft_truncation_grows_like_a_cube(value: float, scale: float) -> None:
    near, far = (abs(explicit.soft_truncation_record(value=value * x, scale=scale, beta=1.0)) for x in (100.0, 1000.0))
    assert far > 500 * near


# What `found` says to stand.


def test_lemma_5_stands_with_n_minus_m() -> None:
    for n in range(1, 6):
        for data in itertools.combinations_with_replacement(range(-3, 4), n):
            t, s = abs(sum(data)) / n, max(abs(x) for x in data)
            for m in range((n + 1) // 2):
                kept = data[m : n - m]
                assert abs(sum(kept) / len(kept)) <= (n * t + m * s) / (n - m) + 1e-12


def test_theorem_6_stands_in_both_ranges_of_k() -> None:
    for delta, k in itertools.product((1e-12, 1e-6, 1e-2, 0.5, 0.999), (1, 10, 10**3, 10**4, 10**5, 10**6)):
        epsilon = 8 * math.e**2 * math.sqrt(math.log(4 / delta) / k) * (1 - 1e-12)
        rho = explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=k)
        epsilon0 = rho + 2 * math.sqrt(rho * math.log(12 * k / delta))
        if k <= 64 * math.e**4 * math.log(8 / delta):
            assert epsilon0 <= epsilon
        else:
            assert epsilon0 <= 1 < math.log(k / (16 * math.log(4 / delta)))


def test_the_end_of_80_holds_with_either_second_term() -> None:
    for log, k in itertools.product((math.log(8), 3.0, 50.0), (1, 10, 10**6)):
        for second in (8 * math.e / k, 8 * math.e / math.sqrt(k)):
            third_line = math.e / 2 * (8 * math.sqrt(math.e * log / k) + second)
            assert third_line <= 8 * math.e**2 * math.sqrt(log / k)


def test_equations_6_and_7_need_epsilon_below_the_noise_logarithm() -> None:
    for delta in (1e-5, 0.3, 0.5, 0.9, 1.0):
        measured, allowed = module._sampling_step_gap(n=50, v=0.7, epsilon=0.8, delta=delta, xi=0.1)
        assert measured / allowed == pytest.approx(0.8 / math.sqrt(math.log(1.25 / delta)))


def test_the_printed_7_fails_exactly_for_delta_near_one() -> None:
    # ε = 1: A ≥ 1 iff δ ≤ 1.25/e.
    for delta, fails in ((1.25 / math.e - 1e-6, False), (1.25 / math.e + 1e-6, True)):
        gap = module._sampling_step_gap(n=50, v=0.7, epsilon=1.0, delta=delta, xi=0.1)
        assert module._stands(gap) == fails
