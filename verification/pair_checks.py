"""Checks of one subject on one pair of neighbours: run on the first, replay on the second, compare the transcripts.

One comparison serves all checks, for runs may be slow.  Each check returns a `Measurement`: the claim asks for measured ≤ bound.
Everything here is exact; a violation found is a proof (of the release's or of the whole claim, as the detail says), and its
witness re-runs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tailproof.refimpl.channel import Bound, Free, Release, ReplayDiverged, Smooth, Spend, Transcript, Unclaimed, ledger
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, Claim, PureDP, UnsoundConversion, implied
from tailproof.refimpl.identity import same_returned
from tailproof.refimpl.laws import (
    Finite,
    Gaussian,
    Gibbs,
    NoisyArgmax,
    PerturbedMinimiser,
    Softmax,
    equal_law,
    is_trusted,
    same_law,
)
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray, IntArray
from tailproof.verification import divergences, loss_laws
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.ending import NoReturn
from tailproof.verification.subject import Pair, Subject

TOLERANCE = 1e-9  # relative: float rounding of true claims stays far below, real violations lie far above


@dataclass(frozen=True)
class Measurement:
    """What a check of a pair measured; the claim asks for measured ≤ bound."""

    measured: float
    bound: float
    detail: str = ""
    conclusive: bool = True  # False: an excess would not disprove the published claim (hidden releases)
    undecided: str = ""  # why a part could not be measured; then nothing is said even if the rest is within the bound

    @property
    def exceeds(self) -> bool:
        """A NaN exceeds every bound, and a bound that is no finite number is exceeded by everything."""
        return not (self.measured <= self.bound * (1 + TOLERANCE) and math.isfinite(self.bound))

    @property
    def ratio(self) -> float:
        if math.isnan(self.measured) or math.isnan(self.bound):
            return math.inf
        return self.measured / self.bound if self.bound > 0 else (math.inf if self.measured > 0 else 0.0)

    @property
    def passes(self) -> bool:
        return not self.exceeds and not self.undecided


@dataclass(frozen=True, eq=False)
class Comparison:
    """A run, and the same releases replayed on a neighbour."""

    data: FloatArray
    neighbour: FloatArray
    output: Any
    here: Transcript
    again: Any  # the output of the replay
    there: Transcript

    @property
    def spending(self) -> list[tuple[Release, Release]]:
        return list(zip(self.here.spending, self.there.spending, strict=True))

    @property
    def releases(self) -> list[tuple[Release, Release]]:
        return list(zip(self.here, self.there, strict=True))

    @cached_property
    def changed(self) -> list[tuple[Release, Release]]:
        """Those whose law is another one.  (Locations that differ in the sign of a zero have the same law.)"""
        return [(a, b) for a, b in self.releases if not (same_law(a.law, b.law) or equal_law(a.law, b.law))]


PairCheck = Callable[[Subject, Comparison], Measurement]


def compare(subject: Subject, data: FloatArray, neighbour: FloatArray, seed: int) -> Comparison:
    output, here = subject.run(data, seed)
    again, there = subject.replay(neighbour, here)
    return Comparison(data, neighbour, output, here, again, there)


def _worst(measurements: list[Measurement]) -> Measurement:
    """The largest excess; what could not be measured is not forgotten."""
    worst = max(measurements, key=lambda m: m.ratio, default=Measurement(0.0, 1.0, "nothing released"))
    missing = next((m.undecided for m in measurements if m.undecided), "")
    return worst if worst.undecided or not missing else replace(worst, undecided=missing)


def worse(first: Measurement, second: Measurement) -> Measurement:
    """The one that says more against the claim: an excess that proves something, another excess, what is undecided, the ratio."""

    def weight(m: Measurement) -> tuple[bool, bool, bool, float]:
        return (m.exceeds and m.conclusive, m.exceeds, bool(m.undecided), m.ratio)

    return max(first, second, key=weight)


# --- sensitivity ------------------------------------------------------------------------------------------------------


def released_query(release: Release) -> FloatArray:
    """What the noise is added to."""
    law = release.law
    if isinstance(law, PerturbedMinimiser):
        return law.problem.tilt(release.output)  # the tilt that belongs to what was released
    if isinstance(law, Gibbs):
        return law.on_net.scores
    if isinstance(law, Softmax | GridWalk):
        return law.scores
    return np.atleast_1d(law.values if isinstance(law, NoisyArgmax) else law.location)  # type: ignore[attr-defined]


def sensitivity_of(here: Release, there: Release) -> Measurement:
    """How far the query moved, as a multiple of the claimed sensitivity."""
    if isinstance(here.spend, Free):
        return _free(here, there)
    if not is_trusted(here.law) or isinstance(here.law, Finite):
        said = f"{here.name}: {type(here.law).__name__} names no query"
        return Measurement(0.0, 1.0, said, undecided="" if here.sensitivity is None else said)
    move = np.abs(released_query(here) - released_query(there))
    if isinstance(here.sensitivity, Bound):
        moved = float(np.linalg.norm(move, here.sensitivity.norm))
        return Measurement(moved, here.sensitivity.value, f"{here.name}: ℓ{here.sensitivity.norm:g} move of the query")
    if isinstance(here.sensitivity, Smooth) and isinstance(there.sensitivity, Smooth):
        return _worst(list(smooth_parts(here, there)))
    return Measurement(0.0 if not move.any() else math.inf, 1.0, f"{here.name}: no sensitivity claimed")


def smooth_parts(here: Release, there: Release) -> tuple[Measurement, Measurement]:
    """The two claims of a smooth sensitivity: (move of the query / bound, growth of the bound / its rate)."""
    assert isinstance(here.sensitivity, Smooth)
    assert isinstance(there.sensitivity, Smooth)
    first, second = here.sensitivity.bound, there.sensitivity.bound
    move = np.abs(released_query(here) - released_query(there))
    local = float(np.linalg.norm(move / np.minimum(first, second), here.sensitivity.norm))
    growth = float(np.abs(np.log(first / second)).max()) / here.sensitivity.rate
    return (
        Measurement(local, 1.0, f"{here.name}: move of the query / smooth sensitivity"),
        Measurement(growth, 1.0, f"{here.name}: growth of the smooth sensitivity / its rate"),
    )


def check_sensitivity(subject: Subject, compared: Comparison) -> Measurement:  # noqa: ARG001
    return _worst([sensitivity_of(here, there) for here, there in compared.spending])


# --- privacy of every release, as claimed ------------------------------------------------------------------------------


def release_privacy_of(here: Release, there: Release) -> Measurement:
    """The exact privacy of this one release on this pair, against the spend claimed for it; the worse direction."""
    if isinstance(here.spend, Free):
        return _free(here, there)
    if isinstance(here.spend, Unclaimed):
        return Measurement(0.0, 1.0, f"{here.name}: claims nothing")
    allowed = _allowed(here.spend)
    if same_law(here.law, there.law):
        return Measurement(0.0, allowed, f"{here.name}: the same law on both data sets")
    try:
        measured = either_way(here.law, there.law, here.spend)
    except NoExactFormula as error:
        return Measurement(0.0, allowed, f"{here.name}: not measured", undecided=f"{here.name}: no formula: {error}")
    return Measurement(measured, allowed, f"{here.name}: {_unit(here.spend)} of the release against {here.spend}")


def _free(here: Release, there: Release) -> Measurement:
    same = same_law(here.law, there.law)
    said = "the same law on both data sets" if same else "is declared free, and its law depends on the data"
    return Measurement(0.0 if same else math.inf, 1.0, f"{here.name}: {said}")


def _enumerated(law: Any) -> Any:
    """A law from elsewhere with finitely many outcomes, by its probabilities.  (That it draws so is tested in `outsiders.py`.)"""
    if not is_trusted(law) and callable(getattr(law, "log_probabilities", None)):
        return Finite(law.log_probabilities())
    return law


def either_way(p: object, q: object, claim: Claim) -> float:
    """The worse direction; a NaN of either is kept."""
    return float(np.maximum(measured_privacy(p, q, claim), measured_privacy(q, p, claim)))


def measured_privacy(p: object, q: object, claim: Claim) -> float:
    p, q = _enumerated(p), _enumerated(q)
    match claim:
        case PureDP():
            return divergences.max_loss(p, q)  # type: ignore[arg-type]
        case ZCDP():
            return divergences.zcdp(p, q)  # type: ignore[arg-type]
        case ApproxDP(epsilon):
            try:
                return divergences.profile(p, q, epsilon)  # type: ignore[arg-type]
            except NoExactFormula:
                return loss_laws.delta_of([(p, q)], epsilon)  # type: ignore[list-item]
        case GDP():
            return loss_laws.mu_of([(p, q)])  # type: ignore[list-item]


def same_scale_shift(p: Gaussian, q: Gaussian) -> float | None:
    """The μ of two Gaussians of one scale; None where the scales differ."""
    same = np.array_equal(np.broadcast_to(p.scale, p.location.shape), np.broadcast_to(q.scale, q.location.shape))
    return divergences.gaussian_shift(p, q) if same else None


def _allowed(claim: Claim) -> float:
    match claim:
        case PureDP(epsilon):
            return epsilon
        case ZCDP(rho):
            return rho
        case ApproxDP(_, delta):
            return delta
        case GDP(mu):
            return mu


def _unit(claim: Claim) -> str:
    return {PureDP: "largest loss", ZCDP: "ρ", ApproxDP: "δ(ε)", GDP: "μ"}[type(claim)]


def check_release_privacy(subject: Subject, compared: Comparison) -> Measurement:  # noqa: ARG001
    return _worst([release_privacy_of(here, there) for here, there in compared.releases])


# --- privacy of the whole transcript -----------------------------------------------------------------------------------


def transcript_loss(here: Transcript, there: Transcript) -> float:
    """log P(transcript on the first data)/P(same transcript on the second): exact."""
    return math.fsum(
        a.law.logpdf(a.output) - b.law.logpdf(a.output)
        for a, b in zip(here.releases, there.releases, strict=True)
        if not same_law(a.law, b.law)
    )


def check_transcript(subject: Subject, compared: Comparison) -> Measurement:
    """The whole claim on this pair.

    One release differs: its exact divergence.  Several, pure claim: this transcript's loss, in both directions (a loss above
    ε at one outcome proves a violation when all releases are visible).  Several, other claims: the measured ledger.
    """
    claim = subject.checked_claim
    if claim is None:
        return Measurement(0.0, 1.0, "nothing is claimed")
    conclusive = compared.here.all_visible
    changed = compared.changed
    if not changed:
        return Measurement(0.0, _allowed(claim), "the laws on the two data sets are identical", conclusive)
    if len(changed) == 1:
        a, b = changed[0]
        try:
            measured = either_way(a.law, b.law, claim)
        except NoExactFormula:
            return _spent_as_declared(a, b, claim, conclusive)
        return Measurement(measured, _allowed(claim), f"exact {_unit(claim)} of the transcript against {claim}", conclusive)
    if isinstance(claim, PureDP):
        loss = abs(transcript_loss(compared.here, compared.there))
        return Measurement(loss, claim.epsilon, "loss of a sampled transcript", conclusive)
    return check_measured_ledger(subject, compared)


def _spent_as_declared(here: Release, there: Release, claim: Claim, conclusive: bool) -> Measurement:
    """Where the claim's own unit has no formula: the declared spend, if it was measured here, and what it implies."""
    found = release_privacy_of(here, there)
    if not found.passes or isinstance(here.spend, Free | Unclaimed):
        reason = found.undecided or f"{here.name}: {found.detail}"
        return Measurement(0.0, _allowed(claim), "not measured", conclusive, undecided=reason)
    spent, allowed = implied([here.spend], claim)
    return Measurement(spent, allowed, f"{here.spend}, which was measured, against {claim}", conclusive=False)


# --- what is spent, as declared and as measured ----------------------------------------------------------------------------

_LEAST = math.nextafter(0.0, 1.0)


def check_ledger(subject: Subject, compared: Comparison) -> Measurement:
    """The worst record's declared spends, composed, against the claim, in the claim's own unit: arithmetic on what is recorded.

    A claim given hidden randomness is held against them as well, also where the published claim follows from it: whether it
    does is decided by that claim.
    """
    claims = dict.fromkeys(claim for claim in (subject.checked_claim, subject.conditional) if claim is not None)
    if not claims:
        return Measurement(0.0, 1.0, "nothing is claimed")
    return max((_declared_ledger(claim, subject.setting.n, compared) for claim in claims), key=lambda found: found.ratio)


def _as_gaussian(here: Release, there: Release, claim: Claim) -> Spend:
    """A Gaussian of one scale that keeps ρ-zCDP moves by √(2ρ) scales at most: it is √(2ρ)-GDP, which composes without loss."""
    p, q = here.law, there.law
    if not isinstance(here.spend, ZCDP) or isinstance(claim, ZCDP) or not (type(p) is Gaussian and type(q) is Gaussian):
        return here.spend
    if same_scale_shift(p, q) is None:
        return here.spend
    return GDP(math.sqrt(2 * here.spend.rho), here.spend.neighbouring)


def _declared_ledger(claim: Claim, n: int, compared: Comparison) -> Measurement:
    worst = Measurement(0.0, 1.0, "no release spends anything")
    declared = {a.name: _as_gaussian(a, b, claim) for a, b in compared.spending}
    touched = ledger(compared.here, n)
    if claim.neighbouring is ADD_REMOVE:  # a record that goes moves all after it to other places: no place shields a release
        touched = {tuple(declared): len(compared.data)}
    for names, records in touched.items():
        spends = [spend for name in names if not isinstance(spend := declared[name], Free | Unclaimed)]
        if not spends:
            continue
        spent, allowed = composed(tuple(spends), claim)
        said = f"releases that touch a record: {len(spends)} ({records} such records); claim {claim}"
        others = {str(spend.neighbouring) for spend in spends} - {str(claim.neighbouring)}
        if others:
            said += f", {claim.neighbouring}; there are spends under {', '.join(others)}"
        worst = max(worst, Measurement(spent, allowed, said), key=lambda m: m.ratio)
    return worst


def check_measured_ledger(subject: Subject, compared: Comparison) -> Measurement:
    """What the releases that changed spend on this pair, along this path, composed and held against the claim, in its own unit.

    A declared spend counts only where it was measured: a release that stays within its spend on this pair counts with the
    spend, one whose loss is larger with what was measured.  Composition theorems hold for any sequence of laws, so that a
    true claim is never exceeded where every release keeps its spend and the spends compose to the claim.  An excess is a
    proof when one release differs. With several, later laws may depend on earlier values, and the sum along one path need
    not be attained: nothing is certified then.
    """
    claim = subject.checked_claim
    if claim is None:
        return Measurement(0.0, 1.0, "nothing is claimed")
    changed = compared.changed
    if len(changed) == 1:
        return check_transcript(subject, compared)
    if not changed:
        return Measurement(0.0, 1.0, "the laws on the two data sets are identical", conclusive=False)
    found = _composed_spends(changed, claim)
    if found.passes or isinstance(claim, PureDP):
        return found
    try:
        product = loss_laws.product_of([(_enumerated(a.law), _enumerated(b.law)) for a, b in changed], claim)
    except NoExactFormula:
        return found
    said = f"{len(changed)} releases differ, their losses composed along this path; claim {claim}"
    return Measurement(product, _allowed(claim), said, conclusive=False)


def _composed_spends(changed: list[tuple[Release, Release]], claim: Claim) -> Measurement:
    """By the theorems of composition: an upper bound of what these releases reveal together."""
    spends: list[Claim] = []
    for here, there in changed:
        spend = _spent(here, there, claim)
        if isinstance(spend, str):
            return Measurement(0.0, 1.0, "not composed", conclusive=False, undecided=spend)
        if spend is None:
            return Measurement(math.inf, 1.0, f"{here.name}: nothing bounds what it reveals", conclusive=False)
        spends.append(spend)
    spent, allowed = composed(tuple(spends), claim)
    said = f"{len(spends)} releases differ, composed as measured; claim {claim}"
    return Measurement(spent, allowed, said, conclusive=False)


@lru_cache(maxsize=4096)
def composed(spends: tuple[Claim, ...], claim: Claim) -> tuple[float, float]:
    """What the spends imply and what the claim allows; where the theorems fall short, by the losses of the spends' worst pairs."""
    try:
        spent, allowed = implied(spends, claim)
        if isinstance(claim, ApproxDP) and spent > allowed:
            spent = min(spent, loss_laws.composed_epsilon(spends, claim.delta, claim.epsilon))
    except UnsoundConversion:
        return math.inf, 1.0
    except NoExactFormula:
        pass
    return spent, allowed


def _spent(here: Release, there: Release, claim: Claim) -> Claim | str | None:
    """A claim that this release has on this pair; a string says why none was measured, None that none holds."""
    if not isinstance(here.spend, Free | Unclaimed):
        found = release_privacy_of(here, there)
        if found.passes:
            return here.spend
    units: tuple[type[Claim], ...] = (GDP, ZCDP, PureDP, ApproxDP)  # what composes well first
    if isinstance(claim, PureDP):
        units = (PureDP, *units)
    reason = ""
    for unit in dict.fromkeys(units):
        try:
            measured = _measured(here, there, unit, claim)
        except NoExactFormula as error:
            reason = reason or f"{here.name}: no formula: {error}"
            continue
        if measured is not None:
            return measured
    return reason or None


def _measured(here: Release, there: Release, unit: type[Claim], claim: Claim) -> Claim | None:
    """In this unit, on this pair, in the worse direction; None if infinite."""
    if unit is GDP and isinstance(here.law, Gaussian) and isinstance(there.law, Gaussian):
        mu = same_scale_shift(here.law, there.law)
        return None if mu is None else GDP(max(mu, _LEAST), claim.neighbouring)
    probe: Claim
    if unit is ApproxDP and isinstance(claim, ApproxDP):
        probe = claim
        delta = either_way(here.law, there.law, probe)
        return ApproxDP(claim.epsilon, max(delta, _LEAST), claim.neighbouring) if delta < 1 else None
    if unit is PureDP:
        loss = either_way(here.law, there.law, PureDP(1.0))
        return PureDP(max(loss, _LEAST), claim.neighbouring) if loss < math.inf else None
    if unit is ZCDP:
        rho = either_way(here.law, there.law, ZCDP(1.0))
        return ZCDP(max(rho, _LEAST), claim.neighbouring) if rho < math.inf else None
    return None


# --- nothing else leaves --------------------------------------------------------------------------------------------------


def changed_records(data: FloatArray, neighbour: FloatArray) -> IntArray:
    """Those whose bits differ: a zero and its negative are two records."""
    bits = [np.ascontiguousarray(side, dtype=np.float64).view(np.int64) for side in (data, neighbour)]
    return np.flatnonzero((bits[0] != bits[1]).any(axis=1))


def check_closed(subject: Subject, compared: Comparison) -> Measurement:  # noqa: ARG001
    """Given the same released values, the output is the same, bit for bit; hidden randomness and untouched releases keep their law.

    Otherwise something that depends on the data left outside the channel, or a release touches records it does not name.
    """
    if len(compared.data) == len(compared.neighbour):
        changed = changed_records(compared.data, compared.neighbour)
        for a, b in compared.releases:
            untouched = a.rows is not None and not np.isin(changed, np.asarray(a.rows)).any()
            if (a.hidden or untouched) and not same_law(a.law, b.law):
                return Measurement(
                    math.inf, 1.0, f"{a.name}: its law changed though the changed record is not among its rows"
                )
    if not same_returned(compared.output, compared.again):
        return Measurement(math.inf, 1.0, "the output differs though every released value is the same")
    return Measurement(0.0, 1.0, "the output depends on the data through the releases only")


def check_declarations(subject: Subject, compared: Comparison) -> Measurement:
    """What is free has one law on all data, what claims nothing is not released under a claim, and every law is one that is known.

    That declarations are equal on neighbours is checked by the replay itself, which ends where they are not.
    """
    for a, b in compared.releases:
        if isinstance(a.spend, Free) and not same_law(a.law, b.law):
            return _free(a, b)
        if isinstance(a.spend, Unclaimed) and subject.claim is not None:
            return Measurement(math.inf, 1.0, f"{a.name}: leaves without noise, and {subject.claim} is claimed")
    return Measurement(0.0, 1.0, "what is declared does not depend on the data")


# --- what a release is said to be near to ----------------------------------------------------------------------------------------


def check_accuracy(subject: Subject, compared: Comparison) -> Measurement:  # noqa: ARG001
    """A perturbed minimiser that was computed is as near to the exact one as the noise after it allows for, for tilts of all sizes.

    Newton's residual is evaluated here once more, without rounding where losses are piecewise quadratic: it bounds the distance.
    """
    found = []
    for at, release in enumerate(compared.here.spending):
        if isinstance(release.law, PerturbedMinimiser):
            following = compared.here.spending[at + 1]
            assert isinstance(following.sensitivity, Bound)
            rng = np.random.default_rng(0)
            for stretch in (0.1, 1.0, 10.0):
                tilt = stretch * release.law.noise().sample(rng)
                away = divergences.distance_upper(release.law.problem, tilt)
                found.append(
                    Measurement(away, following.sensitivity.value / 2, f"{release.name}: distance from the exact one")
                )
    return _worst(found) if found else Measurement(0.0, 1.0, "nothing here is approximate")


PAIR_CHECKS: dict[str, PairCheck] = {
    "sensitivity": check_sensitivity,
    "release privacy": check_release_privacy,
    "ledger": check_ledger,
    "measured ledger": check_measured_ledger,
    "transcript": check_transcript,
    "closed": check_closed,
    "declarations": check_declarations,
    "accuracy": check_accuracy,
}
"""The checks of a pair of neighbours, by name: each takes (subject, data, neighbour, seed)."""


def compare_or_say_why_not(subject: Subject, pair: Pair, seed: int) -> Comparison | Measurement:
    """A course of the run that depends on the data is a violation of every claim; so is raising on legal data."""
    try:
        return compare(subject, *pair, seed)
    except ReplayDiverged as error:
        return diverged(error)
    except Exception as error:  # whatever it is: data that raise tell of themselves
        return raises_on_data(error)


def diverged(error: ReplayDiverged) -> Measurement:
    return Measurement(math.inf, 1.0, f"the course of the run depends on the data: {error}")


def check_on(name: str, subject: Subject, compared: Comparison | Measurement) -> Measurement:
    if isinstance(compared, Measurement):
        return compared
    try:
        return PAIR_CHECKS[name](subject, compared)
    except NoExactFormula as error:
        return Measurement(0.0, 1.0, "not measured", undecided=f"no formula: {error}")
    except Exception as error:  # a law from elsewhere may raise anything
        return raises_on_data(error)


def run_pair_check(name: str, subject: Subject, pair: Pair, seed: int) -> Measurement:
    """A check on a pair."""
    return check_on(name, subject, compare_or_say_why_not(subject, pair, seed))


def raises_on_data(error: Exception) -> Measurement:
    """It reveals something about the data: that is a violation, not a crash."""
    if isinstance(error, NoReturn):
        return Measurement(math.inf, 1.0, f"on legal data, a run {error}")
    return Measurement(math.inf, 1.0, f"raises on legal data: {type(error).__name__}: {error}")
