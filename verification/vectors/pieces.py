"""What refimpl answers to the vectors of every deterministic piece: one function from inputs to outputs for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tailproof.bounds.certificates import InvalidCertificate
from tailproof.bounds.certificates import verify as verify_comparison
from tailproof.refimpl import claims
from tailproof.refimpl.approx_dp import localised, median_descent, sample_aggregate, sparse
from tailproof.refimpl.approx_dp.accountant import noise_multiplier
from tailproof.refimpl.approx_dp.budget import noise_scale as descent_scale
from tailproof.refimpl.approx_dp.mean_descent import total_budget
from tailproof.refimpl.claims import (
    GDP,
    ZCDP,
    ApproxDP,
    Claim,
    PureDP,
    UnsoundConversion,
    claim_from_json,
    claim_to_json,
)
from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.certificate import Certificate, Problem, Rejected, gap_upper_in_balls
from tailproof.refimpl.laws import Gaussian, L2Laplace
from tailproof.refimpl.losses import Loss, parse_loss
from tailproof.refimpl.means import median_of_means, peeling, soft_truncation, trimmed, truncated
from tailproof.refimpl.means.iterative_updating import group_budget
from tailproof.refimpl.means.rows import clip_weights, truncated_group_means
from tailproof.refimpl.pure_dp.exponential import published_clip
from tailproof.refimpl.pure_dp.perturbation import noise_law
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.vectors.parameters import loss_from_json, to_json

Inputs = dict[str, Any]
PARTS = ("point", "duals", "minimisers", "subgradients")
"""Of a certificate of a minimiser."""


def _array(values: Any) -> FloatArray:
    return np.array(values, dtype=np.float64)


def clipping(given: Inputs) -> Inputs:
    data = _array(given["data"])
    rows = clip_weights(data, given["clip"])[:, np.newaxis] * data
    return {"rows": rows.tolist(), "mean": rows.mean(axis=0).tolist()}


def truncation(given: Inputs) -> Inputs:
    """Entries beyond the bound become 0; every group's mean, here of one group, is that of the entries so changed."""
    data = _array(given["data"])
    rows = [truncated_group_means(row[np.newaxis], [0], given["bound"])[0] for row in data]
    return {
        "rows": [row.tolist() for row in rows],
        "mean": truncated_group_means(data, [0], given["bound"])[0].tolist(),
    }


def medians(given: Inputs) -> Inputs:
    data, groups = _array(given["data"]), given["groups"]
    means = truncated_group_means(data, median_of_means.group_starts(len(data), groups), given["truncation"])
    return {"means": means.tolist(), "median": median_of_means.median_of(means, given["rule"]).tolist()}


def soft_influence(given: Inputs) -> Inputs:
    return {"values": soft_truncation.smoothed_influence(_array(given["values"]), given["beta"]).tolist()}


def smooth_sensitivity(given: Inputs) -> Inputs:
    """Of a trimmed mean of one column."""
    centre, bound = trimmed.query(_array([given["values"]]), **{k: v for k, v in given.items() if k != "values"})
    return {"mean": float(centre[0]), "sensitivity": float(bound[0])}


def aggregate(given: Inputs) -> Inputs:
    """The private centre's query of points on a line, and its smooth sensitivity."""
    centre_of = {"any": sample_aggregate.interval_centre, "data": sample_aggregate.data_centre}[given["centres"]]
    centre, bound = centre_of(_array(given["points"])[:, np.newaxis], diameter=given["width"], rate=given["smoothness"])
    return {"centre": float(centre[0]), "sensitivity": float(bound)}


def domain_of(value: Inputs) -> Domain:
    """{"ball": {…}}, {"box": {…}}, {"l1": {…}}, {"ellipsoid": {…}}, {"polytope": {…}} or {"localised": {"base": …, …}}."""
    ((name, parts),) = value.items()
    if name == "localised":
        return Localised(domain_of(parts["base"]), _array(parts["center"]), parts["radius"])
    made: dict[str, Callable[..., Domain]] = {
        "ball": Ball,
        "box": Box,
        "l1": L1Ball,
        "ellipsoid": Ellipsoid,
        "polytope": Polytope,
    }
    return made[name](**{key: _array(part) if isinstance(part, list) else part for key, part in parts.items()})


def projection(given: Inputs) -> Inputs:
    return {"point": domain_of(given["domain"]).project(_array(given["point"])).tolist()}


def _loss(value: Any) -> Loss:
    """A name, or a quadratic by its matrix."""
    loss = loss_from_json(value)
    return parse_loss(loss) if isinstance(loss, str) else loss


def extension(given: Inputs) -> Inputs:
    """f_C and its gradient at a point where it has one."""
    records = batch(
        loss=_loss(given["loss"]),
        data=_array(given["data"]),
        domain=domain_of(given["domain"]),
        lipschitz=given["lipschitz"],
    )
    found = records.at(_array(given["point"]))
    return {"values": _array(found.values).tolist(), "gradients": found.subgradients().tolist()}


def comparison(given: Inputs) -> Inputs:
    try:
        verify_comparison(given["certificate"])
    except InvalidCertificate:
        return {"valid": False}
    return {"valid": True}


def minimiser(given: Inputs) -> Inputs:
    """Whether the certificate proves a gap of at most the accuracy, in exact arithmetic up to outward rounding."""
    problem = Problem(
        _loss(given["loss"]),
        _array(given["data"]),
        domain_of(given["domain"]),
        given["lipschitz"],
        given["weight"],
        _array(given["anchor"]),
    )
    point, duals, minimisers, subgradients = (_array(given["certificate"][name]) for name in PARTS)
    certificate = Certificate(point, duals, minimisers, subgradients)
    try:
        return {"proved": gap_upper_in_balls(problem, certificate) <= given["accuracy"]}
    except Rejected:
        return {"proved": False}


def calibration(given: Inputs) -> Inputs:
    """A noise scale, or a budget from which one is made."""
    rule = given["rule"]
    numbers: dict[str, Any] = {name: value for name, value in given.items() if name != "rule"}
    rules: dict[str, Callable[..., float]] = {
        "gaussian classical": claims.classical_gaussian_scale,
        "gaussian analytic": claims.analytic_gaussian_scale,
        "gaussian zcdp": lambda sensitivity, rho: _noise(sensitivity, ZCDP(rho)),
        "l2-laplace": lambda sensitivity, epsilon: _noise(sensitivity, PureDP(epsilon)),
        "P0 Definition 3": lambda sensitivity, epsilon, delta: descent_scale(sensitivity, ApproxDP(epsilon, delta)),
        "P2 (15)": total_budget,
        "P2 (24)": group_budget,
        "P3 Algorithm 4": peeling.noise_scale,
        "subsampled gaussian": noise_multiplier,
    }
    return {"value": rules[rule](**numbers)}


def _noise(sensitivity: float, spend: PureDP | ZCDP) -> float:
    law = noise_law(np.zeros(1), sensitivity, spend)
    assert isinstance(law, Gaussian | L2Laplace)
    return float(law.scale)


_TARGETS: dict[str, type[Any]] = {"pure": PureDP, "approx": ApproxDP, "zcdp": ZCDP, "gdp": GDP}


def _refused(compute: Callable[[], Claim]) -> Inputs:
    """The claim, or null where no theorem gives one."""
    try:
        return {"claim": claim_to_json(compute())}
    except (UnsoundConversion, InputError):
        return {"claim": None}


def conversion(given: Inputs) -> Inputs:
    claim = claim_from_json(given["from"])
    if given["to"] == "replace-one":
        return _refused(lambda: claims.to_replace_one(claim))
    if given["to"] == "add-remove":
        return _refused(lambda: claims.to_add_remove(claim))
    return _refused(lambda: claims.convert(claim, _TARGETS[given["to"]], delta=given["delta"]))


def composition(given: Inputs) -> Inputs:
    members: list[Any] = [claim_from_json(value) for value in given["claims"]]
    rules: dict[str, Callable[[], Claim]] = {
        "basic": lambda: claims.compose_basic(members),
        "zcdp": lambda: claims.compose_zcdp(members),
        "gdp": lambda: claims.compose_gdp(members),
        "parallel": lambda: claims.compose_parallel(members),
        "advanced": lambda: claims.compose_advanced(members[0], given["times"], given["slack"]),
        "split for advanced": lambda: claims.split_for_advanced(members[0], given["times"]),
    }
    return _refused(rules[given["rule"]])


def schedule(given: Inputs) -> Inputs:
    """Public parameters made from public numbers."""
    of: dict[str, Callable[..., Any]] = {
        "P0 Algorithm 3": localised.published_phases,
        "P1 Algorithm 3": _noise_shape,
        "P1 Algorithm 4": _soft_parameters,
        "P3 Algorithm 1": _truncation,
        "P3 Algorithm 3": _groups,
        "P3 Theorem 6": median_descent.published_convex,
        "P3 Theorem 10": sparse.published_parameters,
        "P4 Theorem E.1": _clip,
    }
    return {"parameters": to_json(of[given["of"]](**given["numbers"]))}


def _noise_shape(**numbers: Any) -> Inputs:
    sigma, shrink = trimmed.noise_shape(**numbers)
    return {"sigma": sigma, "shrink": shrink}


def _soft_parameters(**numbers: Any) -> Inputs:
    scale, beta = soft_truncation.published_parameters(**numbers)
    return {"scale": scale, "beta": beta}


def _truncation(**numbers: Any) -> Inputs:
    return {"bound": truncated.truncation(**numbers)}


def _groups(**numbers: Any) -> Inputs:
    return {"groups": median_of_means.number_of_groups(**numbers)}


def _clip(**numbers: Any) -> Inputs:
    return {"lipschitz": published_clip(**numbers)}


PIECES: dict[str, Callable[[Inputs], Inputs]] = {
    "clipping": clipping,
    "truncation": truncation,
    "median-of-means": medians,
    "soft-truncation": soft_influence,
    "smooth-sensitivity": smooth_sensitivity,
    "aggregate-sensitivity": aggregate,
    "projection": projection,
    "lipschitz-extension": extension,
    "rate-certificate": comparison,
    "minimiser-certificate": minimiser,
    "calibration": calibration,
    "conversion": conversion,
    "composition": composition,
    "schedule": schedule,
}
