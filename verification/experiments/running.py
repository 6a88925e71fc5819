"""Runs of an experiment's methods, each task a point and a run; what is said of them, with intervals."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from tailproof.refimpl.channel import run as run_mechanism
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.experiments.data import Data
from tailproof.verification.experiments.methods import Method, Numbers, Point, variants
from tailproof.verification.experiments.problems import Problem

PILOT, PILOTS = 1_000_000, 2
"""Numbers of the runs, and how many, by which --hindsight chooses."""

RESAMPLES, LEVEL = 4_000, 0.95

Scores: TypeAlias = dict[str, float]


@dataclass(frozen=True, eq=False)
class Cell:
    """A method at a point: its parameters, or why it does not run there; then its scores, a list for each metric."""

    point: Point
    method: Method
    problem: Problem
    parameters: Numbers
    reason: str | None = None
    scores: tuple[Scores, ...] = ()

    def values(self, metric: str) -> FloatArray:
        return np.array([scores[metric] for scores in self.scores])


def plan(point: Point, problem: Problem, method: Method) -> Cell:
    try:
        return Cell(point, method, problem, method.choose(point, problem))
    except InputError as error:
        return Cell(point, method, problem, {}, str(error))


def measure(
    data: Data, cells: Sequence[Cell], runs: Sequence[int], *, seed: int, jobs: int, progress: bool, text: str
) -> list[Cell]:
    """The cells with their scores.  Cells of one point are run together, on the same records."""
    groups: dict[Point, list[int]] = {}
    for i, cell in enumerate(cells):
        if cell.reason is None:
            groups.setdefault(cell.point, []).append(i)
    work = [(members, run) for members in groups.values() for run in runs]
    work.sort(key=lambda task: -cells[task[0][0]].point.n * cells[task[0][0]].point.d)  # the long ones first
    tasks = (delayed(_scores)(data, [cells[i] for i in members], seed, run) for members, run in work)
    found = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    scores: dict[int, dict[int, Scores]] = {}
    shown = tqdm(found, total=len(work), unit="task", desc=text, disable=not progress)
    for (members, run), outcome in zip(work, shown, strict=True):
        for i, score in zip(members, outcome, strict=True):
            scores.setdefault(i, {})[run] = score
    return [
        cell if cell.reason else Cell(**{**vars(cell), "scores": tuple(scores[i][run] for run in runs)})
        for i, cell in enumerate(cells)
    ]


def _scores(data: Data, cells: Sequence[Cell], seed: int, run: int) -> list[Scores]:
    point = cells[0].point
    train, test = data.draw(point.n, point.d, seed=seed, run=run)
    found = []
    for i, cell in enumerate(cells):
        problem = cell.problem
        rng = np.random.default_rng([seed, run, point.n, point.d, round(1000 * point.epsilon), i])
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights, _ = run_mechanism(
                cell.method.mechanism, train, rng, loss=problem.loss, domain=problem.domain, **cell.parameters
            )
        found.append({**evaluate(problem.loss, weights, test), "seconds": time.process_time() - start})
    return found


def evaluate(loss: Loss, weights: FloatArray, test: FloatArray) -> Scores:
    """On test records: the mean loss, with its penalty; the mean square of the residual; with labels, the share that is wrong."""
    margins, targets = test[:, :-1] @ weights, test[:, -1]
    scores = {"loss": loss.mean_value(weights, test), "mse": float(np.mean(np.square(margins - targets)))}
    if np.isin(targets, (-1.0, 1.0)).all():
        scores["errors"] = float(np.mean(np.where(margins > 0, 1.0, -1.0) != targets))
    return scores


# --------------------------------------------------------------------------------------------------------------- hindsight


def tuned_in_hindsight(data: Data, cells: Sequence[Cell], *, seed: int, jobs: int, progress: bool) -> list[Cell]:
    """For each tunable cell the variant with the least mean test loss in pilot runs: not private, as the data choose."""
    base = [cell for cell in cells if cell.method.tunable and cell.reason is None]
    tried = [[plan(cell.point, cell.problem, variant) for variant in variants(cell.method)] for cell in base]
    runs, flat = range(PILOT, PILOT + PILOTS), [cell for group in tried for cell in group]
    measured = iter(measure(data, flat, runs, seed=seed, jobs=jobs, progress=progress, text="hindsight"))
    found = []
    for group in tried:
        able = [cell for _, cell in zip(group, measured, strict=False) if cell.reason is None]
        best = min(able, key=lambda cell: float(cell.values("loss").mean()))
        found.append(Cell(best.point, best.method, best.problem, best.parameters))
    return found


# ------------------------------------------------------------------------------------------------------------------ summary


@dataclass(frozen=True)
class Summary:
    mean: float
    interval: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        return {"mean": _rounded(self.mean), "interval": [_rounded(end) for end in self.interval]}


def bootstrap(values: FloatArray, *, seed: int) -> Summary:
    """The mean, and a 95 % interval from resampled runs: the same ones for all methods, so that differences are paired."""
    picks = np.random.default_rng([seed, len(values)]).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Summary(float(values.mean()), (float(low), float(high)))


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
