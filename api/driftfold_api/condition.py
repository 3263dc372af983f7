"""How the service is, as it is told: its queue, and whether its parts answer."""

from typing import Self

from pydantic import Field

from driftfold import __version__
from driftfold_api.answer import Answer
from driftfold_api.metrics.scrape import Found
from driftfold_api.models import Count
from driftfold_workers.jobs.census import WITHIN, Census, Rank
from driftfold_workers.jobs.job import State


class Line(Answer):
    """Queued jobs of one rank, which begin as soon as a worker is free."""

    priority: Rank = Field(description="high: above 0; normal: 0; low: below 0.")
    depth: Count
    oldest_seconds: float = Field(
        description="Since the one at their head was submitted; 0 when there is none."
    )


class QueueView(Answer):
    """The queue."""

    depth: Count = Field(description="Jobs that begin as soon as a worker is free.")
    lines: list[Line]
    delayed: Count = Field(description="Queued jobs that wait for a time.")
    held: Count = Field(description="Queued jobs that wait for others.")
    paused: Count
    running: Count
    dead: Count = Field(
        description="Jobs whose attempts ran out, as far as the job store has not forgotten them."
    )
    slots: Count = Field(description="Of the workers that are there.")
    limit: Count = Field(description="Queued jobs that the service takes.")
    ended_per_minute: float = Field(description="Jobs that ended, over the last ten minutes.")
    wait_seconds: float | None = Field(
        description="Until the queue is empty, if it goes on like that; null: unknown."
    )

    @classmethod
    def of(cls, census: Census, limit: int) -> Self:
        """Return the queue as it is told."""
        depth = sum(line.depth for line in census.lines.values())
        rate = census.ended / WITHIN
        wait = depth / rate if rate else None if depth else 0.0
        return cls(
            depth=depth,
            lines=[
                Line(priority=rank, depth=line.depth, oldest_seconds=line.oldest)
                for rank, line in census.lines.items()
            ],
            delayed=census.delayed,
            held=census.held,
            paused=census.jobs[State.PAUSED],
            running=census.running,
            dead=census.dead,
            slots=census.slots,
            limit=limit,
            ended_per_minute=60.0 * rate,
            wait_seconds=wait,
        )


class Part(Answer):
    """A part of the service."""

    up: bool
    detail: str = Field(description="What it said, or that it said nothing; empty when it is up.")


class Recorder(Answer):
    """Who fills the archive, and how far it is behind."""

    up: bool = Field(description="Whether any process does; unknown without the job store: false.")
    here: bool = Field(description="Whether the process that answers does.")
    lag_jobs: Count | None = Field(description="Jobs with news that the archive has not.")
    lag_records: float | None = Field(description="Their records that it has not.")


class Condition(Answer):
    """Whether the parts of the service answer."""

    version: str
    job_store: Part
    archive: Part
    recorder: Recorder
    jobs: dict[State, Count] = Field(description="By state, as far as is known.")
    streams: Count = Field(description="Open in the process that answers.")

    @classmethod
    def of(cls, found: Found) -> Self:
        """Return the condition as it is told."""
        lag = found.lag
        return cls(
            version=__version__,
            job_store=Part(up=found.census is not None, detail=found.store_says),
            archive=Part(up=found.kept is not None, detail=found.archive_says),
            recorder=Recorder(
                up=found.census is not None and bool(found.census.recorder),
                here=found.in_charge,
                lag_jobs=None if lag is None else lag.jobs,
                lag_records=None if lag is None else lag.records,
            ),
            jobs=dict(found.jobs),
            streams=found.followers,
        )
