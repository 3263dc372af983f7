"""Terms: how a job is to be run, beside its specification."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

LOWEST, HIGHEST = -100, 100
"""Priorities."""


@dataclass(frozen=True)
class Limits:
    """What a job may use up. None: no limit of its own.

    Attributes
    ----------
    cpu
        Seconds of CPU, over all attempts.
    wall
        Seconds of running, over all attempts.
    memory
        Bytes of address space.
    """

    cpu: float | None = None
    wall: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Terms:
    """When a job runs, how often it is tried, and what it may use up.

    Attributes
    ----------
    priority
        Between `LOWEST` and `HIGHEST`: queued jobs of a higher one run first.
    not_before
        Unix time before which it does not run, or None.
    attempts
        Attempts before it fails; None: as many as its worker gives.
    limits
        What it may use up.
    after
        Ids of jobs that must have succeeded first.
    trace
        The span that submitted it, as a `traceparent` of W3C Trace Context, or "". No part of what
        was asked for: a request that is repeated has another one.
    """

    priority: int = 0
    not_before: float | None = None
    attempts: int | None = None
    limits: Limits = Limits()
    after: tuple[str, ...] = ()
    trace: str = ""

    def to_table(self) -> dict[str, Any]:
        """Return the terms as a table of what is not usual.

        >>> Terms(priority=5, limits=Limits(cpu=60.0)).to_table()
        {'priority': 5, 'limits': {'cpu': 60.0}}
        """
        table = _unusual(self, USUAL)
        if "limits" in table:
            table["limits"] = _unusual(self.limits, Limits())
        return table

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "Terms":
        """Return the terms of a table.

        >>> Terms.from_table({"after": ["0192"]}).after, Terms.from_table({}) == Terms()
        (('0192',), True)
        """
        limits, after = Limits(**table.get("limits", {})), tuple(table.get("after", ()))
        return cls(**{**table, "limits": limits, "after": after})


USUAL = Terms()
"""What holds where nothing else was asked for."""


def _unusual(value: Any, usual: Any) -> dict[str, Any]:
    names = [field.name for field in fields(value)]
    return {name: here for name in names if (here := getattr(value, name)) != getattr(usual, name)}
