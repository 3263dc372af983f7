"""The server: invite, send, collect, aggregate, measure.

A cadence (`world/cadence.py`) decides when each of these happens; this file says what each does.
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from driftfold.arrays import Bools, Ints
from driftfold.compute.download import Download
from driftfold.compute.order import Order
from driftfold.compute.ticket import Ticket
from driftfold.compute.tickets import TicketBook
from driftfold.errors import ReplayMismatch, RunError
from driftfold.kernel import Sleeper, VirtualLoop, launch, sleep
from driftfold.kernel.trace import EventTrace
from driftfold.participation.next_session import next_session
from driftfold.selection.base import Selection
from driftfold.world.aggregate import Aggregator
from driftfold.world.answers import plain_answer
from driftfold.world.arrival import Arrival, in_order
from driftfold.world.client import Errand
from driftfold.world.discount import Discount
from driftfold.world.events import CLOSED, EMPTY, SENT, WAITED, check_room, server_key
from driftfold.world.inbox import Inbox
from driftfold.world.interrupts import INTERRUPTED, send_now
from driftfold.world.roster import NobodyLeft, Roster
from driftfold.world.speeds import speed_ranks
from driftfold.world.tally import Tally
from driftfold.world.visits import begin
from driftfold.world.world import World


class Server:
    """One federation's server.

    Attributes
    ----------
    version
        Server steps taken so far.
    dispatches, asked
        Invitations made so far, which is the next one's number; when the last one was made.
    in_flight
        The errand of each client that is on a visit. It is never invited again.
    visits
        The coroutine of each of them.
    interrupted
        The story of a visit that will be interrupted.
    trace
        The digest of the run's own events.
    choosing
        What the selection remembers, by group.
    roster
        Who may be there, since a time when nobody was; None while many are.
    """

    def __init__(
        self, world: World, tickets: TicketBook, aggregator: Aggregator, tally: Tally
    ) -> None:
        self.world = world
        self.tickets = tickets
        self.aggregator = aggregator
        self.tally = tally
        self.inbox = Inbox(len(world.phases))
        self.in_flight: dict[int, Errand] = {}
        self.visits: dict[int, Sleeper] = {}
        self.carried: dict[int, int] = {}
        self.decisions: list[list[Any]] = []
        self.decided = 0
        self.choosing: dict[int, Any] = {}
        self.version = 0
        self.dispatches = 0
        self.asked = 0.0
        self.loop = _running()
        self.trace: EventTrace = self.loop.trace
        self.interrupted = INTERRUPTED[world.faults.on_interrupt]
        self._calling = False
        self._down = [work.download_bytes() for work in world.phases]
        self._up = [work.upload_bytes() for work in world.phases]
        self._ranks: Ints | None = None
        self.roster: Roster | None = None
        self._everyone = np.arange(world.fleet.size, dtype=np.int64)
        check_room(world.fleet.size, 0, len(world.phases))

    # -- who is there -------------------------------------------------------------------------

    def pool(self) -> Ints:
        """Ids of the clients that are on and not in flight, ascending."""
        if self.roster is not None and self.roster.crowded:
            self.roster = None
        if self.roster is not None:
            return self.roster.pool(self.loop.time(), self.in_flight)
        on = self.world.attendance.available(self._everyone, self.loop.time())
        if self.in_flight:
            on = on.copy()
            on[list(self.in_flight)] = False
        return self._everyone[on]

    async def somebody(self) -> Ints:
        """Return the pool as soon as it is not empty: time jumps to the next client that comes.

        When none ever will, it raises `NobodyLeft`; with clients in flight, who may be free again,
        it returns the empty pool.
        """
        while not len(pool := self.pool()):
            soonest = self.soonest()
            if soonest == np.inf and self.in_flight:
                return pool
            if soonest == np.inf:
                raise NobodyLeft
            await self.wait(soonest)
        return pool

    def soonest(self) -> float:
        """When the next client comes on that is not in flight, while none is there; inf if never.

        Looks at everybody, once: then it is known who may be there, until many are.
        """
        if self.roster is None:
            idle = np.delete(self._everyone, list(self.in_flight))
            self.roster = Roster(self.world.attendance, idle, self.loop.time())
        soonest = self.roster.soonest
        if not soonest > self.loop.time():  # or the server would ask again at this instant for ever
            raise RunError(
                f"the participation model says that a client comes on at {soonest} s, but at "
                f"{self.loop.time()} s nobody is there; next_on must agree with available"
            )
        return soonest

    def next_session(self, client: int) -> tuple[float, float]:
        """When the next session of a client that is off begins and ends; inf if there is none."""
        return next_session(self.world.attendance, client, self.loop.time())

    async def wait(self, until: float) -> None:
        """Let time pass with nobody on a visit."""
        await sleep(until - self.loop.time(), server_key(self.dispatches, 0, WAITED))

    def free(self, clients: Ints) -> Bools:
        """Whether each of `clients` is on and not in flight."""
        on = self.world.attendance.available(clients, self.loop.time())
        there = np.flatnonzero(on)  # mostly few of those asked
        ids, in_flight = clients[there].tolist(), self.in_flight
        away = [place for place, c in zip(there.tolist(), ids, strict=True) if c in in_flight]
        if away:
            on = on.copy()
            on[away] = False
        return on

    def choose(
        self, selection: Selection[Any], k: int, pool: Ints | None = None, group: int = 0
    ) -> Ints:
        """Choose k clients of `pool`, or of all that are free; fewer only if there are fewer.

        Without a pool, and where the rule allows, only as many clients are looked at as it takes
        to find k. Groups that are chosen from apart, such as tiers, have turns of their own.
        """
        fleet, dispatch, known = self.world.fleet, self.dispatches, self.choosing
        state = known[group] if group in known else selection.begin(fleet)
        if pool is None and self.roster is not None:
            pool = self.pool()
        if pool is not None:
            chosen, known[group] = selection.choose(state, fleet, pool, k, dispatch)
            return chosen
        chosen, state = selection.find(state, fleet, self.free, k, dispatch)
        if len(chosen) < k:
            left = np.setdiff1d(self.pool(), chosen, assume_unique=True)
            more, state = selection.choose(state, fleet, left, k - len(chosen), dispatch)
            chosen = np.union1d(chosen, more)
        known[group] = state
        return chosen

    def speed_ranks(self, probes: int) -> Ints:
        """Place of each client from the fastest, by `probes` visits; worked out once."""
        if self._ranks is None:
            self._ranks = speed_ranks(self.world, probes)
        return self._ranks

    def invite(self, clients: Ints) -> tuple[Ints, int]:
        """Ask `clients` to take part; return those who will answer, and the dispatch's number."""
        dispatch = self.dispatches
        self.dispatches, self.asked = dispatch + 1, self.loop.time()
        check_room(0, self.dispatches, 0)
        answers = self.world.attendance.responds(clients, dispatch)
        willing = clients[answers]
        self.tally.add("invited", len(clients))
        self.tally.add("declined", len(clients) - len(willing))
        return willing, dispatch

    # -- sending ------------------------------------------------------------------------------

    def send(self, phase: int, clients: Ints, dispatch: int, group: int = 0) -> int:
        """Send a phase's download to `clients` and let their visits begin; return how many."""
        clients = self._present(phase, clients)
        if not len(clients):
            return 0
        for client in clients.tolist() if self.carried else ():
            self.carried.pop(client, None)
        work = self.world.phases[phase]
        payload = self.aggregator.broadcast(phase, self.version)
        down = self._down[phase]
        delays, sent = self.world.delays, self.loop.time()
        samples, up = work.samples(clients, self.version), self._up[phase]
        times = delays.visit(clients, down, samples, up, dispatch)
        leaves = self.world.attendance.session_end(clients, sent)
        order = Order(phase, dispatch, self.version, payload, self.asked, sent, group)
        begin(self, order, clients, times, leaves)
        self.tally.add("bytes_down", down * len(clients))
        return len(clients)

    def unburdened(self, clients: Ints) -> Ints:
        """Those of `clients` that have nothing left to do from an earlier visit."""
        if not self.carried:
            return clients
        return clients[[c not in self.carried for c in clients.tolist()]]

    def carrying(self, clients: Ints, phase: int) -> Ints:
        """Those of `clients` that have `phase` left to do from an earlier visit."""
        if not self.carried:
            return clients[:0]
        return clients[[self.carried.get(c) == phase for c in clients.tolist()]]

    def _present(self, phase: int, clients: Ints) -> Ints:
        """Those of `clients` that are there for a phase; later phases can find them away."""
        if phase == 0:
            return clients
        here = self.world.attendance.available(clients, self.loop.time())
        away = clients[~here]
        self.tally.add("missed", len(away))
        if self.world.phases[phase].missed == "carry":
            self.carried.update(dict.fromkeys(away.tolist(), phase))
        return clients[here]

    def downloads(self) -> dict[int, Download]:
        """What was sent and is still in use, by its number."""
        flights = [errand.order.payload for errand in self.in_flight.values()]
        return {sent.number: sent for sent in (*flights, *self.tickets.downloads())}

    # -- receiving ----------------------------------------------------------------------------

    def receive(self, errand: Errand, ticket: Ticket) -> None:
        """Take in what a client sent."""
        time = self.loop.time()
        if not errand.upload:
            self.trace.add(time, errand.key + SENT)  # no sleep has told of it
        self.tickets.commit(ticket)
        self._deliver(Arrival(errand.client, errand.order, errand.key, ticket, time))

    def fail(self, errand: Errand, ticket: Ticket | None, why: str) -> None:
        """Take in the news that a client failed; it counts as an answer without a payload."""
        if ticket is not None:
            self.tickets.cancel(ticket)
        time = self.loop.time()
        self._deliver(Arrival(errand.client, errand.order, errand.key, None, time, why))

    def _deliver(self, arrival: Arrival) -> None:
        client = arrival.client
        self.in_flight.pop(client, None)
        if self.roster is not None:
            self.roster.back(client)
        if self.visits:
            self.visits.pop(client, None)
        self.inbox.put(arrival)
        if not self.in_flight:
            self.inbox.lost(0)  # others may have left: nobody is on the way to fill their places

    def lose(self, errand: Errand, ticket: Ticket | None, outcome: str = "dropped") -> None:
        """Settle a client that will not deliver."""
        self.in_flight.pop(errand.client, None)
        if self.roster is not None:
            self.roster.back(errand.client)
        self.visits.pop(errand.client, None)
        self.tally.add(outcome)
        if ticket is not None:
            steps = errand.steps_done(self.loop.time(), self._whole(errand))
            if self.world.algorithm.dropout == "commit" and steps:
                self.tickets.keep_memory(ticket, steps)
            else:
                self.tickets.cancel(ticket)
        self.inbox.lost(len(self.in_flight))

    def break_off(self, errand: Errand, ticket: Ticket | None) -> None:
        """Settle a visit that the server has broken off: what is done is called for, or lost."""
        done = errand.steps_done(self.loop.time(), self._whole(errand)) if self._calling else 0
        if ticket is None or not done:
            self.lose(errand, ticket, "late")
            return
        self.tickets.truncate(ticket, done)
        visit = launch(self.loop, send_now(self, errand, ticket))
        if visit is not None:
            self.visits[errand.client] = visit

    def _whole(self, errand: Errand) -> int:
        """Local steps of a complete piece of work."""
        return self.world.phases[errand.order.phase].steps

    def call_in(self, version: int) -> None:
        """Have clients send what they have done, now, that downloaded `version` or an older one.

        Those that have done no step are sent home; those that are sending go on.
        """
        time, self._calling = self.loop.time(), True
        old = takewhile(lambda e: e.order.version <= version, self.in_flight.values())
        for errand in list(old):  # in flight they are in the order of sending, so of versions
            if errand.leaves > time and errand.share_done(time) < 1:
                errand.leaves = time
                self.visits[errand.client].cancel()
        self._calling = False

    def dismiss(self, dispatch: int) -> None:
        """Send home every client still in flight."""
        if self.visits:
            self.loop.record(server_key(dispatch, 0, CLOSED))
            for visit in list(self.visits.values()):
                visit.cancel()

    # -- stepping -----------------------------------------------------------------------------

    def step(
        self, phase: int, arrivals: Sequence[Arrival], discount: Discount | None = None
    ) -> Ints:
        """Aggregate arrivals of a phase; return their clients, for the next phase.

        The last phase's step completes a round: the version grows by one, whatever the values.
        """
        ordered = in_order(arrivals)
        sent = self._taken(phase, ordered)
        self.aggregator.step(phase, ordered, self.version, self.loop.time(), discount)
        self.tickets.release(sent)
        if phase == len(self.world.phases) - 1:
            self._complete()
        return ordered.clients

    def leave_unused(self, phase: int, arrivals: Sequence[Arrival]) -> None:
        """Count arrivals that the server will not use. What the clients learnt counts."""
        if arrivals:
            for ticket in self._taken(phase, arrivals):
                self.tickets.forget(ticket)
            self.tally.add("unused", len(arrivals))

    def _taken(self, phase: int, arrivals: Sequence[Arrival]) -> list[Ticket]:
        sent = [a.ticket for a in arrivals if a.ticket is not None]
        self.tally.add("arrived", len(arrivals))
        if self.world.faults.on_interrupt == "partial":
            self.tally.add("partial", sum(t.steps < self.world.phases[phase].steps for t in sent))
        self.tally.add("bytes_up", self.world.phases[phase].upload_bytes() * len(sent))
        return sent

    async def skip(self, pause: float, dispatch: int) -> None:
        """Let a round pass in which nobody contributes; it lasts `pause` virtual seconds."""
        await sleep(pause, server_key(dispatch, 0, EMPTY))
        self.aggregator.skip(self.version)
        self._complete()

    def _complete(self) -> None:
        self.version += 1
        counts = self.tally.close_round()
        self.aggregator.complete(self.version, self.loop.time(), counts)

    async def decide(
        self, name: str, fn: Callable[[Any], Any], tickets: Sequence[Ticket] = ()
    ) -> Any:
        """Let a value decide what happens next: the only door from tensors to timing.

        `fn` gets the tickets' results and returns something JSON can hold. The answer is logged,
        and a replay reads it from the log instead of computing it.
        """
        if self.decided < len(self.decisions):
            logged, answer = self.decisions[self.decided]
            if logged != name:
                raise ReplayMismatch(
                    f"replay asks to decide {name!r} where the run decided {logged!r}"
                )
        elif self.tickets.asleep:
            raise ReplayMismatch(
                f"replay asks to decide {name!r} where the run had decided nothing more"
            )
        else:
            answer = plain_answer(name, fn(self.tickets.results(tickets)))
            self.decisions.append([name, answer])
        self.decided += 1
        return answer


def _running() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        raise RunError(f"a server lives in virtual time, not on a {type(loop).__name__}")
    return loop
