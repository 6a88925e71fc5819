"""Which conditions public values decide: parameters, numbers of records, and what was released before.

Values flow from the data through the author's own functions.  A name is public only if nothing that reaches it is private; what
is not understood counts as private, and so does everything where code looks at or changes its own names (`exec`, `globals`, …).
Two degrees of private: 1, the values are, their number is not (the data themselves); 2, everything is.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from tailproof.verification.branches.own_code import OwnCode, within
from tailproof.verification.branches.source import Source, Span, source_of, span_of

Function = ast.FunctionDef | ast.Lambda
REFLECTION = frozenset(
    [
        "exec",
        "eval",
        "globals",
        "locals",
        "vars",
        "setattr",
        "__dict__",
        "__setattr__",
        "_getframe",
        "sys",
        "gc",
        "ctypes",
        "inspect",
        "getattr",
    ]
)
SPELT = frozenset(["getattr", "__setattr__"])  # they spell the name out if it is a constant
RELEASES = ("release", "hidden", "part")
SIZES = ("shape", "ndim", "size", "dtype")
COUNTING = frozenset(
    [
        "unique",
        "nonzero",
        "flatnonzero",
        "argwhere",
        "compress",
        "extract",
        "setdiff1d",
        "intersect1d",
        "union1d",
        "delete",
        "trim_zeros",
        "arange",
        "zeros",
        "ones",
        "full",
        "linspace",
        "empty",
        "eye",
        "identity",
        "tile",
        "repeat",
        "range",
        "set",
        "dict",
        "filter",
        "iter",
        "next",
        "bincount",
        "histogram",
        "split",
        "where",
    ]
)
KEEPING = frozenset(
    [
        "float",
        "int",
        "abs",
        "sum",
        "min",
        "max",
        "sorted",
        "list",
        "tuple",
        "round",
        "len",
        "enumerate",
        "zip",
        "reversed",
        "map",
        "bool",
    ]
)


def public_spans(own: OwnCode, *, released: int = 0) -> frozenset[tuple[str, Span]]:
    """Where, in which file, public expressions stand.  With `released` = 2 what was released does not count as public."""
    codes = [function.__code__ for function in own.functions]
    sources = {code: source_of(code) for code in codes}
    if any(found is None for found in sources.values()):
        return frozenset()
    if any(_reflects(code, found) for code, found in sources.items() if found is not None):
        return frozenset()
    flow = _Flow(
        scopes={function.__code__.co_filename: function.__globals__ for function in own.functions},
        known=frozenset(map(id, own.functions)),
        released=released,
    )
    for code in codes:
        found = sources[code]
        assert found is not None
        for node in _definitions(found, code.co_firstlineno, code.co_name):
            flow.functions.setdefault(node, code.co_filename)
    for root in own.roots:
        found = source_of(root.__code__)
        for node in _definitions(found, root.__code__.co_firstlineno, root.__code__.co_name) if found else ():
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
            names = names[1:] if names[:1] == ["self"] else names
            for name in names if own.positional else names[:1]:
                flow.raise_name(node, name, 1)
    return flow.solve()


def _reflects(code: CodeType, found: Source) -> bool:
    """Whether code looks at or changes names that it does not spell out.  `getattr(x, "a")` and `object.__setattr__(x, "a", v)`
    do."""
    named = {name for inner in within(code) for name in inner.co_names} & REFLECTION
    if not named <= SPELT:
        return True
    nodes = [node for one in _definitions(found, code.co_firstlineno, code.co_name) for node in ast.walk(one)]
    spelt = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _spelt(node)}
    uses = [node for node in nodes if isinstance(node, ast.expr) and _name_of(node) in SPELT]
    return bool(named) and (not uses or any(id(node) not in spelt for node in uses))


def _spelt(node: ast.Call) -> str | None:
    """The attribute that a call of `getattr` or of `object.__setattr__` names, if it names one."""
    name, known = _name_of(node.func), isinstance(node.func, ast.Name)
    if name == "__setattr__":
        known = isinstance(node.func, ast.Attribute) and _name_of(node.func.value) == "object"
    if name not in SPELT or not known or len(node.args) < 2 or not isinstance(node.args[1], ast.Constant):
        return None
    named = node.args[1].value
    return named if isinstance(named, str) else None


def _name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _definitions(found: Source, line: int, name: str) -> list[Function]:
    return [node for node in _functions(found) if _first(node) == line and getattr(node, "name", "<lambda>") == name]


@functools.cache
def _functions(found: Source) -> tuple[Function, ...]:
    return tuple(node for node in ast.walk(found.tree) if isinstance(node, ast.FunctionDef | ast.Lambda))


def _first(node: Function) -> int:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


@dataclass(eq=False)
class _Flow:
    """How private every name is, function by function, until nothing changes."""

    functions: dict[Function, str] = field(default_factory=dict)
    names: dict[tuple[object, str], int] = field(default_factory=dict)
    attributes: dict[str, int] = field(default_factory=dict)
    returned: dict[Function, int] = field(default_factory=dict)
    spans: dict[tuple[str, Span], int] = field(default_factory=dict)
    changed: bool = False
    here: Function | None = None
    scopes: dict[str, dict[str, Any]] = field(default_factory=dict)  # the globals of each file
    known: frozenset[int] = frozenset()  # the author's functions
    released: int = 0

    def solve(self) -> frozenset[tuple[str, Span]]:
        by_name: dict[str, list[Function]] = {}
        for node in self.functions:
            by_name.setdefault(getattr(node, "name", "<lambda>"), []).append(node)
        self.by_name = by_name
        self.own_doors = any(name in by_name for name in RELEASES)
        self.changed = True
        while self.changed:
            self.changed = False
            self.spans.clear()
            for node in list(self.functions):
                self.here = node
                if isinstance(node, ast.Lambda):
                    for one in node.args.args:
                        self.raise_name(node, one.arg, 2)
                    self._returns(node, self.of(node.body))
                else:
                    self.block(node.body, 0)
        return frozenset(place for place, level in self.spans.items() if level == 0)

    # names: those assigned in a function are its own; others are shared by all functions
    def _key(self, function: object, name: str) -> tuple[object, str]:
        return (function if function is not None and name in _locals(function) else None, name)

    def raise_name(self, function: object, name: str, level: int) -> None:
        for key in (
            {self._key(function, name), (None, name)} if self._escapes(function, name) else {self._key(function, name)}
        ):
            if level > self.names.get(key, 0):
                self.names[key] = level
                self.changed = True

    def _escapes(self, function: object, name: str) -> bool:
        """Whether a function inside of this one may read the name.  What is shared by all escapes nowhere further."""
        return function is not None and any(
            isinstance(one, ast.FunctionDef | ast.Lambda) and one is not function and name in _mentioned(one)
            for one in ast.walk(function)  # type: ignore[arg-type]
        )

    def level_of(self, name: str) -> int:
        return self.names.get(self._key(self.here, name), 0)

    def _returns(self, node: Function, level: int) -> None:
        if level > self.returned.get(node, 0):
            self.returned[node] = level
            self.changed = True

    # statements
    def block(self, body: Iterable[ast.stmt], control: int) -> None:
        for statement in body:
            self.statement(statement, control)

    def statement(self, node: ast.stmt, control: int) -> None:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                for nested in ast.walk(node):
                    if isinstance(nested, ast.FunctionDef) and nested not in self.functions:
                        self.functions[nested] = self.functions[self.here]  # type: ignore[index]
                        self.by_name.setdefault(nested.name, []).append(nested)
                        self.changed = True
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.store(target, max(self.of(value), control))
            case ast.AugAssign(target=target, value=value):
                self.store(target, max(self.of(value), self.of(target), control))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.store(target, max(self.of(value), control))
            case ast.Return(value=value):
                self._returns(self.here, max(self.of(value) if value else 0, control))  # type: ignore[arg-type]
            case ast.If(test=test, body=body, orelse=orelse):
                inner = max(control, _decided(self.of(test)))
                self.block([*body, *orelse], inner)
            case ast.While(test=test, body=body, orelse=orelse):
                self.loop(node, [*body, *orelse], max(control, _decided(self.of(test))))
            case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
                level = self.of(iterated)
                self.items(target, iterated, control)
                self.loop(node, [*body, *orelse], max(control, 2 if level == 2 else 0))
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                inner = max(control, self.body_level(body))
                handled = [one for handler in handlers for one in handler.body]
                self.block([*body, *handled, *orelse, *final], inner)
                for handler in handlers:
                    caught = [] if handler.type is None else list(ast.walk(handler.type))
                    for part in (handler, *(one for one in caught if isinstance(one, ast.expr))):
                        self.spans[(self.file(), span_of(part))] = inner
            case ast.With(items=items, body=body):
                for item in items:
                    level = self.of(item.context_expr)
                    if item.optional_vars is not None:
                        self.store(item.optional_vars, max(level, control))
                self.block(body, max(control, self.body_level(body) if _catches(items) else 0))
            case ast.Match(subject=subject, cases=cases):
                level = self.of(subject)
                inner = max(control, _decided(level))
                for case in cases:
                    for part in ast.walk(case.pattern):
                        if hasattr(part, "lineno"):
                            self.spans[(self.file(), span_of(part))] = level
                        for name in (getattr(part, "name", None), getattr(part, "rest", None)):
                            if name:
                                self.raise_name(self.here, name, level)
                    if case.guard is not None:
                        inner = max(inner, _decided(self.of(case.guard)))
                    self.block(case.body, inner)
            case _:
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self.of(part)

    def loop(self, node: ast.For | ast.While, body: list[ast.stmt], control: int) -> None:
        """A loop that private values end privately has run privately often."""
        stops = any(
            isinstance(test, ast.If)
            and self.of(test.test) > 0
            and any(isinstance(one, ast.Break | ast.Continue | ast.Return) for one in ast.walk(test))
            for test in ast.walk(node)
        )
        inner = 2 if stops else control
        if stops and isinstance(node, ast.For):
            self.store(node.target, 2)
        self.block(body, inner)

    def items(self, target: ast.expr, iterated: ast.expr, control: int) -> None:
        """What a loop gives its names: `enumerate` counts, `zip` takes from each."""
        level = self.of(iterated)
        name = iterated.func.id if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) else ""
        parts = target.elts if isinstance(target, ast.Tuple) else []
        plain = isinstance(iterated, ast.Call) and not any(isinstance(one, ast.Starred) for one in [*iterated.args, *parts])
        if level == 1 and plain and name == "enumerate" and len(parts) == 2:
            self.store(parts[0], control)
            self.store(parts[1], max(level, control))
        elif level == 1 and plain and name == "zip" and isinstance(iterated, ast.Call) and len(parts) == len(iterated.args):
            for part, one in zip(parts, iterated.args, strict=True):
                self.store(part, max(self.of(one), control))
        else:
            self.store(target, max(level, control))

    def body_level(self, body: list[ast.stmt]) -> int:
        return max(
            (_decided(self.of(one)) for part in body for one in ast.walk(part) if isinstance(one, ast.expr)), default=0
        )

    def store(self, target: ast.expr, level: int) -> None:
        match target:
            case ast.Name(id=name):
                self.raise_name(self.here, name, level)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self.store(part, level)
            case ast.Starred(value=value):
                self.store(value, level)
            case ast.Attribute(attr=attribute, value=value):
                if level > self.attributes.get(attribute, 0):
                    self.attributes[attribute] = level
                    self.changed = True
                self.taint(value, level)
            case ast.Subscript(value=value, slice=index):
                self.taint(value, max(level, self.of(index)))

    def taint(self, node: ast.expr, level: int) -> None:
        """What is changed through this expression, wherever it is read."""
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            if isinstance(node, ast.Attribute) and level > self.attributes.get(node.attr, 0):
                self.attributes[node.attr] = level
                self.changed = True
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name) and level:
            self.raise_name(self.here, node.id, level)
            if node.id in _parameters(self.here):  # the caller's object
                for key in [key for key in self.names if key[1] == node.id]:
                    self.raise_name(key[0], node.id, level)

    def file(self) -> str:
        return self.functions[self.here]  # type: ignore[index]

    # expressions
    def of(self, node: ast.expr) -> int:
        level = self._of(node)
        place = (self.file(), span_of(node))
        self.spans[place] = max(level, self.spans.get(place, 0))
        return level

    def _of(self, node: ast.expr) -> int:
        match node:
            case ast.Constant():
                return 0
            case ast.Name(id=name):
                return self.level_of(name)
            case ast.Attribute(value=value, attr=attribute):
                level = self.of(value)
                return 0 if level == 1 and attribute in SIZES else max(level, self.attributes.get(attribute, 0))
            case ast.Call():
                return self.call(node)
            case ast.Subscript(value=value, slice=index):
                return max(self.of(value), 2 if self.of(index) else 0)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return max(_decided(self.of(test)), self.of(body), self.of(orelse))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehension(node)
            case ast.Lambda():
                if node not in self.functions:
                    self.functions[node] = self.file()
                    self.changed = True
                return self.returned.get(node, 0)
            case ast.NamedExpr(target=target, value=value):
                self.store(target, self.of(value))
                return self.of(value)
            case _:
                parts = [self.of(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
                return max(parts, default=0)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> int:
        counted = 0
        for one in node.generators:
            self.items(one.target, one.iter, 0)
            counted = max(counted, *(_decided(self.of(test)) for test in one.ifs), 0)
        values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        loops = max(self.of(one.iter) for one in node.generators)
        return max(counted, loops, *(self.of(one) for one in values))

    def call(self, node: ast.Call) -> int:
        arguments = [*node.args, *(one.value for one in node.keywords)]
        level = max((self.of(one) for one in arguments), default=0)
        method = isinstance(node.func, ast.Attribute)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        holder = self.of(node.func.value) if isinstance(node.func, ast.Attribute) else self.of(node.func)
        if method and name in RELEASES and not self.own_doors and holder == 0:
            return 0 if name == "part" else self.released
        attribute = _spelt(node)
        if attribute is not None:
            return self.spelt(node, attribute, level)
        inside = self.own_call(node, name, holder) if name in self.by_name else 0
        if not method and self.is_own(name):
            return inside
        for one in node.keywords:
            if one.arg == "out":
                self.taint(one.value, level)
        module = (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in ("np", "math", "numpy")
        )
        if method and not module and level and isinstance(node.func, ast.Attribute):
            self.taint(node.func.value, 2)
        if name == "len" and level == 1:
            return inside
        level = max(level, holder, inside)
        if level == 1 and not (module or method or name in KEEPING or name[:1].isupper()):
            return 2
        return 2 if level and name in COUNTING else level

    def spelt(self, node: ast.Call, attribute: str, level: int) -> int:
        """`getattr(x, "a", y)` is x.a or y; `object.__setattr__(x, "a", v)` is x.a = v."""
        if isinstance(node.func, ast.Attribute):
            self.store(ast.Attribute(node.args[0], attribute, ast.Store()), level)
            return 0
        return max(level, self.attributes.get(attribute, 0))

    def is_own(self, name: str) -> bool:
        """Whether a bare name is a function of the author's here: a global that is one, or one defined inside of this one."""
        if self.here is not None and name in _locals(self.here):
            return False
        inner = any(isinstance(one, ast.FunctionDef) and one.name == name for one in ast.walk(self.here or ast.Pass()))
        return inner or id(self.scopes.get(self.file(), {}).get(name)) in self.known

    def own_call(self, node: ast.Call, name: str, holder: int) -> int:
        """Arguments go to every function of this name."""
        found = 0
        for function in self.by_name[name]:
            names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
            if names[:1] in (["self"], ["cls"]):
                self.raise_name(function, names[0], holder)
                names = names[1:]
            spread = any(isinstance(one, ast.Starred) for one in node.args)
            for position, argument in enumerate(node.args):
                taken = names if spread else names[position : position + 1]
                for one in taken:
                    self.raise_name(function, one, self.of(argument))
                if not taken and function.args.vararg:
                    self.raise_name(function, function.args.vararg.arg, self.of(argument))
            for keyword in node.keywords:
                given = keyword.arg if keyword.arg is not None else getattr(function.args.kwarg, "arg", "")
                self.raise_name(function, given, self.of(keyword.value))
            found = max(found, self.returned.get(function, 0))
        return found


def _decided(level: int) -> int:
    """What a private choice decides is private through and through."""
    return 2 if level else 0


def _catches(items: list[ast.withitem]) -> bool:
    return any("suppress" in ast.unparse(item.context_expr) or "raises" in ast.unparse(item.context_expr) for item in items)


@functools.cache
def _locals(function: Function) -> frozenset[str]:
    arguments = function.args
    named = {
        one.arg
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        if one
    }
    shared: set[str] = set()
    body = function.body if isinstance(function.body, list) else [function.body]
    for node in (one for part in body for one in ast.walk(part)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            named.add(node.id)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            named.add(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared |= set(node.names)
    return frozenset(named - shared)


def _parameters(function: Function | None) -> frozenset[str]:
    arguments = function.args if function is not None else None
    return (
        frozenset(one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
        if arguments
        else frozenset()
    )


@functools.cache
def _mentioned(function: Function) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(function) if isinstance(node, ast.Name))
