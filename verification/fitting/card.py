"""The card of a fitted model: what is claimed, what was spent, what is known of its accuracy, and what was public.

All of it may be published: it is what the algorithm released, and what is true of every run.  The gap of a minimisation and the
work it took depend on the data and are not told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.channel import Transcript, ledger, spends_of
from tailproof.refimpl.claims import Claim, claim_to_json
from tailproof.refimpl.laws import PerturbedMinimiser
from tailproof.refimpl.pure_dp.objective import ObjectivePlan
from tailproof.refimpl.pure_dp.plan import Plan
from tailproof.verification.facts import Numbers, as_json
from tailproof.verification.fitting.optimisers import Task, run_task
from tailproof.verification.fitting.plans import lines_before, plan_of, released_bound
from tailproof.verification.shown import Shown, Table, render

Book = dict[str, Any]
MOST_BOOKS = 8  # a ledger of more lines is summed up
TILTED = "the minimiser under the random tilt was proved to be as near as the plan says before noise was added"
CERTIFICATE = "every minimisation was proved to be within α of its minimum before noise was added"
NO_CERTIFICATE = "none: gradient steps, without a bound of their error"
NOTHING = "nothing was minimised"


@dataclass(frozen=True)
class Card:
    """Of one run; `before` was known before it, from public numbers alone.  It holds no record.

    `moment_bound` is one that was chosen privately: then the plan was made of it."""

    algorithm: str
    records: int
    features: list[str]
    target: str | None
    shuffled: bool
    preset: str | None
    facts: Numbers
    parameters: Numbers
    public: Numbers
    claim: Claim
    plan: Plan | ObjectivePlan | None
    before: list[Shown]
    between: list[Shown]  # known once a private moment bound was released
    moment_bound: float | None
    ledger: list[Book]
    certificate: str
    notes: list[str]
    weights: list[float]
    radius: float | None

    def to_json(self) -> dict[str, Any]:
        plan = self.plan
        value = {
            "algorithm": self.algorithm,
            "records": self.records,
            "features": self.features,
            "target": self.target,
            "shuffled": self.shuffled,
            "preset": self.preset,
            "facts": self.facts,
            "parameters": as_json(self.parameters),
            "public": self.public,
            "claim": claim_to_json(self.claim),
            "plan": None if plan is None else plan.to_json(),
            "bound": None if plan is None else plan.bound,
            "ledger": self.ledger,
            "certificate": self.certificate,
            "notes": self.notes,
            "weights": self.weights,
        }
        more = {"radius": self.radius, "moment_bound": self.moment_bound}
        return value | {name: item for name, item in more.items() if item is not None}

    def after(self) -> list[Shown]:
        """Lines on what was released."""
        lines: list[Shown] = [
            *self.between,
            *ledger_lines(self.ledger),
            f"certificate: {self.certificate}",
            *(f"note: {note}" for note in self.notes),
        ]
        if self.radius is not None:
            lines.append(
                f"ball: within {self.radius:.6g} of the weights lies the minimiser of the regularised extension, with "
                f"probability at least {1 - self.parameters['failure']:g}"
            )
        pairs = zip(self.features, self.weights, strict=True)
        return [*lines, Table([[name, f"{weight:.10g}"] for name, weight in pairs], ["feature", "weight"])]

    def to_text(self) -> str:
        """All of it, to read."""
        public = [f"public: {name} = {said}" for name, said in self.public.items()]
        return render([*self.before, *public, *self.after()])


def before(task: Task, plan: Plan | ObjectivePlan | None) -> list[Shown]:
    """What is said of a run before it."""
    heading = f"{task.identifier} on {len(task.rows)} records of {len(task.features)} features"
    return [heading, claim_line(task.claim) + task.warning, *lines_before(task, plan)]


def fit_task(
    task: Task,
    rng: np.random.Generator,
    *,
    plan: Plan | ObjectivePlan | None,
    lines: list[Shown],
    shuffled: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Card:
    """Run the task; `lines` are those of `before`."""
    outcome = run_task(task, rng, plan=plan, shuffled=shuffled, progress=progress)
    chosen: float | None = None
    said: list[Shown] = []
    if task.chooses_bound:
        chosen = released_bound(task, int(outcome.transcript.spending[0].output))
        known = task.with_bound(chosen)
        plan = plan_of(known)
        said = [f"moment bound: G = {chosen:.6g}, released", *lines_before(known, plan)]
    return Card(
        algorithm=task.identifier,
        records=len(task.rows),
        features=task.features,
        target=task.target,
        shuffled=shuffled,
        preset=task.preset or task.parameters.get("preset"),
        facts=task.facts,
        parameters=task.parameters,
        public=task.public,
        claim=task.claim,
        plan=plan,
        before=lines,
        between=said,
        moment_bound=chosen,
        ledger=books(outcome.transcript, len(task.rows)),
        certificate=_certificate(task, outcome.transcript),
        notes=sorted({*outcome.notes, *_weak(task)}),
        weights=outcome.weights.tolist(),
        radius=outcome.radius,
    )


def _certificate(task: Task, transcript: Transcript) -> str:
    if task.optimiser.descends and not task.optimiser.certified:
        return NO_CERTIFICATE
    releases = transcript.spending[1:] if task.chooses_bound else transcript.spending
    if not releases:
        return NOTHING
    return TILTED if isinstance(releases[0].law, PerturbedMinimiser) else CERTIFICATE


def _weak(task: Task) -> list[str]:
    delta, n = task.parameters.get("delta", 0), len(task.rows)
    return [f"delta = {delta!r}: is not below 1/n = {1 / n:.3g}"] if delta >= 1 / n else []


def claim_line(claim: Claim) -> str:
    return f"claim: {claim}, {claim.neighbouring}"


def books(transcript: Transcript, size: int) -> list[Book]:
    """How many records are touched by so many releases with these spends."""
    counts: dict[tuple[int, tuple[str, ...]], int] = {}
    for names, count in ledger(transcript, size).items():
        key = len(names), tuple(str(spend) for spend in spends_of(transcript, names))[:3]
        counts[key] = counts.get(key, 0) + count
    return [{"records": count, "releases": key[0], "spends": list(key[1])} for key, count in counts.items()]


def ledger_lines(books: list[Book]) -> list[str]:
    used = [b for b in books if b["releases"]]
    if len(used) > MOST_BOOKS and len({spend for b in used for spend in b["spends"]}) == 1:  # of random batches
        counts, total = [b["releases"] for b in used], sum(b["records"] for b in used)
        often = f"{min(counts)} to {max(counts)} releases touch each of {total} records"
        return [f"ledger: {often}, spending {used[0]['spends'][0]} each; the claim counts that the batches are random"]
    return [
        f"ledger: {b['releases']} release(s) touch each of {b['records']} records, spending {_spent(b['spends'])}"
        if b["releases"]
        else f"ledger: no release touches {b['records']} records, which spend nothing"
        for b in books
    ]


def _spent(spends: list[str]) -> str:
    """One for all releases, or one by one (where they differ there are two)."""
    return f"{spends[0]} each" if len(set(spends)) == 1 else " and ".join(spends)
