"""The classes of bugs that vectors hunt, and to which of them each of our mutants belongs."""

from __future__ import annotations

from dataclasses import dataclass

from tailproof.verification.mutants import Mutant


@dataclass(frozen=True)
class BugClass:
    """What such a bug is, and what it does to privacy or to the answer."""

    description: str
    effect: str


BUG_CLASSES: dict[str, BugClass] = {
    "UNCLIPPED": BugClass(
        "Clipping, truncation, trimming, projection or the Lipschitz extension of a record's part is left out or incomplete.",
        "One far record moves the query without bound: no noise scale is large enough.",
    ),
    "HALVED_SENSITIVITY": BugClass(
        "The sensitivity is understated, such as C/n for 2C/n: a record is taken to be removed, or a group to be the sample.",
        "The noise is too small for the claim by the same factor; ε is that much larger.",
    ),
    "UNDERSCALED_NOISE": BugClass(
        "The noise is less than its formula says although sensitivity and budget are right.",
        "ε grows by the factor, ρ by its square.",
    ),
    "INFLATED_NOISE": BugClass(
        "The noise is more than its formula says.",
        "Private, but less accurate than claimed; often the sign of a second mistake that it hides.",
    ),
    "SIGMA_VS_VARIANCE": BugClass(
        "A variance is passed where a standard deviation is expected, or the other way round.",
        "The noise has the wrong power of every parameter: far too small where the deviation is below one.",
    ),
    "DROPPED_COMPOSITION": BugClass(
        "The budget is not split over steps, coordinates, rounds or stages.",
        "Every part spends the whole budget; the claim fails by the number of parts, or its root.",
    ),
    "OVERLAPPING_BATCHES": BugClass(
        "Batches that are charged as disjoint share records, or a step looks at records outside its batch.",
        "A record is in several releases and is charged for one.",
    ),
    "REUSED_NOISE": BugClass(
        "One draw of noise serves several coordinates or values, or is added outside of what was accounted for.",
        "Differences of outputs are free of noise and show the data.",
    ),
    "EXACT_VALUE_LEAKED": BugClass(
        "A value computed from data reaches the output, or a choice, beside the noisy one.",
        "No finite ε holds.",
    ),
    "DATA_DEPENDENT_PARAMETER": BugClass(
        "A clip level, scale, step length, radius, start or net is computed from the data although it must be public.",
        "The parameter itself is released without noise, and sensitivities that assume it fixed are wrong.",
    ),
    "DATA_DEPENDENT_PARTITION": BugClass(
        "Batches or groups are formed by the values of records.",
        "One record shifts all others between groups: a release's sensitivity is no longer that of one record.",
    ),
    "UNSHUFFLED": BugClass(
        "Hidden randomness that a claim rests on, an order or a fresh batch, is not used or used again.",
        "Amplification by shuffling or sampling does not apply; ε is that of the unamplified mechanism.",
    ),
    "UNCERTIFIED_ACCURACY": BugClass(
        "A claim rests on an approximate minimiser or sample, and the approximation is not as good as the claim needs.",
        "Noise calibrated to the exact object does not cover the error, which differs between neighbours.",
    ),
    "WRONG_CONSTANT": BugClass(
        "A term or factor of a published formula is left out, or taken from another place.",
        "The claim is missed, or accuracy given away, by that factor.",
    ),
    "WRONG_QUERY": BugClass(
        "The query or what is made of the noisy value is another function of the data than stated.",
        "The answer is biased, or the stated sensitivity belongs to another query.",
    ),
    "WRONG_ADJACENCY": BugClass(
        "A claim about adding or removing a record is used for replacing one, or claims of both kinds are mixed.",
        "ε is off by a factor of two, and nothing at all follows in the other direction.",
    ),
    "UNSOUND_CONVERSION": BugClass(
        "A claim is turned into one that does not follow from it, or by a formula that is too optimistic.",
        "The stated claim is false although every mechanism does what it says.",
    ),
    "FALSE_CERTIFICATE": BugClass(
        "A verifier accepts a certificate that does not prove its claim.",
        "Everything that rests on the certificate is unproved.",
    ),
    "REFUSED_CERTIFICATE": BugClass(
        "A verifier refuses a certificate that proves its claim.",
        "A true statement cannot be used; a sign that the verifier checks something else.",
    ),
}

_BY_NAME: dict[str, tuple[str, ...]] = {
    "UNCLIPPED": (
        "clip skipped",
        "truncation skipped",
        "trimming skipped",
        "clamp skipped",
        "extension skipped",
        "extension and cut skipped",
        "envelope skipped: a hundredth of it",
        "projection skipped",
        "cubic without its correction",
        "rough records kept",
    ),
    "HALVED_SENSITIVITY": (
        "C/n for 2C/n",
        "sensitivity halved",
        "one ball for every k",
        "noise of the whole sample's mean",
    ),
    "UNDERSCALED_NOISE": ("noise halved", "noise a tenth", "selection noise halved", "rounding's noise halved"),
    "INFLATED_NOISE": ("noise doubled", "noise doubled: half of a batch left out"),
    "SIGMA_VS_VARIANCE": ("variance for deviation",),
    "DROPPED_COMPOSITION": (
        "budget not split",
        "budget not split over coordinates",
        "budget not split over steps",
        "budget not split over the steps",
        "budget not split over the s rounds",
        "budget not split: composition dropped",
        "budget: composition dropped, every step spends (ε, δ)",
        "determinant forgotten: its share of the budget for the tilt",
        "δ₀ = δ",
    ),
    "OVERLAPPING_BATCHES": (
        "batches overlap",
        "every batch sees all records",
        "every stage sees all records",
        "budget of all records in every group",
        "budget of every batch for all records: batches overlap",
        "budget of every batch for all records: each sees all",
        "budget of every part for all records: parts overlap",
        "budget of every phase for all records: batches overlap",
        "budget of every stage for all records: parts overlap",
    ),
    "REUSED_NOISE": ("noise reused",),
    "EXACT_VALUE_LEAKED": (
        "noise reused: the mean of the records beside it",
        "noise reused: exact gradient added",
        "exact gradient added",
        "selection without noise",
    ),
    "DATA_DEPENDENT_PARAMETER": (
        "data-dependent scale",
        "data-dependent scale: local for smooth sensitivity",
        "data-dependent scale: step length from the data",
        "C from the data",
        "clip from the data",
        "Λ from the data",
        "grid from the data",
        "net from the data",
        "projection radius from the data",
        "start from the data",
        "step length from the data",
        "step size from the data",
        "aggregation by the data",
    ),
    "DATA_DEPENDENT_PARTITION": ("batches by value", "groups by value"),
    "UNSHUFFLED": ("not shuffled", "one batch for all steps"),
    "UNCERTIFIED_ACCURACY": (
        "certificate ignored: twenty steps, too long ones",
        "certificate ignored: the centre where it is hard to find",
        "certificate ignored: one step",
        "certificate ignored: single precision",
        "a walk with too few steps",
    ),
    "WRONG_CONSTANT": (
        "κ dropped",
        "η₀ forgotten in λ",
        "λ of the proof, s/3 times line 10's",
        "√ln(1/δ) for 2√ln(1/δ) in ρ",
        "logarithm of Definition 3 left out",
        "not amplified: ε for ε₀",
        "share of the records halved",
    ),
    "WRONG_QUERY": ("regulariser left out", "shifted", "turned round", "score turned round"),
}


def bug_class(mutant: Mutant) -> str:
    """A mutant's class goes by its seed key, which says what was done and never changes; `KeyError` for one that has none."""
    for name, members in _BY_NAME.items():
        if mutant.seed_key in members:
            return name
    raise KeyError(f"{mutant.algorithm} {mutant.name!r}: has no bug class; give it one in verification/vectors/bugs.py")
