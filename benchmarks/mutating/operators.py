"""The edits: every operator is a small function from a node of the syntax tree, and where it stands, to its variants.

A variant is a label and the new text.  The label says what was done, never where: the sampling goes by it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Variant = tuple[str, str]


@dataclass(frozen=True)
class Scope:
    """What an operator may know of the function around the node."""

    parameters: dict[str, str]  # name: annotation, of the innermost function
    attributes: dict[str, tuple[str, ...]]  # base: the attributes of it that the function reads without calling them
    assigned: frozenset[str]  # names that have a value before this statement


Operator = Callable[[ast.AST, Scope], Iterator[Variant]]

_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "amin": "amax", "fmin": "fmax", "ceil": "floor"}
_EXTREMES |= {new: old for old, new in _EXTREMES.items()}
# What only converts, counts or iterates: without it nothing runs, or nothing changes.
# fmt: off
_NO_WRAPPER = frozenset((
    "len", "range", "int", "float", "bool", "str", "tuple", "list", "dict", "set", "zip", "enumerate", "sorted",
    "reversed", "isinstance", "getattr", "iter", "next", "map", "filter", "asarray", "array", "ascontiguousarray",
    "zeros", "ones", "empty", "full", "eye", "arange", "sqrt", "abs", "fabs", "absolute", "min", "max", "minimum",
    "maximum", "sum", "super", "release", "hidden", "part",
))
# fmt: on
_SYMMETRIC = frozenset({"min", "max", "minimum", "maximum", "hypot", "zip", "isinstance"})


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _called(node: ast.AST) -> str:
    """The last name of what is called, empty if nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    return (
        node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
    )


def arithmetic(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """a + b → a − b, a·b → a/b, aᵇ → a·b, and back; the same in an assignment such as a += b."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and (new := _ARITHMETIC.get(type(node.op))):
        label = f"{type(node.op).__name__} to {new.__name__}"
        if isinstance(node, ast.BinOp):
            yield label, _text(ast.BinOp(node.left, new(), node.right))
        else:
            yield label, _text(ast.AugAssign(node.target, new(), node.value))


def comparison(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """The neighbouring comparison and the negation."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for new in _COMPARISONS[type(node.ops[0])]:
            label = f"{type(node.ops[0]).__name__} to {new.__name__}"
            yield label, _text(ast.Compare(node.left, [new()], node.comparators))


def constant(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """k → k + 1, 2k, 0, −k."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        k = node.value
        for label, new in (("plus one", k + 1), ("doubled", 2 * k), ("zero", 0 * k), ("negated", -k)):
            if new != k:
                yield label, repr(new)


def extreme(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """min ↔ max, of two values, of an array or where it is attained; ceil ↔ floor."""
    if isinstance(node, ast.Call) and (new := _EXTREMES.get(_called(node))):
        func = ast.Attribute(node.func.value, new) if isinstance(node.func, ast.Attribute) else ast.Name(new)
        yield f"{_called(node)} to {new}", _text(ast.Call(func, node.args, node.keywords))


def root(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """√x → x."""
    if isinstance(node, ast.Call) and _called(node) == "sqrt" and node.args:
        yield "dropped", _text(node.args[0])


def absolute(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """|x| → x."""
    if isinstance(node, ast.Call) and _called(node) in ("abs", "fabs", "absolute") and node.args:
        yield "dropped", _text(node.args[0])


def sign(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """−x → x; a product, quotient or difference gets a minus."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "dropped", _text(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.Sub):
        yield "added", _text(ast.UnaryOp(ast.USub(), node))


def swapped(node: ast.AST, scope: Scope) -> Iterator[Variant]:
    """Two positional arguments that stand side by side change places, unless they are known to be of different kinds."""
    if isinstance(node, ast.Call) and _called(node) not in _SYMMETRIC:
        for at in range(len(node.args) - 1):
            pair = node.args[at : at + 2]
            kinds = {scope.parameters[one.id] for one in pair if isinstance(one, ast.Name) and one.id in scope.parameters}
            if len(kinds) > 1 or any(
                isinstance(one, ast.Starred | ast.GeneratorExp)
                or (isinstance(one, ast.Constant) and isinstance(one.value, str))
                for one in pair
            ):
                continue
            args = [*node.args[:at], node.args[at + 1], node.args[at], *node.args[at + 2 :]]
            yield f"{at} and {at + 1}", _text(ast.Call(node.func, args, node.keywords))


def unwrapped(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """f(x, …) → x: a projection, a clip, a correction left out."""
    name = _called(node)
    if not isinstance(node, ast.Call) or not node.args or not name or name in _NO_WRAPPER or name[0].isupper():
        return
    first = node.args[0]
    if not isinstance(first, ast.Starred) and not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
        yield "first argument", _text(first)


def bounds(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """The ends of a range or a slice, one more or less."""
    if isinstance(node, ast.Call) and _called(node) == "range":
        for at, one in enumerate(node.args[:2]):
            for label, new in (("plus", f"{_text(one)} + 1"), ("minus", f"{_text(one)} - 1")):
                args = [*node.args[:at], ast.Name(new), *node.args[at + 1 :]]
                yield f"range {at} {label} one", _text(ast.Call(node.func, args, []))
    if isinstance(node, ast.Subscript):
        for slice_ in [node.slice] if isinstance(node.slice, ast.Slice) else getattr(node.slice, "elts", []):
            if isinstance(slice_, ast.Slice):
                yield from _slice_bounds(node, slice_)


def _slice_bounds(node: ast.Subscript, slice_: ast.Slice) -> Iterator[Variant]:
    for end in ("lower", "upper"):
        old = getattr(slice_, end)
        if old is not None:
            for label, change in (("plus", "+ 1"), ("minus", "- 1")):
                setattr(slice_, end, ast.Name(f"{_text(old)} {change}"))
                yield f"slice {end} {label} one", _text(node)
            setattr(slice_, end, old)


def axis(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """axis=0 ↔ axis=1, axis=−1 → axis=0."""
    if isinstance(node, ast.Call):
        for at, keyword in enumerate(node.keywords):
            if keyword.arg == "axis" and _text(keyword.value) in ("0", "1", "-1"):
                new = ast.keyword("axis", ast.Constant(1 if _text(keyword.value) == "0" else 0))
                keywords = [*node.keywords[:at], new, *node.keywords[at + 1 :]]
                yield f"{_text(keyword.value)} to {_text(new.value)}", _text(ast.Call(node.func, node.args, keywords))


def logic(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """True ↔ False, `not` dropped, and ↔ or, one branch of a conditional value for both."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "flipped", repr(not node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", _text(node.operand)
    if isinstance(node, ast.BoolOp):
        new = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"to {type(new).__name__}", _text(ast.BoolOp(new, node.values))
    if isinstance(node, ast.IfExp):
        yield "always the first", _text(node.body)
        yield "always the second", _text(node.orelse)


def renamed(node: ast.AST, scope: Scope) -> Iterator[Variant]:
    """A parameter for another one with the same annotation; an attribute for another that the function reads of the same thing."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in scope.parameters:
        kind = scope.parameters[node.id]
        for other, its in scope.parameters.items():
            if other != node.id and its == kind and kind:
                yield f"to {other}", other
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
        alike = scope.attributes.get(node.value.id, ())
        if node.attr in alike:
            for other in alike:
                if other != node.attr:
                    yield f"to {other}", f"{node.value.id}.{other}"


def dropped(node: ast.AST, _: Scope) -> Iterator[Variant]:
    """A factor of a product, a term of a sum, a divisor."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add | ast.Sub | ast.Div | ast.Pow):
        yield "right", _text(node.left)
        if isinstance(node.op, ast.Mult | ast.Add):
            yield "left", _text(node.right)


def removed(node: ast.AST, scope: Scope) -> Iterator[Variant]:
    """A statement: a call for its effect, a += b, a new value for what has one already, a break."""
    if isinstance(node, ast.AugAssign | ast.Break) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield "statement", "pass"
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        again = isinstance(target, ast.Name) and target.id in scope.assigned
        if again or isinstance(target, ast.Subscript):
            yield "statement", "pass"


OPERATORS: dict[str, Operator] = {
    "arithmetic": arithmetic,
    "comparison": comparison,
    "constant": constant,
    "extreme": extreme,
    "root": root,
    "absolute": absolute,
    "sign": sign,
    "swapped": swapped,
    "unwrapped": unwrapped,
    "bounds": bounds,
    "axis": axis,
    "logic": logic,
    "renamed": renamed,
    "dropped": dropped,
    "removed": removed,
}


def variants(node: ast.AST, scope: Scope) -> Iterator[tuple[str, str, str]]:
    """(operator, variant, new text), as the operators are listed."""
    for name, operator in OPERATORS.items():
        for label, text in operator(node, scope):
            yield name, label, text
