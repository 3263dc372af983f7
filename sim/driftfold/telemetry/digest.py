"""Digest of a sequence of records that can be stopped and continued."""

from functools import lru_cache
from hashlib import blake2b
from json import JSONEncoder

from driftfold.telemetry.base import Record

_encode = JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class RecordDigest:
    """Chained hash h <- blake2b-128(h || record) over what repeats bit for bit in a record.

    That is kind, time, version and values, floats by their bits; the order of the values, the
    record's number and its timing do not count. The chain's present value is its whole state.

    >>> digest = RecordDigest()
    >>> digest.add(Record(1, "round", 2.5, 1, {"gap": float("inf")}, {"wall_s": 0.1}))
    >>> digest.hex()
    'd46076f934cc0932fd66d76434e4592e'
    >>> RecordDigest(digest.hex()).hex() == digest.hex()
    True
    """

    def __init__(self, start: str = "00" * 16) -> None:
        self._chain = bytes.fromhex(start)

    def add(self, record: Record) -> None:
        """Continue the chain with one record."""
        self._chain = blake2b(self._chain + canonical(record), digest_size=16).digest()

    def hex(self) -> str:
        """Return the present value, 32 hexadecimal digits."""
        return self._chain.hex()


def canonical(record: Record) -> bytes:
    """Return the bytes that a record contributes: JSON with sorted keys and hexadecimal floats.

    >>> canonical(Record(1, "round", 2.5, 1, {"n": 3, "gap": 0.5}))
    b'["round","0x1.4000000000000p+1",1,{"gap":"0x1.0000000000000p-1","n":3}]'
    """
    # As json's encoder writes it, in two thirds of the time: it makes itself anew for each text.
    values = record.values
    form, names = _form(record.kind, tuple(values))
    texts = [
        f'"{value.hex()}"' if isinstance(value := values[name], float) else _text(value)
        for name in names
    ]
    return (form % (record.time.hex(), record.version, *texts)).encode()


@lru_cache(2**10)
def _form(kind: str, names: tuple[str, ...]) -> tuple[str, list[str]]:
    """Records of a kind with these names, to be filled with their values, and the names' order."""
    ordered = sorted(names)
    kind, *texts = (_text(text).replace("%", "%%") for text in (kind, *ordered))
    values = ",".join(f"{text}:%s" for text in texts)
    return f'[{kind},"%s",%s,{{{values}}}]', ordered


@lru_cache(2**12, typed=True)
def _text(value: str | int) -> str:
    """JSON of a name or a whole number; the same ones come in every record."""
    return _encode(value)
