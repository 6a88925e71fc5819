"""The steps themselves: batches, what a step sees, what is returned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.approx_dp.gradients import NARROW, gradient_tables
from tailproof.refimpl.approx_dp.steps import batches_of, consecutive, descend
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.losses import L4, AnyLoss, Quadratic, parse_any_loss
from tailproof.refimpl.validation import FloatArray, InputError

DATA = np.random.default_rng(3).standard_normal((12, 2))
LOSS = Quadratic(np.diag([1.0, 0.5]))
STEPS = {
    "loss": LOSS,
    "domain": "ball:10",
    "epsilon": 1.0,
    "delta": 1e-3,
    "steps": 4,
    "step_size": 0.3,
    "center": [1.0, 1.0],
}


def exact_mean(rows: FloatArray, channel: Channel, **_: object) -> FloatArray:
    """Released with next to no noise, so that the channel records who was used."""
    value = channel.release("mean", Gaussian(rows.mean(axis=0), 1e-12), sensitivity=L2(1.0), spend=ZCDP(1.0))
    return np.asarray(value, dtype=np.float64)


@given(st.integers(1, 200), st.integers(1, 50), st.booleans())
@settings(deadline=None, max_examples=100)
def test_batches_are_disjoint_and_of_nearly_equal_size(records: int, steps: int, equal: bool) -> None:
    if steps > records:
        with pytest.raises(InputError, match=f"steps = {steps}: leaves 0 of {records} records"):
            batches_of(records, steps, disjoint=True, equal=equal)
        return
    parts, size = batches_of(records, steps, disjoint=True, equal=equal), records // steps
    assert [i for part in parts for i in part] == list(range(size * steps if equal else records))
    assert {len(part) for part in parts} <= {size, size if equal else -(-records // steps)}
    assert len(parts) == steps


def test_batches_of_all_records_and_of_too_few() -> None:
    assert batches_of(10, 3, disjoint=False) == [range(10)] * 3
    with pytest.raises(InputError, match="data: has 10 records; at least 11 are needed"):
        batches_of(10, 3, disjoint=False, least=11)
    with pytest.raises(InputError, match="steps = 3: leaves 3 of 10 records to a step; at least 4"):
        batches_of(10, 3, disjoint=True, least=4)
    assert consecutive([2, 3], 6, what="parts") == [range(2), range(2, 5)]
    with pytest.raises(InputError, match="data: has 4 records; the parts need 5"):
        consecutive([2, 3], 4, what="parts")


def test_full_steps_are_gradient_descent() -> None:
    channel = Channel.sampling(np.random.default_rng(0))
    found = descend(DATA, channel, exact_mean, **STEPS, sampling="full", least=1)  # type: ignore[arg-type]
    point = np.array([1.0, 1.0])
    for _ in range(4):
        point = point - 0.3 * LOSS.mean_gradient(point, DATA)
    assert found == pytest.approx(point, abs=1e-9)
    assert [release.rows for release in channel.transcript()] == [range(12)] * 4


def test_disjoint_steps_shrink_and_the_mean_of_all_points_is_returned() -> None:
    channel = Channel.sampling(np.random.default_rng(0))
    found = descend(DATA, channel, exact_mean, **STEPS, sampling="disjoint", least=1)  # type: ignore[arg-type]
    point, points = np.array([1.0, 1.0]), []
    for t in range(4):
        point = point - 0.3 / np.sqrt(t + 1) * LOSS.mean_gradient(point, DATA[3 * t : 3 * t + 3])
        points.append(point)
    assert found == pytest.approx(np.mean(points, axis=0), abs=1e-9)
    assert [release.rows for release in channel.transcript()] == [range(3 * t, 3 * t + 3) for t in range(4)]


def test_gradients_beyond_the_floats_count_as_huge_ones() -> None:
    wild = gradient_tables(L4(), np.array([[1e60, 0.0], [1.0, 2.0], [0.0, 1.0]]))(np.array([1e60]), range(3))
    assert wild[0, 0] == 1e300
    assert wild[2, 0] == 0
    assert np.isfinite(wild).all()


@pytest.mark.parametrize(
    "name", ["squared", "logistic", "l4", "affine", "ridge:2:logistic", "record-quadratic", "quadratic"]
)
@pytest.mark.parametrize("d", [1, 3, NARROW + 8])
def test_tables_are_the_gradients_of_the_loss_to_the_last_bit(name: str, d: int) -> None:
    loss: AnyLoss = Quadratic(np.eye(d)) if name == "quadratic" else parse_any_loss(name)
    rng = np.random.default_rng(d)
    rows, w = np.abs(rng.standard_t(2, size=(700, loss.columns(d)))), rng.standard_normal(d)
    rows[:, -1] = np.sign(rng.standard_normal(700)) if "logistic" in name else rows[:, -1]
    for repeated in (True, False):
        tables = gradient_tables(loss, rows, repeated=repeated)
        for batch in (range(700), range(30, 417), range(699, 700)):
            assert np.array_equal(tables(w, batch), loss.gradients(w, rows[batch.start : batch.stop]))
