"""Parquet files of numbers, written without help: to import pyarrow takes longer than most of them.

What is written is the plain part of the format: one page for each column of each group of rows,
values as they are, compressed by zlib, which every reader knows.

Source: the Apache Parquet format, version 2.11 (parquet.thrift and Encodings.md); Thrift's compact
protocol for the descriptions.
"""

import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import IO, Any, Literal, TypeAlias

import numpy as np

from driftfold.arrays import Array, Bools

MAGIC = b"PAR1"
Kind: TypeAlias = Literal["int64", "float64"]
_TYPES: Mapping[Kind, int] = {"int64": 2, "float64": 5}
_REQUIRED, _OPTIONAL = 0, 1
_PLAIN, _RLE = 0, 3
_GZIP = 2
_FASTEST, _WITH_GZIP_HEADER = 1, 31
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


class ParquetWriter:
    """Writes groups of rows to a binary file, then what describes them.

    Parameters
    ----------
    file
        Where to write; it need not be seekable.
    columns
        Kind of each column by name, in order. A "float64" may be absent from rows.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> writer = ParquetWriter(file, {"seq": "int64", "loss": "float64"})
    >>> writer.write(2, {"seq": (np.array([1, 2]), None), "loss": (np.array([0.5]), [True, False])})
    >>> writer.close()
    >>> file.getvalue()[:4], file.getvalue()[-4:]
    (b'PAR1', b'PAR1')
    """

    def __init__(self, file: IO[bytes], columns: Mapping[str, Kind]) -> None:
        self._file = file
        self._columns = dict(columns)
        self._groups: list[bytes] = []
        self._rows = 0
        self._at = 0
        self._put(MAGIC)

    def write(self, rows: int, values: Mapping[str, tuple[Array, Bools | None]]) -> None:
        """Write a group of rows.

        Of each column its values, and in which rows they are: (rows,) booleans, or None for all.
        A column that is left out is absent from all of them. Raises `ValueError` where the number
        of values is another one than that of the rows.
        """
        chunks, before = [], self._at
        for name, kind in self._columns.items():
            found = values.get(name, (np.empty(0), np.zeros(rows, bool)))
            chunks.append(self._chunk(name, kind, rows, *found))
        size = _i64(2, self._at - before)
        self._groups.append(_struct(_list(1, _STRUCT, chunks), size, _i64(3, rows)))
        self._rows += rows

    def close(self) -> None:
        """Write the description of the file, without which it is none; leaves the file open."""
        root = _struct(_binary(4, b"rows"), _i32(5, len(self._columns)))
        schema = [
            _struct(_i32(1, _TYPES[kind]), _i32(3, _repetition(kind)), _binary(4, name.encode()))
            for name, kind in self._columns.items()
        ]
        described = _struct(
            _i32(1, 1),
            _list(2, _STRUCT, [root, *schema]),
            _i64(3, self._rows),
            _list(4, _STRUCT, self._groups),
            _binary(6, b"driftfold"),
        )
        self._put(described + struct.pack("<I", len(described)) + MAGIC)

    def _chunk(self, name: str, kind: Kind, rows: int, values: Array, there: Any) -> bytes:
        """Write one column of a group; return its description."""
        count = rows if there is None else int(np.count_nonzero(there))
        if len(values) != count or (there is not None and len(there) != rows):
            raise ValueError(f"column {name!r} has {len(values)} values in {rows} rows")
        body = np.ascontiguousarray(values, dtype=f"<{kind[0]}8").tobytes()
        if _repetition(kind) == _OPTIONAL:
            body = _levels(rows, there) + body
        elif count != rows:
            raise ValueError(f"column {name!r} is of whole numbers, which every row has")
        packer = zlib.compressobj(_FASTEST, wbits=_WITH_GZIP_HEADER)
        packed = packer.compress(body) + packer.flush()
        page = _struct(
            _i32(1, 0),
            _i32(2, len(body)),
            _i32(3, len(packed)),
            _field(
                5, _STRUCT, _struct(_i32(1, rows), _i32(2, _PLAIN), _i32(3, _RLE), _i32(4, _RLE))
            ),
        )
        at = self._at
        self._put(page + packed)
        meta = _struct(
            _i32(1, _TYPES[kind]),
            _list(2, _I32, [_number(_PLAIN), _number(_RLE)]),
            _list(3, _BINARY, [_text(name.encode())]),
            _i32(4, _GZIP),
            _i64(5, rows),
            _i64(6, len(page) + len(body)),
            _i64(7, len(page) + len(packed)),
            _i64(9, at),
        )
        return _struct(_i64(2, at), _field(3, _STRUCT, meta))

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._at += len(data)


def _repetition(kind: Kind) -> int:
    return _OPTIONAL if kind == "float64" else _REQUIRED


def _levels(rows: int, there: Any) -> bytes:
    """Which rows have a value: one run of all, or bits in eights."""
    if there is None:
        levels = _varint(rows << 1) + b"\x01"
    else:
        bits = np.packbits(np.asarray(there, bool), bitorder="little").tobytes()
        levels = _varint(len(bits) << 1 | 1) + bits
    return struct.pack("<I", len(levels)) + levels


# -- Thrift's compact protocol: a field is its number, its type and its value ----------------------


Field: TypeAlias = tuple[int, int, bytes]


def _struct(*fields: Field) -> bytes:
    parts, before = [], 0
    for number, kind, value in fields:
        parts += [bytes([(number - before) << 4 | kind]), value]
        before = number
    return b"".join(parts) + b"\x00"


def _field(number: int, kind: int, value: bytes) -> Field:
    return number, kind, value


def _i32(number: int, value: int) -> Field:
    return number, _I32, _number(value)


def _i64(number: int, value: int) -> Field:
    return number, _I64, _number(value)


def _binary(number: int, value: bytes) -> Field:
    return number, _BINARY, _text(value)


def _list(number: int, kind: int, parts: Iterable[bytes]) -> Field:
    all_of = list(parts)
    size = len(all_of)
    head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + _varint(size)
    return number, _LIST, head + b"".join(all_of)


def _text(value: bytes) -> bytes:
    return _varint(len(value)) + value


def _number(value: int) -> bytes:
    return _varint(value << 1)  # zigzag; ours are never below 0


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
