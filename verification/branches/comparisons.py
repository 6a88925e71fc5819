"""What a mechanism compares, with the values on both sides: its functions run with every comparison and test noted.

The tree of the source is rewritten: `a > b` becomes a call that notes a, b and the outcome, and returns that very outcome; so do
tests without a comparison, `match`, and calls of functions that choose (clip, min, maximum, sign, isclose, …).  The code is put
in place of the functions' own for the time of the watch, and taken away after it.  Nothing computed changes.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import CodeType
from typing import Any

import numpy as np

from tailproof.verification.branches.own_code import OwnCode
from tailproof.verification.branches.source import Source, Span, all_within, quoted, source_of, span_of

MARK = "\x00tailproof:"
OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
RUN: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
CHOOSERS: dict[Any, tuple[str, bool]] = {  # compared how, continuous there
    min: ("<", True),
    max: (">", True),
    np.minimum: ("<", True),
    np.maximum: (">", True),
    np.fmin: ("<", True),
    np.fmax: (">", True),
    np.greater: (">", False),
    np.greater_equal: (">=", False),
    np.less: ("<", False),
    np.less_equal: ("<=", False),
    np.equal: ("==", False),
    np.not_equal: ("!=", False),
    np.isclose: ("==", False),
    np.allclose: ("==", False),
    np.array_equal: ("==", False),
    np.heaviside: (">", False),
    np.sign: (">", False),
    np.isin: ("==", False),
    operator.gt: (">", False),
    operator.ge: (">=", False),
    operator.lt: ("<", False),
    operator.le: ("<=", False),
    operator.eq: ("==", False),
    operator.ne: ("!=", False),
}
GOALS = ("true", "false", "all true", "all false")


@dataclass(frozen=True)
class Site:
    """A comparison in the source; `tested`: its outcome is what a jump looks at."""

    file: str
    function: str
    span: Span
    text: str
    tested: bool
    continuous: bool = False
    part: str = ""


@dataclass(frozen=True)
class Noted:
    """The nearest that a comparison came to a goal: how far from it, and the two values there."""

    distance: float
    left: float
    right: float


@dataclass(eq=False)
class Watch:
    """The comparisons of one run (`run`), and what all runs had (`reached`, `arrays`)."""

    run: dict[tuple[Site, str], Noted] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    arrays: set[Site] = field(default_factory=set)
    seen: set[Site] = field(default_factory=set)
    beyond_data: set[Site] = field(default_factory=set)
    data: Any = None

    def note(self, site: Site, how: str, left: Any, right: Any, outcome: Any) -> None:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._note(site, how, left, right, outcome)
        except Exception:  # what cannot be measured is no hint; the outcome stands
            return

    def _note(self, site: Site, how: str, left: Any, right: Any, outcome: Any) -> None:
        held = np.asarray(outcome)
        self.seen.add(site)
        if held.dtype != bool or not held.size:
            return
        if held.ndim:
            self.arrays.add(site)
        a, b = (_numbers(side, held.shape) for side in (left, right))
        if self.data is None or not np.isin(a, self.data).all():
            self.beyond_data.add(site)
        gap = np.abs(a - b)
        miss = np.where(np.isfinite(gap) & (gap > 0), gap, 1.0)
        if how in ("==", "!="):
            true, false = (
                np.where(held, 0.0, miss if how == "==" else 1.0),
                np.where(~held, 0.0, 1.0 if how == "==" else miss),
            )
        else:
            true, false = np.where(held, 0.0, miss), np.where(held, miss, 0.0)
        for goal, away, whole in (
            ("true", true, False),
            ("false", false, False),
            ("all true", true, True),
            ("all false", false, True),
        ):
            at = int(np.argmax(away) if whole else np.argmin(away))
            found = Noted(float(away.mean() if whole else away.flat[at]), float(a.flat[at]), float(b.flat[at]))
            key = (site, goal)
            if key not in self.run or found.distance < self.run[key].distance:
                self.run[key] = found


def _numbers(value: Any, shape: tuple[int, ...]) -> Any:
    try:
        return np.broadcast_to(np.asarray(value, dtype=np.float64), shape)
    except (TypeError, ValueError):
        return np.full(shape, np.nan)


# --- what stands in the code ---------------------------------------------------------------------------------------------


def _comparison(watch: Watch, site: Site, how: str, kept: list[Any] | None = None) -> Callable[[Any, Any], Any]:
    """In a chain its right side is kept: it is the next one's left."""

    def compare(left: Any, right: Any) -> Any:
        if kept is not None:
            kept[:] = [right]
        outcome = RUN[how](left, right)
        watch.note(site, how, left, right, outcome)
        return outcome

    return compare


def _taking(kept: list[Any], _: Site) -> Callable[[], Any]:
    return kept.pop


def _truth(watch: Watch, site: Site) -> Callable[[Any], Any]:
    def test(value: Any) -> Any:
        if isinstance(value, bool | int | float | np.generic):
            watch.note(site, "!=", value, 0.0, bool(value))
        elif hasattr(value, "__len__") and not isinstance(value, np.ndarray):
            watch.note(site, "!=", len(value), 0.0, bool(len(value)))
        return value

    return test


def _matched(watch: Watch, site: Site, constants: list[Any]) -> Callable[[Any], Any]:
    def match(value: Any) -> Any:
        for constant in constants:
            watch.note(
                Site(site.file, site.function, site.span, site.text, True, part=repr(constant)),
                "==",
                value,
                constant,
                value == constant,
            )
        return value

    return match


def _call(watch: Watch, site: Site) -> Callable[[Any], Any]:
    def called(function: Any) -> Any:
        try:
            how = CHOOSERS.get(function)
        except TypeError:
            how = None
        clips = function is np.clip or (
            getattr(function, "__name__", "") == "clip" and isinstance(getattr(function, "__self__", None), np.ndarray)
        )
        return _chooser(watch, site, function, how, clips) if how or clips else function

    return called


def _chooser(watch: Watch, site: Site, function: Any, how: tuple[str, bool] | None, clips: bool) -> Callable[..., Any]:
    def part(name: str, continuous: bool) -> Site:
        return Site(site.file, site.function, site.span, f"{site.text}: {name}", False, continuous, name)

    def choose(*arguments: Any, **named: Any) -> Any:
        outcome = function(*arguments, **named)
        given = [*arguments, *(named[key] for key in ("a_min", "a_max", "min", "max") if key in named)]
        given = [function.__self__, *given] if clips and function is not np.clip else given
        if clips and len(given) == 3:
            for name, end, low in (("below", given[1], True), ("above", given[2], False)):
                if end is not None:
                    watch.note(
                        part(name, True),
                        "<" if low else ">",
                        given[0],
                        end,
                        np.asarray(given[0]) < end if low else np.asarray(given[0]) > end,
                    )
        elif how is not None and len(given) == 1 and function is np.sign:
            watch.note(part("> 0", False), ">", given[0], 0.0, np.asarray(given[0]) > 0)
        elif how is not None and len(given) == 2 and not named.get("key"):
            left, right = (0.0, given[0])[::-1] if function is np.heaviside else given
            held = (
                outcome
                if outcome is not None and np.asarray(outcome).dtype == bool
                else RUN[how[0]](np.asarray(left), np.asarray(right))
            )
            watch.note(part(f"first {how[0]} second", how[1]), how[0], left, right, held)
        return outcome

    return choose


# --- rewriting the source ------------------------------------------------------------------------------------------------


class _Rewriter(ast.NodeTransformer):
    def __init__(self, found: Source, watch: Watch, hooks: dict[str, Any]) -> None:
        self.found, self.watch, self.hooks = found, watch, hooks
        self.names: list[str] = []
        self.tests: set[int] = set()

    def _hook(self, node: ast.AST, make: Callable[[Site], Any]) -> ast.Constant:
        span = span_of(node)
        site = Site(
            self.found.file, ".".join(self.names) or "<module>", span, quoted(self.found, span), id(node) in self.tests
        )
        key = f"{MARK}{len(self.hooks)}"
        self.hooks[key] = make(site)
        return ast.copy_location(ast.Constant(key), node)

    def _inside(self, node: Any) -> ast.AST:
        self.names.append(getattr(node, "name", "<lambda>"))
        self.generic_visit(node)
        self.names.pop()
        return node  # type: ignore[no-any-return]

    visit_FunctionDef = visit_ClassDef = visit_Lambda = _inside  # noqa: N815  (the names that ast calls)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            return self._chain(node)
        how = OPERATORS[type(node.ops[0])]
        hook = self._hook(node, lambda site: _comparison(self.watch, site, how))
        return ast.copy_location(ast.Call(hook, [node.left, node.comparators[0]], []), node)

    def _chain(self, node: ast.Compare) -> ast.AST:
        """a < b < c is a < b and b < c, with b computed once and c only if the first holds."""
        values: list[ast.expr] = []
        left = node.left
        for place, (operation, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            kept: list[Any] = []

            def link(site: Site, how: str = OPERATORS[type(operation)], at: int = place, kept: list[Any] = kept) -> Any:
                return _comparison(self.watch, replace(site, part=f"comparison {at + 1}"), how, kept)

            values.append(ast.copy_location(ast.Call(self._hook(node, link), [left, right], []), node))
            take = self._hook(node, partial(_taking, kept))
            left = ast.copy_location(ast.Call(take, [], []), node)
        return ast.copy_location(ast.BoolOp(ast.And(), values), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        hook = self._hook(node, lambda site: _call(self.watch, site))
        plain = isinstance(node.func, ast.Name) and node.func.id in (
            "super",
            "locals",
            "vars",
            "dir",
            "eval",
            "exec",
            "globals",
        )
        self.generic_visit(node)
        if not plain and isinstance(node.func, ast.Name | ast.Attribute):
            node.func = ast.copy_location(ast.Call(hook, [node.func], []), node.func)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        constants = [
            one.value.value
            for one in ast.walk(node)
            if isinstance(one, ast.MatchValue) and isinstance(one.value, ast.Constant)
        ]
        hook = self._hook(node.subject, lambda site: _matched(self.watch, site, constants))
        self.generic_visit(node)
        node.subject = ast.copy_location(ast.Call(hook, [node.subject], []), node.subject)
        return node

    def _tested(self, node: Any) -> ast.AST:
        node.test = self._test(node.test)
        self.generic_visit(node)
        return node  # type: ignore[no-any-return]

    visit_If = visit_While = visit_IfExp = visit_Assert = _tested  # noqa: N815  (the names that ast calls)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.ifs = [self._test(one) for one in node.ifs]
        self.generic_visit(node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values = [self._test(one) for one in node.values]
        self.generic_visit(node)
        return node

    def _test(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Compare):
            self.tests.add(id(node))
            return node
        if isinstance(node, ast.BoolOp):
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._test(node.operand)
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Constant):  # done already
            return node
        self.tests.add(id(node))
        hook = self._hook(node, lambda site: _truth(self.watch, site))
        return ast.copy_location(ast.Call(hook, [node], []), node)


def _with_hooks(code: CodeType, hooks: dict[str, Any]) -> CodeType:
    def filled(constant: Any) -> Any:
        if isinstance(constant, CodeType):
            return _with_hooks(constant, hooks)
        return hooks.get(constant, constant) if isinstance(constant, str) else constant

    return code.replace(co_consts=tuple(filled(constant) for constant in code.co_consts))


def _rewritten(found: Source, watch: Watch) -> dict[CodeType, CodeType]:
    """The code objects of a file, each with the one that notes its comparisons."""
    hooks: dict[str, Any] = {}
    tree = ast.fix_missing_locations(_Rewriter(found, watch, hooks).visit(ast.parse(found.text)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noting = _with_hooks(compile(tree, found.file, "exec", dont_inherit=True), hooks)
        plain = compile(found.text, found.file, "exec", dont_inherit=True)
    pairs = list(zip(all_within(plain), all_within(noting), strict=True))
    return {first: second for first, second in pairs if first.co_qualname == second.co_qualname}


@contextmanager
def watching(own: OwnCode, watch: Watch) -> Iterator[None]:
    """While this lasts, the mechanism's functions note what they compare."""
    tables: dict[str, dict[CodeType, CodeType]] = {}
    before = [(function, function.__code__) for function in own.functions]
    try:
        for function, code in before:
            found = source_of(code)
            if found is None:
                continue
            if found.file not in tables:
                tables[found.file] = _rewritten(found, watch)
            noting = tables[found.file].get(code)
            if noting is not None and noting.co_freevars == code.co_freevars:
                function.__code__ = noting
        yield
    finally:
        for function, code in before:
            function.__code__ = code
