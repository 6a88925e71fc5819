"""An independent reader of the test vectors: one file, the standard library alone, nothing of the packages that made them.

    python reader.py FOLDER                          validate the files, and recompute what can be recomputed in a few lines
    python reader.py FOLDER --command './program'    and ask a program for every answer, over JSON lines

Exit code 0: all is well; 1: an expected answer or one of the program's is wrong; 2: files or command cannot be used.
The protocol is described in docs/protocol.md.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from types import TracebackType
from typing import Any

PROTOCOL = 1
FORMAT, VERSION = "tailproof-vectors", 1
LONGEST = 1 << 26
"""Characters of a reply: more is not one."""
PATIENCE = 3
"""Requests in a row on which a program may die or hang before the rest is given up."""


# --- files: strict JSON, and the part of JSON Schema that the shipped schemas use ------------------------------------------


class Malformed(Exception):
    """The file is not what its schema says; the message says where."""


def strict_json(text: str) -> Any:
    """JSON without NaN, infinities and repeated keys."""

    def constant(name: str) -> Any:
        raise Malformed(f"{name} is not JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise Malformed(f"a key is repeated: {sorted(key for key, _ in pairs)}")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=once)
    except ValueError as error:
        raise Malformed(f"not JSON: {error}") from None


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}
_KEYWORDS = {
    *("$schema", "$defs", "$ref", "title", "type", "const", "enum", "anyOf", "minimum", "exclusiveMinimum", "minLength"),
    *("pattern", "properties", "required", "additionalProperties", "propertyNames", "items", "minItems", "uniqueItems"),
}


def validate(value: Any, schema: dict[str, Any], place: str = "$", root: dict[str, Any] | None = None) -> None:
    """`Malformed` where the value is not of the schema; a keyword that is not known here is refused, too."""
    root = schema if root is None else root
    unknown = set(schema) - _KEYWORDS
    if unknown:
        raise Malformed(f"{place}: the schema uses {sorted(unknown)}, which this reader does not know")
    if "$ref" in schema:
        return validate(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], place, root)
    if "type" in schema and not _TYPES[schema["type"]](value):
        raise Malformed(f"{place}: must be of type {schema['type']}, is {_shown(value)}")
    if "const" in schema and (value != schema["const"] or type(value) is not type(schema["const"])):
        raise Malformed(f"{place}: must be {schema['const']!r}, is {_shown(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise Malformed(f"{place}: is {_shown(value)}, which is none of {schema['enum']}")
    if "anyOf" in schema:
        _validate_any(value, schema["anyOf"], place, root)
    if "minimum" in schema and value < schema["minimum"]:
        raise Malformed(f"{place}: must be at least {schema['minimum']}, is {value}")
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        raise Malformed(f"{place}: must be more than {schema['exclusiveMinimum']}, is {value}")
    if isinstance(value, str) and (
        len(value) < schema.get("minLength", 0) or not re.search(schema.get("pattern", ""), value)
    ):
        raise Malformed(f"{place}: {value!r} is empty or not of the form {schema.get('pattern')}")
    if isinstance(value, list):
        _validate_list(value, schema, place, root)
    if isinstance(value, dict) and "properties" in schema:
        _validate_object(value, schema, place, root)
    return None


def _validate_any(value: Any, choices: list[dict[str, Any]], place: str, root: dict[str, Any]) -> None:
    reasons = []
    for choice in choices:
        try:
            return validate(value, choice, place, root)
        except Malformed as reason:
            reasons.append(str(reason))
    raise Malformed(f"{place}: fits none of {len(choices)} forms ({'; '.join(dict.fromkeys(reasons))})")


def _validate_list(value: list[Any], schema: dict[str, Any], place: str, root: dict[str, Any]) -> None:
    if len(value) < schema.get("minItems", 0):
        raise Malformed(f"{place}: has {len(value)} entries; at least {schema['minItems']} are needed")
    if schema.get("uniqueItems") and len({json.dumps(item) for item in value}) < len(value):
        raise Malformed(f"{place}: has an entry twice")
    for i, item in enumerate(value):
        validate(item, schema.get("items", {}), f"{place}[{i}]", root)


def _validate_object(value: dict[str, Any], schema: dict[str, Any], place: str, root: dict[str, Any]) -> None:
    for name in schema.get("required", ()):
        if name not in value:
            raise Malformed(f"{place}: {name!r} is missing")
    for name, part in value.items():
        validate(name, schema.get("propertyNames", {}), f"{place}: the key {name!r}", root)
        inner = schema["properties"].get(name, schema["additionalProperties"])
        if inner is False:
            raise Malformed(f"{place}: {name!r} is not allowed here")
        validate(part, inner, f"{place}.{name}", root)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"


def load(folder: Path) -> list[dict[str, Any]]:
    """All vector files of a folder, each checked against its schema there, and what a schema cannot say."""
    paths = sorted(path for path in folder.glob("*.json") if not path.name.endswith(".schema.json"))
    if not paths:
        raise Malformed(f"{folder}: has no vector files")
    found = []
    for path in paths:
        try:
            document = strict_json(path.read_text(encoding="utf-8"))
            kind = document.get("kind") if isinstance(document, dict) else None
            schema = folder / f"{kind}.schema.json"
            if not re.fullmatch(r"[a-z-]+", str(kind)) or not schema.exists():
                raise Malformed(f"kind is {kind!r}: there is no schema of that name")
            validate(document, strict_json(schema.read_text(encoding="utf-8")))
            _check_references(document)
        except (Malformed, OSError, UnicodeDecodeError) as error:
            raise Malformed(f"{path.name}: {error}") from None
        found.append(document)
    ids = [test["id"] for document in found for test in document["tests"]]
    if len(set(ids)) < len(ids):
        raise Malformed(f"{folder}: an id is used twice: {next(i for i in ids if ids.count(i) > 1)}")
    return found


def _check_references(document: dict[str, Any]) -> None:
    for test in document["tests"]:
        missing = [flag for flag in test["flags"] if flag not in document["bug_classes"]]
        if missing:
            raise Malformed(f"{test['id']}: the flags {missing} are not described under bug_classes")
        if document["kind"] == "transcript":
            run, change = document["runs"].get(test["inputs"]["run"]), test["inputs"].get("replace")
            if run is None:
                raise Malformed(f"{test['id']}: there is no run {test['inputs']['run']!r}")
            if change and not (change["row"] < len(run["data"]) and len(change["record"]) == len(run["data"][0])):
                raise Malformed(f"{test['id']}: what is replaced does not fit the data")


def inputs_of(document: dict[str, Any], test: dict[str, Any]) -> dict[str, Any]:
    """What a program is asked: a test's inputs, or its run with one record replaced."""
    inputs: dict[str, Any] = test["inputs"]
    if document["kind"] != "transcript":
        return inputs
    run = dict(document["runs"][inputs["run"]])
    if "replace" in inputs:
        change = inputs["replace"]
        run["data"] = [change["record"] if i == change["row"] else row for i, row in enumerate(run["data"])]
    return run


# --- answers ----------------------------------------------------------------------------------------------------------------


def difference(expected: Any, got: Any, tolerance: dict[str, float], place: str = "") -> str | None:
    """Where and how they differ, or None.  Numbers of one list are compared on the scale of its largest."""
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return f"{place or 'answer'}: expected an object, got {_shown(got)}"
        for name, part in expected.items():
            if name not in got:
                return f"{place}.{name}".lstrip(".") + ": is missing"
            found = difference(part, got[name], tolerance, f"{place}.{name}".lstrip("."))
            if found:
                return found
        return None
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"{place}: expected {len(expected)} entries, got {_shown(got)}"
        if expected and all(map(_TYPES["number"], expected)):
            return _far(expected, got, tolerance, place)
        parts = (difference(e, g, tolerance, f"{place}[{i}]") for i, (e, g) in enumerate(zip(expected, got, strict=True)))
        return next((part for part in parts if part), None)
    if _TYPES["number"](expected):
        return _far([expected], [got], tolerance, place)
    return None if type(expected) is type(got) and expected == got else f"{place}: expected {expected!r}, got {_shown(got)}"


def _far(expected: list[float], got: list[Any], tolerance: dict[str, float], place: str) -> str | None:
    allowed = tolerance["absolute"] + tolerance["relative"] * max(map(abs, expected))
    for i, (e, g) in enumerate(zip(expected, got, strict=True)):
        if not _TYPES["number"](g) or not abs(e - g) <= allowed:
            where = place if len(expected) == 1 else f"{place}[{i}]"
            return f"{where}: expected {e!r}, got {_shown(g)} (allowed difference {allowed:.3g})"
    return None


# --- a program that answers lines -------------------------------------------------------------------------------------------


class ProgramFailed(Exception):
    """(kind, message): "timed out", "died" or "protocol"."""

    @property
    def kind(self) -> str:
        return str(self.args[0])

    @property
    def message(self) -> str:
        return str(self.args[1])


class Program:
    """One process answers all requests; after a failure the next request starts another."""

    def __init__(self, command: str, *, time_limit: float) -> None:
        """`ValueError` for a command that cannot be read."""
        self._command = shlex.split(command)
        if not self._command:
            raise ValueError("must name a program")
        self.command = command
        self._limit = time_limit
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._thread: threading.Thread | None = None

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._errors.seek(0)
            self._errors.truncate()
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        return self._process

    def ask(self, request: str) -> str:
        """The line that it answers, or `ProgramFailed`; `OSError` if it cannot be started."""
        process, answers = self._start(), queue.Queue[str](maxsize=1)

        def exchange() -> None:
            """By a thread that may be left waiting when the time is over."""
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(request + "\n")
                process.stdin.flush()
            with contextlib.suppress(OSError, ValueError):
                answers.put(process.stdout.readline(LONGEST))

        self._thread = threading.Thread(target=exchange, daemon=True)
        self._thread.start()
        try:
            line = answers.get(timeout=self._limit)
        except queue.Empty:
            self._stop()
            raise ProgramFailed("timed out", f"no reply within {self._limit:g} s; the program was killed") from None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)
            code, said = process.returncode, self._said()
            self._stop()
            ended = "closed its output" if code is None else f"ended with exit code {code}"
            raise ProgramFailed("died", f"the program {ended}{said}")
        if len(line) >= LONGEST:
            self._stop()
            raise ProgramFailed("protocol", f"a reply of more than {LONGEST} characters")
        return line

    def _said(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return f"; it said: {lines[-1]}" if lines else ""

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)  # the program and what it started
            else:
                process.kill()
        process.wait()
        if self._thread is not None:
            self._thread.join()  # its pipes are at their end
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def close(self) -> None:
        self._stop()
        self._errors.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def read_reply(line: str) -> dict[str, Any]:
    """A reply is an object; `ProgramFailed` if it is not."""
    shown = line.strip() if len(line) <= 80 else line[:77].strip() + "…"
    try:
        reply = json.loads(line)
    except ValueError:
        raise ProgramFailed("protocol", f"the reply is not JSON: {shown!r}") from None
    if not isinstance(reply, dict):
        raise ProgramFailed("protocol", f'the reply has no "outputs": {shown!r}')
    return reply


# --- checking a program -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    id: str
    kind: str
    bug_classes: tuple[str, ...]
    difference: str
    comment: str


@dataclass
class Report:
    """By kind: how many tests passed, failed and are unsupported.  The failures.  By bug class: how many failed, of how many."""

    passed: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    unsupported: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    flagged: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def bug_classes(self) -> list[str]:
        """Those whose tests failed; first the ones of which the largest share did."""
        found = {name for failure in self.failures for name in failure.bug_classes}
        return sorted(found, key=lambda name: (-self.flagged[name][0] / self.flagged[name][1], name))

    def count(self, flags: Sequence[str], failed: bool) -> None:
        for name in flags:
            wrong, total = self.flagged.get(name, (0, 0))
            self.flagged[name] = (wrong + failed, total + 1)

    def to_json(self) -> dict[str, Any]:
        names = sorted({*self.passed, *self.failed, *self.unsupported})
        counts = {"passed": self.passed, "failed": self.failed, "unsupported": self.unsupported}
        kinds = {name: {what: count.get(name, 0) for what, count in counts.items()} for name in names}
        return {
            "verdict": "failed" if self.failures else "passed" if self.passed else "unsupported",
            "kinds": kinds,
            "bug_classes": self.bug_classes,
            "flagged": {name: {"failed": self.flagged[name][0], "of": self.flagged[name][1]} for name in self.bug_classes},
            "failures": [vars(failure) for failure in self.failures],
        }

    def __str__(self) -> str:
        value = self.to_json()
        lines = [f"{'kind':24}{'passed':>8}{'failed':>8}{'unsupported':>13}"]
        for name, counts in value["kinds"].items():
            lines.append(f"{name:24}{counts['passed']:8}{counts['failed']:8}{counts['unsupported']:13}")
        for failure in self.failures[:20]:
            lines.append(f"FAILED {failure.id}: {failure.difference}")
            lines.append(f"       {failure.comment}  May be: {', '.join(failure.bug_classes)}")
        if len(self.failures) > 20:
            lines.append(f"… and {len(self.failures) - 20} more failures")
        if self.failures:
            shares = [f"{name} {self.flagged[name][0]} of {self.flagged[name][1]}" for name in self.bug_classes]
            lines.append(f"Bug classes, by the share of their tests that failed: {', '.join(shares)}")
        if self.unsupported:
            lines.append("Unsupported tests were not checked.")
        return "\n".join(lines)


Ask = Callable[[dict[str, Any]], dict[str, Any]]


def check(documents: Sequence[dict[str, Any]], ask: Ask) -> Report:
    """Every distinct question once; `ask` turns a request into a reply or raises `ProgramFailed`."""
    report, silent = Report(), 0
    for document in documents:
        answered: dict[str, dict[str, Any]] = {}
        for test in document["tests"]:
            key = json.dumps(test["inputs"], sort_keys=True)
            if key not in answered:
                request = {
                    "protocol": PROTOCOL,
                    "id": test["id"],
                    "kind": document["kind"],
                    "inputs": inputs_of(document, test),
                }
                answered[key], silent = _asked(ask, request, silent)
            _judge(document["kind"], test, answered[key], report)
    return report


def _asked(ask: Ask, request: dict[str, Any], silent: int) -> tuple[dict[str, Any], int]:
    """(the reply, how many requests in a row the program has died or hung on)."""
    if silent >= PATIENCE:
        return {"error": f"not asked: the program failed {PATIENCE} times in a row"}, silent
    try:
        reply = ask(request)
    except ProgramFailed as failed:
        return {"error": f"{failed.kind}: {failed.message}"}, 0 if failed.kind == "protocol" else silent + 1
    if reply.get("id", request["id"]) != request["id"]:
        return {"error": f"protocol: the reply is to {reply['id']!r}"}, 0
    return reply, 0


def _judge(kind: str, test: dict[str, Any], reply: dict[str, Any], report: Report) -> None:
    if "unsupported" in reply:
        report.unsupported[kind] = report.unsupported.get(kind, 0) + 1
        return
    if "error" in reply:
        found: str | None = str(reply["error"])
    elif "outputs" not in reply:
        found = f'protocol: the reply has none of "outputs", "unsupported" and "error": {_shown(reply)}'
    else:
        found = difference(test["expected"], reply["outputs"], test["tolerance"])
    report.count(test["flags"], found is not None)
    if found is None:
        report.passed[kind] = report.passed.get(kind, 0) + 1
    else:
        report.failed[kind] = report.failed.get(kind, 0) + 1
        report.failures.append(Failure(test["id"], kind, tuple(test["flags"]), found, test["comment"]))


# --- expected answers, computed once more -----------------------------------------------------------------------------------

Given = dict[str, Any]
Vector = list[float]


def _norm(x: Sequence[float]) -> float:
    return math.hypot(*x)


def _mean(rows: Sequence[Sequence[float]]) -> Vector:
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def _clipped(row: Vector, radius: float) -> Vector:
    length = _norm(row)
    return row if length <= radius else [x / length * radius for x in row]


def _cut(row: Vector, bound: float) -> Vector:
    return [x if abs(x) <= bound else 0.0 for x in row]


def _clipping(q: Given) -> Given:
    rows = [_clipped(row, q["clip"]) for row in q["data"]]
    return {"rows": rows, "mean": _mean(rows)}


def _truncation(q: Given) -> Given:
    rows = [_cut(row, q["bound"]) for row in q["data"]]
    return {"rows": rows, "mean": _mean(rows)}


def _medians(q: Given) -> Given:
    n, m = len(q["data"]), q["groups"]
    cuts = [n * g // m for g in range(m + 1)]
    means = [_mean([_cut(row, q["truncation"]) for row in q["data"][a:b]]) for a, b in itertools.pairwise(cuts)]
    ordered = [sorted(column) for column in zip(*means, strict=True)]
    low, high = (m - 1) // 2, (m - 1) // 2 if q["rule"] == "low" else m // 2
    return {"means": means, "median": [(column[low] + column[high]) / 2 for column in ordered]}


_GAUSS = [  # nodes and weights of the rule with five points
    (0.0, 128 / 225),
    *((sign * math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 900) for sign in (-1, 1)),
    *((sign * math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 900) for sign in (-1, 1)),
]


def _integral(f: Callable[[float], float], a: float, b: float, cells: int = 80) -> float:
    h = (b - a) / cells / 2
    return math.fsum(h * w * f(a + (2 * i + 1) * h + h * x) for i in range(cells) for x, w in _GAUSS)


def _influence(a: float, beta: float) -> float:
    """E φ(a(1 + N/√β)) over the pieces on which φ is a polynomial."""
    if a == 0:
        return 0.0

    def integrand(z: float) -> float:
        x = max(-math.sqrt(2), min(math.sqrt(2), a * (1 + z / math.sqrt(beta))))
        return (x - x**3 / 6) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    kinks = sorted(max(-12.0, min(12.0, math.sqrt(beta) * (s * math.sqrt(2) / a - 1))) for s in (-1, 1))
    return math.fsum(_integral(integrand, low, high) for low, high in itertools.pairwise([-12.0, *kinks, 12.0]))


def _soft(q: Given) -> Given:
    return {"values": [_influence(a, q["beta"]) for a in q["values"]]}


def _smooth(q: Given) -> Given:
    """Every k, every l, as the formulas stand."""
    a, b, m, t, n = q["lower"], q["upper"], q["trim"], q["smoothness"], len(q["values"])
    x = sorted(min(max(v, a), b) for v in q["values"]) if q["clamp"] == "data" else sorted(q["values"])
    mean = min(max(math.fsum(x[m : n - m]) / (n - 2 * m), a), b)

    def at(i: int) -> float:
        return float(a if i <= 0 else b if i > n else x[i - 1])

    def inner(k: int) -> float:
        moved = max(at(n - m + 1 + k - i) - at(m + 1 - i) for i in range(k + 2))
        return float(moved / (n - 2 * m))

    if q["clamp"] == "data":
        return {"mean": mean, "sensitivity": max(math.exp(-k * t) * inner(k) for k in range(n + 1))}
    terms = [math.exp(-k * t) * min(b - a, inner(k)) for k in range(m)]
    return {"mean": mean, "sensitivity": max(math.exp(-m * t) * (b - a), *terms)}


def _aggregate(q: Given) -> Given:
    """The sensitivity; the centre may be one of several."""
    points, m, width = q["points"], len(q["points"]), q["width"]
    t0 = (m + 1) // 2 + 1

    def radius(t: int, j: int) -> float:
        if t > m:
            return float(width / 2 if q["centres"] == "any" else width)
        if q["centres"] == "any":
            return float(min(max(subset) - min(subset) for subset in itertools.combinations(points, t)) / 2)
        return float(sorted(sorted(abs(x - y) for y in points)[t - 1] for x in points)[j - 1])

    return {"sensitivity": 2 * max(math.exp(-q["smoothness"] * k) * radius(t0 + k + 1, k + 2) for k in range(m - t0 + 1))}


def _projection(q: Given) -> Given | None:
    ((name, w),) = q["domain"].items()
    p = q["point"]
    if name == "ball":
        moved = _clipped([a - c for a, c in zip(p, w["center"], strict=True)], w["radius"])
        return {"point": [c + x for c, x in zip(w["center"], moved, strict=True)]}
    if name == "box":
        return {"point": [min(max(x, low), high) for x, low, high in zip(p, w["lower"], w["upper"], strict=True)]}
    if name == "l1":
        x = [a - c for a, c in zip(p, w["center"], strict=True)]
        low, high = 0.0, max(map(abs, x))
        for _ in range(200):  # the threshold of soft thresholding
            middle = (low + high) / 2
            inside = sum(max(abs(a) - middle, 0) for a in x) <= w["radius"]
            low, high = (low, middle) if inside else (middle, high)
        return {"point": [c + math.copysign(max(abs(a) - high, 0), a) for a, c in zip(x, w["center"], strict=True)]}
    return None


def _log_phi(x: float) -> float:
    """log Φ(x), also far to the left."""
    if x > -30:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(-1 / x**2 + 3 / x**4)


def _gaussian_delta(mu: float, eps: float) -> float:
    return math.exp(_log_phi(mu / 2 - eps / mu)) - math.exp(eps + _log_phi(-mu / 2 - eps / mu))


def _bisected(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest for which it holds."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _calibration(q: Given) -> Given | None:
    D, eps, delta, rho = (q.get(name, math.nan) for name in ("sensitivity", "epsilon", "delta", "rho"))
    rule = q["rule"]
    if rule == "gaussian classical":
        return {"value": math.sqrt(2 * D**2 * math.log(1.25 / delta) / eps**2)}
    if rule == "gaussian analytic":
        return {"value": D / _bisected(lambda mu: _gaussian_delta(mu, eps) <= delta, 1e-6, 100.0)}
    if rule == "gaussian zcdp":
        return {"value": math.sqrt(D**2 / (2 * rho))}
    if rule == "l2-laplace":
        return {"value": D / eps}
    if rule == "P0 Definition 3":
        return {"value": math.sqrt(16 * D**2 * math.log(1 / delta) / eps**2)}
    if rule == "P2 (15)":
        return {"value": eps**2 / (1 + 2 * math.sqrt(math.log(1 / delta))) ** 2}
    if rule == "P2 (24)" and q["amplification"] == "none":
        return {"value": (math.sqrt(math.log(1 / delta) + eps) - math.sqrt(math.log(1 / delta))) ** 2}
    if rule == "P2 (24)":
        k = q["groups"]
        return {
            "value": eps**2
            * k
            / (64 * math.e**4)
            / (math.log(8 / delta) * (1 + 2 * math.sqrt(math.log(12 * k / delta))) ** 2)
        }
    if rule == "P3 Algorithm 4":
        return {"value": 4 * D * math.sqrt(2 * q["sparsity"] * math.log(1 / delta)) / eps}
    return None


def _conversion(q: Given) -> Given | None:
    source, to, delta = q["from"], q["to"], q["delta"]
    kind, relation = source["claim"], source["neighbouring"]
    if to in ("replace-one", "add-remove"):
        return {"claim": source if to == relation else _doubled(source) if to == "replace-one" else None}
    found: Given | None = None
    if (kind, to) == ("pure", "zcdp"):
        found = {"rho": source["epsilon"] * math.tanh(source["epsilon"] / 2)}
    elif (kind, to) == ("pure", "gdp"):
        found = {"mu": -2 * NormalDist().inv_cdf(1 / (1 + math.exp(source["epsilon"])))}
    elif (kind, to) == ("gdp", "zcdp"):
        found = {"rho": source["mu"] ** 2 / 2}
    elif (kind, to) == ("gdp", "approx"):
        eps = _bisected(lambda e: _gaussian_delta(source["mu"], e) >= delta, 0.0, 1000.0)
        found = {"epsilon": eps, "delta": delta}
    elif (kind, to) == ("zcdp", "approx"):
        found = {"epsilon": _zcdp_epsilon(source["rho"], delta), "delta": delta}
    elif (kind, to) == ("pure", "approx"):
        return None  # one of several sound answers
    return {"claim": None if found is None else {"claim": to, **found, "neighbouring": relation}}


def _doubled(source: Given) -> Given:
    """Replacing a record is removing one and adding one."""
    changed: Given = {name: 2 * source[name] for name in ("epsilon", "mu") if name in source}
    if "rho" in source:
        changed["rho"] = 4 * source["rho"]
    if "delta" in source:
        changed["delta"] = (1 + math.exp(source["epsilon"])) * source["delta"]
    return {**source, **changed, "neighbouring": "replace-one"}


def _zcdp_epsilon(rho: float, delta: float) -> float:
    """min over α of ρα + ln(1 − 1/α) + ln(1/(αδ))/(α − 1), on a fine grid of orders around the best of a coarse one."""

    def at(s: float) -> float:
        order = 1 + math.exp(s)
        return rho * order + math.log(1 - 1 / order) - math.log(order * delta) / (order - 1)

    best, width = 0.0, 10.0
    for _ in range(12):
        best = min((best + width * i / 20 for i in range(-20, 21)), key=at)
        width /= 8
    return at(best)


def _composition(q: Given) -> Given | None:
    members, rule = q["claims"], q["rule"]
    first, relations = members[0], {claim["neighbouring"] for claim in members}
    if len(relations) > 1 or (rule == "parallel" and relations != {"replace-one"}):
        return {"claim": None}
    epsilon = math.fsum(claim.get("epsilon", 0.0) for claim in members)
    found: Given
    if rule == "basic":
        delta = math.fsum(claim.get("delta", 0.0) for claim in members)
        found = {"claim": "approx", "epsilon": epsilon, "delta": delta} if delta else {"claim": "pure", "epsilon": epsilon}
    elif rule == "zcdp":
        found = {"claim": "zcdp", "rho": math.fsum(claim["rho"] for claim in members)}
    elif rule == "gdp":
        found = {"claim": "gdp", "mu": _norm([claim["mu"] for claim in members])}
    elif rule == "parallel":
        found = {"claim": "zcdp", "rho": max(claim["rho"] for claim in members)}
    elif rule == "advanced":
        k, slack, e = q["times"], q["slack"], first["epsilon"]
        total = math.sqrt(2 * k * math.log(1 / slack)) * e + k * e * (math.exp(e) - 1)
        found = {"claim": "approx", "epsilon": total, "delta": k * first.get("delta", 0.0) + slack}
    else:
        if first["epsilon"] > 1:
            return {"claim": None}
        share = first["epsilon"] / (2 * math.sqrt(2 * q["times"] * math.log(2 / first["delta"])))
        found = {"claim": "approx", "epsilon": share, "delta": first["delta"] / (2 * q["times"])}
    return {"claim": {**found, "neighbouring": first["neighbouring"]}}


def _schedule(q: Given) -> Given | None:
    v, of = q["numbers"], q["of"]
    if of == "P1 Algorithm 4":
        beta = math.log(1 / v["failure"])
        return {"parameters": {"scale": math.sqrt(v["n"] * v["second_moment"] / (2 * beta)), "beta": beta}}
    if of == "P1 Algorithm 3":
        eps, t = v["epsilon"], v["smoothness"]
        sigma = _bisected(lambda s: 5 * eps / t * s**3 - 5 * s**2 - 1 <= 0, t / eps, 100.0)
        return {"parameters": {"sigma": sigma, "shrink": math.exp(-1.5 * sigma**2) * (eps - t / sigma)}}
    if of == "P3 Algorithm 1":
        return {"parameters": {"bound": _p3_bound(v["n"], v)}}
    if of == "P3 Algorithm 3":
        return {"parameters": {"groups": math.ceil(4 * math.log(2 * v["d"] / v["failure"]))}}
    if of == "P4 Theorem E.1":
        size = math.log(v["net_size"]) + math.log(1 / v["failure"])
        return {"parameters": {"lipschitz": v["moment_bound"] * (v["n"] * v["epsilon"] / size) ** (1 / v["moment_order"])}}
    return None


def _p3_bound(n: int, v: Given) -> float:
    logs = math.log(1 / v["failure"]) * math.sqrt(math.log(1.25 / v["delta"]))
    return float((v["moment_bound"] * n * v["epsilon"] / logs) ** (1 / v["moment_order"]))


def _transcript(q: Given) -> Given | None:
    """Four mean estimators with one release each; of others the noise."""
    v, data, n, d = q["parameters"], q["data"], len(q["data"]), len(q["data"][0])
    if q["algorithm"] in ("P4.S1", "P4.A2", "P4.A4", "P4.D4"):
        return _output_perturbation(v, n, 1 if q["algorithm"] in ("P4.S1", "P4.A2") else 2)
    if q["algorithm"] == "P3.A4":
        return _peeling(v, n)
    if q["algorithm"] == "P0.A1":
        mean = _mean([_clipped(row, v["clip"]) for row in data])
        return _columns(mean, None, 2 * v["clip"] / n, None, mean)
    given = q["outputs"][0].get("value") if q["outputs"] else None
    if q["algorithm"] == "P2.A2":
        mean, reach = _mean([_clipped(row, v["clip"]) for row in data]), 2 * v["clip"] / n
        claim: Given = {"claim": "zcdp", "rho": v["rho"], "neighbouring": "replace-one"}
        return _columns(mean, reach / math.sqrt(2 * v["rho"]), reach, claim, given)
    if q["algorithm"] not in ("P3.A1", "P3.A3"):
        return None
    claim = {"claim": "approx", "epsilon": v["epsilon"], "delta": v["delta"], "neighbouring": "replace-one"}
    if q["algorithm"] == "P3.A1":
        bound = _p3_bound(n, v)
        middle, reach = _mean([_cut(row, bound) for row in data]), 2 * bound / n
    else:
        m = math.ceil(4 * math.log(2 * d / v["failure"]))
        asked = {"data": data, "groups": m, "truncation": v["truncation"], "rule": v.get("median", "average")}
        middle, reach = _medians(asked)["median"], 2 * v["truncation"] * math.sqrt(d) / (n // m)
    scale = reach * math.sqrt(2 * math.log(1.25 / v["delta"])) / v["epsilon"]
    return _columns(middle, scale, reach, claim, given)


def _output_perturbation(v: Given, n: int, releases: int) -> Given:
    """Δ = (2 + 2κ)C/(λn); density ∝ exp(−ε‖z‖/Δ), or σ² = Δ²/(2ρ); the budget is shared equally."""
    reach = (2 + 2 * v["kappa"]) * v["lipschitz"] / (v["weight"] * n)
    if "rho" in v:
        scale, spend = reach / math.sqrt(2 * v["rho"] / releases), {"claim": "zcdp", "rho": v["rho"] / releases}
    else:
        scale, spend = reach * releases / v["epsilon"], {"claim": "pure", "epsilon": v["epsilon"] / releases}
    return {
        "laws": ["Gaussian" if "rho" in v else "L2Laplace"] * releases,
        "scales": [[scale]] * releases,
        "sensitivities": [{"norm": "2", "value": [reach], "rate": None}] * releases,
        "spends": [{**spend, "neighbouring": "replace-one"}] * releases,
    }


def _peeling(v: Given, n: int) -> Given:
    """A noisy maximum and a value in each of s rounds; the maximum costs twice as much."""
    reach, rounds = 2 * v["truncation"] / n, v["sparsity"]
    scale = 4 * reach * math.sqrt(2 * rounds * math.log(1 / v["delta"])) / v["epsilon"]
    spends = [{"claim": "pure", "epsilon": k * reach / scale, "neighbouring": "replace-one"} for k in (2, 1)]
    return {"scales": [[scale]] * (2 * rounds), "spends": [*([spends[0]] * rounds), *([spends[1]] * rounds)]}


def _columns(location: Vector, scale: float | None, reach: float, spend: Given | None, output: Any) -> Given:
    return {
        "names": ["value" if scale is None else "mean"],
        "laws": ["Point" if scale is None else "Gaussian"],
        "rows": [None],
        "locations": [location],
        "scales": [[] if scale is None else [scale]],
        "shapes": [[]],
        "sensitivities": [{"norm": "2", "value": [reach], "rate": None}],
        "spends": [spend],
        "output": output,
    }


RECOMPUTED: dict[str, Callable[[Given], Given | None]] = {
    "clipping": _clipping,
    "truncation": _truncation,
    "median-of-means": _medians,
    "soft-truncation": _soft,
    "smooth-sensitivity": _smooth,
    "aggregate-sensitivity": _aggregate,
    "projection": _projection,
    "calibration": _calibration,
    "conversion": _conversion,
    "composition": _composition,
    "schedule": _schedule,
    "transcript": _transcript,
}


def recompute(documents: Sequence[dict[str, Any]]) -> tuple[dict[str, int], list[str]]:
    """(how many expected answers of each kind were computed here, too; where the two differ)."""
    counts: dict[str, int] = {}
    wrong = []
    for document in documents:
        for test in document["tests"]:
            if document["kind"] == "lipschitz-extension":
                own, found = True, _extension_differs(test)
            else:
                compute = RECOMPUTED.get(document["kind"])
                answer = compute(inputs_of(document, test)) if compute else None
                own = answer is not None
                found = (
                    difference(_shared(test["expected"], answer), answer, test["tolerance"]) if answer is not None else None
                )
            counts[document["kind"]] = counts.get(document["kind"], 0) + own
            if found:
                wrong.append(f"{test['id']}: {found}")
    return counts, wrong


def _shared(expected: Given, answer: Given) -> Given:
    """What was computed here of what is expected."""
    return {name: part for name, part in expected.items() if name in answer}


def _extension_differs(test: dict[str, Any]) -> str | None:
    """f_C(w) ≤ f(y) + C‖w − y‖ at all points y of a grid in W, and equal at the best up to the grid; slopes are at most C."""
    q, expected = test["inputs"], test["expected"]
    (name,) = q["domain"]
    axis = [i / 100 for i in range(-100, 101)]
    inside = [[a, b] for a in axis for b in axis if name == "box" or a * a + b * b <= 1]
    C, w = q["lipschitz"], q["point"]
    for record, value, slope in zip(q["data"], expected["values"], expected["gradients"], strict=True):
        best = min(_loss(q["loss"], y, record) + C * math.dist(w, y) for y in [*inside, w])
        if value > best + 1e-6 or _norm(slope) > C * (1 + 1e-6):
            return f"value {value} and slope {slope}: a point of W gives {best}, and C is {C}"
        if value < best - 0.02 * (_steepest(q["loss"], record) + C):  # every point of W is within 0.02 of the grid
            return f"value {value}: no point of a fine grid gives less than {best}"
    return None


def _steepest(loss: Any, record: Vector) -> float:
    """At least the loss's slope anywhere in W, which reaches no farther than √2."""
    if isinstance(loss, dict):
        return float(max(map(max, loss["quadratic"])) * (2 + _norm(record)))
    steep = _norm(record[:-1])
    return steep * (math.sqrt(2) * steep + abs(record[-1])) if loss == "squared" else steep


def _loss(loss: Any, y: Vector, record: Vector) -> float:
    if isinstance(loss, dict):
        move = [a - b for a, b in zip(y, record, strict=True)]
        rows = loss["quadratic"]
        return float(sum(rows[i][j] * move[i] * move[j] for i in range(len(move)) for j in range(len(move))) / 2)
    margin, target = sum(a * b for a, b in zip(y, record[:-1], strict=True)), record[-1]
    if loss == "absolute":
        return abs(margin - target)
    if loss == "squared":
        return (margin - target) ** 2 / 2
    if loss == "hinge":
        return max(0.0, 1 - target * margin)
    if loss == "logistic":
        return math.log1p(math.exp(-target * margin))
    raise Malformed(f"loss {loss!r} is not known here")


# --- the command ------------------------------------------------------------------------------------------------------------


def wanted(documents: list[dict[str, Any]], kinds: list[str] | None) -> list[dict[str, Any]]:
    """Those of the kinds that were asked for; all, if none were."""
    known = sorted({document["kind"] for document in documents})
    for kind in kinds or []:
        if kind not in known:
            raise Malformed(f"kind {kind!r}: must be one of {', '.join(known)}")
    return [document for document in documents if not kinds or document["kind"] in kinds]


def check_command(documents: Sequence[dict[str, Any]], command: str, *, time_limit: float) -> Report:
    """Ask a program; `ValueError` or `OSError` for one that cannot be started."""
    with Program(command, time_limit=time_limit) as program:
        return check(documents, lambda request: read_reply(program.ask(json.dumps(request, allow_nan=False))))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--command", help="a program that answers JSON lines")
    parser.add_argument("--kind", nargs="+", help="these kinds only")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one answer (default 60)")
    arguments = parser.parse_args(argv)
    try:
        documents = wanted(load(arguments.folder), arguments.kind)
        counts, wrong = recompute(documents)
        total = sum(len(document["tests"]) for document in documents)
        sys.stdout.write(
            f"{total} tests in {len(documents)} files; {sum(counts.values())} expected answers computed again\n"
        )
        sys.stdout.writelines(f"WRONG {line}\n" for line in wrong)
        if arguments.command is None:
            return 1 if wrong else 0
        report = check_command(documents, arguments.command, time_limit=arguments.time_limit)
    except (Malformed, OSError, ValueError) as error:
        sys.stderr.write(f"reader: {error}\n")
        return 2
    sys.stdout.write(f"{report}\n")
    return 1 if wrong or report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
