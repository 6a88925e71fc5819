"""Portable test vectors: written by `export`, answered by any program over JSON lines, compared by an independent reader."""
