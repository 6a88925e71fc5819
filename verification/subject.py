"""What a check is applied to: a mechanism at a setting, with the claims made for it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Implementation, Setting, algorithm
from tailproof.refimpl.channel import Channel, Mechanism, Transcript, replay
from tailproof.refimpl.claims import Claim, UnprovedClaim, implied
from tailproof.refimpl.validation import FloatArray

Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Subject:
    """`claim` is the published one; `conditional` the one that holds given the hidden randomness, where there is any."""

    algorithm: str
    mechanism: Mechanism
    setting: Setting
    setting_index: int
    claim: Claim | None
    conditional: Claim | None = None
    mutant: str | None = None

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

    def run(self, data: FloatArray, seed: int) -> tuple[Any, Transcript]:
        """On these records, or on those that the setting makes of them where it does not admit all."""
        return self.through(data, Channel.sampling(np.random.default_rng(seed)))

    def through(self, data: FloatArray, channel: Channel) -> tuple[Any, Transcript]:
        """On a copy: what a mechanism writes into its data changes nothing here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnprovedClaim)  # the report says it instead
            output = self.mechanism(np.array(self.setting.admissible(data)), channel, **self.setting.parameters)
        return output, channel.transcript()

    def replay(self, data: FloatArray, recorded: Transcript) -> tuple[Any, Transcript]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnprovedClaim)
            return replay(self.mechanism, np.array(self.setting.admissible(data)), recorded, **self.setting.parameters)


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
