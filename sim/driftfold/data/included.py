"""Files of data that come with driftfold."""

import hashlib
from pathlib import Path

from driftfold.errors import DataError


def checked(path: Path, digest: str) -> Path:
    """Return the path if its content is what was published with the package."""
    try:
        got = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(
            f"cannot read {path} ({error.strerror}), which is part of driftfold; install it again"
        ) from None
    if got != digest:
        raise DataError(
            f"{path} has SHA-256 {got}, not {digest}: it was changed; install driftfold again"
        )
    return path
