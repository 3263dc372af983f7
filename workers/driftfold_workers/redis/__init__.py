"""Redis: the link to it, how it keeps jobs, and what can be read there."""
