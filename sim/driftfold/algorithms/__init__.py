"""Algorithms: what clients compute, and how the server uses it."""
