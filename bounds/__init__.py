"""Theorems as values, and certificates that compare them."""
