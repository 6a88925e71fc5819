"""dp-accounting: what its accountants and its calibration say, against exact values computed here."""

from __future__ import annotations

import math
from importlib import import_module
from itertools import product
from typing import Any

import laws
from harness import Case, at_most

from refimpl.claims import ApproxDP, gaussian_delta, gaussian_epsilon


def _library() -> Any:
    return import_module("dp_accounting")


def gaussians_said(kind: str, sigma: float, times: int, delta: float) -> float:
    dpa = _library()
    spender = dpa.pld.PLDAccountant() if kind == "PLD" else dpa.rdp.RdpAccountant()
    spender.compose(dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(sigma), times))
    return float(spender.get_epsilon(delta))


def responses_exact(times: int, delta: float) -> float:
    """δ of so many randomised responses at the ε that is stated for this δ."""
    dpa = _library()
    spender = dpa.pld.PLDAccountant(neighboring_relation=dpa.NeighboringRelation.REPLACE_ONE)
    for _ in range(times):
        spender.compose(dpa.RandomizedResponseDpEvent(2 / (1 + math.e), 2))
    return laws.composed_response_delta(1.0, times, float(spender.get_epsilon(delta)))


def cases() -> list[Case]:
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
            lambda e=epsilon, d=delta: gaussian_delta(1 / float(_library().get_sigma_gaussian(e, d)), e),
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
