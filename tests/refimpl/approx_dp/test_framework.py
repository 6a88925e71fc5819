"""Projected gradient steps: by hand, on exact means, and what is refused before anything is released."""

import numpy as np
import pytest

from tailproof.refimpl.approx_dp import sco_framework
from tailproof.refimpl.approx_dp.framework import Fixed, worst_neighbours
from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.channel import L2, Channel, run
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Quadratic, RecordQuadratic
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.validation import FloatArray


def exact(rows: FloatArray, channel: Channel) -> FloatArray:
    return channel.query("mean", rows.mean(axis=0), sensitivity=L2(1.0))


@pytest.mark.parametrize("batching", ["all", "disjoint"])
def test_steps_on_exact_means_by_hand(batching: str) -> None:
    rng = np.random.default_rng(0)
    data, matrix = rng.standard_normal((11, 3)), np.diag([2.0, 1.0, 0.1])
    found, transcript = run(
        sco_framework,
        data,
        rng,
        loss=Quadratic(matrix),
        domain=Ball(np.zeros(3), 0.3),
        estimator=exact,
        steps=4,
        learning_rate=0.4,
        batching=batching,
    )
    w = np.zeros(3)
    for t in range(4):
        part = data if batching == "all" else data[[i for i in range(11) if 11 * t // 4 <= i < 11 * (t + 1) // 4]]
        w = w - 0.4 * np.mean([matrix @ (w - x) for x in part], axis=0)
        w = w * min(1.0, 0.3 / np.linalg.norm(w))
        assert found[t] == pytest.approx(w, rel=1e-12)
        rows = transcript.releases[t].rows
        assert rows is not None
        assert len(rows) == len(part)
    assert [release.name for release in transcript] == [f"step{t}/mean" for t in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("loss", "columns"), [("affine", 2), ("squared", 3), ("logistic", 3), (RecordQuadratic(), 4), (Quadratic(np.eye(2)), 2)]
)
def test_the_worst_pair_moves_a_clipped_mean_as_far_as_it_can_move(loss: object, columns: int) -> None:
    (data, neighbour), *rest = worst_neighbours(5, columns, loss=loss)  # type: ignore[arg-type]
    assert not rest
    if loss == "logistic":
        data[:, -1], neighbour[:, -1] = np.where(data[:, -1] < 0, -1, 1), np.where(neighbour[:, -1] < 0, -1, 1)
    assert (data != neighbour).any(axis=1).sum() == 1
    problem = prepare(data, loss=loss, domain="ball:1")  # type: ignore[arg-type]
    first, second = (problem.loss.gradients(problem.start, table)[0] for table in (problem.rows, neighbour))
    assert np.linalg.norm(first) >= 500
    assert first == pytest.approx(-second, rel=1e-12)


def test_a_fixed_estimator_says_what_it_is() -> None:
    assert str(Fixed(simple_clipping_mean, {"clip": 1.0, "rho": 0.5})) == "simple_clipping_mean(clip=1.0, rho=0.5)"
