"""Settings tell wrong formulas from right ones: generic numbers, remainders, several parts, records on both sides of thresholds.

At ρ = ½ both 2ρ and √(2ρ) are 1; at C = λ = 1 a factor may be missing; where k divides n, ⌊n/k⌋ is n/k.  There a wrong formula
passes.  Settings that refute a published claim may keep what their counterexample is made of.  Exceptions are listed, each with its
reason; one that no longer applies fails.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, Implementation, Setting
from tailproof.refimpl.channel import Release, Unclaimed
from tailproof.refimpl.claims import ZCDP, ApproxDP, PureDP, claim_to_json
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.means.median_of_means import wanted_groups
from tailproof.refimpl.means.truncated import truncation
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.amplification import TRIALS
from tailproof.verification.calibration import PUBLISHED
from tailproof.verification.check import _pairs
from tailproof.verification.plain import losses
from tailproof.verification.query_check import query_data
from tailproof.verification.subject import subject_of

Path = tuple[Any, ...]

BUILT: dict[str, Implementation] = {a.id: a.implementation for a in ALGORITHMS if a.implementation is not None}
PLACES = [(row, index) for row, built in BUILT.items() for index in range(len(built.settings))]
IDS = [f"{row}-{index}" for row, index in PLACES]

COUNTEREXAMPLE = "P0.Alg2.stability is stated in units where α, η and C are 1"
STATED_IN_UNITS = {("P0.A2", 2), ("P0.A3", 2), ("P0.A4", 1), ("P0.A5", 2)}
"""The settings whose numbers are those of the shipped counterexample: nothing is demanded of them."""


def _setting(row: str, index: int) -> Setting:
    return BUILT[row].settings[index]


def _seed() -> int:
    return int(np.random.default_rng().integers(2**31))


# --- the numbers of a setting -----------------------------------------------------------------------------------------------------


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, float]]:
    """Every public number of a setting's parameters, whole or real, and where it is.

    A plan repeats the claim that is a parameter of its own, and says what error it promises: neither is a number of the algorithm.
    """
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield path, value
    elif isinstance(value, str):
        for place, number in _numbers_in(value):
            yield (*path, place), number
    elif isinstance(value, Quadratic):
        diagonal = np.diagonal(value.matrix)
        places = ["times the identity"] if (diagonal == diagonal[0]).all() else range(len(diagonal))
        yield from (((*path, place), float(x)) for place, x in zip(places, diagonal, strict=False))
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from leaves(part, (*path, place))
    elif is_dataclass(value) and not isinstance(value, type | PureDP | ApproxDP | ZCDP):
        kept = [
            field.name
            for field in fields(value)
            if not (path == ("plan",) and field.name in ("epsilon", "bound", "failure"))
        ]
        for name in kept:
            yield from leaves(getattr(value, name), (*path, name))


def _numbers_in(text: str) -> Iterator[tuple[str, float]]:
    """Those of "box:-1.4,1.1" or "ridge:0.13:logistic", each under its place in the text."""
    for place, word in enumerate(re.split("[:,]", text)):
        if re.fullmatch(r"-?[0-9.]+", word):
            yield f"word {place}", float(word)


def put(value: Any, path: Path, number: float) -> Any:
    """The parameters with another number there."""
    if not path:
        return number
    first, rest = path[0], path[1:]
    if isinstance(value, str):
        words = re.split("([:,])", value)
        words[2 * int(first.removeprefix("word "))] = repr(float(number))
        return "".join(words)
    if isinstance(value, Quadratic):
        diagonal = np.array(np.diagonal(value.matrix))
        diagonal[slice(None) if first == "times the identity" else first] = number
        return Quadratic(np.diag(diagonal))
    if isinstance(value, dict):
        return {**value, first: put(value[first], rest, number)}
    if isinstance(value, list | tuple):
        return tuple(put(part, rest, number) if place == first else part for place, part in enumerate(value))
    return replace(value, **{first: put(getattr(value, first), rest, number)})


def _reals(parameters: dict[str, Any]) -> dict[Path, float]:
    """The real ones; a radius of 0 is none."""
    return {path: abs(x) for path, x in leaves(parameters) if isinstance(x, float) and x != 0}


def _wholes(parameters: dict[str, Any]) -> dict[Path, int]:
    return {path: x for path, x in leaves(parameters) if isinstance(x, int)}


# --- values -----------------------------------------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[float], float]] = {
    "1": lambda p: 1.0,  # noqa: ARG005
    "1/2": lambda p: 0.5,  # noqa: ARG005
    "2": lambda p: 2.0,  # noqa: ARG005
    "p²": lambda p: p * p,
    "√p": math.sqrt,
    "2p": lambda p: 2 * p,
    "p/2": lambda p: p / 2,
    "1/p": lambda p: 1 / p,
    "√(2p)": lambda p: math.sqrt(2 * p),
    "√(p/2)": lambda p: math.sqrt(p / 2),
    "2p²": lambda p: 2 * p * p,
    "p²/2": lambda p: p * p / 2,
}
"""What may stand in a wrong formula where p should: a factor left out, a power, a square root, a two too many or too few."""
APART = 0.01  # relative: what differs by less is taken for equal


def coincidences(p: float) -> list[str]:
    """Forms that have p's own value, so that one in p's place would not be seen."""
    return [name for name, form in FORMS.items() if math.isclose(form(p), p, rel_tol=APART)]


def degenerate_numbers(parameters: dict[str, Any]) -> list[str]:
    """What is wrong with the real numbers: one is 1, ½, 2 or the like, or two are equal."""
    reals = _reals(parameters)
    found = [f"{path} = {p} is {name}" for path, p in reals.items() for name in coincidences(p)]
    pairs = itertools.combinations(reals.items(), 2)
    return found + [f"{one} and {other} are {p}" for (one, p), (other, q) in pairs if math.isclose(p, q, rel_tol=APART)]


@pytest.mark.parametrize(("row", "index"), PLACES, ids=IDS)
def test_no_real_number_is_special_and_none_comes_twice(row: str, index: int) -> None:
    setting = _setting(row, index)
    found = degenerate_numbers(setting.parameters)
    if (row, index) in STATED_IN_UNITS:
        assert setting.refuted
        assert found, "no exception is needed"
        return
    assert not found


@pytest.mark.parametrize("row", sorted(TRIALS))
def test_neither_are_those_of_the_trials_of_amplification(row: str) -> None:
    for setting in TRIALS[row]:
        assert not degenerate_numbers(setting.parameters)


SMALL_WHOLES: dict[tuple[str, str], str] = {
    ("P3.A4", "sparsity"): "peeling of one number shows its index: a branch of its own",
    ("P3.A5", "sparsity"): "as P3.A4",
    ("P0.A3", "size"): "the last of ⌊log₂ n⌋ phases has one record, the one before two or three",
    ("P0.A4", "size"): "a stage's last phase",
    ("P0.A5", "size"): "a stage's last phase",
    ("P0.R3", "size"): "small parts: every one costs a certified minimisation",
    ("P4.A1", "repetitions"): "one batch for each phase is the plan for the expectation",
}
"""Whole numbers that may be 1 or 2."""


@pytest.mark.parametrize(("row", "index"), PLACES, ids=IDS)
def test_no_count_is_one_or_two(row: str, index: int) -> None:
    if (row, index) in STATED_IN_UNITS:
        return
    wholes = {path: x for path, x in _wholes(_setting(row, index).parameters).items() if (row, path[-1]) not in SMALL_WHOLES}
    assert min(wholes.values(), default=3) >= 3, wholes


def test_every_exception_for_counts_is_needed() -> None:
    small = {(row, p[-1]) for row, i in PLACES for p, x in _wholes(_setting(row, i).parameters).items() if x < 3}
    assert set(SMALL_WHOLES) <= small


# --- remainders and parts ---------------------------------------------------------------------------------------------------------


def divisions(row: str, setting: Setting) -> Iterator[tuple[int, int]]:
    """(records, number of parts that they are divided into), wherever the algorithm divides records by a count."""
    n, d, p = setting.n, setting.d, setting.parameters
    if "groups" in p:
        yield n, p["groups"]
    if "blocks" in p:
        yield n, p["blocks"]
    strong = p.get("convexity") == "strong" and p.get("reading") != "printed"
    in_batches = "disjoint" in (p.get("sampling"), p.get("batching")) or strong or row in ("P0.A6", "P3.A5")
    if in_batches:
        yield n, p["steps"]
    yield from ((part.size, part.steps) for part in p.get("parts", ()))
    estimator = p["estimator"].parameters if row == "P3.A6" else p
    if "truncation" in estimator and "failure" in estimator:  # a median of means
        yield (
            n // p["steps"] if in_batches else n,
            wanted_groups(d if "loss" not in p else losses.dimension(p["loss"], d), failure=estimator["failure"]),
        )
    if "batch" in p:
        yield n, p["batch"]


def used(setting: Setting) -> int | None:
    """How many records the phases, stages, parts or the plan ask for, where they say it."""
    p = setting.parameters
    parts = p.get("phases") or p.get("stages") or p.get("parts")
    if parts is not None:
        return sum(part.size for part in parts)
    return p["plan"].records if hasattr(p.get("plan"), "records") else None


EQUAL_PARTS = {
    ("P2.A3", 0): "the amplified claim is computed exactly for groups of one size; the row's other setting has others"
}


@pytest.mark.parametrize(("row", "index"), PLACES, ids=IDS)
def test_divisions_leave_a_remainder(row: str, index: int) -> None:
    setting = _setting(row, index)
    if (row, index) in STATED_IN_UNITS:
        return
    for records, parts in divisions(row, setting):
        assert parts > 2
        assert bool(records % parts) is ((row, index) not in EQUAL_PARTS), f"{records} records, {parts} parts"
    needed = used(setting)
    assert needed is None or needed < setting.n, "no record is left over"
    unused = [stage.size - sum(phase.size for phase in stage.phases) for stage in setting.parameters.get("stages", ())]
    assert not unused or (max(unused) > 0 and min(unused) == 0), "a stage uses all of its records, another does not"


TWO_PARTS = {("P0.A7", 0): "shuffling needs 237 records for each part; each has several batches"}


@pytest.mark.parametrize(("row", "index"), PLACES, ids=IDS)
def test_there_are_more_than_two_parts(row: str, index: int) -> None:
    p = _setting(row, index).parameters
    if (row, index) in STATED_IN_UNITS:
        return
    parts = next((p[name] for name in ("phases", "stages", "parts") if name in p), None)
    if hasattr(p.get("plan"), "phases"):
        parts = [phase for phase in p["plan"].phases for _ in range(p["plan"].repetitions)]
    if parts is not None:
        assert len(parts) > 2 or (row, index) in TWO_PARTS


# --- formulas ---------------------------------------------------------------------------------------------------------------------

SIZES = (0.5, 2.0, 30.0)  # of the data: P1's smooth sensitivities depend on them
Result = tuple[float, ...]
Formula = Callable[[dict[str, Any]], Result | None]
"""What a row's second formulas say at these parameters; None where they say nothing."""


def formula_of(row: str, setting: Setting) -> Formula:
    """Noise scales and spends of `calibration.PUBLISHED`, for the releases of runs, and the sensitivity that the module states.

    The data are the same every time, of three sizes where noise depends on them, and nothing here depends on what is drawn.
    """
    shape = setting.n, setting.d
    waves = np.sin(1.7 * np.arange(setting.n * setting.d) ** 1.3).reshape(shape)
    runs = [setting.admissible(size * waves) for size in (SIZES if row.startswith("P1") else SIZES[:1])]
    subject = replace(subject_of(row, 0, implementation=BUILT[row]), setting=setting)
    released = [(release, rows) for rows in runs if row in PUBLISHED for release in subject.run(rows, _seed())[1].spending]

    def at(parameters: dict[str, Any]) -> Result | None:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # the mean of a block of no records
                found = [number for release, rows in released for number in _published(row, release, rows, parameters)]
            return (*found, *_stated_sensitivity(row, setting.n, parameters))
        except (ValueError, ArithmeticError, IndexError, TypeError):  # the last where an accountant has too few digits
            return None

    return at


def _published(row: str, release: Release, data: FloatArray, parameters: dict[str, Any]) -> list[float]:
    published = PUBLISHED[row](release, data, parameters)
    spend = {} if isinstance(published.spend, Unclaimed) else claim_to_json(published.spend)
    return [*map(float, np.ravel(published.scale)), *(x for x in spend.values() if isinstance(x, float))]


def _stated_sensitivity(row: str, n: int, parameters: dict[str, Any]) -> list[float]:
    """Of modules that state it as a function of the number of records and of parameters alone."""
    stated = getattr(BUILT[row].module, "sensitivity", None)
    if stated is None:
        return []
    known = {"n": n, "size": n, **parameters}
    wanted = [x for x in inspect.signature(stated).parameters.values() if x.kind is not x.VAR_KEYWORD]
    if any(x.name not in known and x.default is x.empty for x in wanted):
        return []
    reach = stated(**{x.name: known[x.name] for x in wanted if x.name in known})
    return [float(getattr(reach, "value", reach))]


COUNTS: dict[str, Callable[[int], int]] = {
    "one less": lambda k: k - 1,
    "one more": lambda k: k + 1,
    "1": lambda k: 1,  # noqa: ARG005
    "2": lambda k: 2,  # noqa: ARG005
    "k/2": lambda k: k // 2,
    "√k": lambda k: math.isqrt(k),
}


def perturbations(parameters: dict[str, Any]) -> dict[str, dict[Path, float]]:
    """Wrong readings, and what they put where: each real number in every form, each count in some, one number where another should
    be, two exchanged.  Not those of the loss: noise depends on them through gradients alone, which the published query looks at."""
    reals, wholes = _reals(parameters), _wholes(parameters)
    reals = {path: p for path, p in reals.items() if path[0] != "loss"}
    found: dict[str, dict[Path, float]] = {}
    for path, p in reals.items():
        found |= {f"{path}: {name}": {path: form(p)} for name, form in FORMS.items()}
    for path, k in wholes.items():
        found |= {f"{path}: {name}": {path: count(k)} for name, count in COUNTS.items()}
    for same in (reals, wholes):
        numbers: dict[Path, float] = dict(same)
        for one, other in itertools.permutations(numbers, 2):
            found[f"{other} for {one}"] = {one: numbers[other]}
        for one, other in itertools.combinations(numbers, 2):
            found[f"{one} and {other} exchanged"] = {one: numbers[other], other: numbers[one]}
    return found


def changed(parameters: dict[str, Any], changes: dict[Path, float]) -> dict[str, Any] | None:
    """With numbers of these sizes, where they are legal; what is negative stays so."""
    if any(path[-1] in PROBABILITIES and not 0 < x < 1 for path, x in changes.items()):
        return None
    before = dict(leaves(parameters))
    try:
        for path, x in changes.items():
            parameters = put(parameters, path, -x if before[path] < 0 else x)
    except ValueError:  # a phase of no records
        return None
    return parameters


PROBABILITIES = ("delta", "failure", "share", "reserve")


def differ(one: Result | None, other: Result | None) -> bool | None:
    """Whether two results differ by more than rounding; None where one of them says nothing."""
    if one is None or other is None or not all(map(math.isfinite, (*one, *other))):
        return None
    return len(one) != len(other) or any(not math.isclose(x, y, rel_tol=1e-6) for x, y in zip(one, other, strict=True))


NEAR = 5


def nearby(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every real number times a factor of its own, between 0.9 and 1.1."""
    reals = _reals(parameters)
    golden = (math.sqrt(5) - 1) / 2
    for which in range(NEAR):
        factors = [0.9 + 0.2 * (golden * (1 + which + NEAR * place) % 1) for place in range(len(reals))]
        near = changed(parameters, {path: p * factor for (path, p), factor in zip(reals.items(), factors, strict=True)})
        if near is not None:
            yield near


def unseen(row: str, setting: Setting) -> set[str]:
    """Perturbations that change the formulas near this setting, and not at it: there a wrong formula agrees with the right one."""
    formula, parameters = formula_of(row, setting), setting.parameters
    here = formula(parameters)
    assert here is not None
    same = {name for name, at in perturbations(parameters).items() if differ(_at(formula, parameters, at), here) is False}
    seen_near: set[str] = set()
    for near in nearby(parameters):
        there, tried = formula(near), perturbations(near)
        seen_near |= {name for name in same if differ(_at(formula, near, tried[name]), there)}
    return seen_near


def _at(formula: Formula, parameters: dict[str, Any], changes: dict[Path, float]) -> Result | None:
    found = changed(parameters, changes)
    return None if found is None else formula(found)


FORMULAS = [(row, index) for row, index in PLACES if _setting(row, index).refuted is None]
"""All but refuted settings: there the same formulas hold, and those of the row's other settings are looked at."""


@pytest.mark.parametrize(("row", "index"), FORMULAS, ids=[f"{row}-{index}" for row, index in FORMULAS])
def test_wrong_formulas_differ_from_the_right_ones(row: str, index: int) -> None:
    assert formula_of(row, _setting(row, index))(_setting(row, index).parameters), "there is no formula to look at"
    assert not unseen(row, _setting(row, index))


DEGENERATE: list[tuple[str, int, dict[str, Any], str]] = [
    ("P0.A1", 0, {"clip": 1.0}, "('clip',): 1"),
    ("P2.A2", 0, {"rho": 0.5}, "('rho',): √(p/2)"),
    ("P2.A2", 0, {"clip": 1.0}, "('clip',): p²"),
    ("P2.A2", 0, {"rho": 2.0}, "('rho',): √(2p)"),
    ("P3.A1", 0, {"moment_bound": 1.0}, "('moment_bound',): √p"),
    ("P4.S1", 0, {"weight": 1.0, "lipschitz": 1.0}, "('lipschitz',) for ('weight',)"),
    ("P4.S1", 0, {"rho": 0.5}, "('rho',): 2p²"),
    ("P4.A5", 1, {"lipschitz": 1.0}, "('lipschitz',): 1/p"),
]
"""As the settings once were, and a wrong formula that was not seen at them."""


@pytest.mark.parametrize(("row", "index", "changes", "wrong"), DEGENERATE, ids=[f"{d[0]} {d[2]}" for d in DEGENERATE])
def test_degenerate_numbers_are_refused(row: str, index: int, changes: dict[str, Any], wrong: str) -> None:
    setting = _setting(row, index)
    degenerate = replace(setting, parameters={**setting.parameters, **changes})
    assert degenerate_numbers(degenerate.parameters)
    assert wrong in unseen(row, degenerate)


def test_numbers_are_found_and_put_back_where_they_are() -> None:
    for row, index in PLACES:
        parameters = _setting(row, index).parameters
        for path, x in leaves(parameters):
            other = x + 1 if isinstance(x, int) else 0.9 * x + 1e-3
            again = put(parameters, path, other)
            assert {place: y for place, y in leaves(again) if y != dict(leaves(parameters))[place]} == {path: other}


# --- records on both sides of every threshold -------------------------------------------------------------------------------------


def _start(p: dict[str, Any], rows: FloatArray) -> FloatArray:
    """Where the first step is made."""
    if p.get("start") is not None:
        return np.asarray(p["start"])
    size = losses.dimension(p["loss"], rows.shape[1])
    return losses.middle(p["domain"], size) if "domain" in p else np.zeros(size)


def _slopes(p: dict[str, Any], rows: FloatArray) -> FloatArray:
    return losses.unpenalised_gradients(p["loss"], _start(p, rows), rows)


def _longer(rows: FloatArray, limit: float) -> FloatArray:
    return np.asarray(np.linalg.norm(rows, axis=1) > limit)


def _beyond(rows: FloatArray, lower: float, upper: float) -> FloatArray:
    return np.asarray(((rows < lower) | (rows > upper)).any(axis=1))


def _soft(rows: FloatArray, p: dict[str, Any], n: int) -> FloatArray:
    """Beyond √2·s, where the influence is flat."""
    s = p.get("scale") or math.sqrt(n * p["second_moment"] / (2 * math.log(1 / p["failure"])))
    return _beyond(rows, -math.sqrt(2) * s, math.sqrt(2) * s)


def _phase_clip(p: dict[str, Any]) -> float:
    parts = p.get("phases") or p.get("parts") or p["stages"][0].phases
    return float(parts[0].clip)


Mask = Callable[[FloatArray, dict[str, Any]], FloatArray]

CLIPPED: dict[str, Mask] = {
    **dict.fromkeys(("P0.A1", "P2.A2", "P2.A3"), lambda rows, p: _longer(rows, p["clip"])),
    **dict.fromkeys(("P0.A2", "P0.A6", "P0.B", "P2.A1"), lambda rows, p: _longer(_slopes(p, rows), p["clip"])),
    **dict.fromkeys(
        ("P0.A3", "P0.A4", "P0.A5", "P0.A7", "P0.R3"), lambda rows, p: _longer(_slopes(p, rows), _phase_clip(p))
    ),
    "P1.A3.mean": lambda rows, p: _beyond(rows, p["lower"], p["upper"]),
    "P1.A3": lambda rows, p: _beyond(_slopes(p, rows), p["lower"], p["upper"]),
    "P1.A4.mean": lambda rows, p: _soft(rows, p, len(rows)),
    "P1.A4": lambda rows, p: _soft(_slopes(p, rows), p, len(rows)),
    "P3.A1": lambda rows, p: _longer(rows, truncation(len(rows), **p)),
    **dict.fromkeys(("P3.A3", "P3.A4"), lambda rows, p: _beyond(rows, -p["truncation"], p["truncation"])),
    **dict.fromkeys(("P3.A2", "P3.A5"), lambda rows, p: _beyond(_slopes(p, rows), -p["truncation"], p["truncation"])),
    "P3.A6": lambda rows, p: _of_estimator(rows, p),
    **dict.fromkeys(
        ("P4.A2", "P4.A4", "P4.S1", "P4.A5", "P4.A7", "P4.D4"), lambda rows, p: _longer(_slopes(p, rows), p["lipschitz"])
    ),
    "P4.A1": lambda rows, p: _longer(_slopes(p, rows), p["plan"].phases[0].lipschitz),
    "P4.S2": lambda rows, p: _longer(_slopes(p, rows), p["plan"].lipschitz),
    "P4.S3": lambda rows, p: _longer(rows, p["low"]),
}
"""Which records a row clips, truncates or drops for their size, or flattens by an extension, at the point where it starts."""
UNCLIPPED = {"P1.A1"}
"""Its blocks' minimisers are confined to W; no record is changed."""


def _of_estimator(rows: FloatArray, p: dict[str, Any]) -> FloatArray:
    own = p["estimator"].parameters
    clips = CLIPPED["P2.A2"] if "clip" in own else CLIPPED["P3.A3"]
    return clips(_slopes(p, rows), own)


ROUGH = ("P0.A2", "P0.A3", "P0.A4", "P0.A5")
"""The rows that leave out records rougher than their public smoothness."""


def _both(mask: FloatArray) -> bool:
    return bool(mask.any() and not mask.all())


def test_every_row_has_a_threshold_or_none() -> None:
    assert set(CLIPPED) | UNCLIPPED == set(BUILT)
    assert {row for row, _ in PLACES if "smoothness" in inspect.signature(BUILT[row].mechanism).parameters} >= set(ROUGH) - {
        "P0.A2"
    }


THRESHOLDS = [(row, index) for row, index in FORMULAS if row in CLIPPED]


@pytest.mark.parametrize(("row", "index"), THRESHOLDS, ids=[f"{row}-{index}" for row, index in THRESHOLDS])
def test_data_of_the_queries_lie_on_both_sides_of_every_threshold(row: str, index: int) -> None:
    """Nothing is left to chance: one data set has records of every size."""
    setting = _setting(row, index)
    subject = subject_of(row, index, implementation=BUILT[row])
    tables = [setting.admissible(data) for data, _ in query_data(subject, _seed())]
    assert any(_both(CLIPPED[row](rows, setting.parameters)) for rows in tables)
    if row in ROUGH:
        rough = [losses.roughness(setting.parameters["loss"], rows) > setting.parameters["smoothness"] for rows in tables]
        assert any(map(_both, rough))
        kept = [rows[~left_out] for rows, left_out in zip(tables, rough, strict=True)]
        assert any(_both(CLIPPED[row](rows, setting.parameters)) for rows in kept)


@pytest.mark.parametrize(("row", "index"), THRESHOLDS, ids=[f"{row}-{index}" for row, index in THRESHOLDS])
def test_neighbours_lie_on_both_sides_of_every_threshold(row: str, index: int) -> None:
    """An outlier among zeros is among the structured pairs, whatever is drawn."""
    setting = _setting(row, index)
    subject = subject_of(row, index, implementation=BUILT[row])
    tables = [setting.admissible(data) for pair in _pairs(subject, _seed()) for data in pair]
    assert any(_both(CLIPPED[row](rows, setting.parameters)) for rows in tables)
    if row in ROUGH:
        assert any(_both(losses.roughness(setting.parameters["loss"], r) > setting.parameters["smoothness"]) for r in tables)
