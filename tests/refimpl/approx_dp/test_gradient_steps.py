"""The steps themselves: batches, what a step sees, what is returned."""

import numpy as np
import pytest

from refimpl.approx_dp.gradient_steps import (
    Task,
    batches,
    check_delta,
    descend,
    gradient_table,
    prepare,
    records_with_gradients,
)
from refimpl.channel import L2, Channel
from refimpl.domains import Ball
from refimpl.laws import Gaussian
from refimpl.losses import L4, Loss, Quadratic, Squared, parse_loss
from refimpl.validation import FloatArray, InputError


def exact_mean(rows: FloatArray, channel: Channel) -> FloatArray:
    """Released with next to no noise, so that the channel records who was used."""
    value = channel.release("mean", Gaussian(rows.mean(axis=0), 1e-12), sensitivity=L2(1.0), spend=None)
    return np.asarray(value, dtype=np.float64)


def test_batches_are_disjoint_and_of_equal_size() -> None:
    assert batches(10, 3, "full") == [range(10)] * 3
    assert batches(10, 3, "disjoint") == [range(3), range(3, 6), range(6, 9)]


def task() -> Task:
    data = np.random.default_rng(3).standard_normal((12, 2))
    return prepare(data, loss=Quadratic(np.diag([1.0, 0.5])), domain="ball:10", center=[1.0, 1.0])


def test_full_steps_are_gradient_descent() -> None:
    what, channel = task(), Channel.sampling(np.random.default_rng(0))
    found = descend(what, channel, steps=4, step_size=0.3, sampling="full", estimate=exact_mean)
    point = np.array([1.0, 1.0])
    for _ in range(4):
        point = point - 0.3 * what.loss.mean_gradient(point, what.rows)
    assert found == pytest.approx(point, abs=1e-9)
    assert [release.rows for release in channel.transcript()] == [range(12)] * 4


def test_disjoint_steps_shrink_and_the_mean_of_all_points_is_returned() -> None:
    what, channel = task(), Channel.sampling(np.random.default_rng(0))
    found = descend(what, channel, steps=4, step_size=0.3, sampling="disjoint", estimate=exact_mean)
    point, points = np.array([1.0, 1.0]), []
    for t in range(4):
        point = point - 0.3 / np.sqrt(t + 1) * what.loss.mean_gradient(point, what.rows[3 * t : 3 * t + 3])
        points.append(point)
    assert found == pytest.approx(np.mean(points, axis=0), abs=1e-9)
    assert [release.rows for release in channel.transcript()] == [range(3 * t, 3 * t + 3) for t in range(4)]


def test_gradients_beyond_the_floats_count_as_huge_ones() -> None:
    rows = np.array([[1e60, -1e60], [1.0, 2.0]])
    wild = gradient_table(L4(), np.array([1e60]), np.array([[1e60, 0.0], [1.0, 2.0]]))
    assert np.isfinite(wild).all()
    assert wild[0, 0] == 1e300
    assert np.isfinite(gradient_table(Squared(), np.array([1e14]), rows)).all()


@pytest.mark.parametrize("name", ["quadratic", "squared", "logistic", "ridge:2:logistic"])
def test_records_with_given_gradients(name: str) -> None:
    loss: Loss = Quadratic(np.array([[2.0, 0.5], [0.5, 1.0]])) if name == "quadratic" else parse_loss(name)
    wanted = np.random.default_rng(1).standard_normal((2, 5, 2))
    tables = records_with_gradients(loss, (wanted[0], wanted[1]), 8)
    for table, gradients in zip(tables, wanted, strict=True):
        assert loss.gradients(np.zeros(2), table) == pytest.approx(np.vstack([gradients, np.zeros((3, 2))]), abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": np.zeros((4, 3))}, "data: has 3 columns; must have 2"),
        ({"data": [[1.0, 2.0], [1.0]]}, "data: must be an array of numbers"),
        ({"data": np.full((4, 2), np.nan)}, "data: entry"),
        ({"data": np.array([[1.0, 1.0], [1.0, 0.5]]), "loss": "ridge:1:logistic", "domain": "ball:1"}, "label of record 1"),
        ({"domain": "cube:1"}, "domain"),
        ({"loss": "cosine"}, "loss"),
        ({"center": [11.0, 0.0]}, "center: must lie in the domain"),
        ({"domain": Ball(np.zeros(2), 1e20)}, "domain: reaches 1e"),
        ({"data": np.full((4, 2), 1e61)}, "data: has an entry of size 1e"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"data": np.zeros((4, 2)), "loss": Quadratic(np.eye(2)), "domain": Ball(np.zeros(2), 10.0)}
    with pytest.raises(InputError, match=message):
        prepare(**{"center": None, **given, **changes})  # type: ignore[arg-type]


def test_delta_of_one_over_n_is_warned_about() -> None:
    check_delta(0.09, 10)
    with pytest.warns(UserWarning, match="allows to publish a whole record"):
        check_delta(0.1, 10)
