"""Metric values: named numbers that nobody overwrites unnoticed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftfold.errors import RecordError


def merge(*groups: Mapping[str, float]) -> dict[str, float]:
    """Return one mapping of all metrics, in the order given.

    Raises `RecordError` when two groups use one name.

    >>> merge({"gap": 0.5}, {"responders": 7})
    {'gap': 0.5, 'responders': 7}
    >>> merge({"gap": 0.5}, {"gap": 0.4})
    Traceback (most recent call last):
    driftfold.errors.RecordError: metric 'gap' is given twice (0.5 and 0.4); rename one of them
    """
    merged: dict[str, float] = {}
    for group in groups:
        if not merged.keys().isdisjoint(group):
            name = next(name for name in group if name in merged)
            raise RecordError(
                f"metric {name!r} is given twice ({merged[name]} and {group[name]}); "
                "rename one of them"
            )
        merged.update(group)
    return merged


def plain_numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the same metrics as Python numbers: ints stay ints, all else becomes a float.

    Non-finite values are legal. Raises `RecordError` for a value that is not one real number, or
    a name that is not text.

    >>> plain_numbers({"gap": np.float64(0.5), "responders": np.int64(7), "loss": float("nan")})
    {'gap': 0.5, 'responders': 7, 'loss': nan}
    """
    return {
        name: value if type(value) is float and type(name) is str else _plain(name, value)
        for name, value in values.items()  # a call for each would take longer than the rest
    }


def _plain(name: str, value: Any) -> float:
    number = value
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        number = value.item()
    if not isinstance(name, str) or not isinstance(number, int | float):
        raise RecordError(
            f"metric {name!r} is {value!r}; a metric is a name with one real number, and what "
            "there is of each client goes into the record's detail"
        )
    return int(number) if isinstance(number, int) else float(number)
