"""Every mutant is killed by a check of its class; every honest estimator passes the same checks over 200 seeds."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from tailproof.bounds.errata import errata
from tailproof.refimpl.catalogue import ALGORITHMS
from tailproof.refimpl.channel import Channel
from tailproof.verification import neighbours
from tailproof.verification.calibration import PUBLISHED
from tailproof.verification.check import QUICK, calibration_finding, judge_mutant, subject_findings
from tailproof.verification.mutants import INAPPLICABLE, MUTANTS, Mutant, build, mutants_of
from tailproof.verification.pair_checks import PAIR_CHECKS, compare
from tailproof.verification.subject import Subject, subject_of, worst_pairs
from tailproof.verification.witness import replay_witness

BUILT = [entry for entry in ALGORITHMS if entry.implementation is not None]
PRIVACY_CHECKS = set(PAIR_CHECKS)
ASKED_FOR = (
    "noise halved",
    "skipped",
    "C/n for 2C/n",
    "variance for deviation",
    "budget",
    "data-dependent scale",
    "noise reused",
    "noise doubled",
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m.algorithm}-{m.name}" for m in MUTANTS])
def test_killed_by_a_check_of_its_class(mutant: Mutant) -> None:
    result = judge_mutant(mutant, seed=7)
    assert result.killed
    own = {"calibration": {"calibration"}, "utility": {"utility"}, "amplification": {"amplified claim"}}
    allowed = {"privacy": PRIVACY_CHECKS, **own}[mutant.kind]
    assert set(result.killed_by) <= allowed
    assert result.witness is not None
    assert replay_witness(json.loads(json.dumps(result.witness))).exceeds


@pytest.mark.parametrize("entry", BUILT, ids=[entry.id for entry in BUILT])
def test_every_kind_of_mutant_is_there_or_declared_inapplicable(entry: object) -> None:
    identifier = entry.id  # type: ignore[attr-defined]
    names = [m.name for m in mutants_of(identifier)]
    left_out = [m.name for m in INAPPLICABLE if m.algorithm == identifier]
    for kind in ASKED_FOR:
        synonyms = {
            "C/n for 2C/n": ("C/n for 2C/n", "sensitivity halved"),
            "data-dependent scale": ("data-dependent", "from the data"),
        }
        assert any(word in name for name in names + left_out for word in synonyms.get(kind, (kind,))), kind
    kinds = {m.kind for m in mutants_of(identifier)}
    assert "privacy" in kinds
    assert "calibration" in kinds or identifier in ("P0.A1", "P0.A2")
    assert "utility" in kinds or "utility" in left_out


def test_an_edit_that_does_not_apply_is_an_error() -> None:
    with pytest.raises(ValueError, match="stands 0 times"):
        build(Mutant("P2.A2", "stale", "privacy", (("no such text", ""),)))


def test_an_edit_of_a_module_that_the_algorithm_does_not_rest_on_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not rest on"):
        build(Mutant("P2.A2", "elsewhere", "privacy", (), "tailproof.refimpl.pure_dp.perturbation"))


def test_an_edited_module_is_seen_by_the_mutant_only() -> None:
    """The population's solver rests on the edited module through two others."""
    before = dict(sys.modules)
    mutant = Mutant(
        "P4.A1", "deaf", "privacy", (("return minimise(", "return 0 * minimise("),), "tailproof.refimpl.pure_dp.perturbation"
    )
    broken = build(mutant).mechanism
    assert dict(sys.modules) == before
    honest = next(entry.implementation for entry in BUILT if entry.id == "P4.A1")
    assert honest is not None
    setting = honest.settings[0]
    data = np.full((setting.n, setting.d), 5.0)
    for mechanism, deaf in ((broken, True), (honest.mechanism, False)):
        channel = Channel.sampling(np.random.default_rng(0))
        mechanism(data, channel, **setting.parameters)
        locations = [release.law.location for release in channel.transcript()]  # type: ignore[attr-defined]
        assert all((location == 0).all() == deaf for location in locations)


SUBJECTS: list[Subject] = [
    subject_of(entry.id, index, implementation=entry.implementation)
    for entry in BUILT
    if entry.implementation is not None
    for index in range(len(entry.implementation.settings))
]
REFUTED = [subject for subject in SUBJECTS if subject.setting.refuted]
UNREFUTED = [subject for subject in SUBJECTS if not subject.setting.refuted]


@pytest.mark.parametrize("subject", REFUTED, ids=[f"{s.algorithm}-{s.setting_index}" for s in REFUTED])
def test_a_refuted_claim_has_its_erratum_and_a_witness(subject: Subject) -> None:
    assert subject.setting.refuted in {erratum.id for erratum in errata()}
    violated = [f for f in subject_findings(subject, 0, QUICK) if f.status == "violated"]
    assert violated
    for finding in violated:
        assert finding.expected
        assert not finding.unexpected_violation
        assert finding.witness is not None
        assert replay_witness(json.loads(json.dumps(finding.witness))).exceeds


def test_a_refutation_that_no_longer_refutes_is_a_failure() -> None:
    sound = next(s for s in SUBJECTS if s.algorithm == "P3.A2" and s.setting.parameters.get("convexity") == "strong")
    refuted = next(s for s in SUBJECTS if s.algorithm == "P3.A2" and s.setting.refuted)
    found = list(subject_findings(replace(sound, setting=replace(sound.setting, pins=refuted.setting.pins)), 0, QUICK))
    missing = {f"pinned: {pin.check}" for pin in refuted.setting.pins}
    assert {f.check for f in found if f.unexpected_violation} == missing


@pytest.mark.parametrize("subject", UNREFUTED, ids=[f"{s.algorithm}-{s.setting_index}" for s in UNREFUTED])
def test_honest_estimators_pass_over_200_seeds(subject: Subject) -> None:
    """Exact checks: no false alarm is possible but for rounding, which the tolerance of 1e-9 covers.

    Each seed draws a structured pair of its own (one of the shipped ones every tenth time) and a transcript of its own.
    Where runs are slow there are fewer seeds, ten at least.
    """
    shipped = worst_pairs(subject.algorithm, subject.setting)
    names = list(PAIR_CHECKS)
    if subject.algorithm == "P1.A3.mean":
        names.remove("transcript")  # one release: the same number as its release privacy, at the same cost
    for seed in range(max(10, round(200 * subject.setting.effort**2))):
        rng = np.random.default_rng([seed, 99])
        pairs = list(neighbours.structured(subject.setting.n, subject.setting.d, rng, scales=(10.0 ** rng.uniform(-2, 12),)))
        pair = shipped[seed // 10 % len(shipped)] if shipped and seed % 10 == 0 else pairs[rng.integers(len(pairs))]
        compared = compare(subject, *pair, seed)
        for name in names:
            measured = PAIR_CHECKS[name](subject, compared)
            assert measured.passes, f"{name}, seed {seed}: {measured}"
        if subject.algorithm in PUBLISHED and seed % 10 == 0:
            assert calibration_finding(subject, seed).status == "certified"


def test_quick_effort_is_smaller_than_full() -> None:
    from tailproof.verification.check import FULL

    assert (QUICK.restarts, QUICK.steps, QUICK.transcripts, QUICK.runs) < (
        FULL.restarts,
        FULL.steps,
        FULL.transcripts,
        FULL.runs,
    )
