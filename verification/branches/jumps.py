"""Every choice that a piece of Python's bytecode makes, with a name that a reader understands.

Conditional jumps (`if`, `while`, `and`, `or`, `assert`, comprehensions, `match`), loops (another item or the end) and handlers of
exceptions.  One condition may be compiled to several jumps: those of one place in the source are one choice.
"""

from __future__ import annotations

import dis
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from tailproof.verification.branches import source

Span = tuple[int, int, int, int]  # line, column, last line, last column
Name = tuple[str, int, str, str]  # function, line, condition, outcome
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR", "YIELD_VALUE", "SEND")
STOPS = (
    *ENDS[:2],
    "RAISE_VARARGS",
    "RERAISE",
    "JUMP_FORWARD",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "JUMP_ABSOLUTE",
)


@dataclass(frozen=True)
class Jump:
    """One instruction with two ways on: `falls` to the next one, or to `target`; the words say what each way means."""

    offset: int
    next: int
    target: int
    falls: str
    jumps: str
    line: int
    span: Span | None
    kind: str = "condition"  # or "loop", "handler"

    def place(self) -> object:
        return self.span or self.offset


@dataclass(frozen=True)
class Branch:
    """One way that a choice can go, in the words of its author; `depends` is "data" unless the choice is seen to be public, or
    "released" where values are that were released before.
    """

    function: str
    line: int
    text: str
    outcome: str
    raises: bool = False
    depends: str = "data"
    continuous: bool = False
    impossible: bool = False

    @property
    def name(self) -> Name:
        """The same in every exploration of the code."""
        return self.function, self.line, self.text, self.outcome

    @property
    def blocking(self) -> bool:
        """Data could decide this, and what happens then was not seen.  To raise on some data tells of them, too; to raise on some
        released values tells nothing more.
        """
        told = self.depends == "data" or (self.depends == "released" and not self.raises)
        return told and not (self.continuous or self.impossible)

    def __str__(self) -> str:
        notes = {"raises": self.raises, "continuous": self.continuous, "impossible within the bounds": self.impossible}
        said = [note for note, holds in notes.items() if holds]
        said += {"public": ["decided by public values"], "released": ["decided by released values"]}.get(self.depends, [])
        remark = f" ({', '.join(said)})" if said else ""
        return f"line {self.line} of {self.function}: {self.text} {self.outcome}{remark}"


@lru_cache(maxsize=4096)
def jumps(code: CodeType) -> tuple[Jump, ...]:
    """All choices of one code object (not of what is inside of it)."""
    listed = list(dis.get_instructions(code))
    found = list(_handlers(code, listed))
    for before, one, after in zip([None, *listed], listed, [*listed[1:], None], strict=False):
        words = _words(one.opname)
        if words is None or after is None:
            continue
        where = one if one.opname == "FOR_ITER" or before is None else before
        kind = "loop" if one.opname == "FOR_ITER" else "condition"
        span = _span(where)
        line = span[0] if span else (one.positions.lineno if one.positions else None) or code.co_firstlineno
        found.append(Jump(one.offset, after.offset, int(one.argval), *words, line, span, kind))
    return tuple(found)


def _span(instruction: dis.Instruction) -> Span | None:
    at = instruction.positions
    if at is None or None in (at.lineno, at.end_lineno, at.col_offset, at.end_col_offset):
        return None
    return (at.lineno, at.col_offset, at.end_lineno, at.end_col_offset)  # type: ignore[return-value]


def _words(name: str) -> tuple[str, str] | None:
    """(what it means to go on, what it means to jump)."""
    if name == "FOR_ITER":
        return "had an item", "came to its end"
    if "JUMP" not in name or "_IF_" not in name:
        return None
    if "NONE" in name:
        plain = ("was something else than None", "was None")
        return plain[::-1] if "NOT_NONE" in name else plain
    return ("was false", "was true") if "IF_TRUE" in name else ("was true", "was false")


def _handlers(code: CodeType, listed: list[dis.Instruction]) -> Iterator[Jump]:
    """Of `except` clauses; what `finally` and `with` do anyway is no choice."""
    at = {one.offset: place for place, one in enumerate(listed)}
    for target in sorted({entry.target for entry in dis._parse_exception_table(code)}):  # type: ignore[attr-defined]
        place = at.get(target)
        if place is None or listed[place].opname != "PUSH_EXC_INFO":
            continue
        following = listed[place + 1 : place + 12]
        if following[0].opname == "WITH_EXCEPT_START":
            continue
        catches = following[0].opname == "POP_TOP" or any(one.opname == "CHECK_EXC_MATCH" for one in following)
        if catches:
            span = next((span for one in following if (span := _span(one))), None)
            yield Jump(target, -1, target, "", "was entered", span[0] if span else code.co_firstlineno, span, "handler")


def raises(code: CodeType, start: int) -> bool:
    """Whether all that can follow ends in an exception."""
    listed = list(dis.get_instructions(code))
    following = dict(zip((one.offset for one in listed), listed[1:], strict=False))
    by_offset, seen, pending, raised = {one.offset: one for one in listed}, set[int](), [start], False
    while pending:
        one = by_offset.get(pending.pop())
        if one is None or one.offset in seen:
            continue
        seen.add(one.offset)
        if one.opname in ENDS:
            return False
        raised = raised or one.opname in ("RAISE_VARARGS", "RERAISE")
        if "JUMP" in one.opname or one.opname == "FOR_ITER":
            pending.append(int(one.argval))
        if one.opname not in STOPS and one.offset in following:
            pending.append(following[one.offset].offset)
    return raised


def executed(code: CodeType, taken: set[tuple[int, bool]]) -> set[int]:
    """The instructions that ran, given the ways that were taken: (offset, jumped)."""
    listed = list(dis.get_instructions(code))
    order = [one.offset for one in listed]
    after = dict(itertools.pairwise(order))
    ways = {jump.offset: jump for jump in jumps(code) if jump.kind != "handler"}
    by_offset, seen = {one.offset: one for one in listed}, set[int]()
    pending = [order[0], *(jump.target for jump in jumps(code) if jump.kind == "handler" and (jump.offset, True) in taken)]
    while pending:
        at = pending.pop()
        if at in seen or at not in by_offset:
            continue
        seen.add(at)
        one = by_offset[at]
        if at in ways:
            pending += [ways[at].target] if (at, True) in taken else []
            pending += [ways[at].next] if (at, False) in taken else []
            continue
        if "JUMP" in one.opname:
            pending.append(int(one.argval))
        if one.opname not in STOPS and at in after:
            pending.append(after[at])
    return seen


def described(code: CodeType, jump: Jump, jumped: bool, depends: Callable[[str, Span | None], str]) -> Branch:
    """The way of a choice that was never taken; `depends` says on what an expression depends that stands in a file."""
    way = jump.jumps if jumped else jump.falls
    word, _, rest = way.partition(" ")
    outcome = f"{word} never {rest}" if word in ("was", "had") else f"never {way}"
    text, span = source.condition(code, jump.span, jump.kind)
    return Branch(
        code.co_qualname,
        jump.line,
        text,
        outcome,
        raises(code, jump.target if jumped else jump.next),
        depends(code.co_filename, span),
    )


def links(code: CodeType) -> dict[int, int]:
    """Offset of a jump to its place in a chain a < b < c, whose comparisons all have the span of the chain."""
    before: list[dis.Instruction] = []
    found: dict[int, int] = {}
    place = 0
    for instruction in dis.get_instructions(code):
        if "JUMP" in instruction.opname and before and before[-1].opname == "COMPARE_OP":
            found[instruction.offset] = place
            place = place + 1 if len(before) > 1 and before[-2].opname in ("COPY", "ROT_THREE", "SWAP") else 0
        if instruction.opname not in ("CACHE", "EXTENDED_ARG", "COPY_FREE_VARS", "TO_BOOL", "NOT_TAKEN"):
            before = [*before[-3:], instruction]
    return found
