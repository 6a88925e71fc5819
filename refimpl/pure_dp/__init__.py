"""Pure differential privacy for stochastic convex optimisation with heavy-tailed data."""
