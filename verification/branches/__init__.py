"""Rare data: the choices of a mechanism's own code that no pair of neighbours took, by name, and data that take them.

    found = explore(run, mechanism, (records, columns), admissible, budget=600, seed=0, pairs=pairs)
    found.pairs      neighbours on either side of a choice, or both inside of its rare side: for every check of pairs
    found.untaken    what still nobody took: `str(branch)` is "line 12 of f: `x.mean() > 5` was never true"

A branch that is `blocking` may hide anything, so that nothing can be said about it.  Others are listed with their reason: public
values decide them, the choice is continuous, the bounds of the data exclude them, or they refuse data that are inadmissible.
"""

from __future__ import annotations

from tailproof.verification.branches.exploration import Exploration, blocking_in_all, explore, untaken
from tailproof.verification.branches.jumps import Branch
from tailproof.verification.branches.own_code import OwnCode, own_code
from tailproof.verification.branches.recorded import Recorder, record
from tailproof.verification.branches.steering import Explorer, steer
from tailproof.verification.branches.values import Forcing

__all__ = [
    "Branch",
    "Exploration",
    "Explorer",
    "Forcing",
    "OwnCode",
    "Recorder",
    "blocking_in_all",
    "explore",
    "own_code",
    "record",
    "steer",
    "untaken",
]
