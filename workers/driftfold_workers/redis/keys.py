"""Names of the keys in Redis: one place, one hash tag, so that a cluster keeps them together."""

from dataclasses import dataclass

from driftfold_workers.jobs.job import State

KEEP = 3600.0  # seconds that a job stays here after its end was recorded


@dataclass(frozen=True)
class Keys:
    """Keys below a prefix, which lets several services share one server.

    >>> Keys("df").job("0192")
    '{df}:job:0192'
    """

    prefix: str = "df"

    def job(self, job: str) -> str:
        """Hash: what is known of a job."""
        return self._name("job", job)

    def records(self, job: str) -> str:
        """Stream: the log of a job; the id of an entry is the number of its record."""
        return self._name("m", job)

    def events(self, job: str) -> str:
        """Stream: lifecycle events of a job, numbered likewise."""
        return self._name("ev", job)

    def jobs(self, state: State | None = None) -> str:
        """Sorted set: jobs, or those in one state, by number (see `number_of`)."""
        return self._name("jobs", state) if state else self._name("jobs")

    @property
    def ready(self) -> str:
        """Sorted set: queued jobs that may run, by their place (see `place`)."""
        return self._name("q:ready")

    @property
    def needs(self) -> str:
        """Hash: what each queued job needs."""
        return self._name("q:needs")

    @property
    def lease(self) -> str:
        """Sorted set: running jobs by the time in ms at which their lease is over."""
        return self._name("q:lease")

    @property
    def delayed(self) -> str:
        """Sorted set: queued jobs whose next attempt has to wait, by the time in ms at which."""
        return self._name("q:delayed")

    @property
    def dead(self) -> str:
        """Sorted set: jobs that failed because their attempts ran out, by number."""
        return self._name("jobs", "dead")

    @property
    def later(self) -> str:
        """Sorted set: queued jobs that may not run yet, by the time in ms at which they may."""
        return self._name("q:later")

    @property
    def held(self) -> str:
        """Set: queued jobs that wait for others."""
        return self._name("q:held")

    @property
    def unrecorded(self) -> str:
        """Set: jobs that have told something which the archive does not have yet."""
        return self._name("a:unrecorded")

    @property
    def archived(self) -> str:
        """Sorted set: jobs that are in the archive to their end, by when they may be forgotten."""
        return self._name("a:archived")

    @property
    def uncleared(self) -> str:
        """Sorted set: jobs that have run and are over, and after which nobody has cleared up yet.

        By the time in ms from which on it is anybody's to do.
        """
        return self._name("uncleared")

    @property
    def turns(self) -> str:
        """Sorted set: jobs by when they first left the queue, in us; the last 10,000."""
        return self._name("turns")

    @property
    def recorder(self) -> str:
        """String: who fills the archive, for the length of a lease."""
        return self._name("a:recorder")

    @property
    def counts(self) -> str:
        """Hash: how often things have happened, over all jobs there ever were."""
        return self._name("counts")

    @property
    def archive(self) -> str:
        """String: the id of the archive that the job store belongs to."""
        return self._name("a:archive")

    @property
    def workers(self) -> str:
        """Hash: workers that are there."""
        return self._name("workers")

    @property
    def bell(self) -> str:
        """Channel: a job was queued."""
        return self._name("bell")

    @property
    def pulse(self) -> str:
        """Channel: a job moved, or its log grew."""
        return self._name("pulse")

    def transition(self, job: str) -> list[str]:
        """Return what a script about a job may touch, in the order that prelude.lua names."""
        return [
            *(self.job(job), self.records(job), self.events(job)),
            *(self.ready, self.needs, self.lease, self.delayed, self.later, self.held),
            *(self.bell, self.pulse, self.jobs(), self.unrecorded, self.archived, self.turns),
            *(self.jobs(state) for state in State),
            *(self.uncleared, self.dead, self.counts),
        ]

    def _name(self, *parts: str) -> str:
        return ":".join((f"{{{self.prefix}}}", *parts))
