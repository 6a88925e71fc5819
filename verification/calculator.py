"""`tailproof calibrate`: noise scales, conversions and compositions, with the formula each number comes from."""

from __future__ import annotations

import argparse
from typing import Any

from tailproof.refimpl import claims
from tailproof.refimpl.claims import Claim, PureDP, claim_to_json
from tailproof.refimpl.validation import InputError, positive


def calculate(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """(JSON value, readable lines)."""
    lines = {"gaussian": _gaussian, "laplace": _laplace, "convert": _convert, "compose": _compose}[arguments.what](arguments)
    value = {"what": arguments.what, "results": [{"name": name, "value": number} for name, number in lines]}
    if arguments.claims:
        value["claims"] = [claim_to_json(claims.parse_claim(text)) for text in arguments.claims]
    text = [f"{name}: {_rounded(number)}" for name, number in lines]
    if (
        arguments.what in ("convert", "compose")
        and arguments.delta is None
        and any(name.startswith("zCDP") for name, _ in lines)
    ):
        text.append("add --delta, such as --delta 1e-6, to see the (ε, δ) that it implies")
    return value, "\n".join(text)


def _rounded(number: float) -> str:
    """Six digits, which is more than noise needs; --json has them all."""
    return f"{number:.6g}"


def _need(arguments: argparse.Namespace, *names: str) -> list[float]:
    missing = [name for name in names if getattr(arguments, name) is None]
    if missing:
        raise InputError(
            f"{missing[0]} is missing: calibrate {arguments.what} needs {', '.join('--' + name for name in names)}"
        )
    return [getattr(arguments, name) for name in names]


def _gaussian(arguments: argparse.Namespace) -> list[tuple[str, float]]:
    if arguments.rho is not None:
        sensitivity, rho = _need(arguments, "sensitivity", "rho")
        scale = positive("sensitivity", sensitivity) / (2 * positive("rho", rho)) ** 0.5
        return [("standard deviation for ρ-zCDP, Δ/√(2ρ)", scale)]
    sensitivity, epsilon, delta = _need(arguments, "sensitivity", "epsilon", "delta")
    lines = [
        ("standard deviation, analytic (the least possible)", claims.analytic_gaussian_scale(sensitivity, epsilon, delta))
    ]
    if epsilon <= 1:
        classical = claims.classical_gaussian_scale(sensitivity, epsilon, delta)
        lines.append(("standard deviation, classical Δ√(2 ln(1.25/δ))/ε", classical))
    budget = claims.zcdp_budget(epsilon, delta)
    lines.append(("standard deviation through zCDP, papers' conversion", sensitivity / (2 * budget) ** 0.5))
    return lines


def _laplace(arguments: argparse.Namespace) -> list[tuple[str, float]]:
    sensitivity, epsilon = _need(arguments, "sensitivity", "epsilon")
    return [("scale Δ/ε for ε-DP (Δ in ℓ1)", positive("sensitivity", sensitivity) / positive("epsilon", epsilon))]


def _claims(arguments: argparse.Namespace, least: int) -> list[Claim]:
    if len(arguments.claims) < least:
        raise InputError(f"claims: calibrate {arguments.what} needs at least {least}, such as 'zcdp(rho=.1)'")
    return [claims.parse_claim(text) for text in arguments.claims]


def _convert(arguments: argparse.Namespace) -> list[tuple[str, float]]:
    if len(arguments.claims) != 1:
        raise InputError("claims: calibrate convert takes exactly one, such as 'zcdp(rho=.1)'")
    claim = _claims(arguments, 1)[0]
    lines = []
    if isinstance(claim, PureDP):
        lines.append(("zCDP ρ, papers' ε²/2", claims.pure_to_zcdp(claim).rho))
    lines += _implied([claim], arguments.delta)
    if isinstance(claim, claims.ZCDP) and arguments.delta is not None:
        papers = claims.zcdp_epsilon(claim.rho, arguments.delta, tight=False)
        lines.append((f"ε at δ = {arguments.delta:g}, papers' ρ + 2√(ρ ln(1/δ))", papers))
    return lines


def _compose(arguments: argparse.Namespace) -> list[tuple[str, float]]:
    return _implied(_claims(arguments, 1), arguments.delta)


def _implied(members: list[Claim], delta: float | None) -> list[tuple[str, float]]:
    """What the composition of the claims implies in every unit for which there is a theorem."""
    found = [
        ("pure ε", claims.implied_pure(members)),
        ("zCDP ρ", claims.implied_zcdp(members)),
        ("GDP μ", claims.implied_gdp(members)),
    ]
    if delta is not None:
        found.append((f"ε at δ = {delta:g}", claims.implied_epsilon(members, delta)))
    finite = [(name, number) for name, number in found if number < float("inf")]
    if not finite:
        raise InputError(f"delta = {delta}: nothing follows without a larger one")
    return finite
