"""Public parameters at which the pure-DP rows are given to the adversary of `outcomes`: losses, domains, small and large numbers.

A case depends on the row and an index only.  Parameters that a row refuses on zeros, before it looks at a record, are drawn
again; with the others every data set must be answered.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import special_ortho_group

from tailproof.refimpl.catalogue import Setting, algorithm
from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Polytope
from tailproof.refimpl.losses import L4, Absolute, Affine, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.ending import Patience
from tailproof.verification.outcomes import Difference, adversarial_pairs, check_outcomes
from tailproof.verification.seeds import task_seed
from tailproof.verification.subject import Pair, Subject

ROWS = ("P4.S1", "P4.S2", "P4.A1", "P4.A2", "P4.A4", "P4.A5", "P4.A7", "P4.D4")
TIME_LIMIT = 60.0  # seconds of computing for a run
SIZES = (2, 3, 5, 8, 13, 20, 34, 50)
LOSSES: dict[str, Callable[[int], Loss]] = {
    "absolute": lambda _: Absolute(),
    "hinge": lambda _: Hinge(),
    "logistic": lambda _: Logistic(),
    "squared": lambda _: Squared(),
    "l4": lambda _: L4(),
    "ridge absolute": lambda _: Ridge(Absolute(), 0.3),
    "ridge logistic": lambda _: Ridge(Logistic(), 0.3),
    "ridge squared": lambda _: Ridge(Squared(), 0.3),
    "ridge l4": lambda _: Ridge(L4(), 0.3),
    "relu": lambda _: ReLU(),
    "affine": lambda _: Affine(),
    "quadratic": lambda d: Quadratic(np.diag(np.geomspace(1.6, 0.05, d))),
}


def _thin(d: int, aspect: float, rng: np.random.Generator) -> Polytope:
    """A box turned at random, and cut by a few facets, that is so many times as long as it is wide."""
    turned = special_ortho_group.rvs(d, random_state=rng) if d > 1 else np.eye(1)
    widths = np.append(np.ones(d - 1), 1 / aspect) if d > 1 else np.ones(1)
    sides, offsets = np.vstack([turned, -turned]), np.concatenate([widths, widths])
    cuts = rng.standard_normal((d, d))
    reach = np.abs(cuts @ turned.T) @ widths
    return Polytope(np.vstack([sides, cuts]), np.concatenate([offsets, 0.8 * reach]))


def _polytope(d: int, rng: np.random.Generator) -> Polytope:
    facets = np.vstack([rng.standard_normal((2 * d, d)), np.eye(d), -np.eye(d)])
    return Polytope(facets, rng.uniform(0.4, 1.0, len(facets)))


DOMAINS: dict[str, Callable[[int, np.random.Generator], Domain]] = {
    "ball": lambda d, _: Ball(np.zeros(d), 1.0),
    "box": lambda d, _: Box(np.zeros(d), np.ones(d)),
    "ellipsoid": lambda d, _: Ellipsoid(np.zeros(d), np.diag(np.geomspace(1.0, 1e-4, d)) if d > 1 else np.eye(1)),
    "l1 ball": lambda d, _: L1Ball(np.full(d, 0.1), 1.0),
    "polytope": _polytope,
    "thin polytope": lambda d, rng: _thin(d, float(10.0 ** rng.integers(3, 6)), rng),
}


@dataclass(frozen=True, eq=False)
class Case:
    """A row with public parameters, in words as well."""

    row: str
    words: str
    setting: Setting
    patience: Patience = field(repr=False)

    @property
    def subject(self) -> Subject:
        implementation = algorithm(self.row).implementation
        assert implementation is not None
        return Subject(self.row, implementation.mechanism, self.setting, 0, None, patience=self.patience)

    def pairs(self, seed: int) -> Iterator[Pair]:
        made = adversarial_pairs(self.setting.n, self.setting.d, np.random.default_rng(seed))
        return ((self.setting.admissible(a), self.setting.admissible(b)) for a, b in made)

    def check(self, seed: int, most: int) -> Difference:
        return check_outcomes(self.subject.run, itertools.islice(self.pairs(seed), most), seed)


def _unchanged(data: FloatArray) -> FloatArray:
    return data


def _labelled(data: FloatArray) -> FloatArray:
    return np.column_stack([data[:, :-1], np.where(data[:, -1] < 0, -1.0, 1.0)])


def _has_labels(loss: Loss) -> bool:
    inner = loss.loss if isinstance(loss, Ridge) else loss
    return not isinstance(inner, Quadratic) and inner.target == "label"


@cache
def case_of(row: str, index: int) -> Case:
    """Losses and domains in turn, the rest drawn by the index."""
    for attempt in itertools.count():
        rng = np.random.default_rng([task_seed(0, "outcomes", row), index, attempt])
        names = list(itertools.product(LOSSES, DOMAINS))
        loss_name, domain_name = names[(index * 29) % len(names)] if attempt == 0 else names[int(rng.integers(len(names)))]
        d, n = int(rng.integers(1, 4)), int(rng.choice(SIZES))
        loss, domain = LOSSES[loss_name](d), DOMAINS[domain_name](d, rng)
        parameters = {"loss": loss, "domain": domain, **_numbers(row, rng)}
        admissible = _labelled if _has_labels(loss) else _unchanged
        setting = Setting(n, loss.columns(d), parameters, admissible)
        numbers = ", ".join(f"{name}={value}" for name, value in parameters.items() if isinstance(value, float | str))
        words = f"{loss_name}, {domain_name}, n={n}, d={d}, {numbers}"
        implementation = algorithm(row).implementation
        assert implementation is not None
        case = Case(row, words, setting, Patience(implementation.mechanism, TIME_LIMIT))
        if _answers(case):
            return case
    raise AssertionError("unreachable")


def _answers(case: Case) -> bool:
    try:
        case.subject.run(case.setting.admissible(np.zeros((case.setting.n, case.setting.d))), 0)
    except InputError:  # of public numbers: nothing else can be wrong with zeros
        return False
    except Exception:
        return True
    return True


def _numbers(row: str, rng: np.random.Generator) -> dict[str, Any]:
    def one_of(*values: float) -> float:
        return float(rng.choice(values))

    epsilon = one_of(1.0, 1.0, 0.9, 1e-3, 50.0, 125.0, 1e3)
    regularised = {"weight": one_of(0.1, 0.1, 1.0, 1e-3, 30.0), "lipschitz": one_of(1.0, 1.0, 0.03, 100.0)}
    certified = {**regularised, "kappa": one_of(0.1, 1.0), "epsilon": epsilon}
    match row:
        case "P4.S1":
            return certified
        case "P4.A2":
            return {**certified, "failure": 0.05}
        case "P4.A4":
            return {**certified, "reading": str(rng.choice(["A", "B"]))}
        case "P4.A1":
            return {
                "epsilon": epsilon,
                "moment_order": 2.0,
                "moment_bound": one_of(1.0, 10.0),
                "preset": str(rng.choice(["theory", "tuned"])),
            }
        case "P4.S2":
            return {
                "epsilon": one_of(1.0, 1.0, 1e-3, 30.0, 76.8, 125.0, 130.0, 1e3),
                "moment_order": 2.0,
                "moment_bound": one_of(1.0, 10.0),
                "preset": str(rng.choice(["theory", "tuned"])),
            }
        case "P4.A5":
            return {**regularised, "smoothness": one_of(1.0, 1e3), "mesh": one_of(0.1, 0.3), "epsilon": epsilon}
        case "P4.A7":
            sampler = str(rng.choice(["rejection", "rejection", "grid", "walk"]))
            return {**certified, "epsilon": one_of(1.0, 1.0, 0.1, 10.0), "sampler": sampler, "mesh": 0.3}
    return {**regularised, "kappa": 40.0, "epsilon": one_of(1.0, 67.0), "weight": one_of(1.0, 30.0)}  # P4.D4
