"""Which ways a mechanism's choices went: a light trace of its own frames, instruction by instruction."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from tailproof.verification.branches.jumps import jumps
from tailproof.verification.branches.own_code import OwnCode

Way = tuple[CodeType, int, bool]  # code, offset of the choice, whether it jumped


class RunsOnError(BaseException):
    """More instructions than were allowed.  A mechanism that catches its own exceptions does not catch this one."""


@dataclass(eq=False)
class Recorder:
    """Collects the ways taken over many runs; code whose every way was seen is not traced any more.

    With `most` instructions of its own a run is broken off.
    """

    own: OwnCode
    taken: set[Way] = field(default_factory=set)
    entered: dict[CodeType, None] = field(default_factory=dict)
    most: int | None = None
    _left: int = 0
    _plans: dict[int, tuple[CodeType, _Plan | None]] = field(default_factory=dict)

    def record(self, run: Callable[[], Any]) -> Exception | None:
        """Run once; what it raises is returned."""
        before = sys.gettrace()
        self._left = self.most or 0
        sys._getframe().f_trace_opcodes = (
            True  # Python 3.12 traces instructions of the first call only if some frame asked before
        )
        sys.settrace(self._called)
        try:
            run()
        except RunsOnError:
            return None
        except Exception as error:
            return error
        finally:
            sys.settrace(before)
        return None

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG002
        code = frame.f_code
        known = self._plans.get(id(code))
        if known is None or known[0] is not code:
            known = self._plans[id(code)] = (code, self._plan(frame))
        plan = known[1]
        if plan is None or not (plan.missing or self.most):
            return None
        follow = _follow(plan, self.taken, self._count if self.most else None)
        frame.f_trace = follow  # before the next line: Python 3.13 traces instructions of the first call only then
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return follow

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise RunsOnError

    def _plan(self, frame: FrameType) -> _Plan | None:
        code = frame.f_code
        if code not in self._owned and not self.own.owns(frame.f_globals):
            return None
        self.entered.setdefault(code)
        return _Plan.of(code, self.taken)

    @cached_property
    def _owned(self) -> frozenset[CodeType]:
        return frozenset(self.own.codes)


@dataclass(eq=False)
class _Plan:
    code: CodeType
    choices: dict[int, tuple[int, int, bool]]  # offset -> next, target, is a loop
    handlers: frozenset[int]
    missing: set[tuple[int, bool]]

    @staticmethod
    def of(code: CodeType, taken: set[Way]) -> _Plan:
        found = jumps(code)
        missing = {(jump.offset, True) for jump in found}
        missing |= {(jump.offset, False) for jump in found if jump.kind != "handler"}
        return _Plan(
            code,
            {jump.offset: (jump.next, jump.target, jump.kind == "loop") for jump in found if jump.kind != "handler"},
            frozenset(jump.offset for jump in found if jump.kind == "handler"),
            {way for way in missing if (code, *way) not in taken},
        )


def _follow(plan: _Plan, taken: set[Way], count: Callable[[], None] | None) -> Callable[[FrameType, str, Any], Any]:
    before = -1
    choices, handlers, missing, code = plan.choices, plan.handlers, plan.missing, plan.code

    def follow(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001
        nonlocal before
        if event != "opcode":
            return follow
        if count is not None:
            count()
        now = frame.f_lasti
        if before in choices:
            following, target, loop = choices[before]
            if now == following:
                way = (before, False)
            elif now == target or (loop and target < now <= target + 6):
                way = (before, True)
            else:
                way = None
            if way in missing:
                missing.discard(way)
                taken.add((code, *way))
        if now in handlers and (now, True) in missing:
            missing.discard((now, True))
            taken.add((code, now, True))
        before = now
        return follow

    return follow


def record(mechanism_code: OwnCode, run: Callable[[], Any]) -> frozenset[Way]:
    """The ways that one run takes."""
    recorder = Recorder(mechanism_code)
    recorder.record(run)
    return frozenset(recorder.taken)
