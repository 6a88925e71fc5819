"""Theorems as values, and certificates that compare them."""

from bounds.errata import Erratum, errata
from bounds.explicit import EXPLICIT, ExplicitStatement

__all__ = ["EXPLICIT", "Erratum", "ExplicitStatement", "errata"]
