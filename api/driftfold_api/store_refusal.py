"""Why a job store that answers takes no writes: its disk is full, it has lost its replicas, ..."""

from redis.exceptions import (
    ClusterDownError,
    MasterDownError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
)

from driftfold_workers.store import StoreError

CODES = {"MISCONF", "NOREPLICAS", "BUSY"}
"""First words of refusals that the client of Redis has no class for."""

CLASSES = (
    ClusterDownError,
    MasterDownError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
)


def refusal(error: StoreError) -> str | None:
    """Return the store's own words on why it takes no writes; None when something else is wrong.

    >>> error = StoreError("the job store refused")
    >>> error.__cause__ = Exception("MISCONF Errors writing to the AOF file: No space. script: 8")
    >>> refusal(error)
    'Errors writing to the AOF file: No space'
    >>> refusal(StoreError("a record is missing"))
    """
    cause = error.__cause__
    code, _, rest = str(cause).partition(" ")
    if code in CODES:
        words = rest
    elif isinstance(cause, CLASSES):
        words = str(cause)
    else:
        return None
    words, _, _ = words.partition(" script: ")  # where in our own code is of no use to the reader
    return " ".join(words.split()).rstrip(".")
