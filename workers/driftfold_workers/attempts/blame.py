"""Blame: whether an error is the machine's fault, and what to tell the user about it."""

import errno

from driftfold.errors import DriftfoldError

MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ESTALE}
"""Errors of disks and shared folders: no room, no writing, no reading. No experiment makes them."""


def is_machines_fault(error: BaseException) -> bool:
    """Return whether an error is of the machine: the same attempt will do elsewhere, or later.

    An error that was raised while another was handled has that one for its cause.

    >>> is_machines_fault(OSError(errno.ENOSPC, "No space left on device"))
    True
    >>> is_machines_fault(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    False
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in MACHINE:
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def reason_of(error: BaseException) -> str:
    r"""Return what to tell the user about an error.

    >>> reason_of(ValueError("not\nthis"))
    'ValueError: not this'
    >>> reason_of(OSError(errno.ENOSPC, "No space left on device", "/runs/7/model.npz"))
    'No space left on device: /runs/7/model.npz'
    """
    if isinstance(error, DriftfoldError):
        return str(error)
    if isinstance(error, OSError) and error.errno in MACHINE:
        return f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"out of memory: {text}" if text else "out of memory"
    return f"{type(error).__name__}: {text}"
