"""State between runs: a mechanism is a function of its data and its channel, and leaves nothing behind.

Digests of everything that its code can remember things in are taken before and after runs: globals that it names, closures,
defaults, attributes, the data that it was given, the global generators, and the harness itself.  Runs on interleaved data
repeat bit for bit, also when what they draw is replayed to them on the same data.
"""

from __future__ import annotations

import decimal
import hashlib
import math
import os
import random
import threading
import warnings
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tailproof.refimpl import channel as channel_module
from tailproof.refimpl import claims, laws
from tailproof.refimpl.channel import Channel, ReplayDiverged, Transcript
from tailproof.refimpl.claims import UnprovedClaim
from tailproof.refimpl.identity import parts_of, same_bits, same_returned
from tailproof.refimpl.laws import same_law
from tailproof.verification.pair_checks import Measurement
from tailproof.verification.subject import Pair, Subject
from tailproof.verification.transcripts.memory import Places
from tailproof.verification.transcripts.own_code import classes_of, codes_in, functions_of, is_own_class, names_in

_DEEP = 12
_OF_CLASSES = frozenset(("__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "_abc_impl"))


def digest(value: Any) -> str:
    """Of a value and what it holds, by its bits.  Functions count by their code and closure, modules by name."""
    state = hashlib.sha256()
    _feed(state.update, value, 0, {})
    return state.hexdigest()


def _feed(update: Callable[[bytes], None], value: Any, depth: int, seen: dict[int, Any]) -> None:
    """`seen` holds what was fed, so that nothing else gets its address meanwhile."""
    update(f"{type(value).__module__}.{type(value).__qualname__};".encode())
    if isinstance(value, bool | int | float | complex | str | bytes | type(None) | range):
        update(repr(value).encode())
        return
    if id(value) in seen or depth > _DEEP:
        return
    seen[id(value)] = value
    if isinstance(value, np.ndarray):
        update(f"{value.dtype}{value.shape}".encode())
        parts: Any = value.tolist() if value.dtype.hasobject else ()
        if not value.dtype.hasobject:
            update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, np.random.Generator | np.random.RandomState):
        parts = [_generator_state(value)]
    elif isinstance(value, type) and is_own_class(value):
        parts = [item for item in vars(value).items() if item[0] not in _OF_CLASSES]
    elif isinstance(value, ModuleType | BuiltinFunctionType | np.ufunc | type):
        update(getattr(value, "__name__", "").encode())
        parts = ()
    elif isinstance(value, FunctionType):
        parts = _of_function(value)
    elif isinstance(value, MethodType):
        parts = [value.__func__, value.__self__]
    elif isinstance(value, CodeType):
        update(value.co_code)
        parts = [value.co_consts, value.co_names]
    elif isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, set | frozenset):
        parts = sorted(map(repr, value))
    elif isinstance(value, tuple | list):
        parts = value
    else:
        parts = _of_object(value)
    for part in parts:
        _feed(update, part, depth + 1, seen)


def _generator_state(value: Any) -> Any:
    return value.bit_generator.state if isinstance(value, np.random.Generator) else value.get_state()


def _of_function(function: FunctionType) -> list[Any]:
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:
            cells.append(None)
    return [function.__code__, cells, function.__defaults__, function.__kwdefaults__, dict(vars(function))]


def _of_object(value: Any) -> list[Any]:
    try:
        held = [type(value) if is_own_class(type(value)) else None, *parts_of(value).items()]
        held += (
            list(value) if hasattr(value, "__iter__") and hasattr(value, "__len__") and not hasattr(value, "read") else []
        )
    except Exception:
        return []  # an object that does not let itself be looked at
    return held


def memory_of(mechanism: Any) -> dict[str, str]:
    """Where the mechanism's own code can remember something, and a digest of what is there now."""
    found = {"the mechanism itself": digest(mechanism)}
    for kind in classes_of(mechanism):
        found[f"the class {kind.__qualname__}"] = digest(kind)
    for function in functions_of(mechanism):
        where = function.__qualname__
        found[f"closure, defaults or attributes of {where}"] = digest(_of_function(function))
        for name in sorted(names_in(function.__code__)):
            if name in function.__globals__ and not isinstance(function.__globals__[name], ModuleType):
                found[f"the global {name}"] = digest(function.__globals__[name])
        stored = {i for code in codes_in(function.__code__) for i in code.co_names}
        found[f"the globals that {where} may set"] = repr(sorted(name for name in stored if name in function.__globals__))
    return found


_WATCHED = (channel_module, laws, claims)


def surroundings() -> dict[str, Any]:
    """What a mechanism shares with everything else in the process."""
    found: dict[str, Any] = {
        "numpy's global generator": digest(np.random.get_state()),  # noqa: NPY002
        "the global generator": hash(random.getstate()),
        "the environment": hash(tuple(sorted(os.environ.items()))),
        "the threads": threading.active_count(),
        "what numpy is set to": repr((np.get_printoptions(), np.geterr(), np.geterrcall(), np.getbufsize())),
        "what decimals are set to": repr(decimal.getcontext()),
        "what is warned of": len(warnings.filters),
        "numpy": _identities(np),
        "the builtins": _identities(__import__("builtins")),
    }
    for module in _WATCHED:
        found[f"the module {module.__name__}"] = _identities(module)
        for name, kind in vars(module).items():
            if isinstance(kind, type):
                found[f"{module.__name__}.{name}"] = _identities(kind)
    return found


def _identities(holder: Any) -> int:
    return hash(tuple(sorted((name, id(value)) for name, value in vars(holder).items())))


def changed_state(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    """The first place that is not as it was."""
    return next((name for name in {**before, **after} if before.get(name) != after.get(name)), None)


def same_run(first: tuple[Any, Transcript], second: tuple[Any, Transcript]) -> str | None:
    """Where two runs differ, None if nowhere: laws, values, declarations, and what is returned."""
    (output, here), (again, there) = first, second
    if [r.name for r in here] != [r.name for r in there]:
        return "the names of its releases"
    for a, b in zip(here, there, strict=True):
        if not same_law(a.law, b.law):
            return f"the law of {a.name!r}"
        if not same_bits((a.spend, a.visible, a.hidden, a.output), (b.spend, b.visible, b.hidden, b.output)):
            return f"the release {a.name!r}"
    return None if same_returned(output, again) else "what it returns"


def check_state(subject: Subject, pair: Pair, seed: int, places: Places | None = None) -> Measurement:
    """Nothing is remembered: the same run again, after one on other data, is the same run.

    `places` is what the mechanism held before its first run, if that is known.
    """
    found = _first_trace(subject, pair, seed, places or Places.of(subject.mechanism))
    if found is None:
        return Measurement(0.0, 1.0, "nothing is kept between runs, and runs repeat bit for bit")
    return Measurement(math.inf, 1.0, found)


def _first_trace(subject: Subject, pair: Pair, seed: int, places: Places) -> str | None:
    kept = what_first_runs_leave(subject, pair, seed, places)
    if kept is not None:
        return kept
    memory, around = memory_of(subject.mechanism), surroundings()
    first = subject.run(pair[0], seed)
    where = changed_state(memory, memory_of(subject.mechanism)) or changed_state(around, surroundings())
    if where is not None:
        return f"a run changes {where}"
    other = subject.run(pair[1], seed + 1)
    where = changed_state(memory, memory_of(subject.mechanism)) or changed_state(around, surroundings())
    if where is not None:
        return f"a run on other data changes {where}"
    differs = same_run(first, subject.run(pair[0], seed))
    if differs is not None:
        return f"the same run, repeated after one on other data, differs in {differs}"
    for data, recorded in ((pair[0], first), (pair[1], other)):
        try:
            differs = same_run(recorded, subject.replay(data, recorded[1]))
        except ReplayDiverged as error:
            return f"a replay on the same data diverges: {error}"
        if differs is not None:
            return f"a replay on the same data differs in {differs}"
    return _writes(subject, pair)


def what_first_runs_leave(subject: Subject, pair: Pair, seed: int, places: Places) -> str | None:
    """What is computed once and kept for all time must be the same whatever the data of the first run."""
    if places.opaque:
        return f"{places.opaque[0]}: what it remembers cannot be seen"
    left, runs = [], []
    for data in (*pair, pair[0]):
        places.empty_caches()
        places.restore()
        first = subject.run(data, seed)
        left.append(memory_of(subject.mechanism))
        runs.append((first, subject.run(pair[0], seed)))
    if left[0] != left[1]:
        return f"the data of the first run stay in {changed_state(left[0], left[1])}"
    differs = same_run(runs[0][1], runs[1][1]) or same_run(*runs[2])
    return None if differs is None else f"a run depends on the data of the first run, in {differs}"


def _writes(subject: Subject, pair: Pair) -> str | None:
    data = np.array(subject.setting.admissible(pair[0]))
    before = data.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnprovedClaim)
        subject.call(data, Channel.sampling(np.random.default_rng(0)), **subject.setting.parameters)
    return None if data.tobytes() == before else "it writes into the data that it is given"
