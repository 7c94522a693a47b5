"""Monty: an interpreter for a subset of Python, which is always there."""
