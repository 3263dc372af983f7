"""Numbers as people read them."""

import math

from driftfold.studies.base import Published
from driftfold.studies.intervals import Interval


def figure(value: float) -> str:
    """Three significant digits, with a short exponent where one is needed.

    >>> figure(0.02134), figure(2.1e-07), figure(1234.5), figure(0.0)
    ('0.0213', '2.1e-7', '1230', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 1e-4 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{round(value, 2 - math.floor(math.log10(abs(value)))):.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def span(interval: Interval) -> str:
    """The ends of an interval, or "" where there is none.

    >>> span(Interval(2.0, 1.5, 2.5, seeds=3))
    '1.5 to 2.5'
    """
    return f"{figure(interval.low)} to {figure(interval.high)}" if interval.known else ""


def mark(met: bool | None) -> str:
    """A sign beside a published value: met, not met, or nothing to compare.

    >>> mark(True), mark(False), mark(None)
    (' ✓', ' ✗', '')
    """
    return {True: " ✓", False: " ✗", None: ""}[met]


def wanted(row: Published) -> str:
    """The band in which ours counts as the same, in words.

    >>> wanted(Published("rfedags", 1000, 0.0213, low=0.015, high=0.06))
    '0.0213, accepted 0.015 to 0.06'
    """
    if row.low is None or row.high is None:
        return figure(row.value)
    return f"{figure(row.value)}, accepted {figure(row.low)} to {figure(row.high)}"
