"""What can be wrong with a request to the command or the service, beyond the specification itself.

::

    DriftfoldError
    ├── RequestError           something named on the command line cannot be used
    │   └── Refused            the service refused a request, and said why (a ServiceError, too)
    └── ServiceError           the service did not do what was asked of it
        ├── Refused
        └── Unreachable        nobody answers at its address, or not in time
"""

from collections.abc import Mapping, Sequence

from driftfold.errors import DriftfoldError


class RequestError(DriftfoldError):
    """Something named on the command line cannot be used: a folder, a file, a metric."""


class ServiceError(DriftfoldError):
    """The service did not do what was asked of it."""


class Unreachable(ServiceError):
    """Nobody answers at the service's address."""


class Refused(ServiceError, RequestError):
    """The service refused a request, and said why.

    Attributes
    ----------
    status
        The status of the answer.
    type
        Which kind of problem, as in "/problems/unknown-job".
    errors
        Each thing that is wrong, with its field.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        type: str = "",  # noqa: A002 - the word of RFC 9457
        errors: Sequence[Mapping[str, str]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.errors = tuple(errors)
