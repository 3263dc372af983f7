"""The terms of a job as they go over the wire: asked for, checked strictly, and told back."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Self, TypeAlias, TypedDict

from annotated_types import Ge, Gt, Interval, Le, MaxLen
from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from driftfold_api.answer import Answer
from driftfold_api.wording import in_words
from driftfold_workers.jobs.terms import HIGHEST, LOWEST, Limits, Terms

MEBIBYTE = 2**20
JOBS = 100  # that one job may wait for
LATEST = 10 * 365 * 86400.0  # seconds that a job may be put off


def _text(value: object) -> object:
    # The reader of dates takes numbers, too, and guesses their unit.
    if not (isinstance(value, str) and re.match(r"[2-8]\d{3}-", value)):
        raise ValueError
    return value


JobId: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
    in_words("the id of a job"),
]
Moment: TypeAlias = Annotated[
    AwareDatetime,
    Strict(False),
    BeforeValidator(_text),
    in_words("a date and a time with its zone, as 2030-01-31T08:00:00Z"),
]
Seconds: TypeAlias = Annotated[
    float, Gt(0), Le(1e9), in_words("seconds: a number above 0 and at most 1e9")
]


class LimitsAsked(BaseModel):
    """What the job may use up."""

    model_config = ConfigDict(strict=True, extra="forbid")

    cpu_seconds: Seconds | None = Field(default=None, description="CPU time, over all attempts.")
    wall_seconds: Seconds | None = Field(
        default=None, description="Time of running, over all attempts."
    )
    memory_mib: (
        Annotated[int, Ge(1), Le(2**30), in_words("MiB: a whole number from 1 on")] | None
    ) = Field(default=None, description="Address space, in MiB.")


class TermsAsked(BaseModel):
    """How a job is to be run, as a request says it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    priority: Annotated[
        int,
        Interval(ge=LOWEST, le=HIGHEST),
        in_words(f"a whole number from {LOWEST} to {HIGHEST}"),
    ] = Field(default=0, description="Queued jobs of a higher priority run first.")
    not_before: Moment | None = Field(
        default=None, description="When it may run at the earliest, with a time zone."
    )
    delay_seconds: (
        Annotated[float, Ge(0), Le(LATEST), in_words(f"seconds: a number from 0 to {LATEST:.0f}")]
        | None
    ) = Field(default=None, description="The same, from its submission on.")
    attempts: Annotated[int, Ge(1), Le(1000), in_words("a whole number from 1 to 1000")] | None = (
        Field(default=None, description="Attempts before it fails; default what its worker gives.")
    )
    limits: LimitsAsked = LimitsAsked()
    after: Annotated[list[JobId], MaxLen(JOBS)] = Field(
        default=[], description="Jobs that must have succeeded first."
    )

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.not_before is not None and self.delay_seconds is not None:
            raise PydanticCustomError(
                "wording", "got both not_before and delay_seconds, wanted one of them at most"
            )
        return self

    def terms(self) -> Terms:
        """Return the terms; `delay_seconds` counts from the moment in which the job is made."""
        limits, memory = self.limits, self.limits.memory_mib
        return Terms(
            priority=self.priority,
            not_before=None if self.not_before is None else self.not_before.timestamp(),
            attempts=self.attempts,
            limits=Limits(
                cpu=limits.cpu_seconds,
                wall=limits.wall_seconds,
                memory=None if memory is None else memory * MEBIBYTE,
            ),
            after=tuple(dict.fromkeys(self.after)),
        )


class LimitsGiven(TypedDict, total=False):
    """What a client says of limits."""

    cpu_seconds: float | None
    wall_seconds: float | None
    memory_mib: int | None


class TermsGiven(TypedDict, total=False):
    """What a client says of terms, as keyword arguments; see `TermsAsked` for their meaning."""

    priority: int
    not_before: datetime | None
    delay_seconds: float | None
    attempts: int | None
    limits: LimitsGiven
    after: Sequence[str]


def to_body(given: TermsGiven) -> dict[str, Any]:
    """Return the fields of a request that say the same.

    >>> to_body({"priority": 3, "not_before": datetime(2030, 1, 1, tzinfo=UTC)})
    {'priority': 3, 'not_before': '2030-01-01T00:00:00+00:00'}
    """
    body: dict[str, Any] = _said(given)
    if isinstance(moment := body.get("not_before"), datetime):
        aware = moment if moment.tzinfo else moment.astimezone()
        body["not_before"] = aware.isoformat()
    if "limits" in body:
        body["limits"] = _said(body["limits"])
    if "after" in body:
        body["after"] = list(body["after"])
    return body


def _said(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


class LimitsView(Answer):
    """What a job may use up; null: no limit of its own."""

    cpu_seconds: float | None = None
    wall_seconds: float | None = None
    memory_mib: int | None = None


class TermsView(Answer):
    """How a job is to be run, beside its specification."""

    priority: int = 0
    not_before: datetime | None = None
    attempts: int | None = Field(default=None, description="Null: what its worker gives.")
    limits: LimitsView = LimitsView()
    after: list[str] = Field(default=[], description="Jobs that must have succeeded first.")

    @classmethod
    def of(cls, terms: Terms) -> Self:
        """Return terms as they are told."""
        limits, when = terms.limits, terms.not_before
        return cls(
            priority=terms.priority,
            not_before=None if when is None else datetime.fromtimestamp(when, UTC),
            attempts=terms.attempts,
            limits=LimitsView(
                cpu_seconds=limits.cpu,
                wall_seconds=limits.wall,
                memory_mib=None if limits.memory is None else limits.memory // MEBIBYTE,
            ),
            after=list(terms.after),
        )
