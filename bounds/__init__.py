"""Theorems as values, and certificates that compare them."""

from bounds import errata, explicit

__all__ = ["errata", "explicit"]
