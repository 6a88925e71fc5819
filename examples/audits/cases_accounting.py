"""dp-accounting: what its accountants and its calibration say, against exact values (`laws_accounting.py`); and Tailproof's own
calculators against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

from harness import Case, at_most
from laws_accounting import (
    UPPER,
    accountant,
    advanced,
    all_gaussians,
    all_laplaces,
    best_of_runs,
    calibrated,
    concentrated,
    discrete_gaussians,
    discrete_laplaces,
    epsilons,
    event,
    gaussians_said,
    laplaces_composed,
    leaking_responses,
    mixed_gaussians,
    our_compositions,
    our_conversions,
    our_epsilons,
    our_rho,
    our_scales,
    package,
    responses,
    responses_counted,
    responses_exact,
    sampled_composed,
    sampled_gaussians,
    sampled_laplace,
    sigmas,
    smallest,
    trees,
    truncated_samples,
    without_replacement,
)
from laws_noise import worst

from tailproof.refimpl.claims import (
    ApproxDP,
    PureDP,
    gaussian_delta,
    gaussian_epsilon,
)

# --- cases -----------------------------------------------------------------------------------------------------------------


def _row(subject: str, setting: str, pairs: Callable[[], Iterator[tuple[float, float]]], *, library: str = "") -> Case:
    witness = "the largest quotient over the settings"
    test = at_most(lambda: worst(pairs()), lambda: 1.0)
    return Case(library or "dp-accounting", subject, setting, PureDP(1.0), test, witness, stated=UPPER)


def _single(subject: str, setting: str, both: Callable[[], tuple[float, float]], delta: float, **more: str) -> Case:
    """One exact ε and one that is stated."""
    test = at_most(lambda: both()[0], lambda: both()[1])
    return Case(
        "dp-accounting",
        subject,
        setting,
        ApproxDP(1.0, delta),
        test,
        more.pop("witness"),
        stated="ε ≤ what it states",
        **more,
    )


def kept_cases() -> list[Case]:
    found = []
    for (sigma, times, delta), kind in product(((1.0, 1, 1e-5), (4.0, 1, 1e-6), (10.0, 100, 1e-6)), ("PLD", "RDP")):
        test = at_most(
            lambda s=sigma, k=times, d=delta: gaussian_epsilon(math.sqrt(k) / s, d),
            lambda w=kind, s=sigma, k=times, d=delta: gaussians_said(w, s, k, d),
        )
        setting = f"Gaussian, σ = {sigma:g}, {times} times, δ = {delta:g}"
        claim = ApproxDP(gaussian_epsilon(math.sqrt(times) / sigma, delta), delta)
        found.append(
            Case(
                "dp-accounting",
                f"{kind} accountant",
                setting,
                claim,
                test,
                "ε stated and exact",
                stated="ε ≤ what it states",
            )
        )
    for epsilon, delta in ((1.0, 1e-5), (8.0, 1e-6)):
        test = at_most(
            lambda e=epsilon, d=delta: gaussian_delta(1 / float(package().get_sigma_gaussian(e, d)), e),
            lambda d=delta: d,
        )
        setting = f"ε = {epsilon:g}, δ = {delta:g}"
        found.append(
            Case(
                "dp-accounting",
                "get_sigma_gaussian",
                setting,
                ApproxDP(epsilon, delta),
                test,
                "δ at its σ",
                stated=f"δ ≤ {delta:g} at its σ",
            )
        )
    for times in (5, 40):
        test = at_most(lambda k=times: responses_exact(k, 1e-6), lambda: 1e-6)
        setting = f"{times} randomised responses, ε = 1"
        found.append(
            Case(
                "dp-accounting",
                "PLD accountant",
                setting,
                ApproxDP(1.0, 1e-6),
                test,
                "δ at the ε it states",
                stated="δ ≤ 1e-06 at its ε",
            )
        )
    return found


def accountants() -> list[Case]:
    pld, rdp, both = "PLD accountant", "RDP accountant", (("PLD accountant", "PLD"), ("RDP accountant", "RDP"))
    return [
        *(
            _row(name, "Gaussian, σ = 0.5 to 30, 1 to 10000 times, δ = 0.001 to 1e-09", lambda k=kind: all_gaussians(k))
            for name, kind in both
        ),
        *(_row(name, "Laplace, scale 0.2, 1, 10, δ = 0.001 to 1e-09", lambda k=k: all_laplaces(k)) for name, k in both),
        *(
            _row(name, f"randomised response, 2, 3, 10 answers, {words}", lambda k=k, r=relation: responses(k, r))
            for (name, k), (relation, words) in product(
                both, (("REPLACE_ONE", "another record"), ("REPLACE_SPECIAL", "the special record"))
            )
        ),
        *(
            _row(
                name,
                "Poisson-sampled Gaussian, rate 0.001, 0.1, 0.9, σ = 0.5 to 30",
                lambda k=k: sampled_gaussians(k, "ADD_OR_REMOVE_ONE"),
            )
            for name, k in both
        ),
        _row(
            pld,
            "Poisson-sampled Gaussian, a record replaced",
            lambda: sampled_gaussians("PLD", "REPLACE_ONE"),
        ),
        _row(pld, "Poisson-sampled Laplace, rate 0.01, 0.5, scale 0.2, 1, 10", sampled_laplace),
        *(
            _row(name, f"Poisson-sampled Gaussian, {times} times", lambda k=k, t=times: sampled_composed(k, t))
            for (name, k), times in product(both, (2, 16))
        ),
        *(_row(name, "Laplace, 10 times, scale 1, 5", lambda k=k: laplaces_composed(k, 10)) for name, k in both),
        _row(pld, "mixture of Gaussians, means 0, 1, 2", mixed_gaussians),
        _row(pld, "discrete Laplace, rate 0.1, 1, sensitivity 1, 3", discrete_laplaces),
        _row(pld, "discrete Gaussian, σ = 0.7, 4, sensitivity 1, 3", discrete_gaussians),
        *(
            _row(pld, f"truncated Poisson samples of 3 to 6 records, {words}", lambda r=relation: truncated_samples(r))
            for relation, words in (("ADD_OR_REMOVE_ONE", "one added"), ("REPLACE_ONE", "one replaced"))
        ),
        _row(pld, "(0.3, 0.0001)-private, 1 to 20 times", leaking_responses),
        *(
            _row(rdp, f"the best of runs, {words}, mean 2, 20", lambda s=shape: best_of_runs(s))
            for shape, words in ((1.0, "geometric"), (0.0, "logarithmic"), (math.inf, "Poisson"))
        ),
        _row(rdp, "tree aggregation, 1 to 1000 steps", trees),
        _row(rdp, "zCDP, ρ = 0.01, 0.5, 5", concentrated),
    ]


def violated_ones() -> list[Case]:
    counted = "dp_accounting_randomized_response.py"
    replaced = "dp_accounting_replace_one.py"
    known = "also google/differential-privacy, issue 378; the PLD accountant takes 2C, as the definition of the event asks"
    return [
        *(
            _single(
                f"{kind} accountant",
                f"randomised response, ε = 1, compose(event, {times}), δ = 1e-06",
                lambda k=kind, t=times: responses_counted(k, t),
                1e-6,
                witness="ε stated and exact",
                **({"script": counted, "note": "the count is not used"} if kind == "PLD" else {}),
            )
            for kind, times in product(("PLD", "RDP"), (5, 40))
        ),
        _single(
            "RDP accountant",
            "Gaussian, σ = 2, a record replaced, δ = 1e-05",
            lambda: (
                gaussian_epsilon(1.0, 1e-5),
                float(accountant("RDP", "REPLACE_ONE").compose(event("GaussianDpEvent", 2.0)).get_epsilon(1e-5)),
            ),
            1e-5,
            witness="vectors of norm C, one becomes its opposite",
            script=replaced,
            note=known,
        ),
        _single(
            "PLD accountant",
            "Gaussian, σ = 2, a record replaced, δ = 1e-05",
            lambda: (
                gaussian_epsilon(1.0, 1e-5),
                float(accountant("PLD", "REPLACE_ONE").compose(event("GaussianDpEvent", 2.0)).get_epsilon(1e-5)),
            ),
            1e-5,
            witness="vectors of norm C, one becomes its opposite",
        ),
        _single(
            "RDP accountant",
            "Laplace, scale 1, a record replaced, δ = 1e-05",
            lambda: (
                2 + 2 * math.log1p(-1e-5),
                float(accountant("RDP", "REPLACE_ONE").compose(event("LaplaceDpEvent", 1.0)).get_epsilon(1e-5)),
            ),
            1e-5,
            witness="numbers of size C, one becomes its opposite",
            script=replaced,
            note="the PLD accountant refuses this event",
        ),
        *(
            _single(
                "RDP accountant",
                f"Gaussian, σ = 2, {round(1000 * rate)} of 1000 records drawn, one replaced, δ = 1e-05",
                lambda r=rate: without_replacement(r, 2.0, 1e-5),
                1e-5,
                witness="zeros, and a record that goes from C to -C",
                **({"script": replaced, "note": known} if rate == 0.9 else {}),
            )
            for rate in (0.01, 0.9)
        ),
    ]


def calibrations() -> list[Case]:
    return [
        _row("get_sigma_gaussian", "ε = 0.01 to 50, δ = 0.1 to 1e-20", sigmas),
        _row("get_epsilon_gaussian", "σ = 0.05 to 1000, δ = 0.001 to 1e-20", epsilons),
        *(
            _row(f"get_smallest_{name}_noise", "(0.5, 1e-05) and (3, 1e-06), once and 8 times", lambda w=what: smallest(w))
            for name, what in (
                ("gaussian", "Gaussian"),
                ("laplace", "Laplace"),
                ("discrete_laplace", "discrete Laplace"),
                ("subsampled_gaussian", "sampled Gaussian"),
            )
        ),
        _row("advanced_composition", "10 and 60 times ε = 0.1, 1, δ = 0.001, 1e-06", advanced),
        *(
            _row("calibrate_dp_mechanism", f"{kind}, Gaussian, ε = 0.5, 4, once and 100 times", lambda k=kind: calibrated(k))
            for kind in ("PLD", "RDP")
        ),
    ]


def ours() -> list[Case]:
    """What is stated is ours, and the exact value, or a sharper bound of it, is dp-accounting's."""
    rows: list[tuple[str, str, Callable[[], Iterator[tuple[float, float]]]]] = [
        ("calibrate gaussian", "all scales, ε = 0.1, 1, 5, δ = 0.001 to 1e-09", our_scales),
        ("claims.gaussian_epsilon", "σ = 0.5 to 30, δ = 0.001 to 1e-09", our_epsilons),
        ("claims.zcdp_epsilon, zcdp_delta", "ρ = 0.005, 0.5, 5, against the Gaussian", our_conversions),
        ("claims.pure_to_zcdp", "ε = 0.1, 1, 5, against randomised response", our_rho),
        ("claims.implied_epsilon", "20 releases, against the PLD accountant", our_compositions),
    ]
    return [_row(subject, setting, pairs, library="tailproof") for subject, setting, pairs in rows]


def cases() -> list[Case]:
    return [*kept_cases(), *accountants(), *calibrations(), *violated_ones(), *ours()]
