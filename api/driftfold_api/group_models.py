"""Groups as they go over the wire."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import Field

from driftfold_api.answer import Answer
from driftfold_api.archive.group import Child, Group, Tally
from driftfold_api.models import Count, JobView, Name
from driftfold_api.sweeping.stop_rule import StopRule
from driftfold_api.sweeping.sweep import Sweep
from driftfold_api.terms import TermsAsked
from driftfold_workers.jobs.job import State


class GroupAsked(TermsAsked):
    """A request to run one experiment at many points, on which terms."""

    spec: dict[str, Any] = Field(description="What all jobs have in common, as in a submission.")
    name: Name | None = Field(
        default=None, description="For people; default the specification's own name."
    )
    sweep: Sweep
    stop: StopRule | None = Field(default=None, description="Which jobs need not go on.")


class GroupProgress(Answer):
    """How far a group has come, as it is recorded: a second old or so."""

    finished: Count = Field(description="Jobs that are over.")
    jobs: Count = Field(description="Jobs that there are.")
    rounds: Count = Field(description="Server steps of all jobs so far.")
    horizon_rounds: Count | None = Field(
        description="Server steps wanted of all; null: one runs until a time."
    )


class GroupView(Answer):
    """A group, and where to find more of it."""

    id: str
    name: str
    created: datetime
    done: bool = Field(description="All of its jobs are over.")
    ended: str = Field(description="Why its jobs are canceled that are not over; empty: they go on")
    states: dict[State, Count] = Field(description="Jobs by state.")
    progress: GroupProgress
    links: dict[str, str]

    @classmethod
    def of(cls, group: Group, tally: Tally) -> Self:
        """Return a group as it is told."""
        return cls(**_facts(group, tally))


class GroupDetail(GroupView):
    """A group with what was asked for."""

    spec: dict[str, Any]
    sweep: dict[str, Any]
    stop: dict[str, Any] | None

    @classmethod
    def of(cls, group: Group, tally: Tally) -> Self:
        """Return a group as it is told."""
        stop = None if group.stop is None else dict(group.stop)
        asked = {"spec": dict(group.spec), "sweep": dict(group.sweep), "stop": stop}
        return cls(**{**_facts(group, tally), **asked})


class GroupPage(Answer):
    """Part of the list of groups, newest first."""

    groups: list[GroupView]
    cursor: str | None = Field(description="Give it back for the next part; null at the end.")
    next: str | None = Field(description="Address of the next part.")


class ChildView(Answer):
    """One job of a group."""

    number: Count = Field(description="From 1 on, in the order of the points.")
    point: dict[str, Any] = Field(description="Values by paths of fields.")
    stopped: str = Field(description="Why it was stopped early; empty: it was not.")
    job: JobView

    @classmethod
    def of(cls, child: Child) -> Self:
        """Return a child as it is told."""
        return cls(
            number=child.number,
            point=dict(child.point),
            stopped=child.stopped,
            job=JobView.of(child.job),
        )


class ChildPage(Answer):
    """Part of a group's jobs, as they are recorded."""

    jobs: list[ChildView]
    last: Count = Field(description="Ask for jobs after this number next.")
    complete: bool = Field(description="These are the last ones.")


def _facts(group: Group, tally: Tally) -> Mapping[str, Any]:
    home = f"/v1/groups/{group.id}"
    jobs = sum(tally.states.values())
    finished = sum(count for state, count in tally.states.items() if state.final)
    return {
        "id": group.id,
        "name": group.name,
        "created": datetime.fromtimestamp(group.created, UTC),
        "done": finished == jobs,
        "ended": group.ended,
        "states": dict(tally.states),
        "progress": GroupProgress(
            finished=finished,
            jobs=jobs,
            rounds=tally.rounds,
            horizon_rounds=tally.horizon_rounds,
        ),
        "links": {"self": home, "jobs": f"{home}/jobs"},
    }
