"""`tailproof solve`: run a private mean estimator or an optimiser on a user's file.

What is said before a run (plan, claim, bound) comes from public numbers alone.  What is said after it is what the algorithm
released, and what is true of every run (`fitting.card`).
"""

from __future__ import annotations

import argparse
import inspect
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import ALGORITHMS, Implementation, Setting
from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import claim_to_json
from tailproof.refimpl.domains import Domain, parse_domain
from tailproof.refimpl.extension.batched import LARGEST_RECORD
from tailproof.refimpl.validation import FloatArray, InputError, known, real, records
from tailproof.verification.datafile import Table as DataTable
from tailproof.verification.datafile import read_table, read_words
from tailproof.verification.facts import Numbers, given_facts, parameters_of
from tailproof.verification.fitting.card import before, books, claim_line, fit_task, ledger_lines
from tailproof.verification.fitting.columns import (
    AsItIs,
    Categorical,
    Cells,
    Column,
    Columns,
    Numeric,
    column_to_json,
    read_columns,
)
from tailproof.verification.fitting.optimisers import (
    BUDGET,
    NEEDED,
    NOT_ON_THE_COMMAND_LINE,
    OPTIMISERS,
    Optimiser,
    Task,
    checked,
    claim_of,
    loss_named,
    takes_of,
    target_kind,
)
from tailproof.verification.fitting.plans import moment_bound_of, plan_of
from tailproof.verification.shown import Shown

Tell = Callable[[Shown], None]

FLAGS = ("epsilon", "delta", "rho", "loss", "domain", "preset")


def solve(arguments: argparse.Namespace, *, announce: Tell, progress: Tell | None = None) -> tuple[dict[str, Any], Shown]:
    """(JSON value, readable lines); what must be known before the run is told to `announce`."""
    for name in ("json", "weights"):
        check_writable(name, getattr(arguments, name))
    names = [*_usable(), *OPTIMISERS]
    for row in ALGORITHMS:
        if row.id == arguments.id and row.study and row.id not in names:
            raise InputError(f"id = {row.id!r}: is for study, and solve does not take it: {row.study}")
    arguments.id = known("id", arguments.id, names, f"solve takes {', '.join(names)}")
    if arguments.id in OPTIMISERS:
        return _optimise(arguments, OPTIMISERS[arguments.id], announce, progress)
    return _estimate(arguments)


# -------------------------------------------------------------------------------------------------------- mean estimators


def _estimate(arguments: argparse.Namespace) -> tuple[dict[str, Any], Shown]:
    implementation = _usable()[arguments.id]
    signature = inspect.signature(implementation.mechanism).parameters.values()
    takes = {p.name: p.default for p in signature if p.kind is inspect.Parameter.KEYWORD_ONLY}
    given, foreign = _given(arguments), ("target", "positive", "intercept", "shuffle", "weights")
    given |= {name: value for name in foreign if (value := getattr(arguments, name)) is not None}
    parameters = checked(arguments.id, given, takes)
    source = read_table(arguments.data, features=arguments.features)
    data = records("data", source.select(arguments.columns) if arguments.columns else source.rows)
    n, d = data.shape
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate, transcript = run(implementation.mechanism, data, np.random.default_rng(arguments.seed), **parameters)
    claim = implementation.privacy(Setting(n, d, parameters))
    assert claim is not None
    spent, vector, notes = books(transcript, n), np.atleast_1d(estimate).tolist(), [str(note.message) for note in caught]
    value = {
        "algorithm": arguments.id,
        "records": n,
        "parameters": parameters,
        "claim": claim_to_json(claim),
        "ledger": spent,
        "estimate": vector,
        "notes": notes,
    }
    lines = [f"{arguments.id} on {n} records of {d} columns", claim_line(claim), *ledger_lines(spent)]
    lines += [*(f"note: {note}" for note in notes), "estimate: " + " ".join(f"{x:.10g}" for x in vector)]
    return value, "\n".join(lines)


def _usable() -> dict[str, Implementation]:
    estimators = {a.id: a.implementation for a in ALGORITHMS if a.implementation is not None and not a.implementation.query}
    return {
        name: entry for name, entry in estimators.items() if entry.module.__name__.startswith("tailproof.refimpl.means.")
    }


# -------------------------------------------------------------------------------------------------------------- optimisers


def _optimise(
    arguments: argparse.Namespace, optimiser: Optimiser, announce: Tell, progress: Tell | None
) -> tuple[dict[str, Any], Shown]:
    task = _task(arguments, optimiser)
    plan = plan_of(task)
    announce(lines := before(task, plan))
    shuffled = optimiser.batches and arguments.shuffle is not False
    rng = np.random.default_rng(arguments.seed)
    card = fit_task(task, rng, plan=plan, lines=lines, shuffled=shuffled, progress=progress)
    return card.to_json() | {"positive": arguments.positive}, card.after()


def weights_document(value: dict[str, Any]) -> dict[str, Any]:
    """What `--weights` writes: all that is needed to use the weights and to know what they are."""
    return {key: item for key, item in value.items() if key not in ("ledger", "certificate")}


# ----- the records


def _task(arguments: argparse.Namespace, optimiser: Optimiser) -> Task:
    kind = (arguments.preset or optimiser.preset) if optimiser.descends else None
    declared = None if arguments.describe is None else read_columns(arguments.describe)
    if kind is None:
        takes = takes_of(optimiser, arguments.moment_bound)
        if declared is not None and optimiser.plans:
            takes = takes | {"moment_bound": "from the columns' rules"}
        facts, parameters = dict[str, Any](), checked(arguments.id, _given(arguments), takes)
    else:
        facts, parameters = _facts_and_parameters(arguments, optimiser)
    if arguments.shuffle is not None and not optimiser.batches:
        raise InputError(f"shuffle is not a parameter: {arguments.id} uses all records at once, in any order")
    claim = claim_of(optimiser, parameters)
    name = str(parameters["loss"])
    label = target_kind(loss_named(name, 1))
    if label == "none" and arguments.target is not None:
        raise InputError(f"target = {arguments.target!r}: the loss {name} has none; columns choose the features")
    if label != "label" and arguments.positive is not None:
        raise InputError(f"positive = {arguments.positive!r}: the loss {name} has no labels; hinge and logistic have")
    source = read_table(arguments.data, features=arguments.features)
    target = None if label == "none" else source.position(arguments.target or source.label or source.columns[-1])
    chosen = _feature_positions(arguments, source, target)
    columns = _columns(declared, [source.columns[j] for j in chosen])
    features = columns.features + (["intercept"] if arguments.intercept else [])
    if not features:
        raise InputError("columns: at least one feature is needed")
    d, column = len(features), None if target is None else source.columns[target]
    domain = parse_domain(str(parameters["domain"]), d) if "domain" in optimiser.parameters else None
    rule = None if declared is None or label != "real" else declared.get(str(column))
    if rule is not None and not isinstance(rule, Numeric):
        raise InputError(f"describe: the target {column!r} must be numeric")
    if optimiser.plans and domain is not None and "moment_bound" not in parameters:
        parameters["moment_bound"] = _steepest(name, columns, rule, domain, arguments)
    rows = np.ones((len(source.rows), d + (target is not None)))
    if chosen:
        cells = [_cells(source, j, kind) for j, kind in zip(chosen, columns.kinds, strict=True)]
        rows[:, : len(columns.features)] = columns.encode(cells)
    if target is not None and label == "label":
        rows[:, -1] = _labels(arguments, source, target)
    elif target is not None:
        rows[:, -1] = (
            _finite(source, target) if rule is None else rule.encode(source.rows[:, target], name=str(column))[:, 0]
        )
    if kind is not None:
        sizes: Numbers = {"records": len(rows), "dimension": d, "domain": domain}
        sizes["claim"] = {name: parameters[name] for name in ("epsilon", "delta")}
        parameters = parameters_of(arguments.id, facts, kind, **sizes) | parameters
    loss, public = loss_named(name, d), dict[str, Any]()
    if declared is not None:
        public = {"columns": columns.to_json()} | ({} if rule is None else {"target": column_to_json(rule)})
    return Task(arguments.id, optimiser, parameters, claim, loss, domain, rows, features, column, kind, facts, public)


def _columns(declared: dict[str, Column] | None, names: list[str]) -> Columns:
    """The rules of these columns: all declared, or none."""
    if declared is None:
        return Columns.of(None, names)
    if missing := [name for name in names if name not in declared]:
        raise InputError(f"describe: says nothing of column {missing[0]!r}; --columns chooses those to use")
    return Columns.of([declared[name] for name in names], names)


def _cells(source: DataTable, position: int, kind: Column | AsItIs) -> Cells:
    """Words where the rule is of words; without a rule there must be numbers."""
    if isinstance(kind, AsItIs):
        return _finite(source, position)
    if isinstance(kind, Categorical) and source.words is not None:
        return np.array(read_words(source.words, position), dtype=object)
    return source.rows[:, position]


def _steepest(loss: str, columns: Columns, rule: Numeric | None, domain: Domain, arguments: argparse.Namespace) -> float:
    """G from the columns' rules."""
    if columns.norm_upper == math.inf:
        raise InputError("moment_bound is missing: a column with clip = false has no bound that would give one")
    if loss.endswith(("squared", "l4")) and (rule is None or not rule.clip):
        raise InputError("moment_bound is missing: the target has no bound that would give one")
    return moment_bound_of(
        loss_named(loss, domain.dimension), norm=columns.norm_upper, intercept=bool(arguments.intercept), domain=domain
    )


def _facts_and_parameters(arguments: argparse.Namespace, optimiser: Optimiser) -> tuple[Numbers, Numbers]:
    """The public numbers, for the preset, and what is given besides; `--set` replaces what the preset chooses."""
    facts = given_facts(arguments)
    given = {name: value for name in FLAGS if name != "preset" and (value := getattr(arguments, name)) is not None}
    signature = inspect.signature(optimiser.function).parameters.values()
    open_to_all = {p.name for p in signature if p.kind is inspect.Parameter.KEYWORD_ONLY} - set(NOT_ON_THE_COMMAND_LINE)
    needed = {name: NEEDED for name in (*BUDGET, "domain") if name in optimiser.parameters}
    known = needed | dict.fromkeys(sorted(open_to_all - set(needed)), "by preset")
    return facts, checked(arguments.id, given | _settings(arguments, given), known)


def _feature_positions(arguments: argparse.Namespace, source: DataTable, target: int | None) -> list[int]:
    if not arguments.columns:
        return [j for j, name in enumerate(source.columns) if j != target and name != source.label]
    chosen = [source.position(name) for name in arguments.columns]
    if len(set(chosen)) < len(chosen):
        raise InputError("columns: no column may be chosen twice")
    if target in chosen:
        raise InputError(f"columns: {source.columns[target]!r} is the target; it cannot be a feature, too")
    return chosen


def _finite(source: DataTable, position: int) -> FloatArray:
    column = source.rows[:, position]
    good = np.abs(column) <= LARGEST_RECORD
    if not good.all():
        raise InputError(
            f"data: record {int(np.argmin(good)) + 1} has no finite number in column {source.columns[position]!r}, or one "
            f"beyond {LARGEST_RECORD:g}"
        )
    return column


def _labels(arguments: argparse.Namespace, source: DataTable, position: int) -> FloatArray:
    """±1.  Which value stands for 1 is for the user to say: read off the data it would depend on them."""
    column = source.rows[:, position]
    if arguments.positive is None:
        if np.isin(column, (-1.0, 1.0)).all():
            return column
        raise InputError(
            f"data: the labels in column {source.columns[position]!r} must be -1 and 1; of two other values name the one "
            f"that stands for 1 by --positive VALUE"
        )
    one, labels = arguments.positive, _words(source, position)
    if labels is None:
        labels = [repr(label) for label in (_finite(source, position) + 0.0).tolist()]
        try:
            one = repr(real("positive", float(one)) + 0.0)  # one zero, not two
        except ValueError:
            raise InputError(f"positive = {one!r}: must be a number, as the labels are") from None
    others = sorted(set(labels) - {one})
    if len(others) > 1:
        raise InputError(f"positive = {one}: the labels must have one other value; there are {', '.join(others[:4])}")
    return np.where(np.array(labels) == one, 1.0, -1.0)


def _words(source: DataTable, position: int) -> list[str] | None:
    """The labels of a column of words; None if it holds numbers."""
    if source.words is None or not np.isnan(source.rows[:, position]).any():
        return None
    words = read_words(source.words, position)
    if any(missing := [word.lower() in ("", "nan") for word in words]):
        raise InputError(f"data: record {missing.index(True) + 1} has no label in column {source.columns[position]!r}")
    return words


# --------------------------------------------------------------------------------------------------------- shared by both


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The flags and the `--set` pairs."""
    given = {name: value for name in FLAGS if (value := getattr(arguments, name)) is not None} | given_facts(arguments)
    return given | _settings(arguments, given)


def _settings(arguments: argparse.Namespace, given: Numbers) -> Numbers:
    """The `--set` pairs, none of which is given by a flag."""
    settings: Numbers = {}
    for pair in arguments.set:
        name, equals, text = pair.partition("=")
        if not equals:
            raise InputError(f"set = {pair!r}: must read NAME=VALUE")
        if name in given or name in settings:
            raise InputError(f"set = {pair!r}: {name} is given already")
        settings[name] = _value(text)
    return settings


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def check_writable(name: str, path: str | None) -> None:
    """Before the run: its result must not be lost, as the budget would be spent."""
    if path in (None, "-"):
        return
    place = Path(str(path))
    if place.is_dir() or not os.access(place if place.exists() else place.parent, os.W_OK):
        raise InputError(f"{name} = {path!r}: cannot be written")
