"""How the two files were made: run it to make them again.

Usage: ``python make.py digits.csv.gz`` with the file ``sklearn/datasets/data/digits.csv.gz`` of
scikit-learn 1.9.1.
"""

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np

from driftfold.data.catalogue.hub import idx_bytes

SOURCE = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"


def main(source: Path, target: Path) -> None:
    """Write pictures and classes of the table `source` to `target`, in its order."""
    table = gzip.decompress(source.read_bytes())
    got = hashlib.sha256(table).hexdigest()
    if got != SOURCE:
        raise SystemExit(f"{source} has SHA-256 {got}, wanted {SOURCE}")
    rows = np.array([line.split(b",") for line in table.split()]).astype(np.uint8)
    for name, values in (
        ("images-idx3-ubyte.gz", rows[:, :64].reshape(-1, 8, 8)),
        ("labels-idx1-ubyte.gz", rows[:, 64]),
    ):
        packed = gzip.compress(idx_bytes(values), compresslevel=9, mtime=0)
        (target / name).write_bytes(packed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent)
