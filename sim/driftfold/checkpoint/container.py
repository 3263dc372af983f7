"""One snapshot as bytes: a .npz file of its arrays with its facts as JSON beside them.

The name of a snapshot is its number and the checksum of its bytes. So whoever holds the name can
tell whether the bytes are the ones that were saved, and two snapshots never share a name.
"""

import hashlib
import json
import re
import zipfile
from typing import IO

from driftfold.checkpoint.base import Snapshot
from driftfold.errors import CheckpointError
from driftfold.npz import read_npz, write_npz

_META = "meta.json"
_NAME = re.compile(r"(\d{9})-([0-9a-f]{32})")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def write_snapshot(file: IO[bytes], snapshot: Snapshot) -> str:
    """Write to an empty binary file that can be read back; return the checksum of its bytes.

    Raises `CheckpointError` for what JSON or an array without pickling cannot hold.
    """
    try:
        _check_json_ready(snapshot.meta)
        write_npz(file, snapshot.arrays, {_META: json.dumps(snapshot.meta)})
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"cannot store this snapshot: {error}; facts must be ready for JSON and arrays numeric"
        ) from error
    return _checksum(file)


def read_snapshot(file: IO[bytes], name: str, where: str) -> Snapshot:
    """Return the snapshot `name` from its bytes; `CheckpointError` if they are damaged."""
    if _checksum(file) != name.partition("-")[2]:
        raise CheckpointError(f"the snapshot {where} is damaged: its checksum does not match")
    try:
        arrays, texts = read_npz(file)
        return Snapshot(meta=json.loads(texts[_META]), arrays=arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"the snapshot {where} cannot be read: {error}") from error


def snapshot_name(number: int, checksum: str) -> str:
    """Return the name of a run's snapshot number 1, 2, 3, ...; names sort by number.

    >>> snapshot_name(7, "0123456789abcdef" * 2)
    '000000007-0123456789abcdef0123456789abcdef'
    """
    return f"{number:09d}-{checksum}"


def is_snapshot_name(name: str) -> bool:
    """Return whether `name` has the form that `snapshot_name` gives."""
    return _NAME.fullmatch(name) is not None


def next_number(names: list[str]) -> int:
    """Return the number that follows those of `names`, given oldest first."""
    return int(names[-1].partition("-")[0]) + 1 if names else 1


def check_run(run: str) -> str:
    """Return the name of a run, or raise `CheckpointError` when a store cannot use it."""
    if not _RUN.fullmatch(run):
        raise CheckpointError(
            f"cannot keep snapshots of a run called {run!r}; a run's name has 1 to 200 letters, "
            "digits, '.', '_' or '-' and starts with a letter or digit"
        )
    return run


def _check_json_ready(value: object) -> None:
    # json.dumps would turn a key 3 into "3" and a tuple into a list, and the resumed run would
    # go on with something else than what was saved.
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_json_ready(part)
    elif isinstance(value, list):
        for part in value:
            _check_json_ready(part)
    elif not (value is None or isinstance(value, bool | int | float | str)):
        raise TypeError(f"{value!r} is a {type(value).__name__}")


def _checksum(file: IO[bytes]) -> str:
    file.seek(0)
    made = hashlib.blake2b(digest_size=16)
    while chunk := file.read(1 << 20):
        made.update(chunk)
    file.seek(0)
    return made.hexdigest()
