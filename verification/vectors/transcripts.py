"""Transcripts of the algorithms as plain columns: what each release was drawn from, what it claims and what came out at the end.

A run is replayed with given outputs, so that nothing in it is random; the same outputs on a neighbouring data set show what one
record changes.  Outputs are given in order with the releases' names, hidden ones among them; a law that is a point needs none.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Implementation, Setting
from tailproof.refimpl.channel import (
    Bound,
    Channel,
    Free,
    Mechanism,
    Release,
    ReplayDiverged,
    Rows,
    Smooth,
    Transcript,
    Unclaimed,
)
from tailproof.refimpl.claims import UnprovedClaim, claim_to_json
from tailproof.refimpl.laws import (
    LLN,
    Finite,
    Gaussian,
    Gibbs,
    L2Laplace,
    Laplace,
    Law,
    NoisyArgmax,
    PerturbedMinimiser,
    Point,
    Softmax,
    UniformPermutation,
    UniformSubset,
    Value,
)
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.vectors.parameters import from_json, to_json

DIGITS = 4
"""Significant digits of recorded outputs: any numbers will do, and short ones are easy to read."""


def record(
    implementation: Implementation, setting: Setting, data: FloatArray, seed: int, *, tilted: bool = False
) -> dict[str, Any]:
    """The inputs of a transcript: what is run, on what, with which outputs.

    `tilted`: a perturbed minimiser is given by its tilt, and whoever replays the run has to find it.
    """
    rng = np.random.default_rng(seed)
    outputs: list[dict[str, Any]] = []

    def drawn(proposed: Release) -> Value:
        name, law = proposed.name, proposed.law
        if isinstance(law, Point):
            return law.sample(rng)
        if tilted and isinstance(law, PerturbedMinimiser):
            tilt = _shortened(law.noise().sample(rng))
            outputs.append({"name": name, "tilt": _numbers(tilt)})
            return np.array(law.problem.minimiser(tilt))
        value = _shortened(law.sample(rng))
        outputs.append({"name": name, "value": _numbers(value)})
        return value

    _run(implementation.mechanism, data, setting.parameters, Channel(drawn, {}))
    return {"parameters": to_json(setting.parameters), "data": data.tolist(), "outputs": outputs}


def answer(mechanism: Mechanism, inputs: dict[str, Any]) -> dict[str, Any]:
    """The columns of a replay."""
    return columns(*_replayed(mechanism, inputs))


def releases(implementation: Implementation, inputs: dict[str, Any]) -> tuple[Release, ...]:
    """The releases of a replay, as our checks know them."""
    return _replayed(implementation.mechanism, inputs)[0].releases


def _replayed(mechanism: Mechanism, inputs: dict[str, Any]) -> tuple[Transcript, Any]:
    recorded = list(inputs["outputs"])

    def given(proposed: Release) -> Value:
        name, law = proposed.name, proposed.law
        if isinstance(law, Point):
            return np.array(law.location)
        if not recorded:
            raise ReplayDiverged(f"release {name!r} comes after the recorded run had ended")
        if recorded[0]["name"] != name:
            raise ReplayDiverged(f"release {name!r} stands where {recorded[0]['name']!r} was recorded")
        output = recorded.pop(0)
        if "tilt" in output:
            assert isinstance(law, PerturbedMinimiser)
            return np.array(law.problem.minimiser(np.array(output["tilt"], dtype=np.float64)))
        return np.array(output["value"])

    data = np.array(inputs["data"], dtype=np.float64)
    output, transcript = _run(mechanism, data, from_json(inputs["parameters"]), Channel(given, {}))
    if recorded:
        raise ReplayDiverged(f"the run ended before {recorded[0]['name']!r}")
    return transcript, output


def _run(mechanism: Mechanism, data: FloatArray, parameters: dict[str, Any], channel: Channel) -> tuple[Any, Transcript]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnprovedClaim)
        output = mechanism(data, channel, **parameters)
    return output, channel.transcript()


def columns(transcript: Transcript, output: Any) -> dict[str, Any]:
    """One entry for every release in each column, and the published output."""
    releases = transcript.releases
    return {
        "names": [release.name for release in releases],
        "laws": [type(release.law).__name__ for release in releases],
        "rows": [_rows(release.rows) for release in releases],
        "locations": [_location(release) for release in releases],
        "scales": [_scale(release.law) for release in releases],
        "shapes": [_shape(release.law) for release in releases],
        "sensitivities": [_sensitivity(release) for release in releases],
        "spends": [None if isinstance(r.spend, Free | Unclaimed) else claim_to_json(r.spend) for r in releases],
        "output": _numbers(np.ravel(output)),
    }


def _shortened(value: Value) -> Value:
    if value.dtype.kind != "f":
        return value
    return np.array([float(f"{x:.{DIGITS}g}") for x in value.ravel()]).reshape(value.shape)


def _numbers(value: Any) -> Any:
    """Nested lists of a value, and a plain number of one without axes."""
    return np.asarray(value).tolist()


def _rows(rows: Rows) -> list[int] | None:
    return None if rows is None else [int(row) for row in rows]


def _location(release: Release) -> list[float]:
    """Where the law is: its location; an index's scores; of a law without either, what its density is made of at the output."""
    law = release.law
    match law:
        case Gaussian() | Laplace() | L2Laplace() | LLN() | Point():
            return _flat(law.location)
        case Softmax() | GridWalk():
            return _flat(law.scores)
        case NoisyArgmax():
            return _flat(law.values)
        case Finite():
            return _flat(law.logits)
        case PerturbedMinimiser():
            return _flat(law.problem.tilt(np.asarray(release.output, dtype=np.float64)))
        case Gibbs():
            return [*_flat(law.on_net.scores), law.logpdf(release.output)]
        case UniformPermutation():
            return [float(law.size)]
        case UniformSubset():
            return [float(law.size), float(law.members)]
    raise TypeError(f"release {release.name!r}: no location is known for a {type(law).__name__}")


def _flat(value: Any) -> list[float]:
    return [float(x) for x in np.ravel(value)]


def _scale(law: Law) -> list[float]:
    """The scale as printed, one number or one for each coordinate; none where the law has none."""
    return [] if isinstance(law, Point) else _flat(getattr(law, "scale", ()))


def _shape(law: Law) -> list[float]:
    """What else belongs to the law."""
    match law:
        case LLN():
            return [law.sigma]
        case NoisyArgmax():
            return [float(j) for j in law.excluded]
        case GridWalk():
            return [float(law.start), float(law.steps)]
    return []


def _sensitivity(release: Release) -> dict[str, Any] | None:
    """{"norm": "1" | "2" | "inf", "value": […], "rate": …}, the rate being that of a smooth one."""
    reach = release.sensitivity
    if reach is None:
        return None
    norm = "inf" if reach.norm == math.inf else str(int(reach.norm))
    if isinstance(reach, Bound):
        return {"norm": norm, "value": [reach.value], "rate": None}
    assert isinstance(reach, Smooth)
    return {"norm": norm, "value": _flat(reach.bound), "rate": float(reach.rate)}
