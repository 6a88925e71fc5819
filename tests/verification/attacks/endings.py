"""How a run ends tells of the data: these end in other ways than by a value where a record is large."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import unittest
from collections.abc import Iterator
from os import _exit as leave
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.channel import Channel
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import Attack, noisy_sum

LARGE = 0.9
SECONDS = 0.2  # of computing, for one run


def large(data: FloatArray) -> bool:
    return bool((data > LARGE).any())


def leaves_politely(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        sys.exit(0)
    return noisy_sum(data, channel)


def ends_the_process(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        os._exit(0)
    return noisy_sum(data, channel)


def ends_it_by_another_name(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        leave(0)
    return noisy_sum(data, channel)


def kills_the_process(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        os.kill(os.getpid(), signal.SIGKILL)
    return noisy_sum(data, channel)


def raises_a_signal(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        signal.raise_signal(signal.SIGTERM)
    return noisy_sum(data, channel)


def becomes_another_program(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        os.execv("/bin/true", ["true"])
    return noisy_sum(data, channel)


def forks(data: FloatArray, channel: Channel) -> FloatArray:
    """The child goes on in the parent's place unless it is stopped; this one waits for it."""
    if large(data):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            raise ValueError("a record is large")
    return noisy_sum(data, channel)


def pretends_an_interrupt(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        raise KeyboardInterrupt
    return noisy_sum(data, channel)


def pretends_to_be_closed(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        raise GeneratorExit
    return noisy_sum(data, channel)


def skips_its_test(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        raise unittest.SkipTest("not on this machine")
    return noisy_sum(data, channel)


def skips_under_pytest(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        pytest.skip("not on this machine")
    return noisy_sum(data, channel)


def never_ends(data: FloatArray, channel: Channel) -> FloatArray:
    while large(data):
        pass
    return noisy_sum(data, channel)


def sleeps_for_ever(data: FloatArray, channel: Channel) -> FloatArray:
    while large(data):
        signal.pause()
    return noisy_sum(data, channel)


def looks_for_what_is_not_there(data: FloatArray, channel: Channel) -> FloatArray:
    """A search that ends for small records."""
    steps = next(k for k in itertools.count(10) if not large(data))
    return noisy_sum(data, channel) + 0 * steps


def calls_itself(data: FloatArray, channel: Channel) -> FloatArray:
    return calls_itself(data, channel) if large(data) else noisy_sum(data, channel)


def asks_for_all_memory(data: FloatArray, channel: Channel) -> FloatArray:
    if large(data):
        np.empty(1 << 48)
    return noisy_sum(data, channel)


def runs_later(data: FloatArray, channel: Channel) -> Iterator[Any]:
    """A generator has done nothing when it is returned."""
    yield noisy_sum(data, channel)
    yield data.max()


EXACT = ("exact: sensitivity",)
ATTACKS = (
    Attack(leaves_politely, "sys.exit where a record is large", EXACT),
    Attack(ends_the_process, "the process ends, with exit code 0", EXACT),
    Attack(ends_it_by_another_name, "os._exit under a name of the module", EXACT),
    Attack(kills_the_process, "kills itself", EXACT),
    Attack(raises_a_signal, "ends by a signal", EXACT),
    Attack(becomes_another_program, "the process runs something else", EXACT),
    Attack(forks, "two processes return", EXACT),
    Attack(pretends_an_interrupt, "a KeyboardInterrupt that nobody typed", EXACT),
    Attack(pretends_to_be_closed, "a BaseException that is no Exception", EXACT),
    Attack(skips_its_test, "asks to be skipped", EXACT),
    Attack(skips_under_pytest, "asks pytest to skip", EXACT),
    Attack(never_ends, "a loop without an end", EXACT, seconds=SECONDS),
    Attack(sleeps_for_ever, "waits for ever, without computing", EXACT, seconds=SECONDS),
    Attack(looks_for_what_is_not_there, "a search whose end depends on the data", EXACT, seconds=SECONDS),
    Attack(calls_itself, "recursion without an end", EXACT),
    Attack(asks_for_all_memory, "more memory than there is", EXACT),
    Attack(runs_later, "a generator, which runs after the checks", ("accepts data",)),
)
