"""How the cut was made: run it on the original training files to make the same two files again.

Usage: ``python make.py FOLDER`` where FOLDER holds ``train-images-idx3-ubyte.gz`` and
``train-labels-idx1-ubyte.gz`` of Fashion-MNIST.
"""

import gzip
import hashlib
import struct
import sys
from pathlib import Path

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.idx_format import read_idx

PER_CLASS = 200


def rank(row: int) -> bytes:
    """Return the key by which training image number `row` (0 .. 59999) is ranked."""
    return hashlib.sha256(f"driftfold fashion-mnist cut 1: {row}".encode()).digest()


def chosen(labels: Array) -> Ints:
    """Rows of the cut: of each class the 200 of least rank, in the order of the original file."""
    rows = [
        row
        for label in range(10)
        for row in sorted(np.flatnonzero(labels == label).tolist(), key=rank)[:PER_CLASS]
    ]
    return np.sort(np.array(rows, dtype=np.int64))


def write_idx(path: Path, values: Array) -> None:
    """Write unsigned bytes as a gzip-compressed idx file without a time stamp."""
    head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    path.write_bytes(gzip.compress(head + values.tobytes(), compresslevel=9, mtime=0))


def main(source: Path, target: Path) -> None:
    """Cut the files in `source` and write the result to `target`."""
    labels = read_idx(source / "train-labels-idx1-ubyte.gz", dimensions=1)
    images = read_idx(source / "train-images-idx3-ubyte.gz", dimensions=3)
    rows = chosen(labels)
    write_idx(target / "images-idx3-ubyte.gz", images[rows])
    write_idx(target / "labels-idx1-ubyte.gz", labels[rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent)
