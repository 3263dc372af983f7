"""One stream for many jobs: each event names its job, and its id is a cursor."""

from collections.abc import Mapping

from driftfold_api import frames
from driftfold_api.cursor import Place, entry, join
from driftfold_api.feeds import Feeds
from driftfold_api.follower import Follower
from driftfold_api.roster import Newcomers, Roster
from driftfold_api.sse import EventStream
from driftfold_api.track import Part, Track
from driftfold_workers.jobs.job import Job


class JobsStream(EventStream):
    """Streams several jobs, until all are over.

    Records that follow one another are one event, so that each event is taken whole or not at all.

    Parameters
    ----------
    jobs
        The jobs, None for one that is gone, and how far the client has come in each.
    """

    def __init__(self, feeds: Feeds, jobs: Mapping[str, tuple[Job | None, Place]]) -> None:
        super().__init__(feeds)
        self._jobs = jobs
        self._entries = {job: entry(job, place) for job, (_, place) in jobs.items()}

    def begin(self, follower: Follower) -> bytes:
        """Take a place in each log whose end the client does not know."""
        gone = []
        for job, (known, place) in self._jobs.items():
            if known is not None and not place.over:
                self._feeds.join(follower, known, place.after, place.lifecycle_after)
            elif not place.over:
                self.take_note(job, Place(over=True))
                end = frames.end(job, "deleted", "", place.after)
                gone.append(frames.of_job(end, job, self.cursor))
        return b"".join(gone)

    def text(self, track: Track, part: Part) -> bytes:
        """Return one event; its id counts itself."""
        if part.name == "waiting":
            return frames.of_job(part.frames[0], track.job, None)
        self.take_note(track.job, Place(track.after, track.lifecycle_after, track.over))
        if part.name == "records":
            return frames.records(track.job, part.frames, self.cursor)
        return frames.of_job(part.frames[0], track.job, self.cursor)

    @property
    def cursor(self) -> str:
        """How far the client has come."""
        return join(self._entries.values(), None)

    def take_note(self, job: str, place: Place) -> None:
        """Note how far the client has come in one log."""
        self._entries[job] = entry(job, place)


class EveryStream(JobsStream):
    """Streams the jobs it is given, and all that begin while it lasts. It has no end.

    Parameters
    ----------
    turn
        Jobs that began after it join.
    lost
        Whether it is not known any more which jobs these are.
    group
        Only jobs of this group join; "" of all.
    """

    def __init__(
        self,
        feeds: Feeds,
        roster: Roster,
        jobs: Mapping[str, tuple[Job | None, Place]],
        turn: int,
        lost: bool,
        group: str,
    ) -> None:
        super().__init__(feeds, jobs)
        self._roster = roster
        self._newcomers = Newcomers(turn, self._come)
        self._lost = lost
        self._group = group
        self._follower: Follower | None = None

    def begin(self, follower: Follower) -> bytes:
        """Take places, and be told who comes."""
        self._follower = follower
        self._roster.add(self._newcomers)
        reset = frames.reset(self.cursor) if self._lost else b""
        return reset + super().begin(follower)

    def end(self, follower: Follower) -> None:
        """Be told no more who comes."""
        self._roster.remove(self._newcomers)

    def over(self, follower: Follower) -> bool:
        """Return False: there may be more to come."""
        return False

    @property
    def cursor(self) -> str:
        """How far the client has come. Whom it does not name has ended, or had no turn."""
        return join(self._entries.values(), self._newcomers.turn)

    def take_note(self, job: str, place: Place) -> None:
        """Note how far the client has come in one log; of one that is over nothing is noted."""
        if place.over:
            self._entries.pop(job, None)
        else:
            super().take_note(job, place)

    def _come(self, job: Job) -> None:
        if self._group not in ("", job.group) or job.id in self._entries:
            return
        if self._follower is not None:
            self.take_note(job.id, Place())
            self._feeds.join(self._follower, job)
