"""Theorems as values, and certificates that compare them."""

from bounds.compare import Dominance, Separation, Undecided, compare
from bounds.errata import errata
from bounds.theorems import comparisons, theorem, theorems

__all__ = ["Dominance", "Separation", "Undecided", "compare", "comparisons", "errata", "theorem", "theorems"]
