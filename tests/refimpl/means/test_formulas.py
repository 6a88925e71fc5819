"""Each estimator's query against the definition written out naively, and the facts its sensitivity rests on."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tailproof.refimpl.channel import Channel, run
from tailproof.refimpl.claims import UnprovedClaim
from tailproof.refimpl.laws import Gaussian, Laplace, NoisyArgmax
from tailproof.refimpl.means import iterative_updating, median_of_means, peeling, simple_clipping, truncated
from tailproof.refimpl.means.clipped import clipped_mean
from tailproof.refimpl.means.rows import clip_weights, truncated_mean_of
from tailproof.refimpl.validation import FloatArray, InputError

tables = arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.floats(-1e6, 1e6, width=32))


@settings(deadline=None)
@given(tables, st.floats(1e-3, 1e3))
def test_clipped_mean_is_the_mean_of_projections(data: FloatArray, clip: float) -> None:
    projected = [row if np.linalg.norm(row) <= clip else row * (clip / np.linalg.norm(row)) for row in data]
    assert np.allclose(clipped_mean(data, clip=clip), np.mean(projected, axis=0), rtol=1e-12, atol=1e-13 * clip)


@settings(deadline=None)
@given(tables, st.floats(1e-3, 1e3))
def test_truncated_mean_zeroes_what_lies_beyond(data: FloatArray, bound: float) -> None:
    kept = [[x if abs(x) <= bound else 0.0 for x in row] for row in data.tolist()]
    assert np.allclose(truncated_mean_of(data, bound), np.mean(kept, axis=0), rtol=1e-12, atol=1e-13 * bound)


def test_clipping_survives_overflow_and_underflow() -> None:
    assert clip_weights(np.array([[3e-200, 4e-200], [3.0, 4.0]]), 2.0) == pytest.approx([1.0, 0.4], rel=1e-15)
    assert clipped_mean(np.array([[3e200, 4e200], [0.0, 0.0]]), clip=2.0) == pytest.approx([0.6, 0.8], rel=1e-15)


def test_truncation_level_is_the_printed_one() -> None:
    """P3 Algorithm 1 at n = 100, ε = 0.5, δ = 0.01, ξ = 0.1, v = 0.5, u = 2."""
    expected = (2 * 100 * 0.5 / (math.log(10) * math.sqrt(math.log(125)))) ** (1 / 1.5)
    found = truncated.truncation(100, epsilon=0.5, delta=0.01, failure=0.1, moment_order=1.5, moment_bound=2.0)
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("median", median_of_means.MEDIANS)
@pytest.mark.parametrize("groups", [1, 2, 5, 6])
def test_median_of_means(median: str, groups: int) -> None:
    means = np.random.default_rng(groups).standard_normal((groups, 3))
    ordered = np.sort(means, axis=0)
    expected = ordered[(groups - 1) // 2] if median == "low" else np.median(means, axis=0)
    assert median_of_means.median_of(means, median) == pytest.approx(expected)


def test_groups_partition_the_records_into_nearly_equal_sizes() -> None:
    for n in range(7, 60):
        starts = [*median_of_means.group_starts(n, 7), n]
        sizes = np.diff(starts)
        assert sizes.sum() == n
        assert sizes.min() == n // 7
        assert sizes.max() - sizes.min() <= 1


def test_too_few_records_for_the_groups() -> None:
    with pytest.raises(InputError, match="at least 11"):
        median_of_means.truncated_median_of_means(
            np.zeros((10, 2)),
            Channel.sampling(np.random.default_rng(0)),
            epsilon=0.5,
            delta=0.1,
            failure=0.3,
            truncation=1.0,
        )


def test_the_sum_of_sorted_means_moves_by_what_one_of_them_moved() -> None:
    """Why an even number of groups halves the median's reach: all order statistics move the same way."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        means = rng.standard_t(2, size=rng.integers(1, 9))
        moved = np.array(means)
        moved[0] += rng.standard_t(1)
        shifts = np.sort(moved) - np.sort(means)
        assert shifts.sum() == pytest.approx(moved[0] - means[0], abs=1e-9 * (1 + np.abs(moved).max()))
        assert (shifts >= 0).all() or (shifts <= 0).all()


def test_peeling_releases_indices_then_values() -> None:
    data = np.random.default_rng(0).standard_normal((50, 6))
    output, transcript = run(
        peeling.peeled_mean, data, np.random.default_rng(1), truncation=2.0, sparsity=3, epsilon=0.9, delta=1e-3
    )
    assert [type(r.law) for r in transcript] == [NoisyArgmax] * 3 + [Laplace] * 3
    assert [r.visible for r in transcript] == [False] * 3 + [True] * 3
    chosen = [int(r.output) for r in transcript.releases[:3]]
    assert len(set(chosen)) == 3
    assert np.flatnonzero(output).tolist() == sorted(chosen)
    assert [output[j] for j in chosen] == [float(r.output) for r in transcript.releases[3:]]


def test_peeling_of_one_coordinate_is_fully_visible() -> None:
    data = np.ones((10, 3))
    _, transcript = run(
        peeling.peeled_mean, data, np.random.default_rng(1), truncation=2.0, sparsity=1, epsilon=0.9, delta=1e-3
    )
    assert transcript.all_visible


def test_peeling_refuses_more_coordinates_than_there_are() -> None:
    with pytest.raises(InputError, match=r"sparsity = 4: must be in \[1, 3\]"):
        peeling.peeled_mean(
            np.ones((5, 3)), Channel.sampling(np.random.default_rng(0)), truncation=1.0, sparsity=4, epsilon=0.5, delta=0.1
        )


def test_group_means_match_a_loop() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_t(2, size=(23, 3))
    members = np.array_split(rng.permutation(23), 5)
    clipped = np.stack([row * min(1.0, 1.5 / np.linalg.norm(row)) for row in data])
    expected = np.stack([clipped[rows].mean(axis=0) for rows in members])
    assert np.allclose(iterative_updating.group_means(data, members, 1.5), expected, rtol=1e-13, atol=1e-15)


def test_iterative_updating_names_the_records_of_each_group() -> None:
    _, transcript = run(
        iterative_updating.iterative_updating_mean,
        np.ones((17, 2)),
        np.random.default_rng(0),
        epsilon=0.5,
        delta=1e-3,
        clip=1.0,
        groups=5,
        steps=1,
        amplification="none",
    )
    touched = np.concatenate([np.asarray(r.rows) for r in transcript.spending])
    assert np.array_equal(np.sort(touched), np.arange(17))
    assert min(len(np.asarray(r.rows)) for r in transcript.spending) == 3
    scale = float(transcript.spending[0].law.scale)  # type: ignore[attr-defined]
    rho = iterative_updating.group_budget(epsilon=0.5, delta=1e-3, groups=5, amplification="none")
    assert scale == pytest.approx(math.sqrt(2 / rho) * 1.0 / 3)


def test_theorem_6_range_of_epsilon() -> None:
    most = 8 * math.e**2 * math.sqrt(math.log(4 / 1e-3) / 400)
    iterative_updating.group_budget(epsilon=most * 0.999, delta=1e-3, groups=400)
    with pytest.raises(InputError, match="Theorem 6"):
        iterative_updating.group_budget(epsilon=most * 1.001, delta=1e-3, groups=400)


@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-9])
def test_up_to_64e4_log_groups_theorem_6_needs_no_shuffling(delta: float) -> None:
    """The papers' own conversion of one group's ρ is (ε, δ) for k ≤ 64e⁴ln(8/δ)."""
    from tailproof.refimpl.claims import zcdp_epsilon

    for k in (1, 10, 1000, int(64 * math.e**4 * math.log(8 / delta))):
        epsilon = min(1.0, 8 * math.e**2 * math.sqrt(math.log(4 / delta) / k))
        rho = iterative_updating.group_budget(epsilon=epsilon, delta=delta, groups=k)
        assert zcdp_epsilon(rho, delta, tight=False) <= epsilon


def test_a_claim_that_rests_on_unproved_shuffling_is_refused() -> None:
    """Ten million groups of two: the amplified claim is not implied by one group's, and shuffling is proved for single records."""
    k, epsilon, delta = 10**7, 0.05, 1e-3
    rho = iterative_updating.group_budget(epsilon=epsilon, delta=delta, groups=k)
    check = iterative_updating._refuse_unproved
    with pytest.raises(InputError, match="groups of one record"):
        check(2 * k, k, epsilon, delta, rho, False)
    with pytest.warns(UnprovedClaim, match="groups of one record"):
        check(2 * k, k, epsilon, delta, rho, True)
    check(k, k, epsilon, delta, rho, False)


def test_start_must_match_the_dimension() -> None:
    with pytest.raises(InputError, match="start"):
        iterative_updating.iterative_updating_mean(
            np.ones((10, 2)),
            Channel.sampling(np.random.default_rng(0)),
            epsilon=0.5,
            delta=1e-3,
            clip=1.0,
            groups=5,
            steps=1,
            start=[0.0, 0.0, 0.0],
        )


def test_simple_clipping_scale_is_the_printed_one() -> None:
    _, transcript = run(simple_clipping.simple_clipping_mean, np.ones((8, 2)), np.random.default_rng(0), clip=3.0, rho=0.25)
    law = transcript.releases[0].law
    assert isinstance(law, Gaussian)
    assert float(law.scale) ** 2 == pytest.approx(2 * 3.0**2 / (0.25 * 8**2), rel=1e-14)


def test_classical_gaussian_estimators_refuse_a_large_epsilon() -> None:
    for privacy in (truncated.privacy, median_of_means.privacy, peeling.privacy):
        privacy(epsilon=1.0, delta=0.1)
        with pytest.raises(InputError, match="epsilon"):
            privacy(epsilon=1.01, delta=0.1)
