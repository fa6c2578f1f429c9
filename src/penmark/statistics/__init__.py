"""Closed forms, exact and the same on any machine: Wilson intervals, rank correlation."""
