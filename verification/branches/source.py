"""The source of a code object, if it is truly its own: what the file says is compiled, and must give the same code.

A code object may name any file.  Text that compiles to something else is not shown and not believed.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType

Span = tuple[int, int, int, int]
LONGEST = 60


@dataclass(frozen=True, eq=False)
class Source:
    """A file: its lines, its tree, and the code objects that it compiles to."""

    file: str
    text: str
    tree: ast.Module
    codes: frozenset[CodeType]


def all_within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_within(constant)


@cache
def _compiled(file: str, text: str) -> Source | None:
    try:
        tree = ast.parse(text)
        code = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return Source(file, text, tree, frozenset(all_within(code)))


def source_of(code: CodeType) -> Source | None:
    """The file of a code object, if the file says what the code does."""
    text = "".join(linecache.getlines(code.co_filename))
    found = _compiled(code.co_filename, text) if text else None
    return found if found is not None and code in found.codes else None


def span_of(node: ast.AST) -> Span:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def condition(code: CodeType, span: Span | None, kind: str) -> tuple[str, Span | None]:
    """(the condition as its author wrote it, where it stands)."""
    found = source_of(code)
    if found is None or span is None:
        return {"loop": "a loop", "handler": "a handler of exceptions"}.get(kind, "a condition"), None
    if kind == "handler":
        return "`except`", span
    if kind == "loop":
        span = _loops(found).get(span, span)
        return f"the loop over {quoted(found, span)}", span
    return quoted(found, span), span


@cache
def _loops(found: Source) -> dict[Span, Span]:
    """Where loops stand, and what they run over."""
    return {span_of(node): span_of(node.iter) for node in ast.walk(found.tree) if isinstance(node, ast.For | ast.AsyncFor)}


def quoted(found: Source, span: Span) -> str:
    lines = found.text.splitlines()[span[0] - 1 : span[2]]
    if not lines:
        return "a condition"
    pieces = [line.encode() for line in lines]
    pieces[-1] = pieces[-1][: span[3]]
    pieces[0] = pieces[0][span[1] :]
    text = " ".join(b" ".join(pieces).decode(errors="replace").split())
    return f"`{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}`"
