"""Lipschitz extensions of convex losses: reference, batched and joint evaluation."""
