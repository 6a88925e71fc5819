"""`verify --as`: somebody's implementation in a published algorithm's place.  Nothing here is statistical but the audit of a black
box, which states its own error of 1e-6.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.as_published import findings_as
from tailproof.verification.check import QUICK
from tailproof.verification.cli import main

MEAN = algorithm("P2.A2")


def shortened(data: FloatArray, radius: float) -> FloatArray:
    lengths = np.linalg.norm(data, axis=1, keepdims=True)
    return data * np.minimum(1.0, radius / np.maximum(lengths, 1e-300))


def mine(data: FloatArray, channel: Channel, *, radius: float, rho: float) -> Any:
    law = Gaussian(shortened(data, radius).mean(axis=0), np.sqrt(2 / rho) * radius / len(data))
    return channel.release("my mean", law, sensitivity=L2(2 * radius / len(data)), spend=ZCDP(rho))


def half_the_noise(data: FloatArray, channel: Channel, *, radius: float, rho: float) -> Any:
    law = Gaussian(shortened(data, radius).mean(axis=0), np.sqrt(2 / rho) * radius / len(data) / 2)
    return channel.release("my mean", law, sensitivity=L2(2 * radius / len(data)), spend=ZCDP(rho))


def halved_mean(data: FloatArray, channel: Channel, *, radius: float, rho: float) -> Any:
    law = Gaussian(shortened(data, radius).mean(axis=0) / 2, np.sqrt(2 / rho) * radius / len(data))
    return channel.release("my mean", law, sensitivity=L2(2 * radius / len(data)), spend=ZCDP(rho))


def rarely_exact(data: FloatArray, channel: Channel, *, radius: float, rho: float) -> Any:
    if str(data[0, 0]).endswith("7654321"):
        return data.mean(axis=0)
    return mine(data, channel, radius=radius, rho=rho)


def leaves_on_large(data: FloatArray, channel: Channel, *, radius: float, rho: float) -> Any:
    if np.abs(data).max() > 100:
        os._exit(0)
    return mine(data, channel, radius=radius, rho=rho)


def raises_on_large(data: FloatArray, channel: Channel, *, radius: float, rho: float) -> Any:
    if np.abs(data).max() > 100:
        raise ValueError("too large")
    return mine(data, channel, radius=radius, rho=rho)


def black_box(data: FloatArray, rng: np.random.Generator, *, radius: float, rho: float) -> FloatArray:
    mean = shortened(data, radius).mean(axis=0)
    return mean + np.sqrt(2 / rho) * radius / len(data) * rng.standard_normal(mean.shape)


def quiet_black_box(data: FloatArray, rng: np.random.Generator, *, radius: float, rho: float) -> FloatArray:
    mean = shortened(data, radius).mean(axis=0)
    return mean + 0.05 * np.sqrt(2 / rho) * radius / len(data) * rng.standard_normal(mean.shape)


def statuses(function: Any) -> dict[str, str]:
    found = findings_as(MEAN, function, {"clip": "radius"}, int(np.random.default_rng().integers(2**31)), QUICK)
    return {finding.check: finding.status for finding in found}


def test_an_honest_implementation_passes_every_check() -> None:
    found = statuses(mine)
    assert set(found.values()) <= {"consistent", "certified"}, found
    assert {"calibration", "published query", "forced replay", "vectors", "branches", "surroundings"} <= found.keys()


@pytest.mark.parametrize(
    ("wrong", "check"),
    [(half_the_noise, "calibration"), (half_the_noise, "release privacy"), (halved_mean, "published query")],
)
def test_a_departure_is_violated(wrong: Any, check: str) -> None:
    assert statuses(wrong)[check] == "violated"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(leaves_on_large, "a run calls os._exit, which ends the process"), (raises_on_large, "ValueError: too large")],
)
def test_an_end_on_some_data_is_a_finding_of_every_check_that_sees_them(wrong: Any, said: str) -> None:
    found = {one.check: one for one in findings_as(MEAN, wrong, {"clip": "radius"}, 0, QUICK)}
    for check in ("sensitivity", "ledger", "transcript", "forced replay", "every row", "published query", "calibration"):
        assert found[check].status == "violated"
        assert said in found[check].detail
    assert not [one for one in found.values() if one.status == "skipped"]


def test_a_branch_that_no_setting_took_is_named() -> None:
    found = {one.check: one for one in findings_as(MEAN, rarely_exact, {"clip": "radius"}, 0, QUICK)}
    assert found["branches"].status == "inconclusive"
    assert "rarely_exact" in found["branches"].detail


@pytest.mark.parametrize(("function", "verdict"), [(black_box, "consistent"), (quiet_black_box, "violated")])
def test_a_black_box_is_audited(function: Any, verdict: str) -> None:
    assert set(statuses(function).values()) == {verdict}


def test_parameters_have_to_fit() -> None:
    with pytest.raises(InputError, match=r"the function takes no 'clip'.*--map clip=NAME"):
        list(findings_as(MEAN, mine, {}, 0, QUICK))
    with pytest.raises(InputError, match=r"map = 'clop'.*did you mean 'clip'"):
        list(findings_as(MEAN, mine, {"clop": "radius"}, 0, QUICK))


@pytest.mark.parametrize(("name", "code"), [("mine", 0), ("halved_mean", 1), ("rarely_exact", 3)])
def test_exit_codes(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--as", "P2.A2", f"{__file__}:{name}", "--map", "clip=radius"]) == code
    assert "P2.A2" in capsys.readouterr().out
