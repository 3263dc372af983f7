"""What a scrape finds: the job store, the archive and this process, each as far as it answers."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from driftfold_api.service import Service
from driftfold_workers.jobs.census import Census
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import StoreError

T = TypeVar("T")

WITHIN = 2.0  # seconds that a part of the service has to answer
SAMPLE = 200  # jobs of which it is looked up how far they are recorded


@dataclass(frozen=True)
class Lag:
    """What the job store has and the archive has not yet.

    Attributes
    ----------
    jobs
        Jobs that have told something which is not recorded.
    records
        Their records that are not; of more than `SAMPLE` jobs an estimate, from as many.
    """

    jobs: int
    records: float


@dataclass(frozen=True)
class Found:
    """What was found; None for what gave no answer."""

    census: Census | None
    kept: Mapping[State, int] | None
    lag: Lag | None
    in_charge: bool
    followers: int
    events_sent: int
    store_says: str = ""
    archive_says: str = ""

    @property
    def jobs(self) -> Mapping[State, int]:
        """Jobs by state: the job store is right about those that are not over, if it answers.

        It forgets those that are, so the archive counts them.
        """
        live = None if self.census is None else self.census.jobs
        kept = live if self.kept is None else self.kept
        return {
            state: ((kept if state.final or live is None else live) or {}).get(state, 0)
            for state in State
        }


async def scrape(service: Service) -> Found:
    """Ask all parts at once. None of them is waited for longer than `WITHIN`."""
    (census, store_says), (kept, archive_says) = await asyncio.gather(
        _answer(service.queue.census()), _answer(service.archive.counts())
    )
    lag = None
    if census is not None and kept is not None:
        lag, _ = await _answer(_lag(service, census.unrecorded))
    return Found(
        census=census,
        kept=kept,
        lag=lag,
        in_charge=census is not None and census.recorder == service.keeper.name,
        followers=service.feeds.followers,
        events_sent=service.feeds.sent,
        store_says=store_says,
        archive_says=archive_says,
    )


async def _answer(question: Awaitable[T]) -> tuple[T | None, str]:
    """Return an answer; or None, and what was said instead."""
    try:
        async with asyncio.timeout(WITHIN):
            return await question, ""
    except TimeoutError:
        return None, f"it gave no answer for {WITHIN:g} s"
    except StoreError as error:
        return None, " ".join(str(error).split())


async def _lag(service: Service, unrecorded: int) -> Lag:
    if not unrecorded:
        return Lag(0, 0.0)
    window = service.queue.window
    some = await window.unrecorded(SAMPLE)
    # In this order: what is recorded in between makes the lag no less than it was.
    known = await service.archive.positions(some)
    ends = await window.ends(list(known))
    missing = sum(max(end - known[job].seq, 0) for job, end in ends.items())
    return Lag(unrecorded, missing * max(unrecorded / len(some), 1.0) if some else 0.0)
