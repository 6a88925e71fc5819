"""What a check is applied to: a mechanism at a setting, with the claims made for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Implementation, Setting, algorithm
from tailproof.refimpl.channel import Channel, Mechanism, Transcript, replay
from tailproof.refimpl.claims import Claim, UnprovedClaim, implied
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.ending import Patience

Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Subject:
    """`claim` is the published one; `conditional` the one that holds given the hidden randomness, where there is any.

    Where `patience` is None a run may take any time.
    """

    algorithm: str
    mechanism: Mechanism
    setting: Setting
    setting_index: int
    claim: Claim | None
    conditional: Claim | None = None
    mutant: str | None = None
    patience: Patience | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.patience is None:
            object.__setattr__(self, "patience", Patience(self.mechanism, None))

    @property
    def amplified(self) -> bool:
        """The claim given the hidden randomness does not imply the published one: it is said to amplify privacy."""
        if self.claim is None or self.conditional is None:
            return False
        spent, allowed = implied([self.conditional], self.claim)
        return spent > allowed

    @property
    def checked_claim(self) -> Claim | None:
        """What a transcript can speak about: of an amplified claim only its conditional form."""
        return self.conditional if self.amplified else self.claim

    def watching(self) -> AbstractContextManager[None]:
        """Around many calls, for speed."""
        assert self.patience is not None
        return self.patience.watching()

    def call(self, data: FloatArray, channel: Channel, **parameters: Any) -> Any:
        """The mechanism, which returns or raises an exception, whatever it does."""
        assert self.patience is not None
        return self.patience.call(self.mechanism, data, channel, **parameters)

    def run(self, data: FloatArray, seed: int) -> tuple[Any, Transcript]:
        """On these records, or on those that the setting makes of them where it does not admit all."""
        return self.through(data, Channel.sampling(np.random.default_rng(seed)))

    def through(self, data: FloatArray, channel: Channel) -> tuple[Any, Transcript]:
        """On a copy: what a mechanism writes into its data changes nothing here."""
        with heard() as said:
            output = self.call(np.array(self.setting.admissible(data)), channel, **self.setting.parameters)
        return with_what_was_said(output, said), channel.transcript()

    def replay(self, data: FloatArray, recorded: Transcript) -> tuple[Any, Transcript]:
        with heard() as said:
            output, transcript = replay(
                self.call, np.array(self.setting.admissible(data)), recorded, **self.setting.parameters
            )
        return with_what_was_said(output, said), transcript


@dataclass(frozen=True)
class Said:
    """An output, and what the run printed or warned: that leaves as well."""

    output: Any
    words: tuple[str, ...]


def with_what_was_said(output: Any, said: list[str]) -> Any:
    return Said(output, tuple(said)) if said else output


@contextmanager
def heard() -> Iterator[list[str]]:
    """What is printed and warned meanwhile.  Numpy's remarks on overflows are not the author's, nor is an unproved claim's."""
    said: list[str] = []
    with (
        warnings.catch_warnings(record=True) as warned,
        np.errstate(all="ignore"),
        redirect_stdout(StringIO()) as printed,
        redirect_stderr(StringIO()) as complained,
    ):
        warnings.simplefilter("always")
        yield said
    said += [text for text in (printed.getvalue(), complained.getvalue()) if text]
    said += [f"{one.category.__name__}: {one.message}" for one in warned if not issubclass(one.category, UnprovedClaim)]


def subject_of(identifier: str, setting_index: int, *, implementation: Implementation, mutant: str | None = None) -> Subject:
    """The claims are always those of the published algorithm, also when `implementation` is a mutant of it."""
    published = algorithm(identifier).implementation
    assert published is not None
    setting = published.settings[setting_index]
    return Subject(
        algorithm=identifier,
        mechanism=implementation.mechanism,
        setting=setting,
        setting_index=setting_index,
        claim=published.privacy(setting),
        conditional=published.conditional_privacy(setting),
        mutant=mutant,
    )


def worst_pairs(identifier: str, setting: Setting) -> list[Pair]:
    """The worst neighbours known for the algorithm, which ship beside it."""
    published = algorithm(identifier).implementation
    assert published is not None
    return list(published.worst_neighbours(setting))
