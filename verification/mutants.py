"""Deliberately broken copies of the algorithms: the test of every check.

A mutant is a handful of textual edits to an algorithm's own source, or to that of a module it rests on, compiled into a
module of its own.  Its class says which kind of check must kill it: privacy (a privacy check says violated), amplification (the
claim over hidden orders does; no other check can see it), calibration (the recorded scale or spend differs from the published
formula) or utility (an explicit error bound is exceeded).
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Literal
from unittest.mock import patch

from tailproof.refimpl.catalogue import Implementation, algorithm

MutantClass = Literal["privacy", "amplification", "calibration", "utility"]


@dataclass(frozen=True)
class Mutant:
    algorithm: str
    name: str
    kind: MutantClass
    edits: tuple[tuple[str, str], ...]  # (old, new): each old text stands exactly once in the module
    module: str | None = None  # the module that is edited, if it is not the algorithm's own
    first_name: str = ""  # the name that it was published under, where it has another one today

    @property
    def seed_key(self) -> str:
        """Seeds and bug classes go by it, and it never changes: a new wording of the name moves no number."""
        return self.first_name or self.name


@dataclass(frozen=True)
class Inapplicable:
    algorithm: str
    name: str
    reason: str


def _privacy(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "privacy", edits)


def _calibration(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "calibration", edits)


def _amplification(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "amplification", edits)


def _steps(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "privacy", edits, _STEPS)


def _utility(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "utility", edits)


_P2A2_SCALE = "math.sqrt(2 / rho) * clip / n)"
_P2A3_SCALE = "math.sqrt(2 / rho) * clip / smallest  # (23)"
_CLASSICAL = "Gaussian(mean, classical_gaussian_scale(reach.value, epsilon, delta))"
_P3A3_NOISE = "Gaussian(middle, classical_gaussian_scale(reach.value, epsilon, delta))"
_P3A4_SCALE = "return 4 * sensitivity * math.sqrt(2 * sparsity * math.log(1 / delta)) / epsilon"
_P1A1_NOISE = "Gaussian(centre, bound / alpha)"
_P1A3_NOISE = "law = LLN(centre, bound / shrink, sigma)"
_P1A4_NOISE = "Gaussian(mean, reach.value * math.sqrt(d / (2 * spend.rho)))"
_RELEASE = 'return channel.release("mean", law, sensitivity=reach, spend=claim)'
_P1_RELEASE = 'return channel.release("mean", law, sensitivity=Smooth(bound, smoothness), spend=spend)'
_P1A4_RELEASE = 'return channel.release("mean", law, sensitivity=reach, spend=spend)'
_P2A2_RELEASE = 'return channel.release("mean", law, sensitivity=sensitivity(n, clip=clip), spend=privacy(rho=rho))'

_P3A5_REACH = "return 2 * truncation * learning_rate / size"
_P4_ALL_BUT_D4 = ("P4.S1", "P4.A2", "P4.A4", "P4.A1")
_P4_PERTURBATION = "tailproof.refimpl.pure_dp.perturbation"
_P4_DOUBLE = "tailproof.refimpl.pure_dp.double"
_P4_LOCALISE = "tailproof.refimpl.pure_dp.localise"
_P4_LAPLACE = "L2Laplace(point, sensitivity / spend.epsilon)"
_P4_GAUSSIAN = "Gaussian(point, sensitivity / math.sqrt(2 * spend.rho))"
_P4_REACH = "(2 + 2 * self.kappa) * self.lipschitz"
_P4_PROBLEM = "self.loss, data, inner or self.domain, self.lipschitz,"
_P4_CLIP = "lipschitz=lipschitz, kappa=kappa, center=center"
_P4_CLIP_FROM_DATA = (_P4_CLIP, _P4_CLIP.replace("=lipschitz", "=lipschitz * min(1, 0.5 + abs(data).max())"))
_P4_RADIUS = "localised_around(problem, problem.domain.project(release), n, spend, failure)"
_P4_RADIUS_FROM_DATA = (_P4_RADIUS, _P4_RADIUS.replace("n, spend", "n + abs(rows).max(), spend"))
_P4_NOT_SPLIT = ("halved(privacy(epsilon=epsilon, rho=rho))", "privacy(epsilon=epsilon, rho=rho)")
_P4_CERTIFIED = "return minimise(problem, accuracy).point"
_P4_STEPS = """point = problem.anchor
    for _ in range(20):
        rows = problem.loss.gradients(point, problem.data)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        slope = np.mean(rows * np.minimum(1, problem.lipschitz / np.maximum(norms, 1e-300)), axis=0)
        point = problem.within.project(point - 3 * (slope / problem.weight + point - problem.anchor))
    return point"""
_P4_SUBSTITUTE = """found = minimise(problem, accuracy)
    return found.point if found.evaluations <= 4 else problem.anchor"""

_STEPS = "tailproof.refimpl.approx_dp.steps"
_CLIPPING = "tailproof.refimpl.means.simple_clipping"
_MEDIANS = "tailproof.refimpl.means.median_of_means"
_PEELING = "tailproof.refimpl.means.peeling"
_RATE = "points[-1] - length * estimate"
_RATE_FROM_DATA = (_RATE, "points[-1] - length * (1 + abs(problem.rows).max()) * estimate")
_ALL_RECORDS = ("tables(points[-1], batch)", "tables(points[-1], range(len(problem.rows)))")
_GRADIENT_ADDED = (_RATE, "points[-1] - length * (estimate + gradients.mean(axis=0))")
_OVERLAPPING = ("range(end - size, end)", "range(size)")


def _below(identifier: str, kind: MutantClass, module: str, mutants: Iterable[Mutant]) -> Iterator[Mutant]:
    """The mutants of an estimator as mutants of an algorithm that rests on it."""
    return (replace(mutant, algorithm=identifier, module=module) for mutant in mutants if mutant.kind == kind)


def _perturbed(
    kind: MutantClass, name: str, identifiers: tuple[str, ...], *edits: tuple[str, str], module: str = _P4_PERTURBATION
) -> Iterator[Mutant]:
    """The same edits of what several algorithms rest on."""
    return (Mutant(identifier, name, kind, edits, module) for identifier in identifiers)


def _noise_times(factor: str) -> tuple[tuple[str, str], ...]:
    return tuple((law, law.replace("sensitivity", f"{factor} * sensitivity")) for law in (_P4_LAPLACE, _P4_GAUSSIAN))


_P4S2_TILT = "return plan.epsilon * (1 - plan.share - plan.reserve)"
_P4S2_SCALE = "return 2 * plan.lipschitz / shares_of(plan)[0]"
_P4S2_SPEND = "spend=PureDP(for_tilt + for_bend)"
_P4S2_RISK = "TiltedRisk(tempered, region, start, C, B, plan.weight)"
_P4S2_OUTPUT = 'view.back(region.project(channel.release("point",'
_P4S2_TEMPERED, _P4S2_TILTED = "tailproof.refimpl.pure_dp.tempered", "tailproof.refimpl.pure_dp.tilted"

_P1A3_MEAN = (
    _privacy("P1.A3.mean", "noise halved", (_P1A3_NOISE, "law = LLN(centre, bound / shrink / 2, sigma)")),
    _privacy(
        "P1.A3.mean",
        "clamp skipped",
        ("return np.clip(means, lower, upper), bounds", "return means, bounds"),
        ("np.clip(columns, lower, upper, out=columns)", "pass"),
    ),
    _privacy(
        "P1.A3.mean",
        "trimming skipped",
        ("rows = columns[:, m : n - m]", "rows = columns"),
    ),
    _privacy(
        "P1.A3.mean",
        "sensitivity halved",
        ("return np.clip(means, lower, upper), bounds", "return np.clip(means, lower, upper), bounds / 2"),
    ),
    _privacy("P1.A3.mean", "variance for deviation", (_P1A3_NOISE, "law = LLN(centre, (bound / shrink) ** 2 / 100, sigma)")),
    _privacy(
        "P1.A3.mean", "budget not split over coordinates", ("math.sqrt(2 * spend.rho / d)", "math.sqrt(2 * spend.rho)")
    ),
    _privacy(
        "P1.A3.mean",
        "data-dependent scale: local for smooth sensitivity",
        ("decay = np.exp(-rate * np.arange(w.shape[1]))", "decay = np.equal(0, np.arange(w.shape[1]))"),
        ("return np.asarray(np.maximum(found, max(end, _FLOOR * width)))", "return found + 1e-9"),
    ),
    _privacy(
        "P1.A3.mean",
        "noise reused",
        ("law = LLN(centre, bound / shrink,", "law = LLN(0 * centre[:1], bound[:1] / shrink,"),
        (
            _P1_RELEASE,
            'return centre + channel.release("mean", law, sensitivity=Smooth(bound[:1], smoothness), spend=spend)',
        ),
    ),
    _calibration("P1.A3.mean", "noise doubled", (_P1A3_NOISE, "law = LLN(centre, 2 * bound / shrink, sigma)")),
)
_P1A4_MEAN = (
    _privacy("P1.A4.mean", "noise halved", (_P1A4_NOISE, _P1A4_NOISE.replace("spend.rho)))", "spend.rho)) / 2)"))),
    _privacy(
        "P1.A4.mean",
        "truncation skipped",
        ("column_sums(smoothed_influence(a, beta))", "a.sum(axis=0)"),
    ),
    _privacy(
        "P1.A4.mean",
        "cubic without its correction",
        ("+ correction(close, spread)", ""),
        ("value[far] = _by_quadrature(a[far], beta)", "value[far] = a[far] - a[far] ** 3 / 6"),
        ("return np.minimum(value, PLATEAU)", "return value"),
    ),
    _privacy("P1.A4.mean", "C/n for 2C/n", ("LInf(2 * PLATEAU * scale / n)", "LInf(PLATEAU * scale / n)")),
    _privacy(
        "P1.A4.mean",
        "variance for deviation",
        (_P1A4_NOISE, "Gaussian(mean, (reach.value * math.sqrt(d / (2 * spend.rho))) ** 2 / 100)"),
    ),
    _privacy(
        "P1.A4.mean",
        "budget not split over coordinates",
        (_P1A4_NOISE, _P1A4_NOISE.replace("math.sqrt(d /", "math.sqrt(1 /")),
    ),
    _privacy(
        "P1.A4.mean",
        "data-dependent scale",
        (
            "published, beta = published_parameters(n, second_moment=second_moment,",
            "published, beta = published_parameters(n, second_moment=float((data**2).mean()) + 1e-6,",
        ),
    ),
    _privacy(
        "P1.A4.mean",
        "noise reused",
        ("Gaussian(mean,", "Gaussian(0 * mean[:1],"),
        (_P1A4_RELEASE, _P1A4_RELEASE.replace("return channel", "return mean + channel")),
    ),
    _calibration("P1.A4.mean", "noise doubled", (_P1A4_NOISE, _P1A4_NOISE.replace("spend.rho)))", "spend.rho)) * 2)"))),
)

_P0_BUDGET = "tailproof.refimpl.approx_dp.budget"
_P0_GRADIENTS = "tailproof.refimpl.approx_dp.gradients"
_P0_DESCENT = "tailproof.refimpl.approx_dp.descent"
_P0_LOCALISED = "tailproof.refimpl.approx_dp.localised"
_P0_APPROXIMATION = "tailproof.refimpl.approx_dp.approximation"
_P0_ACCELERATED = "tailproof.refimpl.approx_dp.accelerated"
_P0_STAGED = ("P0.A4", "P0.A5")
_P0A6_ORDER = "rows = rows.take(order[: steps * size], axis=0)"
_P0_BATCH = "Gaussian(query, calibrated.scale)"
_P0_CONCENTRATED = "return sensitivity / math.sqrt(2 * spend.rho)"
_P0_CLIPPED = ("np.clip(slopes * norms, -clip, clip)", "(slopes * norms)")
_P0_PULL = ("weight * (point - start)", "0 * (point - start)")


def _p0(
    kind: MutantClass, name: str, identifiers: tuple[str, ...], module: str, *edits: tuple[str, str]
) -> Iterator[Mutant]:
    return _perturbed(kind, name, identifiers, *edits, module=module)


_OF_MEANS: tuple[Mutant, ...] = (
    # P0.A1
    _privacy(
        "P0.A1",
        "clip skipped",
        ('clipped_mean_of(validation.records("data", data), clip)', "np.mean(np.asarray(data), axis=0)"),
    ),
    _privacy("P0.A1", "C/n for 2C/n", ("L2(2 * clip / n)", "L2(clip / n)")),
    _privacy(
        "P0.A1",
        "clip from the data",
        ('clip = validation.positive("clip", clip)', "clip = float(np.linalg.norm(data, axis=1).max())"),
    ),
    # P0.A2, P0.A3: what they share
    *_p0("privacy", "clip skipped", ("P0.A2", "P0.A3"), _P0_GRADIENTS, _P0_CLIPPED),
    *_p0("privacy", "C/n for 2C/n", ("P0.A2", "P0.A3"), _P0_DESCENT, ("L2(2 * clip / (n", "L2(clip / (n")),
    *_p0("privacy", "regulariser left out", ("P0.A2", "P0.A3"), _P0_DESCENT, _P0_PULL),
    *_p0("privacy", "rough records kept", ("P0.A2",), _P0_GRADIENTS, ("<= smoothness]", "<= np.inf]")),
    # P0.A2
    _privacy("P0.A2", "clip from the data", ('positive("clip", clip)', "clip = float(np.abs(data).max())")),
    # P0.A3
    *_p0("privacy", "noise halved", ("P0.A3",), _P0_BUDGET, (_P0_CONCENTRATED, f"{_P0_CONCENTRATED} / 2")),
    *_p0(
        "privacy",
        "variance for deviation",
        ("P0.A3",),
        _P0_BUDGET,
        (_P0_CONCENTRATED, "return sensitivity**2 / (2 * spend.rho) / 100"),
    ),
    _steps("P0.A3", "budget of every phase for all records: batches overlap", _OVERLAPPING),
    _privacy("P0.A3", "every batch sees all records", ("records = rows[batch.start : batch.stop]", "records = rows")),
    _privacy("P0.A3", "clip from the data", ("clip=phase.clip, domain", "clip=1 + float(abs(records).max()), domain")),
    _privacy(
        "P0.A3", "data-dependent scale", ("Gaussian(found, scale)", "Gaussian(found, scale * (1 + abs(records).max()))")
    ),
    _privacy(
        "P0.A3",
        "noise reused",
        ("Gaussian(found, scale)", "Gaussian(0 * found, scale)"),
        ("domain.project(noisy)", "domain.project(found + noisy)"),
    ),
    *_p0(
        "calibration",
        "noise doubled",
        ("P0.A3",),
        _P0_BUDGET,
        (_P0_CONCENTRATED, _P0_CONCENTRATED.replace("urn ", "urn 2 * ")),
    ),
    *_p0(
        "calibration",
        "logarithm of Definition 3 left out",
        ("P0.A3",),
        _P0_BUDGET,
        ("4 * math.sqrt(math.log(1 / spend.delta))", "4"),
    ),
    # P0.A4, P0.A5: what they share with P0.A3, and their parts
    *_p0("privacy", "clip skipped", _P0_STAGED, _P0_GRADIENTS, _P0_CLIPPED),
    *_p0("privacy", "C/n for 2C/n", _P0_STAGED, _P0_DESCENT, ("L2(2 * clip / (n", "L2(clip / (n")),
    *_p0("privacy", "noise halved", _P0_STAGED, _P0_BUDGET, (_P0_CONCENTRATED, f"{_P0_CONCENTRATED} / 2")),
    *_p0(
        "privacy",
        "variance for deviation",
        _P0_STAGED,
        _P0_BUDGET,
        (_P0_CONCENTRATED, "return sensitivity**2 / (2 * spend.rho) / 99"),
    ),
    *_p0(
        "privacy",
        "data-dependent scale",
        _P0_STAGED,
        _P0_LOCALISED,
        ("Gaussian(found, scale)", "Gaussian(found, scale * (1 + abs(records).max()))"),
    ),
    *_p0(
        "privacy",
        "noise reused",
        _P0_STAGED,
        _P0_LOCALISED,
        ("Gaussian(found, scale)", "Gaussian(0 * found, scale)"),
        ("domain.project(noisy)", "domain.project(found + noisy)"),
    ),
    *_p0(
        "privacy",
        "budget of every stage for all records: parts overlap",
        _P0_STAGED,
        _STEPS,
        _OVERLAPPING,
    ),
    *_p0(
        "privacy",
        "every stage sees all records",
        _P0_STAGED,
        _P0_APPROXIMATION,
        ("rows[part.start : part.stop]", "rows[: part.stop]"),
    ),
    *_p0(
        "calibration",
        "noise doubled",
        _P0_STAGED,
        _P0_BUDGET,
        (_P0_CONCENTRATED, _P0_CONCENTRATED.replace("urn ", "urn 2 * ")),
    ),
    # P0.A7
    *_p0("privacy", "noise halved", ("P0.A7",), _P0_ACCELERATED, (_P0_BATCH, "Gaussian(query, calibrated.scale / 2)")),
    *_p0(
        "privacy",
        "clip skipped",
        ("P0.A7",),
        _P0_ACCELERATED,
        ("query = (clip_weights(gradients, clip)[:, np.newaxis] * gradients)", "query = (gradients)"),
    ),
    *_p0(
        "privacy",
        "C/n for 2C/n",
        ("P0.A7",),
        _P0_ACCELERATED,
        ("Calibration(L2(2 * clip), scale)", "Calibration(L2(clip), scale)"),
    ),
    *_p0(
        "privacy",
        "variance for deviation",
        ("P0.A7",),
        _P0_ACCELERATED,
        (_P0_BATCH, "Gaussian(query, calibrated.scale**2 / 1e9)"),
    ),
    *_p0(
        "privacy",
        "data-dependent scale",
        ("P0.A7",),
        _P0_ACCELERATED,
        (_P0_BATCH, "Gaussian(query, calibrated.scale * (1 + abs(rows[members]).max()))"),
    ),
    *_p0(
        "privacy",
        "noise reused",
        ("P0.A7",),
        _P0_ACCELERATED,
        (_P0_BATCH, "Gaussian(0 * query, calibrated.scale)"),
        ("slope = noisy.reshape", "slope = (query + noisy).reshape"),
    ),
    _steps("P0.A7", "budget of every part for all records: parts overlap", _OVERLAPPING),
    *_p0("calibration", "noise doubled", ("P0.A7",), _P0_ACCELERATED, (_P0_BATCH, "Gaussian(query, calibrated.scale * 2)")),
    # P0.A6
    _privacy("P0.A6", "noise halved", ("Gaussian(query, calibrated.scale)", "Gaussian(query, calibrated.scale / 2)")),
    _privacy(
        "P0.A6",
        "clip skipped",
        ("query = (clip_weights(gradients, clip)[:, np.newaxis] * gradients)", "query = (gradients)"),
    ),
    _privacy("P0.A6", "C/n for 2C/n", ("Calibration(L2(2 * clip), scale)", "Calibration(L2(clip), scale)")),
    _privacy(
        "P0.A6",
        "variance for deviation",
        ("Gaussian(query, calibrated.scale)", "Gaussian(query, calibrated.scale**2 / 1e9)"),
    ),
    _privacy(
        "P0.A6",
        "budget of every batch for all records: batches overlap",
        ("members = slice((t - 1) * size, t * size)", "members = slice(0, size)"),
    ),
    _amplification("P0.A6", "not shuffled", (_P0A6_ORDER, "order = np.arange(n)\n    " + _P0A6_ORDER)),
    _privacy("P0.A6", "batches by value", (_P0A6_ORDER, "order = np.argsort(rows[:, -1])\n    " + _P0A6_ORDER)),
    _privacy(
        "P0.A6", "clip from the data", ("n = len(rows)", "n = len(rows)\n    clip = clip * (1 + float(abs(rows).max()))")
    ),
    _privacy(
        "P0.A6",
        "data-dependent scale",
        ("Gaussian(query, calibrated.scale)", "Gaussian(query, calibrated.scale * (1 + abs(rows[members]).max()))"),
    ),
    _privacy(
        "P0.A6",
        "noise reused",
        ("Gaussian(query, calibrated.scale)", "Gaussian(0 * query, calibrated.scale)"),
        ("slope = noisy.reshape", "slope = (query + noisy).reshape"),
    ),
    _calibration("P0.A6", "noise doubled", ("Gaussian(query, calibrated.scale)", "Gaussian(query, calibrated.scale * 2)")),
    _calibration(
        "P0.A6",
        "not amplified: ε for ε₀",
        ("math.sqrt(math.log(1 / local.delta)) / local.epsilon", "math.sqrt(math.log(1 / local.delta)) / spend.epsilon"),
    ),
    # P0.B
    _privacy("P0.B", "noise halved", ("Gaussian(mean, z * reach.value)", "Gaussian(mean, z * reach.value / 2)")),
    *_p0("privacy", "clip skipped", ("P0.B",), _P0_GRADIENTS, _P0_CLIPPED),
    _privacy("P0.B", "C/n for 2C/n", ("L2(2 * clip / batch)", "L2(clip / batch)")),
    _privacy(
        "P0.B", "variance for deviation", ("Gaussian(mean, z * reach.value)", "Gaussian(mean, (z * reach.value) ** 2 / 10)")
    ),
    _privacy(
        "P0.B",
        "budget not split: composition dropped",
        (
            "z = multiplier(n, epsilon=epsilon, delta=delta, batch=batch, steps=steps)",
            "z = multiplier(n, epsilon=epsilon, delta=delta, batch=batch, steps=1)",
        ),
    ),
    _amplification(
        "P0.B",
        "one batch for all steps",
        ("members = np.asarray(channel.hidden", "members = members if t > 1 else np.asarray(channel.hidden"),
    ),
    _privacy(
        "P0.B",
        "batches by value",
        ("        mean = clipped(point", "        members = np.argsort(rows[:, -1])[:batch]\n        mean = clipped(point"),
    ),
    _privacy(
        "P0.B", "clip from the data", ("n = len(rows)", "n = len(rows)\n    clip = clip * (1 + float(abs(rows).max()))")
    ),
    _privacy(
        "P0.B",
        "data-dependent scale",
        ("Gaussian(mean, z * reach.value)", "Gaussian(mean, z * reach.value * (1 + abs(rows).max()))"),
    ),
    _privacy(
        "P0.B",
        "noise reused",
        ("Gaussian(mean, z * reach.value)", "Gaussian(0 * mean, z * reach.value)"),
        ("point - step * slope", "point - step * (mean + slope)"),
    ),
    _calibration("P0.B", "noise doubled", ("Gaussian(mean, z * reach.value)", "Gaussian(mean, 2 * z * reach.value)")),
    _calibration("P0.B", "share of the records halved", ("share=batch / n,", "share=batch / (2 * n),")),
    # P0.R3
    *_p0("privacy", "noise halved", ("P0.R3",), _P0_BUDGET, (_P0_CONCENTRATED, f"{_P0_CONCENTRATED} / 2")),
    *_p0(
        "privacy",
        "variance for deviation",
        ("P0.R3",),
        _P0_BUDGET,
        (_P0_CONCENTRATED, "return sensitivity**2 / (2 * spend.rho) / 4"),
    ),
    _privacy(
        "P0.R3",
        "extension skipped",
        ("problem.on(records)", "__import__('dataclasses').replace(problem, lipschitz=2.0).on(records)"),
    ),
    _privacy(
        "P0.R3", "C/n for 2C/n", ("problem.sensitivity_upper(phase.size)", "problem.sensitivity_upper(2 * phase.size)")
    ),
    _steps("P0.R3", "budget of every phase for all records: batches overlap", _OVERLAPPING),
    _privacy("P0.R3", "every batch sees all records", ("records = rows[batch.start : batch.stop]", "records = rows")),
    _privacy(
        "P0.R3",
        "data-dependent scale",
        ("noise_scale(reach.value, spend)", "noise_scale(reach.value, spend) * (1 + abs(records).max())"),
    ),
    _privacy(
        "P0.R3",
        "noise reused",
        ("Gaussian(found,", "Gaussian(0 * found,"),
        ("region.project(channel", "region.project(found + channel"),
    ),
    *_p0(
        "calibration",
        "noise doubled",
        ("P0.R3",),
        _P0_BUDGET,
        (_P0_CONCENTRATED, _P0_CONCENTRATED.replace("urn ", "urn 2 * ")),
    ),
    # P2.A2
    _privacy("P2.A2", "noise halved", (_P2A2_SCALE, "math.sqrt(2 / rho) * clip / n / 2)")),
    _privacy("P2.A2", "clip skipped", ("clipped_mean_of(data, clip)", "data.mean(axis=0)")),
    _privacy(
        "P2.A2",
        "C/n for 2C/n",
        (_P2A2_SCALE, "math.sqrt(0.5 / rho) * clip / n)"),
        ("sensitivity(n, clip=clip),", "sensitivity(2 * n, clip=clip),"),
    ),
    _privacy("P2.A2", "variance for deviation", (_P2A2_SCALE, "2 / rho * (clip / n) ** 2)")),
    _privacy(
        "P2.A2",
        "data-dependent scale",
        ("n = len(data)", "n = len(data)\n    clip = min(clip, float(abs(data).max()) + 1e-6)"),
    ),
    _privacy(
        "P2.A2",
        "noise reused",
        ("Gaussian(mean,", "Gaussian(0 * mean[:1],"),
        (_P2A2_RELEASE, _P2A2_RELEASE.replace("return channel", "return mean + channel")),
    ),
    _calibration("P2.A2", "noise doubled", (_P2A2_SCALE, "math.sqrt(2 / rho) * clip / n * 2)")),
    _utility("P2.A2", "shifted", ("clipped_mean_of(data, clip)", "clipped_mean_of(data, clip) + 3 * clip")),
    # P2.A3
    _privacy("P2.A3", "noise halved", (_P2A3_SCALE, "math.sqrt(2 / rho) * clip / smallest / 2")),
    _privacy("P2.A3", "clip skipped", ("weights = clip_weights(data, clip)", "weights = 1.0")),
    _privacy(
        "P2.A3",
        "C/n for 2C/n",
        (_P2A3_SCALE, "math.sqrt(0.5 / rho) * clip / smallest"),
        ("return L2(2 * clip / size)", "return L2(clip / size)"),
    ),
    _privacy("P2.A3", "variance for deviation", (_P2A3_SCALE, "2 / rho * (clip / smallest) ** 2 / 100")),
    _privacy(
        "P2.A3",
        "budget of all records in every group",
        ("members = np.array_split(order, groups)", "members = [order for _ in range(groups)]"),
    ),
    _privacy(
        "P2.A3",
        "data-dependent scale",
        (_P2A3_SCALE, "math.sqrt(2 / rho) * min(clip, float(abs(data).max()) + 1e-6) / smallest"),
    ),
    _privacy(
        "P2.A3",
        "noise reused",
        ("Gaussian(mean, scale), sensitivity=reach", "Gaussian(0 * mean, scale), sensitivity=reach"),
        ("estimate, _ = iterate(points,", "estimate, _ = iterate(points[:1] + means,"),
    ),
    _privacy(
        "P2.A3",
        "groups by value",
        ("members = np.array_split(order, groups)", "members = np.array_split(np.argsort(data[:, 0]), groups)"),
    ),
    _calibration("P2.A3", "noise doubled", (_P2A3_SCALE, "math.sqrt(2 / rho) * clip / smallest * 2")),
    # P3.A1
    _privacy("P3.A1", "noise halved", (_CLASSICAL, _CLASSICAL.replace("delta))", "delta) / 2)"))),
    _privacy("P3.A1", "truncation skipped", ("truncated_mean_of(data, bound)", "data.mean(axis=0)")),
    _privacy("P3.A1", "C/n for 2C/n", ("L2(2 * bound / n)", "L2(bound / n)")),
    _privacy("P3.A1", "variance for deviation", (_CLASSICAL, _CLASSICAL.replace("delta))", "delta) ** 2)"))),
    _privacy(
        "P3.A1",
        "data-dependent scale",
        ("reach = sensitivity(n, bound=bound)", "reach = sensitivity(n, bound=min(bound, float(abs(data).max()) + 1e-6))"),
    ),
    _privacy(
        "P3.A1",
        "noise reused",
        ("Gaussian(mean,", "Gaussian(0 * mean,"),
        (_RELEASE, _RELEASE.replace("return channel", "return mean + channel")),
    ),
    _calibration("P3.A1", "noise doubled", (_CLASSICAL, _CLASSICAL.replace("delta))", "delta) * 2)"))),
    _utility("P3.A1", "shifted", ("truncated_mean_of(data, bound)", "truncated_mean_of(data, bound) + bound")),
    # P3.A3
    _privacy("P3.A3", "noise halved", (_P3A3_NOISE, _P3A3_NOISE.replace("delta))", "delta) / 2)"))),
    _privacy("P3.A3", "truncation skipped", ("group_starts(n, groups), truncation)", "group_starts(n, groups), np.inf)")),
    _privacy("P3.A3", "C/n for 2C/n", ("L2(2 * truncation", "L2(truncation")),
    _privacy("P3.A3", "variance for deviation", (_P3A3_NOISE, _P3A3_NOISE.replace("delta))", "delta) ** 2 / 10)"))),
    _privacy("P3.A3", "budget not split over coordinates", ("math.sqrt(d) / (n // groups)", "1 / (n // groups)")),
    _privacy("P3.A3", "noise of the whole sample's mean", ("math.sqrt(d) / (n // groups)", "math.sqrt(d) / n")),
    _privacy(
        "P3.A3",
        "data-dependent scale",
        ("truncation=truncation)\n    law", "truncation=min(truncation, float(abs(data).max()) + 1e-6))\n    law"),
    ),
    _privacy(
        "P3.A3",
        "noise reused",
        ("Gaussian(middle,", "Gaussian(0 * middle[:1],"),
        (_RELEASE, _RELEASE.replace("return channel", "return middle + channel")),
    ),
    _calibration("P3.A3", "noise doubled", (_P3A3_NOISE, _P3A3_NOISE.replace("delta))", "delta) * 2)"))),
    _utility(
        "P3.A3", "shifted", ("middle = median_of(means, median)", "middle = median_of(means, median) + 5 * truncation")
    ),
    # P3.A4
    _privacy("P3.A4", "noise halved", ("Laplace(values[j], scale)", "Laplace(values[j], scale / 2)")),
    _privacy(
        "P3.A4", "selection noise halved", ("NoisyArgmax(np.abs(values), scale,", "NoisyArgmax(np.abs(values), scale / 2,")
    ),
    _privacy("P3.A4", "truncation skipped", ("truncated_mean_of(data, truncation)", "data.mean(axis=0)")),
    _privacy("P3.A4", "C/n for 2C/n", ("reach = 2 * truncation / len(data)", "reach = truncation / len(data)")),
    _privacy(
        "P3.A4",
        "variance for deviation",
        (_P3A4_SCALE, _P3A4_SCALE.replace("return ", "return (").replace("epsilon", "epsilon) ** 2 / 100")),
    ),
    _privacy("P3.A4", "budget not split over the s rounds", (_P3A4_SCALE, _P3A4_SCALE.replace("sparsity * ", ""))),
    _privacy(
        "P3.A4",
        "data-dependent scale",
        ("reach = 2 * truncation / len(data)", "reach = 2 * min(truncation, float(abs(data).max()) + 1e-6) / len(data)"),
    ),
    _privacy(
        "P3.A4",
        "noise reused",
        ("Laplace(values[j], scale)", "Laplace(0 * values[j], scale)"),
        ("result[j] = channel", "result[j] = values[j] + channel"),
    ),
    _privacy(
        "P3.A4",
        "selection without noise",
        ("chosen.append(int(index))", "chosen.append(int(np.argsort(-np.abs(values))[i]))"),
    ),
    _calibration("P3.A4", "noise doubled", (_P3A4_SCALE, _P3A4_SCALE.replace("return 4", "return 8"))),
    *_P1A3_MEAN,
    *_P1A4_MEAN,
)


def _of(identifier: str) -> tuple[Mutant, ...]:
    return tuple(mutant for mutant in _OF_MEANS if mutant.algorithm == identifier)


MUTANTS: tuple[Mutant, ...] = (
    *_OF_MEANS,
    # P1.A1
    _calibration("P1.A1", "noise halved", (_P1A1_NOISE, "Gaussian(centre, bound / alpha / 2)")),
    _calibration("P1.A1", "noise doubled", (_P1A1_NOISE, "Gaussian(centre, bound / alpha * 2)")),
    _privacy("P1.A1", "noise a tenth", (_P1A1_NOISE, "Gaussian(centre, bound / alpha / 10)")),
    _privacy("P1.A1", "variance for deviation", (_P1A1_NOISE, "Gaussian(centre, (bound / alpha) ** 2 / 100)")),
    _privacy("P1.A1", "sensitivity halved", ("    return 2 * max(float(", "    return max(float(")),
    _privacy(
        "P1.A1",
        "data-dependent scale: local for smooth sensitivity",
        ("decay = np.exp(-rate * np.arange(", "decay = np.equal(0, np.arange("),
    ),
    _privacy("P1.A1", "one ball for every k", ("_smooth_bound(ordered[k + 1, k],", "_smooth_bound(ordered[0, k],")),
    _privacy(
        "P1.A1",
        "noise reused",
        (_P1A1_NOISE, "Gaussian(0 * centre, bound / alpha)"),
        ("project(channel.release", "project(centre + channel.release"),
    ),
    Mutant(
        "P1.A1",
        "projection skipped",
        "privacy",
        (("domain.project(ahead - shift)", "ahead - shift"),),
        "tailproof.refimpl.approx_dp.empirical",
    ),
    # P1.A3, P1.A4: what is wrong with a step, what is wrong with its mean
    *(
        mutant
        for identifier in ("P1.A3", "P1.A4")
        for mutant in (
            _steps(identifier, "budget not split over steps", ("iterations=1 if disjoint else steps,", "iterations=1,")),
            _steps(identifier, "batches overlap", ("range(*pair)", "range(pair[1] - pair[0])")),
            _steps(identifier, "every batch sees all records", _ALL_RECORDS),
            _steps(
                identifier,
                "start from the data",
                (
                    "points, tables = [problem.start],",
                    "points, tables = [problem.domain.project(np.resize(problem.rows[0], len(problem.start)))],",
                ),
            ),
            _steps(
                identifier,
                "step size from the data",
                (_RATE, "points[-1] - length / (1 + abs(gradients[0, 0])) * estimate"),
            ),
        )
    ),
    *(
        replace(m, algorithm="P1.A3", module="tailproof.refimpl.means.trimmed")
        for m in _P1A3_MEAN
        if m.name != "trimming skipped"
    ),
    *(replace(m, algorithm="P1.A4", module="tailproof.refimpl.means.soft_truncation") for m in _P1A4_MEAN),
    # P2.A1
    *_below("P2.A1", "privacy", _CLIPPING, _of("P2.A2")),
    *_below("P2.A1", "calibration", _CLIPPING, _of("P2.A2")),
    _privacy(
        "P2.A1",
        "budget not split over the steps",
        ("total_budget(epsilon, delta) / steps)", "total_budget(epsilon, delta))"),
    ),
    _privacy(
        "P2.A1",
        "budget: composition dropped, every step spends (ε, δ)",
        ("share, groups = split_for_advanced(claim, steps),", "share, groups = claim,"),
    ),
    _calibration(
        "P2.A1",
        "√ln(1/δ) for 2√ln(1/δ) in ρ",
        ("(1 + 2 * math.sqrt(math.log(1 / delta))) ** 2", "(1 + math.sqrt(math.log(1 / delta))) ** 2"),
    ),
    _calibration("P2.A1", "δ₀ = δ", ("delta=share.delta,\n            clip", "delta=delta,\n            clip")),
    Mutant("P2.A1", "step length from the data", "privacy", (_RATE_FROM_DATA,), _STEPS),
    Mutant("P2.A1", "exact gradient added", "privacy", (_GRADIENT_ADDED,), _STEPS),
    # P3.A2
    *_below("P3.A2", "privacy", _MEDIANS, _of("P3.A3")),
    *_below("P3.A2", "calibration", _MEDIANS, _of("P3.A3")),
    _privacy(
        "P3.A2",
        "budget: composition dropped, every step spends (ε, δ)",
        ("claim if strong else split_for_advanced(claim, steps)", "claim"),
    ),
    _privacy(
        "P3.A2",
        "budget of every batch for all records: batches overlap",
        ('return convexity == "strong" and', 'return convexity == "weak" and'),
    ),
    Mutant("P3.A2", "every batch sees all records", "privacy", (_ALL_RECORDS,), _STEPS),
    Mutant("P3.A2", "step length from the data", "privacy", (_RATE_FROM_DATA,), _STEPS),
    # P3.A5
    *_below(
        "P3.A5", "privacy", _PEELING, (m for m in _of("P3.A4") if "values" in str(m.edits) or m.edits[0][0] == _P3A4_SCALE)
    ),
    *_below("P3.A5", "calibration", _PEELING, _of("P3.A4")),
    _privacy("P3.A5", "truncation skipped", ("truncated_mean_of(gradients, bound)", "gradients.mean(axis=0)")),
    _privacy("P3.A5", "C/n for 2C/n", ("2 * truncation * learning_rate / size", "truncation * learning_rate / size")),
    _privacy("P3.A5", "η₀ forgotten in λ", ("2 * truncation * learning_rate / size", "2 * truncation / size")),
    _calibration(
        "P3.A5", "λ of the proof, s/3 times line 10's", (_P3A5_REACH, _P3A5_REACH.replace(" / size", " / size * 8 / 3"))
    ),
    _privacy(
        "P3.A5",
        "data-dependent scale",
        ("truncation=bound, learning_rate", "truncation=min(bound, abs(gradients).max() + 1e-6), learning_rate"),
    ),
    _privacy(
        "P3.A5",
        "budget of every batch for all records: batches overlap",
        ("batches_of(len(rows), steps, disjoint=True)", "batches_of(len(rows), steps, disjoint=False)"),
    ),
    _privacy("P3.A5", "every batch sees all records", ("tables(point, batch)", "tables(point, range(len(rows)))")),
    # P3.A6
    _steps("P3.A6", "budget of every batch for all records: each sees all", _ALL_RECORDS),
    _steps("P3.A6", "data-dependent scale: step length from the data", _RATE_FROM_DATA),
    _steps("P3.A6", "noise reused: exact gradient added", _GRADIENT_ADDED),
    Mutant(
        "P3.A6",
        "noise doubled: half of a batch left out",
        "calibration",
        (("estimator(gradients, channel", "estimator(gradients[::2], channel"),),
        _STEPS,
    ),
    # P4: what all share.  (P4.D4: what can be seen although its Δ, with the large κ of a small problem, exceeds the diameter.)
    *_perturbed("privacy", "noise halved", _P4_ALL_BUT_D4, *_noise_times("0.5")),
    *_perturbed("privacy", "C/n for 2C/n", _P4_ALL_BUT_D4, (_P4_REACH, _P4_REACH.replace("(2 +", "(1 +"))),
    *_perturbed(
        "privacy", "extension skipped", _P4_ALL_BUT_D4, (_P4_PROBLEM, _P4_PROBLEM.replace("self.lip", "10 * self.lip"))
    ),
    *_perturbed(
        "privacy",
        "variance for deviation",
        _P4_ALL_BUT_D4,
        (_P4_GAUSSIAN, "Gaussian(point, sensitivity**2 / (2 * spend.rho))"),
    ),
    *_perturbed(
        "privacy",
        "noise reused",
        (*_P4_ALL_BUT_D4, "P4.D4"),
        ("noise_law(point, reach.value, spend)", "noise_law(0 * point, reach.value, spend)"),
        ("return channel.release(name", "return point + channel.release(name"),
    ),
    *_perturbed(
        "privacy",
        "certificate ignored: twenty steps, too long ones",
        _P4_ALL_BUT_D4,
        ("import math\n", "import math\nimport numpy as np\n"),
        (_P4_CERTIFIED, _P4_STEPS),
    ),
    *_perturbed(
        "privacy",
        "certificate ignored: the centre where it is hard to find",
        _P4_ALL_BUT_D4,
        (_P4_CERTIFIED, _P4_SUBSTITUTE),
    ),
    *_perturbed("calibration", "noise doubled", (*_P4_ALL_BUT_D4, "P4.D4"), *_noise_times("2")),
    # the slack is hardly ever used, but it may be
    *_perturbed("calibration", "κ dropped", (*_P4_ALL_BUT_D4, "P4.D4"), (_P4_REACH, "2 * self.lipschitz")),
    *_perturbed("calibration", "noise halved", ("P4.D4",), *_noise_times("0.5")),
    *_perturbed("calibration", "C/n for 2C/n", ("P4.D4",), (_P4_REACH, _P4_REACH.replace("(2 +", "(1 +"))),
    *_perturbed(
        "privacy", "projection radius from the data", ("P4.A2", "P4.A4", "P4.D4"), _P4_RADIUS_FROM_DATA, module=_P4_LOCALISE
    ),
    # P4.S1
    _privacy("P4.S1", "C from the data", _P4_CLIP_FROM_DATA),
    _utility("P4.S1", "shifted", ("project(noisy(", "project(1 + noisy(")),
    # P4.S2
    _privacy("P4.S2", "noise halved", (_P4S2_SCALE, _P4S2_SCALE.replace("2 * ", ""))),
    _privacy("P4.S2", "C/n for 2C/n", (_P4S2_SCALE, _P4S2_SCALE.replace("2 * ", "")), ("L2(2 * C)", "L2(C)")),
    _privacy(
        "P4.S2",
        "determinant forgotten: its share of the budget for the tilt",
        (_P4S2_TILT, _P4S2_TILT.replace("plan.share - ", "")),
        (_P4S2_SPEND, "spend=PureDP(for_tilt)"),
    ),
    _privacy("P4.S2", "budget not split", (_P4S2_TILT, _P4S2_TILT.replace(" - plan.reserve", ""))),
    _privacy(
        "P4.S2",
        "C from the data",
        ("len(rows), plan.lipschitz, curv", "len(rows), plan.lipschitz * min(1, 0.5 + abs(rows).max()), curv"),
    ),
    _privacy(
        "P4.S2",
        "Λ from the data",
        (_P4S2_RISK, _P4S2_RISK.replace("plan.weight", "plan.weight * (1 + min(1, abs(rows).max()))")),
    ),
    _privacy(
        "P4.S2",
        "noise reused: the mean of the records beside it",
        (_P4S2_OUTPUT, _P4S2_OUTPUT.replace("project(", "project(tempered.features.mean(axis=0) + ")),
    ),
    *_perturbed(
        "privacy", "clip skipped", ("P4.S2",), ("np.minimum(1.0, C / norms)", "np.ones(len(norms))"), module=_P4S2_TEMPERED
    ),
    *_perturbed(
        "privacy",
        "envelope skipped: a hundredth of it",
        ("P4.S2",),
        ("rates = B /", "rates = 100 * B /"),
        module=_P4S2_TEMPERED,
    ),
    *_perturbed(
        "privacy",
        "certificate ignored: one step",
        ("P4.S2",),
        ("_MOST_NEWTON = 120", "_MOST_NEWTON = 1"),
        ("        return None\n", "        return self._lifted(point, self._slope(point, tilt, exact=True))\n"),
        module=_P4S2_TILTED,
    ),
    *_perturbed(
        "privacy",
        "certificate ignored: single precision",
        ("P4.S2",),
        ("return y if float(np.linalg.norm(rest)) <= goal", "return y.astype(np.float32) + 0.0 if len(rest)"),
        module=_P4S2_TILTED,
    ),
    _calibration("P4.S2", "noise doubled", (_P4S2_SCALE, _P4S2_SCALE.replace("2 * ", "4 * "))),
    _calibration("P4.S2", "rounding's noise halved", ("slack.value / for", "slack.value / 2 / for")),
    _utility("P4.S2", "turned round", ("nearest(region, above)", "nearest(region, -above)")),
    # P4.A2
    _privacy("P4.A2", "C from the data", _P4_CLIP_FROM_DATA),
    # P4.A4
    _privacy("P4.A4", "C from the data", _P4_CLIP_FROM_DATA),
    _privacy("P4.A4", "budget not split", _P4_NOT_SPLIT),
    _utility("P4.A4", "shifted", ("local.project(noisy(", "problem.domain.project(1 + noisy(")),
    # P4.S3
    _privacy("P4.S3", "noise halved", ("2 * reach.value / claim.epsilon", "reach.value / claim.epsilon")),
    _privacy(
        "P4.S3",
        "sensitivity halved",
        ("return LInf(1.0)", "return LInf(0.5)"),
    ),
    _privacy("P4.S3", "clip skipped", ("np.minimum(sizes / level, 1.0) ** order", "(sizes / level) ** order")),
    _privacy(
        "P4.S3",
        "grid from the data",
        ("levels, k, slack), 2", "levels * (1 + min(1, abs(rows).max())), k, slack), 2"),
        ("(levels[int(chosen)]", "(levels[int(chosen)] * (1 + min(1, abs(rows).max()))"),
    ),
    _privacy("P4.S3", "noise reused: the mean of the records beside it", ("** (1 / k))", "** (1 / k)) + rows.mean()")),
    _calibration("P4.S3", "noise doubled", ("2 * reach.value / claim.epsilon", "4 * reach.value / claim.epsilon")),
    _utility("P4.S3", "score turned round", ("np.asarray(-np.maximum(", "np.asarray(np.maximum(")),
    # P4.A5
    _privacy("P4.A5", "noise halved", ("2 * reach.value / claim.epsilon", "reach.value / claim.epsilon")),
    _privacy("P4.A5", "C/n for 2C/n", ("LInf(2 * lipschitz / n + ", "LInf(lipschitz / n + ")),
    _privacy(
        "P4.A5",
        "clip skipped",
        ("np.clip(slopes * norms[:, np.newaxis], -self.lipschitz, self.lipschitz)", "slopes * norms[:, np.newaxis]"),
        ("(gradients * (self.lipschitz / np.maximum(norms, self.lipschitz)))", "gradients"),
    ),
    _privacy(
        "P4.A5",
        "C from the data",
        ("weight=weight, lipschitz=lipschitz,", "weight=weight, lipschitz=lipschitz + abs(data).max(),"),
    ),
    _privacy("P4.A5", "net from the data", ("net(region, mesh,", "net(region, mesh * (1 + min(1, abs(rows).max())),")),
    _privacy(
        "P4.A5",
        "noise reused: the mean of the records beside it",
        (
            "return np.array(points[int(chosen)])",
            "return np.array(points[int(chosen)]) + rows.mean(axis=0)[: region.dimension]",
        ),
    ),
    _calibration("P4.A5", "noise doubled", ("2 * reach.value / claim.epsilon", "4 * reach.value / claim.epsilon")),
    _utility("P4.A5", "score turned round", ("np.asarray(-np.linalg.norm(mapping", "np.asarray(np.linalg.norm(mapping")),
    # P4.A7
    _privacy("P4.A7", "noise halved", ("2 * reach.value / (second", "reach.value / (second")),
    _privacy("P4.A7", "C/n for 2C/n", ("return LInf(sensitivity_upper(", "return LInf(0.5 * sensitivity_upper(")),
    _privacy("P4.A7", "budget not split", ("PureDP(claim.epsilon - first.epsilon)", "claim")),
    _privacy("P4.A7", "C from the data", _P4_CLIP_FROM_DATA),
    _privacy(
        "P4.A7",
        "net from the data",
        ("(mesh or MESH) * local.radius, most", "(mesh or MESH) * local.radius * (1 + min(1, abs(rows).max())), most"),
        (
            "walk_spacing(problem, local, temperature, mesh)",
            "(1 + min(1, abs(rows).max())) * walk_spacing(problem, local, temperature, mesh)",
        ),
    ),
    _privacy(
        "P4.A7",
        "a walk with too few steps",
        ("steps = steps_for(energies, grid, start, tau, gap=method, known=known)", "steps = 1"),
    ),
    Mutant(
        "P4.A7",
        "extension and cut skipped",
        "privacy",
        (
            ("found.values - start.values", "self.loss.values(point, self.data) - self.loss.values(self.anchor, self.data)"),
            ("np.union1d(self._evaluator.coarse(found), start_coarse).tolist()", "()"),
            ("np.clip(changes, -most, most)", "changes"),
        ),
        "tailproof.refimpl.pure_dp.centred_risk",
    ),
    _privacy(
        "P4.A7",
        "noise reused: the mean of the records beside it",
        (
            "second))])",
            "second))]) + rows.mean(axis=0)[: local.dimension]",
        ),
    ),
    _calibration("P4.A7", "noise doubled", ("2 * reach.value / (second", "4 * reach.value / (second")),
    _utility(
        "P4.A7",
        "shifted",
        (
            'return channel.release("point", Gibbs(risk, temperature), sensitivity=reach, spend=second)',
            'return 1 + channel.release("point", Gibbs(risk, temperature), sensitivity=reach, spend=second)',
        ),
    ),
    # P4.D4
    *_perturbed("privacy", "C from the data", ("P4.D4",), _P4_CLIP_FROM_DATA, module=_P4_DOUBLE),
    *_perturbed("privacy", "budget not split", ("P4.D4",), _P4_NOT_SPLIT, module=_P4_DOUBLE),
    # P4.A1
    _privacy(
        "P4.A1",
        "C from the data",
        ("lipschitz=phase.lipschitz,", "lipschitz=phase.lipschitz * min(1, 0.5 + abs(data).max()),"),
    ),
    _privacy("P4.A1", "budget of every phase for all records: batches overlap", ("used = ends[-1]", "used = 0")),
    _privacy("P4.A1", "every batch sees all records", ("data[batch.start : batch.stop],", "data,")),
    _privacy(
        "P4.A1",
        "aggregation by the data",
        ("aggregate(np.array(answers), phase.radius)", "answers[-int(abs(rows).max() > 0.5)]"),
    ),
    _utility("P4.A1", "turned round", ("phase.radius)\n    return point", "phase.radius)\n    return -point")),
)

_NO_NOISE = "it adds no noise and spends no budget"
_NO_BOUND = "no explicit-constant error bound is published for it"
_P4_SAME_BOUND = "its explicit bound is that of P4.S1 or P4.A4, which are checked"
_P4_WIDE = "where its conic programs are few, Δ is more than the diameter of the set: no query can move farther"
_ESTIMATORS_NOISE = "it adds no noise of its own: its estimator does"
INAPPLICABLE: tuple[Inapplicable, ...] = (
    *(
        Inapplicable("P3.A6", name, _ESTIMATORS_NOISE)
        for name in ("noise halved", "clip skipped", "C/n for 2C/n", "variance for deviation")
    ),
    *(
        Inapplicable("P0.A1", name, _NO_NOISE)
        for name in ("noise halved", "variance for deviation", "budget not split", "noise reused", "noise doubled")
    ),
    Inapplicable("P0.A1", "utility", "its error bound is a lemma about what uses it"),
    *(
        Inapplicable("P0.A2", name, _NO_NOISE)
        for name in ("noise halved", "variance for deviation", "budget not split", "noise reused", "noise doubled")
    ),
    *(
        Inapplicable(identifier, "utility", _NO_BOUND)
        for identifier in ("P0.A2", "P0.A3", "P0.A4", "P0.A5", "P0.A6", "P0.A7", "P0.B", "P0.R3")
    ),
    Inapplicable("P2.A2", "budget not split", "it makes one release"),
    Inapplicable("P1.A1", "budget not split", "it makes one release"),
    Inapplicable("P3.A1", "budget not split", "it makes one release of one number"),
    Inapplicable("P4.S1", "budget not split", "it makes one release"),
    Inapplicable("P4.S2", "variance for deviation", "the scale of its noise is not a deviation"),
    Inapplicable("P4.A2", "budget not split", "it makes one release"),
    Inapplicable("P4.A7", "clip skipped", "the extension is C-Lipschitz already; the cut is for errors of evaluation only"),
    Inapplicable("P4.A7", "variance for deviation", "the scale of its noise is not a deviation"),
    Inapplicable("P4.S3", "budget not split", "it makes one release"),
    Inapplicable("P4.S3", "C/n for 2C/n", "its query is a count: a record counts once"),
    Inapplicable("P4.S3", "variance for deviation", "the scale of its noise is not a deviation"),
    Inapplicable("P4.A5", "budget not split", "it makes one release"),
    Inapplicable("P4.A5", "variance for deviation", "the scale of its noise is not a deviation"),
    Inapplicable("P4.D4", "certificate ignored", _P4_WIDE),
    Inapplicable("P4.D4", "extension skipped", _P4_WIDE),
    Inapplicable("P4.D4", "variance for deviation", "the scale of its noise is not a deviation"),
    *(Inapplicable(identifier, "utility", _P4_SAME_BOUND) for identifier in ("P4.A2", "P4.D4")),
    *(
        Inapplicable(identifier, "utility", _NO_BOUND)
        for identifier in (
            "P2.A3",
            "P3.A4",
            "P1.A1",
            "P1.A3",
            "P1.A3.mean",
            "P1.A4",
            "P1.A4.mean",
            "P2.A1",
            "P3.A2",
            "P3.A5",
            "P3.A6",
        )
    ),
)


def build(mutant: Mutant) -> Implementation:
    """The algorithm's implementation with the edits made.  An edit whose text is not there exactly once is an error."""
    published = algorithm(mutant.algorithm).implementation
    assert published is not None
    if mutant.module is not None:
        _rests_on(published.module.__name__, mutant.module)  # which looks at all that is below
    with patch.dict(sys.modules):  # restored afterwards: nobody else sees what is edited
        rebuilt: dict[str, ModuleType] = {}
        module = _rebuilt(published.module.__name__, mutant, rebuilt)
    if mutant.module is not None and mutant.module not in rebuilt:
        raise ValueError(f"{mutant.algorithm} {mutant.name!r}: does not rest on {mutant.module}")
    return replace(published, module=module)


def _rebuilt(name: str, mutant: Mutant, rebuilt: dict[str, ModuleType]) -> ModuleType:
    """The module, executed anew: edited, or on top of the edited one and of all that lies between."""
    source = inspect.getsource(sys.modules[name])
    if mutant.module in (None, name):
        source = _edited(source, mutant)
    else:
        for below in _imports(name, mutant.module):
            if below not in rebuilt and _rests_on(below, mutant.module):
                _rebuilt(below, mutant, rebuilt)
    module = rebuilt[name] = sys.modules[name] = ModuleType(name)
    exec(compile(source, f"<mutant {mutant.algorithm}: {mutant.name}>", "exec"), module.__dict__)
    return module


@cache  # of the modules as they are: what is rebuilt has no source of its own
def _imports(name: str, edited: str) -> list[str]:
    """The modules it imports from its own package and from that of the edited one."""
    packages = {module.rpartition(".")[0] for module in (name, edited)}
    found = re.findall(r"^from ((tailproof\.refimpl\.\w+)\.\w+) import", inspect.getsource(sys.modules[name]), re.MULTILINE)
    return [module for module, package in found if package in packages]


def _rests_on(name: str, edited: str) -> bool:
    """Others stay as they are, and with them the classes that checks know."""
    below = [_rests_on(module, edited) for module in _imports(name, edited)]
    return name == edited or any(below)


def _edited(source: str, mutant: Mutant) -> str:
    for old, new in mutant.edits:
        if source.count(old) != 1:
            raise ValueError(f"{mutant.algorithm} {mutant.name!r}: {old!r} stands {source.count(old)} times in the source")
        source = source.replace(old, new)
    return source


def mutants_of(identifier: str) -> tuple[Mutant, ...]:
    return tuple(mutant for mutant in MUTANTS if mutant.algorithm == identifier)


def mutant(identifier: str, name: str) -> Mutant:
    for candidate in mutants_of(identifier):
        if candidate.name == name:
            return candidate
    raise KeyError(f"{identifier} has no mutant {name!r}")
