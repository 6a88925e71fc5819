"""Questions that admissible data answer one way only: whether the data themselves are finite.

A guard that asks again what an earlier one has asked is never taken, not even by inadmissible data.  It is told from a choice by
its text alone: nothing but `isnan`, `isinf` and `isfinite` of the mechanism's own argument, or of that argument made an array.
"""

from __future__ import annotations

import ast
import math
from types import FunctionType

import numpy as np

from tailproof.verification.branches.source import Span, source_of, span_of

ASKED = ("isnan", "isinf", "isfinite")
WHOLE = ("any", "all")
MADE = ("asarray", "array", "asanyarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "copy", "float64")


def asks_whether_finite(root: FunctionType, span: Span | None) -> bool:
    """Whether the condition that stands there asks this of the argument of `root`, the function that is called with the data."""
    found = source_of(root.__code__)
    if found is None or span is None:
        return False
    conditions = [node for node in ast.walk(found.tree) if isinstance(node, ast.expr) and span_of(node) == span]
    definitions = [
        node
        for node in ast.walk(found.tree)
        if isinstance(node, ast.FunctionDef)
        and node.name == root.__code__.co_name
        and node.lineno - len(node.decorator_list) <= root.__code__.co_firstlineno <= node.lineno
    ]
    if len(definitions) != 1 or not conditions:
        return False
    data = _names_of_the_data(definitions[0], root)
    return all(_asks(node, data, root) for node in conditions)


def _asks(node: ast.expr, data: frozenset[str], root: FunctionType) -> bool:
    match node:
        case ast.BoolOp(values=values):
            return all(_asks(value, data, root) for value in values)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            return _asks(operand, data, root)
        case ast.Call(func=ast.Attribute(value=asked, attr=name), args=[], keywords=[]) if name in WHOLE:
            return _asks(asked, data, root)
        case ast.Call(func=function, args=[asked], keywords=[]) if _is_of_numpy(function, WHOLE, root):
            return _asks(asked, data, root)
        case ast.Call(func=function, args=[ast.Name(id=name)], keywords=[]) if _is_of_numpy(function, ASKED, root):
            return name in data
    return False


def _is_of_numpy(node: ast.expr, names: tuple[str, ...], root: FunctionType) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return name in names and root.__globals__.get(module) in (np, math)
    return False


def _names_of_the_data(definition: ast.FunctionDef, root: FunctionType) -> frozenset[str]:
    """The first argument, and what is nothing but that, made an array of floats."""
    first = definition.args.args[:1]
    stored: dict[str, list[ast.expr | None]] = {one.arg: [None] for one in first}
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            stored.setdefault(node.id, []).append(None)  # of a kind that is not known, until it is found below
    for node in ast.walk(definition):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            held = stored[node.targets[0].id]
            held.remove(None)
            held.append(node.value)
    known = {one.arg for one in first if stored[one.arg] == [None]}
    for one in first:  # data = np.asarray(data)
        if (
            all(value is None or _made(value, {one.arg}, root) for value in stored[one.arg])
            and stored[one.arg].count(None) == 1
        ):
            known.add(one.arg)
    names = [name for name in stored if name not in {one.arg for one in first}]
    for _ in names:
        known |= {n for n in names if stored[n] and all(v is not None and _made(v, known, root) for v in stored[n])}
    return frozenset(known)


def _made(value: ast.expr, known: set[str], root: FunctionType) -> bool:
    match value:
        case ast.Name(id=name):
            return name in known
        case ast.Call(func=function, args=[ast.Name(id=name), *_]) if _is_of_numpy(function, MADE, root):
            return name in known
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy" | "astype")):
            return name in known
    return False
