"""The server's inbox: payloads that arrived and wait to be used."""

import asyncio
from collections.abc import Mapping, Sequence

from driftfold.world.arrival import Arrival


class Inbox:
    """Arrivals by phase, in order of arrival.

    The server waits with `fill` and takes with `take`. Thresholds count arrivals, not their
    values, so timing never depends on what was computed.
    """

    def __init__(self, phases: int) -> None:
        self._arrived: list[list[Arrival]] = [[] for _ in range(phases)]
        self._wanted: Mapping[int, int] = {}
        self._patient = True
        self._full: asyncio.Future[int | None] | None = None

    def put(self, arrival: Arrival) -> None:
        """Take in one arrival."""
        phase = arrival.order.phase
        arrived = self._arrived[phase]
        arrived.append(arrival)
        if self._full is not None and len(arrived) >= self._wanted.get(phase, 1 << 62):
            self._tell(phase)

    def put_all(self, phase: int, arrivals: Sequence[Arrival]) -> None:
        """Take in arrivals of a phase, in this order."""
        arrived = self._arrived[phase]
        arrived += arrivals
        if self._full is not None and len(arrived) >= self._wanted.get(phase, 1 << 62):
            self._tell(phase)

    def lost(self, left: int) -> None:
        """Learn that a client will not deliver, and that `left` others are still on a visit."""
        if self._full is not None and (left == 0 or not self._patient):
            self._tell(None)

    def _tell(self, phase: int | None) -> None:
        full = self._full
        if full is not None and not full.done():  # the deadline may have come at this very instant
            self._full = None
            full.set_result(phase)

    def waiting(self, phase: int) -> int:
        """How many arrivals of `phase` wait to be taken."""
        return len(self._arrived[phase])

    async def fill(
        self, wanted: Mapping[int, int], until: float = float("inf"), *, patient: bool = True
    ) -> int | None:
        """Wait until some phase has its wanted number of arrivals; return that phase.

        Returns None when virtual time `until` comes first, when nobody is on a visit any more, or,
        unless `patient`, when any client is lost. Who answers at the very instant `until` is in
        time.
        """
        for phase, count in wanted.items():
            if len(self._arrived[phase]) >= count:
                return phase
        self._wanted, self._patient = wanted, patient
        self._full = asyncio.get_running_loop().create_future()
        try:
            if until == float("inf"):
                return await self._full
            async with asyncio.timeout_at(until):
                return await self._full
        except TimeoutError:
            return None
        finally:
            self._full = None

    def peek(self) -> Sequence[Sequence[Arrival]]:
        """What waits, by phase, in order of arrival."""
        return self._arrived

    def take(self, phase: int, count: int | None = None) -> list[Arrival]:
        """Remove and return the first `count` arrivals of a phase (all of them by default)."""
        arrived = self._arrived[phase]
        taken = arrived[:count]
        del arrived[: len(taken)]
        return taken

    def take_group(self, phase: int, group: int) -> list[Arrival]:
        """Remove and return those of one of several cohorts."""
        arrived = self._arrived[phase]
        taken = [a for a in arrived if a.group == group]
        arrived[:] = [a for a in arrived if a.group != group]
        return taken

    def take_older(self, phase: int, version: int, start: int = 0) -> list[Arrival]:
        """Remove and return those from place `start` on whose download is older than `version`."""
        arrived = self._arrived[phase]
        old = [a for a in arrived[start:] if a.order.version < version]
        if old:
            arrived[start:] = [a for a in arrived[start:] if a.order.version >= version]
        return old

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not any(self._arrived)
