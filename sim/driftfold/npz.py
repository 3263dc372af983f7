"""Arrays in a file without pickling: NumPy's own .npz, written and read strictly.

Unlike `numpy.savez`, any name will do for an array, texts may lie beside the arrays, equal
contents give equal bytes, and neither writing nor reading ever runs code from the file.
"""

import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np


def write_npz(
    file: IO[bytes], arrays: Mapping[str, Any], texts: Mapping[str, str] | None = None
) -> None:
    """Write `arrays` and `texts` to a binary file; `numpy.load` reads the arrays too.

    Raises `ValueError` for an array of Python objects, `OSError` when the file cannot be written.

    >>> import io
    >>> file = io.BytesIO()
    >>> write_npz(file, {"x": np.arange(3)}, {"note.txt": "three numbers"})
    >>> read_npz(file)
    ({'x': array([0, 1, 2])}, {'note.txt': 'three numbers'})
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        # A ZipInfo made from a name alone carries a fixed date: equal contents, equal bytes.
        for name, text in (texts or {}).items():
            archive.writestr(zipfile.ZipInfo(name), text.encode())
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def read_npz(file: IO[bytes]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arrays and texts of a file, each by name.

    Raises `ValueError`, `OSError` or `zipfile.BadZipFile` when the file is damaged.
    """
    arrays: dict[str, Any] = {}
    texts: dict[str, str] = {}
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            with archive.open(name) as entry:
                if name.endswith(".npy"):
                    array = np.lib.format.read_array(entry, allow_pickle=False)
                    arrays[name.removesuffix(".npy")] = array
                else:
                    texts[name] = entry.read().decode()
    return arrays, texts
