"""The sampling frame: which edits there are of the code that a row's mechanism executes, and which of them are drawn.

An edit is named by (row, module, function, text of the node, its number among equal texts there, operator, variant).  The
hash of that name and of the seed is its place in the draw, so that an edit elsewhere in the code moves nothing.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mutating.operators import Scope, variants

SEED = 24
PER_ROW = 20
OWN_SHARE = 0.6  # of a row's edits, in the row's own module; the others are in what it rests on

# The language in which the checks compare and refuse: an edit there is one of the checker, not of an algorithm.
LEFT_OUT = frozenset({"validation", "channel", "laws", "catalogue", "presets"})
_GUARDS = ("check", "_check", "_refuse", "_reject", "warn", "_warn", "refuse", "reject", "require")
_NOT_THE_MECHANISM = ("worst_neighbours", "sensitivity_supremum", "__post_init__", "__repr__", "__str__")
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Break)


@dataclass(frozen=True)
class Edit:
    """`start` and `end` are positions in the module's bytes."""

    row: str
    module: str
    function: str
    text: str
    number: int
    operator: str
    variant: str
    new: str = field(compare=False)
    line: int = field(compare=False)
    start: int = field(compare=False)
    end: int = field(compare=False)

    @property
    def name(self) -> str:
        """Without the row: the edit itself."""
        return "|".join((self.module, self.function, self.text, str(self.number), self.operator, self.variant))

    def place(self, seed: int) -> str:
        return hashlib.sha256(f"{seed}|{self.row}|{self.name}".encode()).hexdigest()

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]


def edits_of(row: str, module: str, source: str, executed: set[int]) -> list[Edit]:
    """All edits of the executed statements of all functions of a module, guards apart; each one compiles and changes the tree."""
    tree = ast.parse(source)
    lines, found = _line_starts(source), []
    guards = _guard_names(tree)
    for function, qualified in _functions(tree, ""):
        if _is_guard(function) or function.name in _NOT_THE_MECHANISM:
            continue
        scope, counts = _scope(function), Counter[str]()
        for node, assigned in _nodes(function, executed, guards):
            text = ast.unparse(node)
            counts[text] += 1
            here = Scope(scope.parameters, scope.attributes, assigned)
            start, end = (_offset(lines, *at) for at in _span(node))
            for operator, variant, new in variants(node, here):
                written = new if isinstance(node, ast.stmt) else f"({new})"
                edit = Edit(row, module, qualified, text, counts[text], operator, variant, written, node.lineno, start, end)
                if _changes(node, new):
                    found.append(edit)
    return sorted(found, key=lambda edit: (edit.line, edit.start, edit.operator, edit.variant))


def drawn(edits: Iterable[Edit], own: str, *, seed: int = SEED, count: int = PER_ROW) -> list[Edit]:
    """So many of a row: no two of one node, a share of them in the row's own module, by the hashes of their names."""
    by_place = sorted(edits, key=lambda edit: edit.place(seed))
    seen: set[tuple[str, str, str, int]] = set()
    first: list[Edit] = []
    for edit in by_place:
        node = (edit.module, edit.function, edit.text, edit.number)
        if node not in seen:
            seen.add(node)
            first.append(edit)
    inside = [edit for edit in first if edit.module == own]
    outside = [edit for edit in first if edit.module != own]
    kept = min(len(inside), max(round(OWN_SHARE * count), count - len(outside)))
    return sorted(inside[:kept] + outside[: count - kept], key=lambda edit: edit.place(seed))


# --- nodes ------------------------------------------------------------------------------------------------------------


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, ast.FunctionDef):
                yield child, name
            yield from _functions(child, f"{name}.")
        else:
            yield from _functions(child, prefix)


def _is_guard(function: ast.FunctionDef) -> bool:
    """It returns nothing and raises or warns: all that it does is refuse."""
    nothing = function.returns is not None and ast.unparse(function.returns) == "None"
    return nothing and any(isinstance(node, ast.Raise) or _calls(node, ("warn",)) for node in ast.walk(function))


def _guard_names(tree: ast.Module) -> frozenset[str]:
    """What a module imports from the validation of input."""
    return frozenset(
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("validation")
        for alias in node.names
    )


def _calls(node: ast.AST, starts: tuple[str, ...]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name.startswith("validation.") or name.rpartition(".")[2].startswith(starts)


def _scope(function: ast.FunctionDef) -> Scope:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    parameters = {one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in arguments}
    called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    attributes: dict[str, set[str]] = {}
    for node in ast.walk(function):
        named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and id(node) not in called
        if named and node.value.id in parameters:
            attributes.setdefault(node.value.id, set()).add(node.attr)
    return Scope(parameters, {base: tuple(sorted(names)) for base, names in attributes.items()}, frozenset())


def _nodes(
    function: ast.FunctionDef, executed: set[int], guards: frozenset[str]
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Every statement and expression that runs, in order, with the names that have a value before its statement."""
    assigned = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    for statement in _statements(function.body):
        roots = _roots(statement)
        if any(_runs(one, executed) for one in roots):
            for one in roots:
                yield from ((node, frozenset(assigned)) for node in _inside(one, guards))
        for node in ast.walk(statement) if isinstance(statement, _STATEMENTS) else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned.add(node.id)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Depth first; not those of inner functions, and no guards: a condition under which nothing but a refusal stands."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        if isinstance(statement, ast.If) and all(
            isinstance(one, ast.Raise) or (isinstance(one, ast.Expr) and _calls(one.value, _GUARDS))
            for one in statement.body
        ):
            yield from _statements(statement.orelse)
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, part, []))


def _roots(statement: ast.stmt) -> list[ast.AST]:
    """Of a simple statement itself, of a compound one what its head evaluates."""
    if isinstance(statement, _STATEMENTS):
        if isinstance(statement, ast.Expr) and (
            isinstance(statement.value, ast.Constant) or _calls(statement.value, _GUARDS)
        ):
            return []
        return [statement]
    heads = [getattr(statement, part, None) for part in ("test", "iter")]
    return [head for head in heads if head is not None and not isinstance(statement, ast.Assert)]


def _runs(node: ast.AST, executed: set[int]) -> bool:
    return any(line in executed for line in range(node.lineno, node.end_lineno + 1))  # type: ignore[attr-defined]


def _inside(node: ast.AST, guards: frozenset[str]) -> Iterator[ast.AST]:
    """The node and what is in it; not what goes into a check of the input, into text, into a type or into a target."""
    if isinstance(node, ast.JoinedStr) or _calls(node, ()):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in guards:
        return
    if isinstance(node, ast.Expr | ast.Assign) and not list(_inside(node.value, guards)):
        return
    if isinstance(node, ast.expr | ast.stmt) and not isinstance(node, ast.Starred | ast.Slice):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "ctx"):
            continue
        if isinstance(node, ast.Call) and name == "func" and isinstance(value, ast.Name | ast.Attribute):
            continue
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and name in ("target", "targets"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg in ("axis", "dtype", "strict", "keepdims", "out"):
                continue
            if isinstance(child, ast.AST) and not isinstance(child, ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
                yield from _inside(child, guards)


# --- text -------------------------------------------------------------------------------------------------------------


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    return starts


def _span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _offset(starts: list[int], line: int, column: int) -> int:
    return starts[line - 1] + column


def _changes(node: ast.AST, new: str) -> bool:
    try:
        tree = ast.parse(new if isinstance(node, ast.stmt) else f"({new})").body
    except SyntaxError:
        return False
    found = tree[0] if isinstance(node, ast.stmt) else tree[0].value  # type: ignore[attr-defined]
    return ast.dump(found) != ast.dump(node)


def source_of(module: str, root: Path) -> Path:
    """The file of a module of the package, in a tree of the repository."""
    return root / Path(*module.split(".")[1:]).with_suffix(".py")
