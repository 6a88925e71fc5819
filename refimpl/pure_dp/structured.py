"""[P4, §3.1 and Theorem D.4] Double output perturbation by the fixed-step subgradient method on the extension itself.

Statement: as `double`, in deterministic polynomial time for losses whose extension has subgradients of known accuracy, by
conic programs: T of about (1.24·R·M/α)² steps, each with n conic programs (`fixed_step_plan` states T), so for small problems.

Departures: where the method cannot prove the gap α it was planned for, which takes records so large that floats fail it, the
certified minimiser takes its place.  Both points have a gap of at most α, which is all that the sensitivity rests on.
"""

from __future__ import annotations

from functools import partial

from numpy.typing import ArrayLike

from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import Localised
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.fixed_step import fixed_step_minimiser
from tailproof.refimpl.losses import Ridge, parse_loss
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.perturbation import certified_point
from tailproof.refimpl.pure_dp.single import privacy, sensitivity, worst_neighbours
from tailproof.refimpl.validation import FloatArray, InputError

__all__ = ["privacy", "sensitivity", "structured_output_perturbation", "worst_neighbours"]


def structured_output_perturbation(
    data: ArrayLike, channel: Channel, *, most_steps: int = 20_000, **parameters: object
) -> FloatArray:
    """As `double_output_perturbation`, reading A, with its parameters."""
    if parameters.setdefault("reading", "A") != "A":
        raise InputError(f"reading = {parameters['reading']!r}: must be A; the method's infimum runs over W")
    loss = parameters.get("loss")
    if isinstance(parse_loss(loss) if isinstance(loss, str) else loss, Ridge):
        raise InputError(f"loss = {loss!r}: must not be a Ridge; the conic programs have no form for it")
    method = partial(fixed_step_point, most_steps=most_steps)
    return double_output_perturbation(data, channel, method=method, **parameters)  # type: ignore[arg-type]


def fixed_step_point(problem: Problem, accuracy: float, *, most_steps: int) -> FloatArray:
    """The average of the planned steps, if its gap is proved; a tenth of the accuracy is for the rounding of points."""
    assert not isinstance(problem.loss, Ridge)
    part = problem.within
    ball = part.ball if isinstance(part, Localised) and part is not problem.domain else None
    found = fixed_step_minimiser(
        loss=problem.loss,
        data=problem.data,
        domain=problem.domain,
        lipschitz=problem.lipschitz,
        weight=problem.weight,
        anchor=problem.anchor,
        accuracy=0.9 * accuracy,
        within=ball,
        most_steps=most_steps,
    )
    return found.point if found.certified else certified_point(problem, accuracy)
