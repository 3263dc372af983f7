"""What goes over the wire: requests, checked strictly, and answers.

Answers are read by the client with the same models; it passes over fields that it does not know,
so that a newer service may add some.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self, TypeAlias

from annotated_types import Ge, MaxLen
from pydantic import Field, StringConstraints

from driftfold_api.answer import Answer
from driftfold_api.terms import TermsAsked, TermsView
from driftfold_api.wording import in_words
from driftfold_workers.jobs.job import Job, LifecycleEvent, State
from driftfold_workers.jobs.usage import Usage

Number: TypeAlias = float | Literal["NaN", "Infinity", "-Infinity"]
"""A number, or the name of one that JSON does not have."""

Count: TypeAlias = Annotated[int, Ge(0)]
Name: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"),
    in_words("one line of at most 200 printable characters"),
]
"""One line of text: a name is shown in terminals."""


class Submission(TermsAsked):
    """A request to run an experiment, on which terms."""

    spec: dict[str, Any] = Field(
        description="The experiment: a complete specification, or one that `extends` a preset. Its "
        "schema is at /v1/schema."
    )
    name: Name | None = Field(
        default=None, description="For people; default the specification's own name."
    )


class Progress(Answer):
    """How far a job has come."""

    seq: Count = Field(description="Number of the last record in the job's log.")
    rounds: Count = Field(description="Server steps so far.")
    horizon_rounds: Count | None = Field(description="Server steps wanted; null: until a time.")


class JobView(Answer):
    """A job, and where to find more of it."""

    id: str
    name: str
    state: State
    reason: str = Field(
        description="Why it is in this state: the error of a failure, what a queued job waits for."
    )
    due: datetime | None = Field(
        default=None, description="When a queued job is tried again, if it has to wait until then."
    )
    created: datetime
    started: datetime | None
    finished: datetime | None
    attempt: Count = Field(description="Attempts begun.")
    worker: str = Field(description="Who runs it, or ran it last.")
    needs: list[str] = Field(description="Kinds a worker must have, as family:kind.")
    progress: Progress
    pausing: bool = Field(
        default=False,
        description="It is to be paused: at the end of its round, or once the job store is back.",
    )
    group: str = Field(default="", description="Id of the group that it belongs to.")
    dead: bool = Field(
        default=False,
        description="It failed because its attempts ran out: a further try may help.",
    )
    retried_by: str = Field(
        default="", description="Id of the latest job that was made to try it again."
    )
    diverged: Count | None = Field(
        default=None,
        description="Number of the first record that a later attempt computed differently: the "
        "job is not deterministic.",
    )
    links: dict[str, str]

    @classmethod
    def of(cls, job: Job) -> Self:
        """Return a job as it is told."""
        return cls(**_facts(job))


class Origin(Answer):
    """The job that another one was made from, and how."""

    job: str
    how: str = Field(description="retry or clone.")
    records: Count | None = Field(
        default=None, description="Records that were taken over from its log; null: none."
    )


class UsageView(Answer):
    """What a job has used up over all its attempts, up to its last sign of life."""

    cpu_seconds: float = Field(default=0.0, description="Without the imports of its processes.")
    wall_seconds: float = Field(default=0.0, description="In which it ran.")

    @classmethod
    def of(cls, used: Usage) -> Self:
        """Return usage as it is told."""
        return cls(cpu_seconds=used.cpu, wall_seconds=used.wall)


class JobDetail(JobView):
    """A job with its specification."""

    spec: dict[str, Any]
    checkpoint: str | None = Field(description="The snapshot that a next attempt would go on from.")
    terms: TermsView = Field(default=TermsView(), description="How it is to be run.")
    used: UsageView = Field(
        default=UsageView(), description="What it has used up; its limits are in `terms`."
    )
    origin: Origin | None = Field(default=None, description="The job that it was made from.")
    position: Annotated[int, Ge(1)] | None = Field(
        default=None,
        description="Its place among the queued jobs that may run; null for any other job, and "
        "where it is not known.",
    )

    @classmethod
    def of(cls, job: Job) -> Self:
        """Return a job as it is told."""
        return cls(
            **_facts(job),
            spec=dict(job.spec),
            checkpoint=job.checkpoint,
            terms=TermsView.of(job.terms),
            used=UsageView.of(job.used),
            origin=None if job.origin is None else Origin(**job.origin),
            position=job.position,
        )


class JobPage(Answer):
    """Part of the list of jobs, newest first."""

    jobs: list[JobView]
    cursor: str | None = Field(description="Give it back for the next part; null at the end.")
    next: str | None = Field(description="Address of the next part.")


class RecordView(Answer):
    """One record of a job's log. NaN and infinity are text, as JSON has no such numbers."""

    seq: Annotated[int, Ge(1)]
    kind: str
    time: Number = Field(description="Virtual seconds.")
    version: Count = Field(description="Server steps so far.")
    values: dict[str, Number]
    timing: dict[str, Number] = Field(default={}, description="Wall and CPU seconds.")
    note: str = ""


class RecordPage(Answer):
    """Part of a job's log."""

    records: list[RecordView]
    last: Count = Field(description="Ask for records after this one next.")
    state: State
    complete: bool = Field(description="The job is over and this is the end of its log.")


class Lifecycle(Answer):
    """Something that happened to a job, beside its records."""

    number: Annotated[int, Ge(1)]
    kind: str
    time: datetime
    facts: dict[str, Any] = Field(
        description="Attempt, worker, record number, reason; of an attempt that ended its outcome, "
        "and for how many seconds the job then waits (retry)."
    )

    @classmethod
    def of(cls, event: LifecycleEvent) -> Self:
        """Return a lifecycle event as it is told."""
        return cls(
            number=event.number, kind=event.kind, time=_moment(event.time), facts=dict(event.facts)
        )


class LifecyclePage(Answer):
    """Lifecycle events of a job."""

    events: list[Lifecycle]
    last: Count = Field(description="Ask for events after this one next.")


class Attempt(Answer):
    """One worker's try at a job."""

    epoch: Annotated[int, Ge(1)]
    attempt: Count
    worker: str
    resumed: bool = Field(description="It went on from a snapshot.")
    started: datetime
    ended: datetime | None
    outcome: str = Field(
        description="In words: running, finished, failed, canceled, drained, lease lost, "
        "child died (signal 9), ..."
    )
    reason: str = Field(description="Why it ended, if that needs one.")
    first: Count = Field(description="Records in the log when it began.")
    last: Count | None = Field(description="Records in the log when it ended.")


class Attempts(Answer):
    """All attempts at a job."""

    attempts: list[Attempt]


class Waiting(Answer):
    """What a queued job waits for, as far as is known: a worker, one with its kinds, a time."""

    id: str
    reason: str = Field(description="Empty when nothing is lacking: its turn.")
    due: datetime | None

    @classmethod
    def of(cls, job: Job) -> Self:
        """Return what a job waits for."""
        return cls(id=job.id, reason=job.reason, due=_moment(job.due))


class Gap(Answer):
    """Records of a job that nobody has any more: its log goes on after the last of them."""

    id: str
    first: Annotated[int, Ge(1)]
    last: Annotated[int, Ge(1)]


class Reset(Answer):
    """Jobs may have begun, and ended, of which the stream tells nothing: list them."""

    reason: str


class End(Answer):
    """The last event of a stream: the job is over, and all of its log was sent."""

    id: str
    state: State | Literal["deleted"]
    reason: str
    seq: Count


class Artefact(Answer):
    """A file that a job left."""

    name: str
    size: Count
    modified: datetime | None
    href: str


class Artefacts(Answer):
    """Files that a job left."""

    artefacts: list[Artefact]


class Preset(Answer):
    """An experiment to run or to extend."""

    name: str
    doc: str
    extends: str | None
    spec_digest: str
    spec: dict[str, Any]


class Presets(Answer):
    """All presets."""

    presets: list[Preset]


class Worker(Answer):
    """A worker that is there."""

    name: str
    kinds: list[str]
    slots: Count
    jobs: list[str] = Field(description="Jobs that it runs.")
    seen: float = Field(description="Seconds since its last sign of life.")
    host: str = Field(default="", description="Name of its machine.")
    version: str = Field(default="", description="Of driftfold.")


class Workers(Answer):
    """All workers that are there."""

    workers: list[Worker]


class Health(Answer):
    """Whether the service can serve."""

    status: Literal["ok", "ready", "degraded"] = Field(
        description="Degraded: jobs are accepted, and read as far as they are recorded; none "
        "begins before the job store is back."
    )
    workers: Count | None = None
    detail: str | None = Field(default=None, description="Why it is degraded.")


class ProblemEntry(Answer):
    """One thing that is wrong."""

    field: str
    detail: str


class ProblemDetails(Answer):
    """A refusal, in the form of RFC 9457."""

    type: str
    title: Annotated[str, MaxLen(100)]
    status: Annotated[int, Ge(400)]
    detail: str
    instance: str = ""
    errors: list[ProblemEntry] = Field(default=[])


def _facts(job: Job) -> dict[str, Any]:
    home = f"/v1/jobs/{job.id}"
    parts = ("records", "events", "lifecycle", "attempts", "result", "artefacts")
    return {
        "id": job.id,
        "name": job.name,
        "state": job.state,
        "reason": job.reason,
        "due": _moment(job.due),
        "created": _moment(job.created),
        "started": _moment(job.started),
        "finished": _moment(job.finished),
        "attempt": job.attempt,
        "worker": job.worker,
        "needs": list(job.needs),
        "progress": Progress(seq=job.seq, rounds=job.rounds, horizon_rounds=job.horizon_rounds),
        "pausing": job.pausing,
        "group": job.group,
        "dead": job.dead,
        "retried_by": job.retried_by,
        "diverged": job.diverged,
        "links": {"self": home, **{part: f"{home}/{part}" for part in parts}},
    }


def _moment(seconds: float | None) -> Any:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
