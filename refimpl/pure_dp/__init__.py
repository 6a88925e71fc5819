"""Pure differential privacy for stochastic convex optimisation with heavy-tailed data."""

from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.exponential import exponential_mechanism
from tailproof.refimpl.pure_dp.moment_choice import private_moment_bound
from tailproof.refimpl.pure_dp.objective import ObjectivePlan, objective_bound, objective_perturbation, objective_plan
from tailproof.refimpl.pure_dp.plan import (
    Assumption,
    Phase,
    Plan,
    expectation_bound,
    expectation_plan,
    high_probability_plan,
)
from tailproof.refimpl.pure_dp.population import population_localization
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.pure_dp.structured import structured_output_perturbation

__all__ = [
    "Assumption",
    "ObjectivePlan",
    "Phase",
    "Plan",
    "double_output_perturbation",
    "expectation_bound",
    "expectation_plan",
    "exponential_mechanism",
    "high_probability_plan",
    "objective_bound",
    "objective_perturbation",
    "objective_plan",
    "population_localization",
    "private_moment_bound",
    "single_output_perturbation",
    "structured_output_perturbation",
]
