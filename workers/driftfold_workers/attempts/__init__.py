"""Attempts: processes that run a job, and what becomes of them."""
