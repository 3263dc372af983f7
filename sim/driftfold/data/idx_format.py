"""The idx file format of MNIST and its kin, plain or gzip-compressed.

A header of four bytes (0, 0, type of the values, number of dimensions), the dimensions as 32-bit
big-endian integers, then the values in row-major order.
"""

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import DataError

_UNSIGNED_BYTES = 8
_GZIP = b"\x1f\x8b"

HOW_TO_OBTAIN = (
    "use the files of MNIST or Fashion-MNIST as they are published, e.g. those that the Debian "
    "package dataset-fashion-mnist puts into /usr/share/datasets/fashion-mnist"
)


def read_idx(path: Path, *, dimensions: int) -> Array:
    """Read an idx file of unsigned bytes, compressed or not.

    Parameters
    ----------
    path
        The file; gzip is recognised by its first bytes, not by its name.
    dimensions
        Number of dimensions that it must have: 3 for images, 1 for labels.

    Returns
    -------
    Array of uint8 with the shape given in the header, not writable.

    Raises
    ------
    DataError
        When the file is missing, damaged, cut short, or of another type or number of dimensions.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels-idx1-ubyte"
    >>> _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    >>> read_idx(path, dimensions=1)
    array([7, 2, 1], dtype=uint8)
    """
    return parse_idx(_content(path), path, dimensions=dimensions)


def parse_idx(raw: bytes, path: object, *, dimensions: int) -> Array:
    """Return what an idx file holds; `path` says in messages where it came from.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 2]), "labels", dimensions=1)
    array([7, 2], dtype=uint8)
    """
    wanted = bytes([0, 0, _UNSIGNED_BYTES, dimensions])
    if raw[:4] != wanted:
        raise DataError(
            f"{path} starts with {raw[:4].hex(' ') or 'nothing'}; an idx file of unsigned bytes in "
            f"{dimensions} dimension(s) starts with {wanted.hex(' ')}; {HOW_TO_OBTAIN}"
        )
    start = 4 + 4 * dimensions
    if len(raw) < start:
        raise DataError(
            f"{path} ends within its header after {len(raw)} of {start} bytes; copy it again"
        )
    shape = struct.unpack(f">{dimensions}I", raw[4:start])
    size = math.prod(shape)
    if len(raw) - start != size:
        raise DataError(
            f"{path} holds {len(raw) - start} values; its header promises "
            f"{' x '.join(map(str, shape))} = {size}; the file is damaged: copy it again"
        )
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)


def _content(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot read {path} ({error.strerror}); an idx file was wanted there; {HOW_TO_OBTAIN}"
        ) from None
    if not raw.startswith(_GZIP):
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path} is gzip-compressed but damaged ({error}); copy it again") from None
