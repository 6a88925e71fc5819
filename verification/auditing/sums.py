"""Sums of log-ratios: where the coordinates of an output are independent, the log-ratio of its two laws is the sum of theirs.

Every coordinate gets the description that its samples pay for: none, a ramp, or a histogram of few cells or many.  What a
description adds to the log-likelihood must exceed a price for each parameter, so that coordinates that tell nothing are left out
and others are as smooth as they may be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.ramps import fit_ramp
from tailproof.verification.auditing.scores import FEWEST_IN_A_CELL, MOST_CELLS, Score, cell_edges, log_ratio

PRICE = 1.5  # log-likelihood that a parameter must add
MOST_COORDINATES = 50


class Marginal(Protocol):
    """The log-ratio of the two laws of one coordinate, up to a constant."""

    def log_ratios(self, x: Any) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class Steps:
    """Constant between edges."""

    edges: FloatArray
    values: FloatArray

    def log_ratios(self, x: Any) -> FloatArray:
        return np.asarray(self.values[np.searchsorted(self.edges, x, side="right")])


@dataclass(frozen=True, eq=False)
class Sum:
    """Of the log-ratios of some coordinates.  Its thresholds are not carried over from one fit to another (`log_ratio` is False):
    where each coordinate's ratio has a largest value so has the sum, and a threshold just above it would leave nothing."""

    marginals: dict[int, Marginal]
    log_ratio: bool = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        total = np.zeros(len(outputs))
        for j, marginal in self.marginals.items():
            total += marginal.log_ratios(outputs[:, j])
        return total

    def __str__(self) -> str:
        shown = ", ".join(map(str, list(self.marginals)[:8])) + (", …" if len(self.marginals) > 8 else "")
        return f"sum of the log-ratios of output[{shown}]"


def fit_sum(outputs: FloatArray, labels: NDArray[np.int8]) -> Score | None:
    if not 2 <= outputs.shape[1] <= MOST_COORDINATES:
        return None
    fitted = {j: fit_marginal(outputs[:, j], labels) for j in range(outputs.shape[1])}
    telling = {j: marginal for j, marginal in fitted.items() if marginal is not None}
    return Sum(telling) if telling else None


def fit_marginal(x: FloatArray, labels: NDArray[np.int8]) -> Marginal | None:
    """The description that is worth most; None if a constant is."""
    order = np.argsort(x, kind="stable")
    values, second = x[order], np.concatenate([[0], np.cumsum(labels[order] > 0)])
    constant = _log_likelihood(len(x), second[-1])
    best, most = None, 0.0
    for marginal, likelihood, parameters in (*_histograms(values, second), *_ramps(values, second)):
        worth = likelihood - constant - PRICE * parameters
        if worth > most:
            best, most = marginal, worth
    return best


Described = tuple[Marginal, float, int]
"""A marginal, its log-likelihood, and how many parameters it has more than a constant."""


def _histograms(values: FloatArray, second: NDArray[np.int64]) -> Iterator[Described]:
    """Of sorted values, `second` of the first k being of the second side: 4 cells, 8, 16, …"""
    cells = 4
    while cells <= min(MOST_CELLS, len(values) // FEWEST_IN_A_CELL):
        edges = cell_edges(values[np.arange(1, cells) * len(values) // cells])
        ends = np.concatenate([[0], np.searchsorted(values, edges), [len(values)]])
        sizes, hits = np.diff(ends), np.diff(second[ends])
        likelihood = float(_log_likelihood(sizes, hits).sum())
        yield Steps(edges, log_ratio(sizes - hits, hits)), likelihood, int(np.count_nonzero(sizes)) - 1
        cells *= 2


def _ramps(values: FloatArray, second: NDArray[np.int64]) -> Iterator[Described]:
    ramp = fit_ramp(values, second)
    if ramp is not None:
        t = ramp.log_ratios(values)
        cuts = len({ramp.floor, ramp.ceiling} - {math.inf})
        yield ramp, float(np.diff(second) @ t - np.logaddexp(0, t).sum()), 1 + cuts


def _log_likelihood(sizes: Any, hits: Any) -> Any:
    """Of cells with a chance of their own each."""
    return xlogy(hits, hits) + xlogy(sizes - hits, sizes - hits) - xlogy(sizes, sizes)
