"""Quantiles over clients of what each of them reports."""

from collections.abc import Iterable, Sequence

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.errors import RecordError
from driftfold.telemetry.base import Record


def quantiles(
    records: Iterable[Record], figure: str, shares: Sequence[float] = (0.1, 0.5, 0.9)
) -> tuple[Ints, Floats]:
    """Versions (R,) at which clients told a figure, and its quantiles over them, (R, len(shares)).

    A figure, such as `rate` or `signal` of an adaptation, is found by its name with or without the
    number of its phase. Raises `RecordError` when no record has it.

    >>> from types import MappingProxyType
    >>> told = MappingProxyType({"client": np.arange(5), "0.rate": np.linspace(0, 1, 5)})
    >>> one = Record(1, "round", 60.0, 1, {}, detail=told)
    >>> versions, found = quantiles([one], "rate", (0.25, 0.5))
    >>> versions.tolist(), found.tolist()
    ([1], [[0.25, 0.5]])
    """
    versions, rows, known = list[int](), list[Floats](), set[str]()
    for record in records:
        for name, values in (record.detail or {}).items():
            plain = name.partition(".")[2] or name
            known.add(plain)
            if figure in (name, plain):
                versions.append(record.version)
                rows.append(np.quantile(np.asarray(values, dtype=np.float64), shares))
    if not rows:
        told = f"they tell {', '.join(sorted(known))}" if known else "they tell nothing of clients"
        raise RecordError(f"no record has the figure {figure!r} of each client; {told}")
    return np.array(versions, dtype=np.int64), np.array(rows)
