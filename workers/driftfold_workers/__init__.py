"""The workers of the driftfold service: the queue, leases, and processes that run jobs."""
