"""The transcripts' vectors: runs of every algorithm at the catalogue's settings, and which bugs each part of a run shows.

A run is on ordinary data, which are heavy-tailed; on the same data with one record replaced by a far one; on small data, where
nothing is clipped; and for claims that rest on certified minimisers on neighbours that are hard to minimise on.  Noise scales
and spends are those of the papers' formulas, which `tailproof.verification.calibration` has a second time; where they were not also
what the run recorded, nothing would be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Implementation, Setting, algorithm
from tailproof.refimpl.channel import Release, Unclaimed
from tailproof.refimpl.claims import claim_to_json
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.calibration import PUBLISHED
from tailproof.verification.subject import worst_pairs
from tailproof.verification.vectors import transcripts

SEED = 5
LARGE = 400
"""Entries of data beyond which small and hard data are left out, for the files' size."""
HARD = ("P0.A2", "P0.A4", "P4.A1", "P4.A2", "P4.A4", "P4.S1")
"""Algorithms with shipped neighbours of which the third and fourth pair are hard to minimise on, or far beyond every clip."""
CERTIFIED = ("P0.R3", "P4.A1", "P4.A2", "P4.A4", "P4.S1")
"""Their locations are any points within κC/(λn) of the minimiser."""

Flags = tuple[str, ...]
_NOISE: Flags = ("UNDERSCALED_NOISE", "INFLATED_NOISE", "SIGMA_VS_VARIANCE", "DROPPED_COMPOSITION", "WRONG_CONSTANT")
_QUERY: Flags = ("WRONG_QUERY", "OVERLAPPING_BATCHES", "DATA_DEPENDENT_PARTITION", "UNSHUFFLED", "REUSED_NOISE")
_COURSE: Flags = ("WRONG_QUERY", "OVERLAPPING_BATCHES", "DATA_DEPENDENT_PARTITION", "UNSHUFFLED")
_OUTPUT: Flags = ("REUSED_NOISE", "EXACT_VALUE_LEAKED", "WRONG_QUERY", "DATA_DEPENDENT_PARAMETER")

CLOSE = {"absolute": 1e-10, "relative": 1e-9}
FORMULA = {"absolute": 0.0, "relative": 1e-9}


@dataclass(frozen=True)
class Part:
    """Some columns of a replay: what is compared, and which bugs show there."""

    name: str
    columns: tuple[str, ...]
    flags: Flags
    comment: str


ORDINARY = (
    Part("course", ("names", "laws", "rows"), _COURSE, "What is released, from which laws, about which records."),
    Part("query", ("locations",), _QUERY, "Where every law is, on heavy-tailed data."),
    Part("noise", ("scales", "shapes"), _NOISE, "The scale of every law, by the published formula."),
    Part("spends", ("spends",), ("DROPPED_COMPOSITION", "WRONG_CONSTANT"), "What every release spends."),
    Part(
        "sensitivity",
        ("sensitivities",),
        ("HALVED_SENSITIVITY", "WRONG_CONSTANT"),
        "What every release claims one record to move.",
    ),
    Part("output", ("output",), _OUTPUT, "What is published, given what was released."),
)
FAR = (
    Part(
        "query",
        ("locations",),
        ("UNCLIPPED", "DATA_DEPENDENT_PARAMETER"),
        "One record is far away: its pull is bounded, by a bound that is not made from it.",
    ),
    Part(
        "noise",
        ("scales", "sensitivities"),
        ("DATA_DEPENDENT_PARAMETER", "UNCLIPPED"),
        "The neighbour's scales: public ones are the same; smooth ones are those of its clamped data.",
    ),
    Part("output", ("output",), ("DATA_DEPENDENT_PARAMETER",), "The neighbour's output from the same releases."),
)
SMALL = (
    Part(
        "query", ("locations",), ("DATA_DEPENDENT_PARAMETER",), "Small records: public parameters do not shrink with them."
    ),
    Part("noise", ("scales", "sensitivities"), ("DATA_DEPENDENT_PARAMETER",), "Scales on small records."),
)
HARDEST = (
    Part(
        "query",
        ("locations",),
        ("UNCERTIFIED_ACCURACY", "UNCLIPPED", "DATA_DEPENDENT_PARAMETER"),
        "Records that pull with all of C, or far more without a clip: hard to minimise on.",
    ),
)
TILTED = (
    Part(
        "minimiser",
        ("locations",),
        ("UNCERTIFIED_ACCURACY",),
        "The first release is the minimiser under a given tilt, not a given point: the second one is located there.",
    ),
)


@dataclass(frozen=True)
class History:
    """A recorded run, perhaps with one record replaced, and the parts of it that are compared."""

    name: str
    run: str
    replaced: tuple[int, list[float]] | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Recorded:
    """A run's inputs, and its histories."""

    name: str
    inputs: dict[str, Any]
    histories: tuple[History, ...]


def recorded(identifier: str) -> Iterator[Recorded]:
    """All runs of an algorithm, at every setting at which its claim stands."""
    published = algorithm(identifier).implementation
    assert published is not None
    for index, setting in enumerate(published.settings):
        if setting.refuted is None:
            yield from _at(identifier, published, setting, f"{identifier}/{index}", seed=index)


def _at(identifier: str, published: Implementation, setting: Setting, name: str, seed: int) -> Iterator[Recorded]:
    rng = np.random.default_rng(SEED)
    data = setting.admissible(np.round(rng.standard_t(3, size=(setting.n, setting.d)), 2))
    distant = np.array(data)
    distant[0] = -np.round(20 + rng.standard_normal(setting.d), 2)
    far: list[float] = setting.admissible(distant)[0].tolist()
    small = setting.admissible(np.round(0.02 * rng.standard_normal((setting.n, setting.d)), 4))

    def made(kind: str, rows: FloatArray, *histories: History, tilted: bool = False) -> Recorded:
        inputs = transcripts.record(published, setting, rows, seed, tilted=tilted)
        return Recorded(f"{name}/{kind}", {"algorithm": identifier, **inputs}, histories)

    ordinary = f"{name}/ordinary"
    yield made(
        "ordinary",
        data,
        History(ordinary, ordinary, None, _with_accuracy(ORDINARY, identifier)),
        History(f"{name}/far", ordinary, (0, far), FAR),
    )
    if data.size <= LARGE:
        yield made("small", small, History(f"{name}/small", f"{name}/small", None, SMALL))
    if identifier in HARD and data.size <= LARGE:
        for number, pair in enumerate(worst_pairs(identifier, setting)[2:4], start=1):
            first, second = map(setting.admissible, pair)
            changed = int(np.flatnonzero((first != second).any(axis=1))[0])
            run = f"{name}/hard{number}"
            histories = (
                History(run, run, None, HARDEST),
                History(f"{run}/neighbour", run, (changed, second[changed].tolist()), HARDEST),
            )
            yield made(f"hard{number}", first, *histories)
    if identifier == "P4.S2":
        yield made("tilted", data, History(f"{name}/tilted", f"{name}/tilted", None, TILTED), tilted=True)


def _with_accuracy(parts: tuple[Part, ...], identifier: str) -> tuple[Part, ...]:
    """Where a claim rests on an accuracy that a law or its location shows, its tests say so."""
    seen = {"query": (*CERTIFIED,), "noise": ("P4.A7",)}
    return tuple(
        replace(part, flags=(*part.flags, "UNCERTIFIED_ACCURACY")) if identifier in seen.get(part.name, ()) else part
        for part in parts
    )


def flags(part: Part, answer: dict[str, Any]) -> Flags:
    """Those of the part's bugs that this run could have; none where nothing is there to compare."""
    absent: set[str] = set()
    if all(rows is None for rows in answer["rows"]):  # without batches none overlap
        absent |= {"OVERLAPPING_BATCHES", "DATA_DEPENDENT_PARTITION"}
    if not {"UniformPermutation", "UniformSubset"} & set(answer["laws"]):  # without hidden draws none is left out
        absent.add("UNSHUFFLED")
    if set(answer["laws"]) == {"Point"}:  # a helper without noise
        absent |= {*_NOISE, "REUSED_NOISE", "EXACT_VALUE_LEAKED"}
    return tuple(flag for flag in part.flags if flag not in absent)


def tolerance(identifier: str, part: Part, answer: dict[str, Any], inputs: dict[str, Any]) -> dict[str, float]:
    """How close an answer must come: rounding for formulas, what the algorithm promises for approximate minimisers."""
    if part.columns == ("scales", "shapes") and identifier == "P4.A7":
        return {"absolute": 0.0, "relative": 1e-3}  # the number of steps comes from a spectral gap
    if set(part.columns) <= {"scales", "shapes", "spends", "names", "laws", "rows"}:
        return FORMULA
    if "locations" not in part.columns and "scales" not in part.columns:
        return CLOSE
    if identifier in CERTIFIED and "locations" in part.columns:
        return {"absolute": 2 * _promised(answer, inputs["parameters"]), "relative": 0.0}
    by_solver = {"P4.A7": 1e-5, "P4.D4": 1e-4, "P1.A1": 1e-6, "P0.A2": 1e-7, "P0.A3": 1e-7, "P0.A4": 1e-7, "P0.A5": 1e-7}
    if identifier in by_solver:
        return {"absolute": by_solver[identifier], "relative": by_solver[identifier]}
    return CLOSE


def _promised(answer: dict[str, Any], parameters: dict[str, Any]) -> float:
    """κC/(λn), from the largest claimed Δ = (2 + 2κ)C/(λn)."""
    kappa = parameters.get("kappa", 0.1)
    if "plan" in parameters:
        kappa = max(phase["kappa"] for phase in parameters["plan"]["phases"])
    reach = max(s["value"][0] for s in answer["sensitivities"] if s is not None)
    return float(reach * kappa / (2 + 2 * kappa))


def with_published(identifier: str, answer: dict[str, Any], inputs: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """Scales and spends of a run as the papers print them; they must agree with those that were recorded."""
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    if identifier not in PUBLISHED or implementation.query:
        return answer
    data = np.array(inputs["data"], dtype=np.float64)
    scales, spends = list(answer["scales"]), list(answer["spends"])
    for i, release in enumerate(transcripts.releases(implementation, inputs)):
        if not release.hidden:
            scales[i], spends[i] = _published(identifier, release, data, setting)
            _agree(f"{identifier} {release.name}", answer["scales"][i], scales[i])
    return {**answer, "scales": scales, "spends": spends}


def _published(identifier: str, release: Release, data: FloatArray, setting: Setting) -> tuple[list[float], dict[str, Any]]:
    printed = PUBLISHED[identifier](release, data, setting.parameters)
    assert not isinstance(printed.spend, Unclaimed)
    return [float(x) for x in np.ravel(printed.scale)], claim_to_json(printed.spend)


def _agree(name: str, ours: list[float], printed: list[float]) -> None:
    if len(ours) != len(printed) or not np.allclose(ours, printed, rtol=1e-9, atol=0):
        raise ValueError(f"{name}: recorded scale {ours}, published {printed}")
