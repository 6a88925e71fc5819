"""Approximate and concentrated differential privacy for stochastic convex optimisation with heavy-tailed data."""

from refimpl.approx_dp.framework import sco_framework
from refimpl.approx_dp.mean_descent import private_gradient_descent
from refimpl.approx_dp.median_descent import dp_sco
from refimpl.approx_dp.sparse import sparse_optimisation

__all__ = ["dp_sco", "private_gradient_descent", "sco_framework", "sparse_optimisation"]
