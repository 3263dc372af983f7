"""Observing: logs and traces of what happens."""
