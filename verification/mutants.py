"""Deliberately broken copies of the algorithms: the test of every check.

A mutant is a handful of textual edits to an algorithm's own source, or to that of a module it rests on, compiled into a
module of its own.  Its class says which kind of check must kill it: privacy (a privacy check says violated), calibration (the
recorded scale or spend differs from the published formula) or utility (an explicit error bound is exceeded).
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Literal
from unittest.mock import patch

from refimpl.catalogue import Implementation, algorithm

MutantClass = Literal["privacy", "calibration", "utility"]


@dataclass(frozen=True)
class Mutant:
    algorithm: str
    name: str
    kind: MutantClass
    edits: tuple[tuple[str, str], ...]  # (old, new): each old text stands exactly once in the module
    module: str | None = None  # the module that is edited, if it is not the algorithm's own: one of the same package


@dataclass(frozen=True)
class Inapplicable:
    algorithm: str
    name: str
    reason: str


def _privacy(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "privacy", edits)


def _calibration(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "calibration", edits)


def _utility(identifier: str, name: str, *edits: tuple[str, str]) -> Mutant:
    return Mutant(identifier, name, "utility", edits)


_P2A2_SCALE = "math.sqrt(2 / rho) * clip / n)"
_P2A3_SCALE = "math.sqrt(2 / rho) * clip / smallest  # (23)"
_CLASSICAL = "Gaussian(mean, classical_gaussian_scale(reach.value, epsilon, delta))"
_P3A3_NOISE = "Gaussian(middle, classical_gaussian_scale(reach.value, epsilon, delta))"
_P3A4_SCALE = "return 4 * sensitivity * math.sqrt(2 * sparsity * math.log(1 / delta)) / epsilon"
_P1A3_NOISE = "law = LLN(centre, bound / shrink, sigma)"
_P1A4_NOISE = "Gaussian(mean, reach.value * math.sqrt(d / (2 * spend.rho)))"
_RELEASE = 'return channel.release("mean", law, sensitivity=reach, spend=claim)'
_P1_RELEASE = 'return channel.release("mean", law, sensitivity=Smooth(bound, smoothness), spend=spend)'
_P1A4_RELEASE = 'return channel.release("mean", law, sensitivity=reach, spend=spend)'
_P2A2_RELEASE = 'return channel.release("mean", law, sensitivity=sensitivity(n, clip=clip), spend=privacy(rho=rho))'

_P4_ALL_BUT_D4 = ("P4.S1", "P4.A2", "P4.A4", "P4.A1")
_P4_PERTURBATION = "refimpl.pure_dp.perturbation"
_P4_DOUBLE = "refimpl.pure_dp.double"
_P4_LOCALISE = "refimpl.pure_dp.localise"
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
    return found.point if found.stage == "newton" else problem.anchor"""


def _perturbed(
    kind: MutantClass, name: str, identifiers: tuple[str, ...], *edits: tuple[str, str], module: str = _P4_PERTURBATION
) -> Iterator[Mutant]:
    """The same edits of what several algorithms rest on."""
    return (Mutant(identifier, name, kind, edits, module) for identifier in identifiers)


def _noise_times(factor: str) -> tuple[tuple[str, str], ...]:
    return tuple((law, law.replace("sensitivity", f"{factor} * sensitivity")) for law in (_P4_LAPLACE, _P4_GAUSSIAN))


_P0_BUDGET = "refimpl.approx_dp.budget"
_P0_GRADIENTS = "refimpl.approx_dp.gradients"
_P0_DESCENT = "refimpl.approx_dp.descent"
_P0_LOCALISED = "refimpl.approx_dp.localised"
_P0_APPROXIMATION = "refimpl.approx_dp.approximation"
_P0_ACCELERATED = "refimpl.approx_dp.accelerated"
_P0_STAGED = ("P0.A4", "P0.A5")
_P0_BATCH = "Gaussian(query, calibrated.scale)"
_P0_CONCENTRATED = "return sensitivity / math.sqrt(2 * spend.rho)"
_P0_CLIPPED = ("np.clip(slopes * norms, -clip, clip)", "(slopes * norms)")
_P0_PULL = ("weight * (point - start)", "0 * (point - start)")


def _p0(
    kind: MutantClass, name: str, identifiers: tuple[str, ...], module: str, *edits: tuple[str, str]
) -> Iterator[Mutant]:
    return _perturbed(kind, name, identifiers, *edits, module=module)


MUTANTS: tuple[Mutant, ...] = (
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
    _privacy(
        "P0.A3",
        "budget of every phase for all records: batches overlap",
        ("batch = range(end - phase.size, end)", "batch = range(phase.size)"),
    ),
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
        _P0_APPROXIMATION,
        ("part = range(end - stage.size, end)", "part = range(stage.size)"),
    ),
    *_p0(
        "privacy",
        "every stage sees all records",
        _P0_STAGED,
        _P0_APPROXIMATION,
        ("rows[part.start : part.stop]", "rows[-part.stop :]"),
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
    _privacy(
        "P0.A7",
        "budget of every part for all records: parts overlap",
        ("members = range(end - part.size, end)", "members = range(part.size)"),
    ),
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
        ("members = order[(t - 1) * size : t * size]", "members = order[:size]"),
    ),
    _privacy("P0.A6", "batches by value", ("members = order[(t - 1)", "members = np.argsort(rows[:, -1])[(t - 1)")),
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
    _privacy("P0.B", "batches by value", ("[:batch]\n", "[:batch]\n        members = np.argsort(rows[:, -1])[:batch]\n")),
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
    _privacy(
        "P0.R3",
        "budget of every phase for all records: batches overlap",
        ("batch = range(end - phase.size, end)", "batch = range(phase.size)"),
    ),
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
    _privacy("P3.A3", "truncation skipped", ("truncated_mean_of(group, truncation)", "group.mean(axis=0)")),
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
    # P1.A3
    _privacy("P1.A3", "noise halved", (_P1A3_NOISE, "law = LLN(centre, bound / shrink / 2, sigma)")),
    _privacy(
        "P1.A3",
        "clamp skipped",
        ("return min(max(mean, lower), upper), bound", "return mean, bound"),
        ("np.clip(column, lower, upper, out=column)", "pass"),
    ),
    _privacy(
        "P1.A3",
        "trimming skipped",
        ("mean = _mean(column[trim : n - trim])", "mean = _mean(column)"),
    ),
    _privacy(
        "P1.A3",
        "sensitivity halved",
        ("return min(max(mean, lower), upper), bound", "return min(max(mean, lower), upper), bound / 2"),
    ),
    _privacy("P1.A3", "variance for deviation", (_P1A3_NOISE, "law = LLN(centre, (bound / shrink) ** 2 / 100, sigma)")),
    _privacy("P1.A3", "budget not split over coordinates", ("math.sqrt(2 * spend.rho / d)", "math.sqrt(2 * spend.rho)")),
    _privacy(
        "P1.A3",
        "data-dependent scale: local for smooth sensitivity",
        (
            "return min(max(mean, lower), upper), bound",
            "return min(max(mean, lower), upper), max(high[1] - low[-1], high[0] - low[-2]) / (n - 2 * trim) + 1e-9",
        ),
    ),
    _privacy(
        "P1.A3",
        "noise reused",
        ("law = LLN(centre, bound / shrink,", "law = LLN(0 * centre[:1], bound[:1] / shrink,"),
        (
            _P1_RELEASE,
            'return centre + channel.release("mean", law, sensitivity=Smooth(bound[:1], smoothness), spend=spend)',
        ),
    ),
    _calibration("P1.A3", "noise doubled", (_P1A3_NOISE, "law = LLN(centre, 2 * bound / shrink, sigma)")),
    # P1.A4
    _privacy("P1.A4", "noise halved", (_P1A4_NOISE, _P1A4_NOISE.replace("spend.rho)))", "spend.rho)) / 2)"))),
    _privacy(
        "P1.A4",
        "truncation skipped",
        ("total += smoothed_influence(a, beta)", "total += a"),
    ),
    _privacy(
        "P1.A4",
        "cubic without its correction",
        ("value[~far] = close * (1 - spread**2 / 2) - close**3 / 6 + correction(close, spread)", "value[~far] = 0"),
        ("value[far] = _by_quadrature(a[far], beta)", "value[far] = a[far] - a[far] ** 3 / 6"),
        ("np.minimum(value, PLATEAU, out=value)", ""),
    ),
    _privacy("P1.A4", "C/n for 2C/n", ("LInf(2 * PLATEAU * scale / n)", "LInf(PLATEAU * scale / n)")),
    _privacy(
        "P1.A4",
        "variance for deviation",
        (_P1A4_NOISE, "Gaussian(mean, (reach.value * math.sqrt(d / (2 * spend.rho))) ** 2 / 100)"),
    ),
    _privacy(
        "P1.A4", "budget not split over coordinates", (_P1A4_NOISE, _P1A4_NOISE.replace("math.sqrt(d /", "math.sqrt(1 /"))
    ),
    _privacy(
        "P1.A4",
        "data-dependent scale",
        (
            "scale, beta = published_parameters(n, second_moment=second_moment, failure=failure)\n    mean",
            "scale, beta = published_parameters(n, second_moment=float((data**2).mean()) + 1e-6, failure=failure)\n    mean",
        ),
    ),
    _privacy(
        "P1.A4",
        "noise reused",
        ("Gaussian(mean,", "Gaussian(0 * mean[:1],"),
        (_P1A4_RELEASE, _P1A4_RELEASE.replace("return channel", "return mean + channel")),
    ),
    _calibration("P1.A4", "noise doubled", (_P1A4_NOISE, _P1A4_NOISE.replace("spend.rho)))", "spend.rho)) * 2)"))),
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
    # P4.A2
    _privacy("P4.A2", "C from the data", _P4_CLIP_FROM_DATA),
    # P4.A4
    _privacy("P4.A4", "C from the data", _P4_CLIP_FROM_DATA),
    _privacy("P4.A4", "budget not split", _P4_NOT_SPLIT),
    _utility("P4.A4", "shifted", ("local.project(noisy(", "problem.domain.project(1 + noisy(")),
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
INAPPLICABLE: tuple[Inapplicable, ...] = (
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
    Inapplicable("P3.A1", "budget not split", "it makes one release of one number"),
    Inapplicable("P4.S1", "budget not split", "it makes one release"),
    Inapplicable("P4.A2", "budget not split", "it makes one release"),
    Inapplicable("P4.D4", "certificate ignored", _P4_WIDE),
    Inapplicable("P4.D4", "extension skipped", _P4_WIDE),
    Inapplicable("P4.D4", "variance for deviation", "the scale of its noise is not a deviation"),
    *(Inapplicable(identifier, "utility", _P4_SAME_BOUND) for identifier in ("P4.A2", "P4.D4")),
    *(Inapplicable(identifier, "utility", _NO_BOUND) for identifier in ("P2.A3", "P3.A4", "P1.A3", "P1.A4")),
)


def build(mutant: Mutant) -> Implementation:
    """The algorithm's implementation with the edits made.  An edit whose text is not there exactly once is an error."""
    published = algorithm(mutant.algorithm).implementation
    assert published is not None
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
        package = name.rpartition(".")[0]
        for below in re.findall(rf"^from ({re.escape(package)}\.\w+) import", source, re.MULTILINE):
            if below not in rebuilt:
                _rebuilt(below, mutant, rebuilt)
    module = rebuilt[name] = sys.modules[name] = ModuleType(name)
    exec(compile(source, f"<mutant {mutant.algorithm}: {mutant.name}>", "exec"), module.__dict__)
    return module


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
