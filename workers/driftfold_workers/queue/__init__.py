"""The queue: each transition of a job is one script, and every write of an attempt is fenced."""
