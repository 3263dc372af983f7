"""Numbers as people read them."""

import math

from driftfold.studies.base import Match, Published
from driftfold.studies.intervals import Interval

STATISTICS = (
    "Values are means over seeds with 95 % intervals of a bootstrap over the seeds; ratios are "
    "taken seed by seed, averaged as factors, with Student's 95 % interval of the logarithms; "
    "differences are taken seed by seed, too, with Student's 95 % interval."
)


def figure(value: float) -> str:
    """Three significant digits, with a short exponent where one is needed.

    >>> figure(0.02134), figure(2.1e-07), figure(1234.5), figure(0.99996), figure(0.0)
    ('0.0213', '2.10e-7', '1230', '1.00', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    power = int(exponent)
    if -4 <= power < 5:
        return f"{round(value, 2 - power):.{max(0, 2 - power)}f}"
    return f"{mantissa}e{power}"


def span(interval: Interval) -> str:
    """The ends of an interval, or "" where there is none.

    >>> span(Interval(2.0, 1.5, 2.5, seeds=3))
    '1.50 to 2.50'
    """
    return f"{figure(interval.low)} to {figure(interval.high)}" if interval.known else ""


def mark(match: Match | None) -> str:
    """A sign beside a published value.

    >>> mark("met"), mark("open"), mark("missed"), mark(None)
    (' ✓', ' ~', ' ✗', '')
    """
    return "" if match is None else {"met": " ✓", "open": " ~", "missed": " ✗"}[match]


def wanted(row: Published) -> str:
    """The band in which ours counts as the same, in words.

    >>> wanted(Published("rfedags", 1000, 0.0213, low=0.015, high=0.06))
    '0.0213, accepted 0.0150 to 0.0600'
    """
    if row.low is None or row.high is None:
        return figure(row.value)
    return f"{figure(row.value)}, accepted {figure(row.low)} to {figure(row.high)}"
