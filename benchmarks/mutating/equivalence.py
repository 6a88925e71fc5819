"""Whether an edit changes anything: transcripts, declarations, claims and outputs at random settings that `verify` does not use.

A random setting is one of the row's with other public numbers, sizes, data and coins.  It counts if the unedited algorithm accepts
it.  Two runs are equal if they release the same things under the same names with the same laws, declarations and values, and return
the same value: text, whole numbers, types and shapes exactly, arrays of floats to within 1e-12 of their largest entry.  That much
is rounding: (a·b)·c for a·(b·c) is no other algorithm.  How large the largest difference was is kept.
"""

from __future__ import annotations

import inspect
import math
import pickle
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Implementation, Setting, algorithm
from tailproof.refimpl.channel import run
from tailproof.refimpl.validation import InputError
from tailproof.verification.workers import one_thread

SEED = 2400
WANTED = 60  # settings a row
LEAST = 50  # of them must be found
TRIES = 3000
ROUNDING = 1e-12
PATIENCE = 2.0  # seconds that the unedited algorithm may take at a setting


def record(row: str, file: str, seconds: float) -> dict[str, Any]:
    """The unedited algorithm at the first settings that it accepts, into a file."""
    warnings.simplefilter("ignore")
    found: list[tuple[int, Flat]] = []
    end = time.monotonic() + seconds
    with one_thread():
        for number in range(TRIES):
            if len(found) == WANTED or time.monotonic() > end:
                break
            start = time.monotonic()
            flat = outcome(row, number)
            if not flat.text.startswith("raises") and time.monotonic() - start < PATIENCE:
                found.append((number, flat))
    Path(file).write_bytes(pickle.dumps([(number, flat.text, flat.arrays) for number, flat in found]))
    return {"settings": len(found)}


def compare(row: str, file: str) -> dict[str, Any]:
    """The edited one at the same: the first setting at which it differs, or how much rounding there was."""
    warnings.simplefilter("ignore")
    most, count = 0.0, 0
    with one_thread():
        for number, text, arrays in pickle.loads(Path(file).read_bytes()):
            off = difference(Flat(text, arrays), outcome(row, number))
            count += 1
            if not off <= ROUNDING:
                said = f"by {off:.2g} of the largest" if math.isfinite(off) else "in more than numbers"
                return {"equivalent": False, "settings": count, "detail": f"differs at random setting {number} {said}"}
            most = max(most, off)
    return {"equivalent": count >= LEAST, "settings": count, "rounding": most}


# --- what happened --------------------------------------------------------------------------------------------------------


@dataclass
class Flat:
    """A nested value as a text and the arrays of floats in it, in order."""

    text: str = ""
    arrays: list[np.ndarray] = field(default_factory=list)


def outcome(row: str, number: int) -> Flat:
    """Of the random setting of this number; or what it raises."""
    implementation = algorithm(row).implementation
    assert implementation is not None
    rng = np.random.default_rng([SEED, number])
    try:
        setting, data = random_setting(implementation, rng)
        output, transcript = run(implementation.mechanism, data, np.random.default_rng([SEED, number]), **setting.parameters)
        claims = implementation.privacy(setting), implementation.conditional_privacy(setting)
    except Exception as error:
        return Flat(f"raises {type(error).__name__}")
    return flat_of(output, transcript.releases, claims)


def flat_of(*values: Any) -> Flat:
    flat, parts = Flat(), []
    for value in values:
        _flatten(value, parts, flat.arrays)
    flat.text = "\n".join(parts)
    return flat


def difference(first: Flat, second: Flat) -> float:
    """The largest difference of two arrays in units of the largest entry of the first; infinite where anything else differs."""
    if first.text != second.text:
        return math.inf
    worst = 0.0
    for one, other in zip(first.arrays, second.arrays, strict=True):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        if not same.all():
            size = float(np.abs(one[np.isfinite(one)]).max(initial=0.0))
            off = float(np.abs(one[~same] - other[~same]).max())
            worst = max(worst, off / size if size and math.isfinite(off) else math.inf)
    return worst


def _flatten(value: Any, text: list[str], arrays: list[np.ndarray]) -> None:
    if isinstance(value, np.ndarray | np.generic | float) and np.asarray(value).dtype.kind == "f":
        text.append(f"{type(value).__name__} {np.asarray(value).dtype} {np.shape(value)}")
        arrays.append(np.array(value, dtype=np.float64).ravel())
    elif isinstance(value, np.ndarray | np.generic):
        text.append(f"{value.dtype} {np.shape(value)} {value.tolist()}")
    elif is_dataclass(value) and not isinstance(value, type):
        text.append(type(value).__name__)
        for part in fields(value):
            if part.init:
                text.append(part.name)
                _flatten(getattr(value, part.name), text, arrays)
    elif isinstance(value, tuple | list):
        text.append(f"{type(value).__name__} of {len(value)}")
        for part in value:
            _flatten(part, text, arrays)
    elif isinstance(value, dict):
        _flatten(sorted(value.items(), key=lambda item: str(item[0])), text, arrays)
    elif callable(value):
        text.append(getattr(value, "__qualname__", type(value).__name__))
    else:
        text.append(f"{type(value).__name__} {value!r}")


# --- random settings ------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?")


def random_setting(implementation: Implementation, rng: np.random.Generator) -> tuple[Setting, np.ndarray]:
    """One of the row's settings with other numbers, and data for it.  It may be one that the algorithm refuses."""
    settings = implementation.settings
    base = settings[rng.integers(len(settings))]
    share = float(rng.choice([0.15, 0.4, 0.8]))
    factors: dict[str, float] = {}

    def factor(name: str, spread: float = 0.7) -> float:
        """A name has one factor everywhere: a plan's ε is that of the algorithm."""
        if name not in factors:
            factors[name] = math.exp(rng.uniform(-spread, spread)) if rng.random() < share else 1.0
        return factors[name]

    parameters = _defaults(implementation) | base.parameters
    for name in base.parameters:
        others = [one.parameters[name] for one in settings if name in one.parameters and one.d == base.d]
        if isinstance(parameters[name], str) and rng.random() < share / 2:
            parameters[name] = others[rng.integers(len(others))]
    parameters = {name: _other(value, name, factor) for name, value in parameters.items()}
    n, d = _sizes(base, rng)
    setting = replace(base, n=n, d=d, parameters=parameters)
    if any(str(setting) == str(used) for used in settings):
        raise InputError("this is a setting of the catalogue")
    return setting, setting.admissible(_data(n, d, rng))


def _defaults(implementation: Implementation) -> dict[str, Any]:
    """Numbers that the algorithm takes and that no setting may give."""
    accepted = inspect.signature(getattr(implementation.module, implementation.function)).parameters
    return {name: one.default for name, one in accepted.items() if type(one.default) in (int, float)}


def _sizes(base: Setting, rng: np.random.Generator) -> tuple[int, int]:
    """Half of the time those of the setting: some algorithms fix them by their plans."""
    n = base.n if rng.random() < 0.5 else max(1, round(base.n * math.exp(rng.uniform(-0.3, 0.7)))) + int(rng.integers(0, 3))
    d = base.d if rng.random() < 0.7 else max(1, base.d + int(rng.choice([-1, 1, 2])))
    return n, d


def _other(value: Any, name: str, factor: Callable[[str], float]) -> Any:
    if isinstance(value, bool) or value is None or callable(value):
        return value
    if isinstance(value, int):
        return max(1, round(value * factor(name)))
    if isinstance(value, float):
        return value * factor(name)
    if isinstance(value, str):
        return _NUMBER.sub(lambda found: repr(float(found[0]) * abs(factor(f"{name} {found.start()}"))), value)
    if isinstance(value, np.ndarray):
        return _array(value, name, factor)
    if isinstance(value, dict):
        return {key: _other(one, key, factor) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(_other(one, name, factor) for one in value)
    if is_dataclass(value):
        parts = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        return replace(value, **{key: _other(one, key, factor) for key, one in parts.items()})
    return value


def _array(value: np.ndarray, name: str, factor: Callable[[str], float]) -> np.ndarray:
    """D·A·D of a square matrix, D diagonal: symmetry and signs stay."""
    scales = np.array([factor(f"{name} {index}") for index in range(len(value))])
    return scales[:, None] * value * scales if value.ndim == 2 else scales * value


def _data(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Heavy tails, none, small, large, ties, zeros among enormous records."""
    kinds: list[Callable[[], np.ndarray]] = [
        lambda: rng.standard_t(3, size=(n, d)),
        lambda: rng.standard_t(1.1, size=(n, d)),
        lambda: rng.standard_normal((n, d)),
        lambda: 10 ** rng.uniform(-3, 3) * rng.standard_t(2, size=(n, d)),
        lambda: rng.standard_t(3, size=(n, d))[rng.integers(0, max(1, n // 3), size=n)],
        lambda: rng.standard_t(2, size=(n, d)) * rng.choice([0.0, 0.1, 1.0, 1e4], p=[0.2, 0.3, 0.3, 0.2], size=(n, 1)),
    ]
    return kinds[rng.integers(len(kinds))]()
