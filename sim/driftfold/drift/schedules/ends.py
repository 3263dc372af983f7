"""Where a drift that happens once begins and ends."""

from driftfold.errors import SpecError


def ends(kind: str, start: float, end: float | None, steps: int) -> tuple[float, float]:
    """Return both, `end` by default the last step of the stream.

    Raises `SpecError`, which names `kind`, when they are out of order.

    >>> ends("linear", 0.0, None, steps=100)
    (0.0, 99.0)
    """
    last = max(float(steps - 1), start + 1) if end is None else end
    if not start < last:
        raise SpecError(
            f"schedule '{kind}' starts at step {start:g} and ends at step {last:g}; choose an end "
            "after the start"
        )
    return start, last
