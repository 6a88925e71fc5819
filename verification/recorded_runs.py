"""The recorded runs that ship as test vectors, on a row's own implementation or on somebody's in its place.

A test says how far an answer may be from the recorded one: of a computed minimiser, as far as its certificate allows.  Our own
implementation has to come much nearer, on any machine: what differs by more is another computation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Algorithm
from tailproof.refimpl.channel import Channel, Mechanism, Release
from tailproof.refimpl.claims import UnprovedClaim
from tailproof.refimpl.laws import Value
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.report import Finding
from tailproof.verification.vectors import transcripts
from tailproof.verification.vectors.command import SHIPPED
from tailproof.verification.vectors.parameters import from_json
from tailproof.verification.vectors.reader import check, load

OWN_SHARE = 1e-4  # of what is allowed to somebody else's solver
APPROXIMATE = 1e-6  # what is allowed to rounding alone is less


def vectors_finding(
    entry: Algorithm, function: Callable[..., Any], accepted: dict[str, str], *, share: float = 1.0
) -> Finding:
    """Every recorded run of the row; `accepted` are the function's names of the parameters."""
    implementation = entry.implementation
    assert implementation is not None

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        inputs = request["inputs"]
        parameters = from_json(inputs["parameters"])
        names = published_names(implementation.mechanism, np.array(inputs["data"]), parameters)
        try:
            return {"outputs": transcripts.answer(in_its_place(function, accepted, names), inputs)}
        except Exception as error:  # somebody's function may fail in any way
            return {"error": f"{type(error).__name__}: {error}"}

    report = check([_with_share(document, share) for document in _recorded(entry.id)], ask)
    passed, failed = sum(report.passed.values()), len(report.failures)
    said = f"{passed} of {passed + failed} test vectors pass"
    if failed:
        said += f"; first {report.failures[0].id}: {report.failures[0].difference}"
    return Finding(entry.id, "vectors", "violated" if failed else "certified", failed, 0.0, detail=said)


def own_vectors_finding(entry: Algorithm) -> Finding:
    """Of the row's own implementation, to `OWN_SHARE` of what is allowed."""
    assert entry.implementation is not None
    names = {name for setting in entry.implementation.settings for name in setting.parameters}
    return vectors_finding(entry, entry.implementation.mechanism, dict(zip(names, names, strict=True)), share=OWN_SHARE)


@cache
def _recorded(identifier: str) -> tuple[dict[str, Any], ...]:
    """The documents of recorded runs, with those of this row alone."""
    found = []
    for document in _transcripts():
        own = {name for name, run in document["runs"].items() if run["algorithm"] == identifier}
        tests = [test for test in document["tests"] if test["inputs"]["run"] in own]
        found += [document | {"tests": tests}] if tests else []
    return tuple(found)


@cache
def _transcripts() -> list[dict[str, Any]]:
    return [document for document in load(SHIPPED) if document["kind"] == "transcript"]


def is_recorded(identifier: str) -> bool:
    return bool(_recorded(identifier))


def _with_share(document: dict[str, Any], share: float) -> dict[str, Any]:
    def nearer(test: dict[str, Any]) -> dict[str, Any]:
        allowed = test["tolerance"]
        if allowed["absolute"] <= APPROXIMATE:
            return test
        return test | {"tolerance": allowed | {"absolute": share * allowed["absolute"]}}

    return document | {"tests": [nearer(test) for test in document["tests"]]}


# --- somebody's function in the place of the published one -----------------------------------------------------------------------


def in_its_place(function: Callable[..., Any], accepted: dict[str, str], names: Sequence[str]) -> Mechanism:
    """The function under the published names of parameters and, in order, of releases."""

    def mechanism(data: FloatArray, channel: Channel, **parameters: Any) -> Any:
        theirs = {accepted[name]: value for name, value in parameters.items()}
        return function(data, Renamed(channel, tuple(names)), **theirs)

    return mechanism


def published_names(published: Mechanism, data: FloatArray, parameters: dict[str, Any]) -> list[str]:
    """What the published algorithm calls its releases: public, and so the same on all data of the size that it takes."""
    channel = Channel.sampling(np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnprovedClaim)
        published(data, channel, **parameters)
    return [release.name for release in channel.transcript()]


class Renamed(Channel):
    """Hands every release on under the published name of its place in the order; beyond them, under its own."""

    def __init__(self, inner: Channel, names: tuple[str, ...]) -> None:
        super().__init__(inner._draw, inner._log, inner._prefix, inner._rows, inner._refused)
        self._names = names

    def _record(self, declared: Release) -> Value:
        place = len(self._log)
        name = self._names[place] if place < len(self._names) else self._prefix + declared.name
        return Channel(self._draw, self._log, "", self._rows, self._refused)._record(replace(declared, name=name))

    def part(self, name: str, rows: Any) -> Channel:
        inner = super().part(name, rows)
        return Renamed(inner, self._names)
