"""Sweeps: one specification at many points, as a group of jobs."""
