"""Witnesses: everything needed to run a failing check again, as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.validation import whole
from tailproof.verification import marginal, mutants, utility
from tailproof.verification.amplification import check_amplified, trial_subjects
from tailproof.verification.calibration import check_calibration
from tailproof.verification.composition import check_composition
from tailproof.verification.outcomes import Outcomes
from tailproof.verification.pair_checks import PAIR_CHECKS, Measurement, run_pair_check
from tailproof.verification.query_check import check_queries
from tailproof.verification.subject import Pair, Subject, subject_of
from tailproof.verification.transcripts.forcing import Path, check_along
from tailproof.verification.transcripts.state import check_state
from tailproof.verification.vectors.parameters import from_json, to_json


def witness_of(
    subject: Subject, check: str, seed: int, *, pair: Pair | None = None, path: Path | None = None, runs: int | None = None
) -> dict[str, Any]:
    """What `replay_witness` needs: the subject by name, the seed, the neighbours or the number of runs where they matter.

    The public numbers of the run go along: a setting of the catalogue may change later, a counterexample does not.
    """
    setting = subject.setting
    witness: dict[str, Any] = {
        "tailproof": "witness",
        "algorithm": subject.algorithm,
        "mutant": subject.mutant,
        "setting": subject.setting_index,
        "records": setting.n,
        "columns": setting.d,
        "parameters": to_json(dict(setting.parameters)),
        "check": check,
        "seed": seed,
    }
    if pair is not None:
        data, neighbour = map(setting.admissible, pair)
        witness |= {"data": data.tolist(), "neighbour": neighbour.tolist()}
    if path is not None:
        witness["path"] = path.to_json()
    if runs is not None:
        witness["runs"] = runs
    return witness


def replay_witness(witness: dict[str, Any]) -> Measurement:
    """Run a witness's check again; `Measurement.exceeds` says whether it still violates."""
    subject = _as_it_was(load_subject(witness["algorithm"], witness["setting"], witness["mutant"]), witness)
    check, seed = witness["check"], whole("seed", witness["seed"], least=0)
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
    if check == "outcomes":
        return Outcomes(subject.run, seed).judged(pair)
    if check not in PAIR_CHECKS:
        raise KeyError(f"unknown check {check!r}")
    return run_pair_check(check, subject, pair, seed)


def _as_it_was(subject: Subject, witness: dict[str, Any]) -> Subject:
    """With the public numbers of the run, and what is claimed for them.  Witnesses of 0.1 have none."""
    if "parameters" not in witness:
        return subject
    published = algorithm(subject.algorithm).implementation
    assert published is not None
    n, d = (whole(name, witness[name], least=0) for name in ("records", "columns"))
    setting = replace(subject.setting, n=n, d=d, parameters=from_json(witness["parameters"]))
    return replace(
        subject, setting=setting, claim=published.privacy(setting), conditional=published.conditional_privacy(setting)
    )


def load_subject(identifier: str, setting: int, mutant_name: str | None) -> Subject:
    published = algorithm(identifier).implementation
    if published is None:
        raise KeyError(f"{identifier} has no implementation")
    implementation = mutants.build(mutants.mutant(identifier, mutant_name)) if mutant_name else published
    if setting >= len(published.settings):  # one of those for amplified claims
        return list(trial_subjects(identifier, implementation.mechanism, mutant_name))[setting - len(published.settings)]
    return subject_of(identifier, setting, implementation=implementation, mutant=mutant_name)
