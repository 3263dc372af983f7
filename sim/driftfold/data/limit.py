"""How many samples of a set are used."""

from driftfold.errors import DataError


def within(limit: int | None, count: int, source: str) -> int:
    """Return the limit, or `count` where there is none; raises `DataError` beyond the data.

    >>> within(None, 5, "it"), within(3, 5, "it")
    (5, 3)
    >>> within(7, 5, "this set")
    Traceback (most recent call last):
    driftfold.errors.DataError: this set holds 5 samples, fewer than the limit of 7; lower the ...
    """
    if limit is not None and limit > count:
        raise DataError(
            f"{source} holds {count:,} samples, fewer than the limit of {limit:,}; lower the limit "
            "or leave it out"
        )
    return count if limit is None else limit
