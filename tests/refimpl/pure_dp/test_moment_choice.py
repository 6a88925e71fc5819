"""The private moment bound: its law on the grid, what it guarantees, and that nothing but the released level gets out."""

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.laws import Softmax
from tailproof.refimpl.pure_dp import moment_choice as module
from tailproof.refimpl.pure_dp.moment_choice import (
    counts,
    grid,
    level_share_upper,
    private_moment_bound,
    scores,
    slack_of,
    steepness_of,
    with_private_bound,
)
from tailproof.refimpl.pure_dp.objective import objective_perturbation
from tailproof.refimpl.pure_dp.population import population_localization
from tailproof.refimpl.validation import InputError

SMALL = {"low": 0.3, "high": 20.0, "ratio": 2.0, "failure": 0.2}  # levels 0.3, 0.6, …, 38.4
PUBLIC = {"epsilon": 0.8, "moment_order": 2.0, **SMALL}


def sample(n: int = 120, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_t(2.5, size=(n, 2))


def plain_law(data: Any, epsilon: float, order: float) -> tuple[list[float], list[float]]:
    """Levels and probabilities, record by record and in ordinary arithmetic."""
    levels = [0.3 * 2**j for j in range(8)]
    r = 2 * max(1, 1 / epsilon) * math.log(8 / 0.2)
    beyond = [len(data), *(sum(min(1, math.hypot(*x) / g) ** order for x in data) for g in levels)]
    weights = []
    for j, (before, after) in enumerate(pairwise(beyond)):
        wrong = max(2 * r - before, 0 if j == 7 else after - 2 * r, 0)
        weights.append(math.exp(-epsilon * wrong / 2))
    return [g * (3 * r / len(data)) ** (1 / order) for g in levels], [w / sum(weights) for w in weights]


@pytest.mark.parametrize(("epsilon", "order"), [(0.8, 2.0), (3.0, 2.5), (0.5, 1.0)])
def test_the_exact_law_on_the_grid(epsilon: float, order: float) -> None:
    data = sample()
    _, transcript = run(
        private_moment_bound, data, np.random.default_rng(), **{**PUBLIC, "epsilon": epsilon, "moment_order": order}
    )
    (release,) = transcript.spending
    assert isinstance(release.law, Softmax)
    assert release.spend == PureDP(epsilon)
    _, wanted = plain_law(data, epsilon, order)
    np.testing.assert_allclose(np.exp(release.law.log_probabilities()), wanted, rtol=1e-9)


def test_outputs_have_the_law() -> None:
    """Frequencies against the law written out above; a false alarm has probability 1e-6."""
    data, rng = sample(), np.random.default_rng()
    values, wanted = plain_law(data, 0.8, 2.0)
    drawn = np.array([float(run(private_moment_bound, data, rng, **PUBLIC)[0]) for _ in range(2000)])
    found = np.array([(np.abs(drawn / value - 1) < 1e-9).sum() for value in values])
    assert found.sum() == 2000
    often = np.array(wanted) * 2000 > 5
    observed, expected = np.append(found[often], found[~often].sum()), np.append(np.array(wanted)[often], 0) * 2000
    expected[-1] = 2000 - expected[:-1].sum()
    keep = expected > 1e-3
    assert chisquare(observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum()).pvalue > 1e-6


lengths = st.one_of(st.floats(0, 1e60), st.sampled_from([0.0, 5e-324, 0.3, 0.6, 38.4, 1e60]))


@settings(max_examples=60, deadline=None)
@given(st.lists(lengths, min_size=3, max_size=40), lengths, st.floats(1, 7), st.floats(0.01, 1))
def test_one_record_moves_every_score_by_at_most_one(sizes: list[float], other: float, order: float, share: float) -> None:
    """Exactly, for n ≥ 3r: the counts are exact in floats."""
    data, slack = np.array(sizes)[:, np.newaxis], share * len(sizes) / 3
    neighbour = data.copy()
    neighbour[0] = other
    levels = grid(**{name: SMALL[name] for name in ("low", "high", "ratio")})
    found, moved = (scores(rows, levels, order, slack) for rows in (data, neighbour))
    assert np.abs(found - moved).max() <= 1
    assert found.max() == 0
    beyond = counts(data, levels, order)
    assert (np.diff(beyond) <= 0).all()
    plain = [sum(min(1.0, size / g) ** order for size in sizes) for g in levels]
    np.testing.assert_allclose(beyond, plain, atol=(len(sizes) + 1) ** 2 * 2.0**-51, rtol=1e-12)


@pytest.mark.parametrize("law", ["heavy", "constant", "zeros and one", "two sizes"])
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_what_it_guarantees_for_all_data(law: str, epsilon: float) -> None:
    """(a) and (b), but for ζ = 0.2: more failures of 60 runs than chance explains with probability 1e-6 are too many."""
    n, k, rng = 400, 2.0, np.random.default_rng()
    sizes = {
        "heavy": np.abs(rng.standard_t(2.1, size=n)),
        "constant": np.full(n, 3.0),
        "zeros and one": np.append(np.zeros(n - 1), 1e9),
        "two sizes": np.where(np.arange(n) < 300, 0.5, 11.0),
    }[law]
    r = slack_of(8, epsilon=epsilon, failure=0.2)
    failed = 0
    for _ in range(60):
        bound = float(run(private_moment_bound, sizes, rng, epsilon=epsilon, moment_order=k, **SMALL)[0])
        g = bound / (3 * r / n) ** (1 / k)
        within = g > 38 or ((sizes > g).sum() <= 3 * r and np.mean(np.minimum(sizes, g) ** k) <= bound**k * (1 + 1e-9))
        tight = g < 0.31 or bound <= 2 * math.sqrt(3 * np.mean(np.minimum(sizes, g / 2) ** k)) * (1 + 1e-9)
        failed += not (within and tight)
    assert failed <= binom.isf(1e-6, 60, 0.2)
    assert level_share_upper(n, epsilon=epsilon, levels=8, failure=0.2) == 3 * r / n


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"moment_order": 0.9}, "moment_order = 0.9: must be >= 1"),
        ({"low": 0}, "low"),
        ({"high": 0.3}, "high = 0.3: must be above low"),
        ({"ratio": 1}, "ratio = 1.0: must be > 1"),
        ({"ratio": 1 + 1e-9}, "levels; at most 100000"),
        ({"high": 1.7e308}, "beyond the floats"),
        ({"failure": 1}, "failure"),
        ({"epsilon": 0.1}, "120 records are too few .* 222 are needed"),
    ],
)
def test_wrong_public_numbers(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(private_moment_bound, sample(), np.random.default_rng(), **{**PUBLIC, **changes})


# --- with the algorithms that need a G --------------------------------------------------------------------------------------------


def with_bound(solve: Any, preset: str = "tuned") -> Any:
    public = {
        "loss": "absolute",
        "domain": "ball:1",
        "epsilon": 4.0,
        "moment_order": 2.0,
        "moment_share": 0.5,
        "preset": preset,
    }
    return partial(with_private_bound, solve=solve, **public, moment_low=0.3, moment_high=20.0, moment_failure=0.2)


@pytest.mark.parametrize("solve", [objective_perturbation, population_localization])
def test_together_they_spend_epsilon(solve: Any) -> None:
    """Also where G is far off: the algorithm's privacy does not rest on it."""
    data = np.hstack([sample(60), sample(60, 1)[:, :1]])
    for scale in (1e-9, 1.0, 1e9):
        point, transcript = run(with_bound(solve), scale * data, np.random.default_rng(0))
        assert np.linalg.norm(point) <= 1 + 1e-12
        assert sum(release.spend.epsilon for release in transcript.spending if release.rows is None) <= 4.0 * (1 + 1e-15)


@pytest.mark.parametrize("solve", [objective_perturbation, population_localization])
def test_a_neighbour_declares_the_same(solve: Any) -> None:
    """The moment bound leaves by its release alone: given that, all that is declared afterwards is the same on the neighbour."""
    data = np.hstack([sample(60), sample(60, 1)[:, :1]])
    neighbour = data.copy()
    neighbour[7] = 1e9
    point, transcript = run(with_bound(solve), data, np.random.default_rng(0))
    again, other = replay(with_bound(solve), neighbour, transcript)
    np.testing.assert_array_equal(point, again)
    first, second = transcript.spending[0].law, other.spending[0].law
    assert np.abs(first.log_probabilities() - second.log_probabilities()).max() <= 2.0  # of ε₁ = 2


def test_it_is_the_steepness_of_records_that_counts() -> None:
    rows = np.array([[3.0, 4.0, 2.0], [1e60, 0.0, -1e60], [0.0, 0.0, 0.0]])
    ball = module.parse_domain("ball:2", 2)
    np.testing.assert_allclose(steepness_of(module.parse_loss("absolute"), rows, ball)[:, 0], [5, 1e60, 0])
    np.testing.assert_allclose(steepness_of(module.parse_loss("squared"), rows, ball)[:, 0], [60, 1e60, 0])
    np.testing.assert_allclose(steepness_of(module.parse_loss("l4"), rows, ball)[:2, 0], [4 * 5 * 12**3, 1e60])
    np.testing.assert_allclose(steepness_of(module.parse_loss("ridge:0.5:hinge"), rows, ball)[:, 0], [6, 1e60, 1])
