"""Files that appear whole or not at all."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from driftfold.errors import DataError


def write_whole(path: Path, content: bytes | Callable[[IO[bytes]], None]) -> None:
    """Write a file, with its folders, from bytes or by a function that is given the open file.

    Raises `DataError` when it cannot be written; nothing of it is then left.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a" / "b"
    >>> write_whole(path, b"three")
    >>> path.read_bytes(), [other.name for other in path.parent.iterdir()]
    (b'three', ['b'])
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
        part.replace(path)
    except OSError as error:
        raise DataError(
            f"cannot write {path} ({error.strerror}); name another folder with --folder or "
            "DRIFTFOLD_DATA"
        ) from None
    finally:
        with suppress(OSError):
            part.unlink()
