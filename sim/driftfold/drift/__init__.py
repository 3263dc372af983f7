"""Drift: what moves when, with the truth about it."""
