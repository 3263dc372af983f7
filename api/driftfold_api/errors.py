"""What can be wrong with a request to the command, beyond the specification itself."""

from driftfold.errors import DriftfoldError


class RequestError(DriftfoldError):
    """Something named on the command line cannot be used: a folder, a file, a metric."""
