"""Approximate and zero-concentrated differential privacy for stochastic convex optimisation: P0, P1, P2, P3."""
