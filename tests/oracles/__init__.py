"""Slow, obvious versions of the solvers."""
