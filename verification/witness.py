"""Witnesses: everything needed to run a failing check again, as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import algorithm
from tailproof.verification import marginal, mutants, utility
from tailproof.verification.amplification import check_amplified, trial_subjects
from tailproof.verification.calibration import check_calibration
from tailproof.verification.composition import check_composition
from tailproof.verification.pair_checks import PAIR_CHECKS, Measurement, run_pair_check
from tailproof.verification.query_check import check_queries
from tailproof.verification.subject import Pair, Subject, subject_of
from tailproof.verification.transcripts.forcing import Path, check_along
from tailproof.verification.transcripts.state import check_state


def witness_of(
    subject: Subject, check: str, seed: int, *, pair: Pair | None = None, path: Path | None = None, runs: int | None = None
) -> dict[str, Any]:
    """What `replay_witness` needs: the subject by name, the seed, and the neighbours or the number of runs where they matter."""
    witness: dict[str, Any] = {
        "tailproof": "witness",
        "algorithm": subject.algorithm,
        "mutant": subject.mutant,
        "setting": subject.setting_index,
        "check": check,
        "seed": seed,
    }
    if pair is not None:
        data, neighbour = map(subject.setting.admissible, pair)
        witness |= {"data": data.tolist(), "neighbour": neighbour.tolist()}
    if path is not None:
        witness["path"] = path.to_json()
    if runs is not None:
        witness["runs"] = runs
    return witness


def replay_witness(witness: dict[str, Any]) -> Measurement:
    """Run a witness's check again; `Measurement.exceeds` says whether it still violates."""
    subject = load_subject(witness["algorithm"], witness["setting"], witness["mutant"])
    check, seed = witness["check"], witness["seed"]
    if check == "utility":
        return utility.check_utility(subject.algorithm, subject.mechanism, seed, runs=witness["runs"])
    if check == "amplified claim":
        return check_amplified(subject, seed)
    pair = (np.array(witness["data"], dtype=np.float64), np.array(witness["neighbour"], dtype=np.float64))
    if check == "calibration":
        return check_calibration(subject, pair[0], seed)
    if check == "published query":
        return check_queries(subject, pair[0], seed, forced=witness["runs"])
    if check == "final iterate":
        audited, _ = marginal.audited(subject.algorithm, mechanism=subject.mechanism, mutant=subject.mutant)
        return marginal.check_output(audited, pair, seed, runs=witness["runs"])
    if check == "composition":
        return check_composition(subject, *pair, seed, runs=witness["runs"])
    if check in ("forced replay", "every row"):
        return check_along(subject, pair, Path.from_json(witness["path"]) if "path" in witness else None, seed)
    if check == "state":
        return check_state(subject, pair, seed)
    if check not in PAIR_CHECKS:
        raise KeyError(f"unknown check {check!r}")
    return run_pair_check(check, subject, pair, seed)


def load_subject(identifier: str, setting: int, mutant_name: str | None) -> Subject:
    published = algorithm(identifier).implementation
    if published is None:
        raise KeyError(f"{identifier} has no implementation")
    implementation = mutants.build(mutants.mutant(identifier, mutant_name)) if mutant_name else published
    if setting >= len(published.settings):  # one of those for amplified claims
        return list(trial_subjects(identifier, implementation.mechanism, mutant_name))[setting - len(published.settings)]
    return subject_of(identifier, setting, implementation=implementation, mutant=mutant_name)
