"""The one door through which anything random that depends on private data leaves an algorithm.

An algorithm calls `channel.release(name, law, …)`; the channel draws the value (or, in a replay, returns the recorded
one) and writes down a `Release`: the law on *this* data, what was drawn, the claimed sensitivity and spend, and the
records it may touch.  Replayed on a neighbouring data set with the same outputs, the same algorithm writes down the
laws it has there.  Comparing the two transcripts gives sensitivities, exact privacy losses and the budget per record.

What a release declares beside its law is public: name, place in the order, shape, spend, sensitivity, visibility and rows are
the same on all data.  The channel refuses what is not of the stated types, and a replay ends where a declaration differs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, claim_from_json, claim_to_json
from tailproof.refimpl.laws import LAWS, Law, Point, Value, law_fields, sealed, support_shape
from tailproof.refimpl.validation import FloatArray, InputError, IntArray

Rows = range | IntArray | None
"""The records a release may touch, as positions in the whole data set; None means every record."""


@dataclass(frozen=True)
class Bound:
    """Claimed: the location moves by at most `value` in the ℓ_`norm` norm when one record changes."""

    norm: float
    value: float

    def __post_init__(self) -> None:
        if self.norm not in (1, 2, math.inf):
            raise InputError(f"norm = {self.norm!r}: must be 1, 2 or inf")
        if not (math.isfinite(self.value) and self.value > 0):
            raise InputError(f"value = {self.value!r}: a sensitivity must be finite and > 0")


def L1(value: float) -> Bound:
    """The location moves by at most `value` in the ℓ₁ norm."""
    return Bound(1, float(value))


def L2(value: float) -> Bound:
    """The location moves by at most `value` in the ℓ₂ norm."""
    return Bound(2, float(value))


def LInf(value: float) -> Bound:
    """The location moves by at most `value` in every coordinate."""
    return Bound(math.inf, float(value))


@dataclass(frozen=True, eq=False)
class Smooth:
    """Claimed: ‖(q − q')/bound‖ ≤ 1 in the ℓ_`norm` norm, and bound ≤ e^rate · (the neighbour's bound), entry by entry.

    With the norm inf, bounds and query go coordinate by coordinate; one bound with the norm 2 is that of ‖q − q'‖₂.
    """

    bound: FloatArray
    rate: float
    norm: float = math.inf

    def __post_init__(self) -> None:
        if self.norm not in (1, 2, math.inf):
            raise InputError(f"norm = {self.norm!r}: must be 1, 2 or inf")
        bound = np.array(self.bound, dtype=np.float64)
        if not (np.isfinite(bound).all() and (bound > 0).all()):
            raise InputError(f"bound = {bound!r}: a smooth sensitivity must be finite and > 0")
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"rate = {self.rate!r}: must be finite and > 0")
        bound.setflags(write=False)
        object.__setattr__(self, "bound", bound)


Sensitivity = Bound | Smooth | None


@dataclass(frozen=True)
class Free:
    """Spends nothing, for the law is bit for bit the same on all data."""

    def __str__(self) -> str:
        return "free"


@dataclass(frozen=True)
class Unclaimed:
    """Claims nothing: a helper's value that leaves without noise.  A mechanism with a claim must not release one."""

    def __str__(self) -> str:
        return "no claim"


FREE = Free()
UNCLAIMED = Unclaimed()
Spend = Claim | Free | Unclaimed
_SPENDS = (PureDP, ApproxDP, ZCDP, GDP, Free)


@dataclass(frozen=True, eq=False)
class Release:
    """One value that left: see the module's text.  `hidden` marks randomness that does not depend on data, which is free."""

    name: str
    law: Law
    output: Value
    sensitivity: Sensitivity
    spend: Spend
    rows: Rows
    visible: bool
    hidden: bool = False


class ReplayDiverged(Exception):
    """The run on the neighbour released other values: what is released depends on the data, not just its law."""


class DeclarationDiffers(ReplayDiverged):
    """What a release declares is not the same on the neighbour: it depends on the data and tells of them."""


def _same_rows(first: Rows, second: Rows) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(_indices(first), _indices(second))


def _indices(rows: range | IntArray) -> IntArray:
    if isinstance(rows, range):
        return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
    return np.asarray(rows, dtype=np.int64)


def _within(outer: Rows, inner: range | IntArray) -> Rows:
    """Positions given inside a part, as positions in the whole data set."""
    most = math.inf if outer is None else len(outer)
    if not isinstance(inner, range) and np.asarray(inner).dtype.kind not in "iu" and len(inner):
        raise InputError(f"rows = {inner!r}: must be whole numbers, the positions of records")
    if not _are_positions(inner, most):
        raise InputError(f"rows = {inner!r}: must be positions of records, from 0 to below {most}")
    if outer is None and isinstance(inner, range):
        return inner
    if isinstance(outer, range) and isinstance(inner, range):
        start, step = outer.start + outer.step * inner.start, outer.step * inner.step
        return range(start, start + step * len(inner), step)
    positions = _indices(inner)
    if isinstance(outer, range):
        rows = outer.start + outer.step * positions
    else:
        rows = np.array(positions if outer is None else outer[positions])
    rows.setflags(write=False)
    return rows


def _are_positions(rows: range | IntArray, most: float) -> bool:
    """Whether all are from 0 to below `most`; of a range its ends say so."""
    if isinstance(rows, range):
        return not rows or 0 <= min(rows[0], rows[-1]) <= max(rows[0], rows[-1]) < most
    positions = _indices(rows)
    return positions.ndim == 1 and (not len(positions) or bool(0 <= positions.min() <= positions.max() < most))


@dataclass(frozen=True)
class Transcript:
    """All releases of one run, in order."""

    releases: tuple[Release, ...]

    def __iter__(self) -> Iterator[Release]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def spending(self) -> tuple[Release, ...]:
        """The releases that depend on data (hidden, data-independent draws left out)."""
        return tuple(r for r in self.releases if not r.hidden)

    @property
    def all_visible(self) -> bool:
        return all(r.visible for r in self.releases)

    def to_json(self) -> str:
        return json.dumps({"releases": [_release_to_json(r) for r in self.releases]}, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Transcript:
        return Transcript(tuple(_release_from_json(r) for r in json.loads(text)["releases"]))


def _must_agree(now: Release, old: Release) -> None:
    """What is public about a release: all but its law's parameters and the size of a smooth bound."""
    if now.name != old.name:
        raise ReplayDiverged(f"release {now.name!r} stands where {old.name!r} was recorded")
    if support_shape(now.law) != support_shape(old.law):
        raise ReplayDiverged(f"release {now.name!r} is {support_shape(now.law)}, recorded {support_shape(old.law)}")
    if now.hidden != old.hidden:
        raise ReplayDiverged(f"release {now.name!r} is {'' if now.hidden else 'not '}hidden, recorded the other way")
    if not _same_rows(now.rows, old.rows):
        raise ReplayDiverged(f"release {now.name!r} touches other records than the recorded one")
    for what in ("spend", "visible"):
        if getattr(now, what) != getattr(old, what):
            raise DeclarationDiffers(
                f"release {now.name!r} declares {what} = {getattr(now, what)}, on the other data {getattr(old, what)}"
            )
    if _public(now.sensitivity) != _public(old.sensitivity):
        raise DeclarationDiffers(
            f"release {now.name!r} declares the sensitivity {now.sensitivity}, on the other data {old.sensitivity}"
        )


def _public(sensitivity: Sensitivity) -> Any:
    """Of a smooth sensitivity its rate and norm: its bound follows the data, and its growth is checked."""
    return (sensitivity.rate, sensitivity.norm) if isinstance(sensitivity, Smooth) else sensitivity


def _checked_declarations(release: Release, prefix: str) -> Release:
    """Exactly of the stated types, so that nothing else can hide in them; the law is a copy that nobody else holds."""
    if type(release.name) is not str:
        raise InputError(f"name = {release.name!r}: must be a string")
    if release.sensitivity is not None and type(release.sensitivity) not in (Bound, Smooth):
        raise InputError(f"sensitivity = {release.sensitivity!r}: must be L1(…), L2(…), LInf(…), Smooth(…) or None")
    if type(release.spend) not in _SPENDS and release.spend is not UNCLAIMED:
        raise InputError(f"spend = {release.spend!r}: must be a claim such as PureDP(1), or FREE for a law without data")
    if type(release.visible) is not bool:
        raise InputError(f"visible = {release.visible!r}: must be True or False")
    spend, sensitivity = release.spend, release.sensitivity
    if isinstance(sensitivity, Bound):
        sensitivity = Bound(sensitivity.norm, sensitivity.value)
    elif isinstance(sensitivity, Smooth):
        sensitivity = Smooth(sensitivity.bound, sensitivity.rate, sensitivity.norm)
    if not isinstance(spend, Free | Unclaimed):
        spend = replace(spend)  # checks its numbers once more
    law, name = sealed(release.law), prefix + release.name
    return Release(name, law, release.output, sensitivity, spend, release.rows, release.visible, release.hidden)


_UNDRAWN: Value = np.empty(0)
Draw = Callable[[Release], Value]
"""From what a release declares to the value that leaves."""


class Channel:
    """Samples (`Channel.sampling(rng)`) or replays (`Channel.replaying(transcript)`), and records every release."""

    def __init__(
        self,
        draw: Draw,
        log: dict[str, Release],
        prefix: str = "",
        rows: Rows = None,
        refused: list[Exception] | None = None,
    ) -> None:
        self._draw, self._log, self._prefix, self._rows = draw, log, prefix, rows
        self._refused: list[Exception] = [] if refused is None else refused

    @classmethod
    def sampling(cls, rng: np.random.Generator) -> Channel:
        return cls(lambda proposed: proposed.law.sample(rng), {})

    @classmethod
    def replaying(cls, transcript: Transcript) -> Channel:
        log: dict[str, Release] = {}

        def recorded(proposed: Release) -> Value:
            if len(log) >= len(transcript):
                raise ReplayDiverged(f"release {proposed.name!r} comes after the recorded run had ended")
            old = transcript.releases[len(log)]
            _must_agree(proposed, old)
            return old.output

        return cls(recorded, log)

    def release(self, name: str, law: Law, *, sensitivity: Sensitivity, spend: Claim | Free, visible: bool = True) -> Value:
        """Draw from `law` and let the value leave; `visible` says whether it is part of the published output."""
        return self._record(Release(name, law, _UNDRAWN, sensitivity, spend, self._rows, visible))

    def hidden(self, name: str, law: Law) -> Value:
        """Randomness that does not depend on the data and is never published: the same in a replay."""
        return self._record(Release(name, law, _UNDRAWN, None, FREE, self._rows, visible=False, hidden=True))

    def query(self, name: str, value: Any, *, sensitivity: Sensitivity) -> Value:
        """A value without noise and without a claim, so that its sensitivity can be checked: for helpers alone."""
        return self._record(Release(name, Point(value), _UNDRAWN, sensitivity, UNCLAIMED, self._rows, visible=False))

    def part(self, name: str, rows: range | IntArray) -> Channel:
        """The channel of a computation on these records only (positions within this part's data)."""
        with self._remembering():
            return Channel(self._draw, self._log, f"{self._prefix}{name}/", _within(self._rows, rows), self._refused)

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        """What is refused stays refused: a mechanism that catches the refusal has no transcript."""
        try:
            yield
        except Exception as error:
            self._refused.append(error)
            raise

    def _record(self, declared: Release) -> Value:
        with self._remembering():
            return self._recorded(declared)

    def _recorded(self, declared: Release) -> Value:
        proposed = _checked_declarations(declared, self._prefix)
        if proposed.name in self._log:
            raise InputError(f"name = {proposed.name!r}: a release of this name was made already; names must be unique")
        output = np.array(self._draw(proposed))
        output.setflags(write=False)
        self._log[proposed.name] = replace(proposed, output=output)
        given = output.copy()  # nobody can write into what is recorded
        given.setflags(write=False)
        return given

    def transcript(self) -> Transcript:
        """All that was released.  If something was refused, there is none: the first refusal is raised again."""
        if self._refused:
            raise self._refused[0]
        return Transcript(tuple(self._log.values()))


Mechanism = Callable[..., Any]
"""An algorithm in the shape the harness runs: `mechanism(data, channel, **parameters) -> output`."""


def run(mechanism: Mechanism, data: Any, rng: np.random.Generator, **parameters: Any) -> tuple[Any, Transcript]:
    """Run once with fresh randomness: (output, transcript)."""
    channel = Channel.sampling(rng)
    output = mechanism(data, channel, **parameters)
    return output, channel.transcript()


def replay(mechanism: Mechanism, data: Any, recorded: Transcript, **parameters: Any) -> tuple[Any, Transcript]:
    """Run on neighbouring data with the recorded outputs: (output, transcript there), or `ReplayDiverged`."""
    channel = Channel.replaying(recorded)
    output = mechanism(data, channel, **parameters)
    transcript = channel.transcript()
    if len(transcript) < len(recorded):
        raise ReplayDiverged(f"the run ended before {recorded.releases[len(transcript)].name!r}")
    return output, transcript


# --- the ledger -------------------------------------------------------------------------------------------------------


def ledger(transcript: Transcript, records: int) -> dict[tuple[str, ...], int]:
    """Which releases touch a record: the distinct sets of release names, and how many records have each."""
    groups = np.zeros(records, dtype=np.int64)  # records with the same number are touched by the same releases
    names: list[tuple[str, ...]] = [()]
    for release in transcript.spending:
        rows = np.arange(records) if release.rows is None else _indices(release.rows)
        old, position = np.unique(groups[rows], return_inverse=True)
        groups[rows] = len(names) + position
        names.extend((*names[group], release.name) for group in old)
    numbers, counts = np.unique(groups, return_counts=True)
    return {names[number]: int(count) for number, count in zip(numbers, counts, strict=True)}


def spends_of(transcript: Transcript, names: Sequence[str]) -> list[Claim]:
    wanted = set(names)
    return [r.spend for r in transcript.spending if r.name in wanted and not isinstance(r.spend, Free | Unclaimed)]


# --- writing and reading, bit for bit ---------------------------------------------------------------------------------


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        flat = [_encode(item) for item in value.ravel().tolist()]
        return {"dtype": "int64" if value.dtype.kind == "i" else "float64", "shape": list(value.shape), "values": flat}
    if is_dataclass(value) and not isinstance(value, type):  # the problem of a perturbed minimiser, part by part
        parts = {field.name: _encode(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"object": type(value).__name__, "parts": parts}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item) for item in value]}
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no infinities; repr of a finite float is read back to the same bits
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, dict) and "dtype" in value:
        items = [float(item) if value["dtype"] == "float64" else int(item) for item in value["values"]]
        return np.array(items, dtype=value["dtype"]).reshape(value["shape"])
    if isinstance(value, dict) and "object" in value:
        return _kinds()[value["object"]](**{name: _decode(part) for name, part in value["parts"].items()})
    if isinstance(value, dict) and "range" in value:
        return range(*value["range"])
    if isinstance(value, dict) and "tuple" in value:
        return tuple(_decode(item) for item in value["tuple"])
    return value


def _kinds() -> dict[str, type[Any]]:
    """Laws that live elsewhere, and what problems and potentials are made of.  (Imported late: these modules import this one.)"""
    from tailproof.refimpl import domains, losses
    from tailproof.refimpl.pure_dp.centred_risk import CentredRisk
    from tailproof.refimpl.pure_dp.grid_walk import GridWalk
    from tailproof.refimpl.pure_dp.tempered import Ramps, Tempered, WeightedLogits
    from tailproof.refimpl.pure_dp.tilted import TiltedRisk

    sets = (domains.Ball, domains.Box, domains.L1Ball, domains.Ellipsoid, domains.Polytope, domains.Localised)
    kinds = (*sets, *losses.GlmLoss.__subclasses__(), losses.Quadratic, losses.Ridge)
    return {kind.__name__: kind for kind in (*kinds, CentredRisk, GridWalk, Ramps, Tempered, TiltedRisk, WeightedLogits)}


def _release_to_json(release: Release) -> dict[str, Any]:
    sensitivity: Any = None
    if isinstance(release.sensitivity, Bound):
        sensitivity = {"norm": _encode(float(release.sensitivity.norm)), "value": release.sensitivity.value}
    elif isinstance(release.sensitivity, Smooth):
        sensitivity = {"bound": _encode(release.sensitivity.bound), "rate": release.sensitivity.rate}
        if release.sensitivity.norm != math.inf:
            sensitivity["norm"] = float(release.sensitivity.norm)
    law = {"law": type(release.law).__name__} | {k: _encode(v) for k, v in law_fields(release.law).items()}
    return {
        "name": release.name,
        "law": law,
        "output": _encode(release.output),
        "sensitivity": sensitivity,
        "spend": _spend_to_json(release),
        "rows": _encode(release.rows),
        "visible": release.visible,
        "hidden": release.hidden,
    }


def _spend_to_json(release: Release) -> Any:
    """Nothing is written for hidden randomness and for the values of helpers."""
    if release.hidden or isinstance(release.spend, Unclaimed):
        return None
    return "free" if isinstance(release.spend, Free) else claim_to_json(release.spend)


def _spend_from_json(value: dict[str, Any]) -> Spend:
    if value["spend"] is None:
        return FREE if value["hidden"] else UNCLAIMED
    return FREE if value["spend"] == "free" else claim_from_json(value["spend"])


def _release_from_json(value: dict[str, Any]) -> Release:
    law = dict(value["law"])
    name = law.pop("law")
    kind = LAWS[name] if name in LAWS else _kinds()[name]
    given = value["sensitivity"]
    sensitivity: Sensitivity = None
    if given is not None:
        sensitivity = (
            Bound(float(given["norm"]), given["value"])
            if "value" in given
            else Smooth(_decode(given["bound"]), given["rate"], float(given.get("norm", math.inf)))
        )
    return Release(
        name=value["name"],
        law=kind(**{k: _decode(v) for k, v in law.items()}),
        output=_decode(value["output"]),
        sensitivity=sensitivity,
        spend=_spend_from_json(value),
        rows=_decode(value["rows"]),
        visible=value["visible"],
        hidden=value["hidden"],
    )
