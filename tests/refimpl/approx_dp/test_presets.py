"""Every preset runs with the function that it is for, and says what it misses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tailproof.refimpl.approx_dp.presets import OPTIMISERS, THEORY, TUNED, Facts, Kind, optimiser, preset
from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.validation import InputError

FACTS = Facts(
    records=20_000,
    dimension=2,
    epsilon=0.05,
    delta=1e-5,
    diameter=2.0,
    norm_moment=2.0,
    norm_order=2.0,
    direction_moment=2.0,
    direction_order=2.0,
    coordinate_moment=2.0,
    coordinate_order=2.0,
    record_smoothness=20.0,
    smoothness=1.0,
    strong_convexity=1.0,
    lipschitz=40.0,
    theta=2.0,
    sparsity=1,
    mean_slope=2.0,
)
SLOW = {"P0.A3", "P0.A4", "P0.A5"}  # the published step counts are for hundreds of records


def sized(identifier: str, kind: Kind) -> Facts:
    if kind == "theory" and identifier in SLOW:
        return replace(FACTS, records=128 if identifier == "P0.A4" else 64, epsilon=1.0)
    return replace(FACTS, epsilon=0.5, dimension=80) if identifier == "P3.A5" else FACTS


@pytest.mark.parametrize(
    ("identifier", "kind"), [(name, "theory") for name in THEORY if name != "P1.A1"] + [(name, "tuned") for name in TUNED]
)
def test_a_preset_is_accepted_by_its_optimiser(identifier: str, kind: Kind) -> None:
    facts = sized(identifier, kind)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(facts.records, facts.dimension))
    data = np.column_stack([features, features[:, 0] / 2 + rng.standard_t(3, size=facts.records)])
    given = preset(identifier, facts, kind)
    if identifier != "P3.A5":
        given["domain"] = "ball:1"
    claim = ApproxDP(facts.epsilon, facts.delta)
    point, _ = run(optimiser(identifier), data, rng, loss="squared", epsilon=claim.epsilon, delta=claim.delta, **given)
    assert point.shape == (facts.dimension,)
    assert np.isfinite(point).all()


def test_sample_and_aggregate_says_how_many_records_the_published_blocks_need() -> None:
    with pytest.raises(InputError, match="n = 1000: Theorem 2's number of blocks is 1600"):
        preset("P1.A1", replace(FACTS, records=1000), "theory")


@pytest.mark.parametrize("identifier", OPTIMISERS)
def test_what_is_missing_is_named(identifier: str) -> None:
    bare = Facts(records=20_000, dimension=2, epsilon=0.05, delta=1e-5, diameter=2.0)
    with pytest.raises(InputError, match=rf"\w+: is needed for the parameters of {identifier}"):
        preset(identifier, bare, "tuned")


def test_first_moments_are_not_enough_for_p1() -> None:
    with pytest.raises(InputError, match=r"coordinate_order = 1\.5: must be 2 for P1\.A4"):
        preset("P1.A4", replace(FACTS, coordinate_order=1.5))
