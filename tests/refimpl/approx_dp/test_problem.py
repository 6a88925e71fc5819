"""What optimisers are given: what is refused, when, and records with given gradients."""

from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.approx_dp.budget import WeakDelta, warn_if_weak
from tailproof.refimpl.approx_dp.problem import parsed, prepare, with_gradients
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import AnyLoss, Quadratic, parse_any_loss
from tailproof.refimpl.validation import InputError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": np.zeros((4, 3))}, "data: has 3 columns; must have 2"),
        ({"data": [[1.0, 2.0], [1.0]]}, "data: must be an array of numbers"),
        ({"domain": "cube:1"}, "domain = 'cube:1'"),
        ({"domain": Ball(np.zeros(2), 1e20)}, "domain: reaches 1e"),
        ({"loss": "cosine"}, "loss = 'cosine'"),
        ({"loss": "hinge", "smooth": True}, "loss = 'hinge': must be smooth"),
        ({"loss": "record-quadratic", "extended": True}, "loss = 'record-quadratic': must be generalised linear"),
        ({"start": [11.0, 0.0]}, r"start = \[11.  0.\]: must lie in the domain"),
        ({"start": [11.0, 0.0], "name": "center"}, r"center = \[11.  0.\]: must lie in the domain"),
        ({"start": [1.0]}, "start: has 1 entries; must have 2"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"data": np.zeros((4, 2)), "loss": Quadratic(np.eye(2)), "domain": Ball(np.zeros(2), 10.0)}
    with pytest.raises(InputError, match=message):
        prepare(**(given | changes))


@pytest.mark.parametrize(
    ("loss", "record", "mapped"),
    [
        ("affine", [np.nan, 1.0], [0.0, 0.0]),
        ("squared", [1e300, 1.0], [1e300 * 2.0**-798, 0.0]),
        ("logistic", [1.0, 0.5], [0.0, 1.0]),
        ("logistic", [-np.inf, -1.0], [0.0, 1.0]),
        ("record-quadratic", [-1.0, 0.5], [0.0, 0.0]),
        ("power:3:0.1:logistic", [2.0, -1.0], [2.0, -1.0]),
    ],
)
def test_records_are_mapped_one_by_one(loss: str, record: list[float], mapped: list[float]) -> None:
    data = np.array([[0.5, 1.0], record])
    assert prepare(data, loss=loss, domain="ball:1").rows.tolist() == [[0.5, 1.0], mapped]


def test_what_an_algorithm_needs_of_a_loss_is_not_asked_for_otherwise() -> None:
    assert not parsed("hinge").is_smooth
    assert not parsed("record-quadratic", smooth=True).is_glm


@pytest.mark.parametrize(
    "name", ["quadratic", "squared", "logistic", "ridge:2:logistic", "affine", "record-quadratic", "ridge:3:squared"]
)
def test_records_with_given_gradients(name: str) -> None:
    loss: AnyLoss = Quadratic(np.array([[2.0, 0.5], [0.5, 1.0]])) if name == "quadratic" else parse_any_loss(name)
    wanted = np.random.default_rng(1).standard_normal((2, 3, 2))
    (tables,) = with_gradients([(wanted[0], wanted[1])], loss=loss, n=8, batch=range(4, 7))
    for table, gradients in zip(tables, wanted, strict=True):
        expected = np.vstack([np.zeros((4, 2)), gradients, np.zeros((1, 2))])
        assert loss.gradients(np.zeros(2), table) == pytest.approx(expected, abs=1e-11)


def test_a_delta_that_protects_nobody_is_worth_a_warning() -> None:
    with pytest.warns(WeakDelta, match=r"delta = 0.01: is not below 1/n = 0.01"):
        warn_if_weak(0.01, 100)
    warn_if_weak(0.0099, 100)
    warn_if_weak(None, 100)
