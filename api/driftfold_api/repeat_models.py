"""Requests to do again what a job did, and their answers."""

from typing import Annotated, Any, Literal, Self

from annotated_types import MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from driftfold_api.answer import Answer
from driftfold_api.models import Name
from driftfold_api.terms import JobId, Moment, TermsAsked

MOST = 1000  # jobs in one replay


class RetryAsked(BaseModel):
    """Where a new try begins."""

    model_config = ConfigDict(strict=True, extra="forbid")

    start: Literal["checkpoint", "start"] = Field(
        default="checkpoint",
        alias="from",
        description="From the last snapshot, with the records there are; or from the start.",
    )


class CloneAsked(TermsAsked):
    """What is to be different in a copy of a job. Terms that are not given stay as they are."""

    spec: dict[str, Any] = Field(
        default={},
        description="Laid over the specification: tables change only the fields that they name, "
        "unless their kind is another one.",
    )
    name: Name | None = Field(default=None, description="For people; default the same.")


class ReplayAsked(RetryAsked):
    """Dead jobs to try again: some by their ids, or all that died before a time."""

    jobs: Annotated[list[JobId], MinLen(1), MaxLen(MOST)] | None = Field(
        default=None, description=f"Ids, {MOST} at most."
    )
    before: Moment | None = Field(
        default=None,
        description=f"All that ended before, and were not tried again; {MOST} at a time.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.jobs is None) == (self.before is None):
            raise PydanticCustomError("wording", "wanted one of jobs and before")
        return self


class Replayed(Answer):
    """A dead job and the one that tries it again."""

    job: str
    by: str


class NotReplayed(Answer):
    """A job that was not tried again, and why."""

    job: str
    detail: str


class Replay(Answer):
    """What a replay came to."""

    replayed: list[Replayed]
    refused: list[NotReplayed]
    more: bool = Field(description="There are more such jobs: repeat the request.")
