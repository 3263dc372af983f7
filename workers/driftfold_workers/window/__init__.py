"""The window: what the archive takes from the job store, and trims there."""
