"""Arrays in the safetensors format: a length, a header in JSON, then the numbers."""

import json
import struct

import numpy as np

from driftfold.arrays import Array
from driftfold.errors import DataError

_KINDS = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8"}


def parse_safetensors(content: bytes, where: object) -> dict[str, Array]:
    """Return the arrays of a file, by name, without a copy.

    Raises `DataError` when the file is damaged or holds numbers of another kind.

    >>> header = b'{"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}'
    >>> content = struct.pack("<Q", len(header)) + header + np.array([1, 2], "<f4").tobytes()
    >>> parse_safetensors(content, "here")
    {'x': array([1., 2.], dtype=float32)}
    """
    try:
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + length])
        header.pop("__metadata__", None)
        arrays = {}
        for name, told in header.items():
            start, stop = told["data_offsets"]
            numbers = memoryview(content)[8 + length + start : 8 + length + stop]
            arrays[name] = np.frombuffer(numbers, _KINDS[told["dtype"]]).reshape(told["shape"])
    except (struct.error, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{where} is no sound safetensors file ({error!r}); obtain it again") from (
            None
        )
    return arrays
