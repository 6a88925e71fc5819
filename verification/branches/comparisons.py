"""What a mechanism compares, with the values on both sides: its functions run with every comparison and test noted.

The tree of the source is rewritten: `a > b` becomes a call that notes a, b and the outcome, and returns that very outcome; so do
tests without a comparison, `match`, and calls of functions that choose (clip, min, maximum, sign, isclose, …).  The code is put
in place of the functions' own for the time of the watch, and taken away after it.  Nothing computed changes.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from types import CodeType
from typing import Any

import numpy as np

from tailproof.verification.branches import expressions
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
MOST_TEXTS = 40
_NUMBERS = (int, float, np.integer, np.floating)
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
    how: str = ""
    goals: tuple[str, ...] = ("true", "false")  # outcomes that must be seen; of a hint none
    private: tuple[Span, ...] = ()  # where that stands which must be public, or nothing is known

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Loops look a site up very often."""
        return hash((self.file, self.function, self.span, self.part, self.how, self.goals, self.tested))

    def only(self, goal: str) -> Site:
        return _like(self, goals=(goal,), tested=False)

    def as_hint(self) -> Site:
        return _like(self, goals=(), tested=False)

    def at(self, part: str) -> Site:
        return _like(self, part=part)


@lru_cache(maxsize=4096)
def _like(site: Site, **changed: Any) -> Site:
    """One object for each, however often a loop asks."""
    return replace(site, **changed)


@lru_cache(maxsize=4096)
def _of_chooser(site: Site, name: str, how: str, *, continuous: bool) -> Site:
    return Site(site.file, site.function, site.span, f"{site.text}: {name}", False, continuous, name, how)


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
    beyond_data: set[tuple[Site, str]] = field(default_factory=set)  # with the side, "left" or "right"
    met: dict[tuple[Site, str], set[float]] = field(default_factory=dict)  # some values of a side; two are enough
    joined: dict[Site, set[Site]] = field(default_factory=dict)  # of what a product of truths is made
    opaque: set[Site] = field(default_factory=set)  # calls of what is not known
    texts: dict[Site, set[str]] = field(default_factory=dict)
    steps: dict[Site, set[float]] = field(default_factory=dict)
    origins: dict[int, tuple[Any, frozenset[Site], Any]] = field(default_factory=dict)  # truths of this run
    owns: Callable[[dict[str, Any]], bool] = field(default=lambda _: False)
    values: frozenset[float] = frozenset()  # of the data

    def note_step(self, site: Site, outcome: Any) -> None:
        """What rounds, counts or sorts into cells: whether it ever gave two values."""
        values = self.steps.setdefault(site, set())
        if len(values) < 2:
            values.update(np.asarray(outcome, dtype=np.float64).ravel()[:64].tolist())

    def note_joined(self, site: Site, left: Any, right: Any, outcome: Any, *, both: bool) -> None:
        """`&` and `|` of truths: as far from true as both sides together."""
        sides = [self.origins[id(side)] for side in (left, right) if id(side) in self.origins]
        parts = frozenset(part for _, inner, _ in sides for part in inner)
        self.joined.setdefault(site, set()).update(parts)
        miss = None
        if both and len(sides) == 2 and all(missing is not None for *_, missing in sides):
            miss = np.add(sides[0][2], sides[1][2])
        if isinstance(outcome, np.ndarray):
            self.origins[id(outcome)] = (outcome, parts | {site}, miss)
        away = np.asarray(outcome, dtype=np.float64) if miss is None else miss
        self.note(site, "!=" if miss is None else "miss", away, 0.0, np.asarray(outcome, dtype=bool))

    def note_all(self, site: Site, truths: Any, outcome: Any) -> None:
        known = self.origins.get(id(truths))
        if known is None:
            return
        self.joined.setdefault(site, set()).update(known[1])
        miss = known[2]
        away = np.asarray(outcome, dtype=np.float64) if miss is None else np.asarray(np.mean(miss))
        self.note(site, "!=" if miss is None else "miss", away, 0.0, np.asarray(outcome, dtype=bool))

    def note(self, site: Site, how: str, left: Any, right: Any, outcome: Any) -> None:
        try:
            if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS) and isinstance(outcome, bool | np.bool_):
                self._note_numbers(site, how, float(left), float(right), held=bool(outcome))
                return
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._note(site, how, left, right, outcome)
        except Exception:  # what cannot be measured is no hint; the outcome stands
            return

    def _note_numbers(self, site: Site, how: str, left: float, right: float, *, held: bool) -> None:
        """As below, for two numbers: loops make very many of these."""
        self.seen.add(site)
        for name, side in (("left", left), ("right", right)):
            if side not in self.values:
                self.beyond_data.add((site, name))
            met = self.met.setdefault((site, name), set())
            if len(met) < 2:
                met.add(side)
        gap = abs(left - right)
        miss = gap if 0 < gap < math.inf else 1.0
        away = max(left, 1e-300) if how == "miss" else 1.0 if how == "!=" else miss
        turned = 1.0 if how in ("==", "miss") else miss
        for goal in self._goals(site):
            distance = (0.0 if held else away) if goal.endswith("true") else (turned if held else 0.0)
            known = self.run.get((site, goal))
            if known is None or distance < known.distance:
                self.run[(site, goal)] = Noted(distance, left, right)

    @staticmethod
    def _goals(site: Site) -> tuple[str, ...]:
        return GOALS if len(site.goals) == 2 else ("true", "false") if site.goals else ("true",)

    def _note(self, site: Site, how: str, left: Any, right: Any, outcome: Any) -> None:
        held = np.asarray(outcome)
        self.seen.add(site)
        if held.dtype != bool or not held.size:
            return
        if held.ndim:
            self.arrays.add(site)
        a, b = (_numbers(side, held.shape) for side in (left, right))
        for name, side in (("left", a), ("right", b)):
            if (site, name) not in self.beyond_data and not self.values.issuperset(side.ravel().tolist()):
                self.beyond_data.add((site, name))
            met = self.met.setdefault((site, name), set())
            if len(met) < 2:
                met.update(side.flat[:2].tolist())
        gap = np.abs(a - b)
        miss = np.where(np.isfinite(gap) & (gap > 0), gap, 1.0)
        if how == "miss":
            true, false = np.where(held, 0.0, np.maximum(a, 1e-300)), np.where(held, 1.0, 0.0)
        elif how in ("==", "!="):
            true, false = (
                np.where(held, 0.0, miss if how == "==" else 1.0),
                np.where(~held, 0.0, 1.0 if how == "==" else miss),
            )
        else:
            true, false = np.where(held, 0.0, miss), np.where(held, miss, 0.0)
        if isinstance(outcome, np.ndarray) and held.ndim:
            self.origins[id(outcome)] = (outcome, frozenset({site, *self.joined.get(site, ())}), true)
        for goal, away, whole in (
            ("true", true, False),
            ("false", false, False),
            ("all true", true, True),
            ("all false", false, True),
        ):
            if goal not in self._goals(site):
                continue
            at = int(np.argmax(away) if whole else np.argmin(away))
            distance = np.add.reduce(away, axis=None) / away.size if whole else away.flat[at]
            found = Noted(float(distance), float(a.flat[at]), float(b.flat[at]))
            key = (site, goal)
            if key not in self.run or found.distance < self.run[key].distance:
                self.run[key] = found


def _numbers(value: Any, shape: tuple[int, ...]) -> Any:
    try:
        given = np.asarray(value, dtype=np.float64)
        return given if given.shape == shape else np.broadcast_to(given, shape)
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
        if how or clips:
            return _chooser(watch, site, function, how, clips)
        if not expressions.is_known(function, watch.owns):
            watch.opaque.add(site.at(str(getattr(function, "__name__", type(function).__name__))))
        return expressions.called(watch, site.at("inside"), function) or function

    return called


def _chooser(watch: Watch, site: Site, function: Any, how: tuple[str, bool] | None, clips: bool) -> Callable[..., Any]:
    def choose(*arguments: Any, **named: Any) -> Any:
        outcome = function(*arguments, **named)
        given = [*arguments, *(named[key] for key in ("a_min", "a_max", "min", "max") if key in named)]
        given = [function.__self__, *given] if clips and function is not np.clip else given
        if clips and len(given) == 3:
            for name, end, low in (("below", given[1], True), ("above", given[2], False)):
                if end is not None:
                    watch.note(
                        _of_chooser(site, name, "<" if low else ">", continuous=True),
                        "<" if low else ">",
                        given[0],
                        end,
                        np.asarray(given[0]) < end if low else np.asarray(given[0]) > end,
                    )
        elif how is not None and len(given) == 1 and function is np.sign:
            watch.note(_of_chooser(site, "> 0", ">", continuous=False), ">", given[0], 0.0, np.asarray(given[0]) > 0)
        elif how is not None and len(given) == 2 and not named.get("key"):
            left, right = (0.0, given[0])[::-1] if function is np.heaviside else given
            held = (
                outcome
                if outcome is not None and np.asarray(outcome).dtype == bool
                else RUN[how[0]](np.asarray(left), np.asarray(right))
            )
            watch.note(_of_chooser(site, f"first {how[0]} second", how[0], continuous=how[1]), how[0], left, right, held)
        return outcome

    return choose


def _text(watch: Watch, site: Site) -> Callable[[str], str]:
    """A text that differs between data sets tells of them."""

    def said(text: str) -> str:
        watch.texts.setdefault(site, set())
        if len(watch.texts[site]) < MOST_TEXTS:
            watch.texts[site].add(text)
        return text

    return said


def _is_hook(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Constant)


# --- rewriting the source ------------------------------------------------------------------------------------------------


class _Rewriter(ast.NodeTransformer):
    def __init__(self, found: Source, watch: Watch, hooks: dict[str, Any]) -> None:
        self.found, self.watch, self.hooks = found, watch, hooks
        self.names: list[str] = []
        self.tests: set[int] = set()
        self.raising = 0

    def _hook(self, node: ast.AST, make: Callable[[Site], Any], private: tuple[Span, ...] = ()) -> ast.Constant:
        span = span_of(node)
        tested = id(node) in self.tests
        site = Site(
            self.found.file, ".".join(self.names) or "<module>", span, quoted(self.found, span), tested, private=private
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
        hook = self._hook(node, lambda site: _comparison(self.watch, replace(site, how=how), how))
        return ast.copy_location(ast.Call(hook, [node.left, node.comparators[0]], []), node)

    def _chain(self, node: ast.Compare) -> ast.AST:
        """a < b < c is a < b and b < c, with b computed once and c only if the first holds."""
        values: list[ast.expr] = []
        left = node.left
        for place, (operation, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            kept: list[Any] = []

            def link(site: Site, how: str = OPERATORS[type(operation)], at: int = place, kept: list[Any] = kept) -> Any:
                return _comparison(self.watch, replace(site, part=f"comparison {at + 1}", how=how), how, kept)

            values.append(ast.copy_location(ast.Call(self._hook(node, link), [left, right], []), node))
            take = self._hook(node, partial(_taking, kept))
            left = ast.copy_location(ast.Call(take, [], []), node)
        return ast.copy_location(ast.BoolOp(ast.And(), values), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        given = [*node.args, *(one.value for one in node.keywords)]
        given += [node.func.value] if isinstance(node.func, ast.Attribute) else []
        seen = () if self.raising else tuple(span_of(one) for one in given)
        hook = self._hook(node, lambda site: _call(self.watch, site), seen)
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
        if not plain and not (isinstance(node.func, ast.Constant) or _is_hook(node.func)):
            node.func = ast.copy_location(ast.Call(hook, [node.func], []), node.func)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """What an exception says is a matter of the exception."""
        self.raising += 1
        self.generic_visit(node)
        self.raising -= 1
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        spans = tuple(span_of(one.value) for one in node.values if isinstance(one, ast.FormattedValue))
        hook = self._hook(node, lambda site: _text(self.watch, site), spans)
        self.generic_visit(node)
        return node if self.raising or not spans else ast.copy_location(ast.Call(hook, [node], []), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        run = expressions.BINARY.get(type(node.op))
        if run is None:
            self.generic_visit(node)
            return node
        hook = self._hook(
            node, lambda site: expressions.binary(self.watch, site.at("computed"), run), (span_of(node.right),)
        )
        self.generic_visit(node)
        return ast.copy_location(ast.Call(hook, [node.left, node.right], []), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        run = expressions.IN_PLACE.get(type(node.op))
        if run is None or not isinstance(node.target, ast.Name):
            self.generic_visit(node)
            return node
        hook = self._hook(node, lambda site: expressions.binary(self.watch, site.at("computed"), run))
        self.generic_visit(node)
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        after = ast.copy_location(ast.Call(hook, [before, node.value], []), node)
        return ast.copy_location(ast.Assign([node.target], after), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.op, ast.Not) or _is_hook(node.operand) or isinstance(node.operand, ast.Compare | ast.BoolOp):
            self.generic_visit(node)
            return node
        hook = self._hook(node.operand, lambda site: expressions.zero_test(self.watch, site.at("zero")))
        self.generic_visit(node)
        node.operand = ast.copy_location(ast.Call(hook, [node.operand], []), node.operand)
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
            watch.owns = own.owns
            noting = tables[found.file].get(code)
            if noting is not None and noting.co_freevars == code.co_freevars:
                function.__code__ = noting
        yield
    finally:
        for function, code in before:
            function.__code__ = code
