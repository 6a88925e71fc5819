"""Theorems as values, and certificates that compare them."""

from tailproof.bounds.compare import Dominance, Separation, Undecided, compare
from tailproof.bounds.errata import errata
from tailproof.bounds.theorems import comparisons, theorem, theorems

__all__ = ["Dominance", "Separation", "Undecided", "compare", "comparisons", "errata", "theorem", "theorems"]
