"""Tickets: work promised at its virtual start, done when its result is needed.

`submit` costs nothing. When a result is due, everything pending is computed in as few stacks as
possible. A ticket ends in virtual time by `commit` (the payload arrived) or `cancel` (it never
will); until then the client's memory is as it was before.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import attrgetter, lt
from typing import Any

import numpy as np

from driftfold.algorithms.base import LocalResult, Phase
from driftfold.arrays import Ints
from driftfold.compute.base import Engine, Stack
from driftfold.compute.download import Download
from driftfold.compute.memories import Memories
from driftfold.compute.order import Order
from driftfold.compute.results import (
    Results,
    faults_of,
    new_memories,
    payload_and_metrics,
    sorted_out,
)
from driftfold.compute.ticket import NOT_FINITE, Ticket
from driftfold.errors import ReplayMismatch, SpecError
from driftfold.trees import concatenate, decode, encode, finite_rows, rows


class TicketBook:
    """All work of one run that is promised, done, or waiting to be used."""

    def __init__(
        self, engine: Engine, phases: Sequence[Phase[Any, Any, Any]], memories: Memories | None
    ) -> None:
        self._engine = engine
        self._phases = phases
        self._steps = [phase.steps for phase in phases]
        self._uploads = [phase.upload_bytes() for phase in phases]
        self._together = [phase.together for phase in phases]
        self.memories = memories
        self.next = 0
        self.live: dict[int, Ticket] = {}
        self._pending: dict[int, Ticket] = {}
        self.asleep = False
        """While events are replayed nothing is computed."""
        self.stacks = 0
        self.stacked = 0

    @property
    def mean_stack(self) -> float:
        """Mean number of clients in a stack."""
        return self.stacked / self.stacks if self.stacks else 0.0

    def submit(self, order: Order, client: int, doomed: bool = False) -> Ticket:
        """Promise a piece of work, at its virtual start.

        If it is `doomed`, because its client will leave, it is not computed with what is pending
        but only when its result is asked for.
        """
        number = self.next
        self.next = number + 1
        ticket = Ticket(number, order, client, self._steps[order.phase])
        self.live[number] = ticket
        if not doomed or self.memories is not None:
            self._pending[number] = ticket
        return ticket

    def submit_all(
        self, order: Order, clients: Sequence[int], committed: bool = False
    ) -> list[Ticket]:
        """Promise a piece of work of each of some clients, whose payloads may have arrived."""
        numbers, steps = range(self.next, self.next + len(clients)), self._steps[order.phase]
        self.next = numbers.stop
        columns = numbers, repeat(order), clients, repeat(steps), repeat(committed)
        tickets = list(map(Ticket, *columns))
        made = dict(zip(numbers, tickets, strict=True))
        self.live |= made
        self._pending |= made
        return tickets

    def commit(self, ticket: Ticket) -> None:
        """The payload arrived: the client's new memory counts from now on."""
        ticket.committed = True
        if self.memories is not None and ticket.block is not None and not self.asleep:
            self._remember([ticket])

    def cancel(self, ticket: Ticket) -> None:
        """The payload will never arrive; work not yet done is never done."""
        self._pending.pop(ticket.number, None)
        self.live.pop(ticket.number, None)

    def truncate(self, ticket: Ticket, steps: int) -> None:
        """Let the work end after `steps` of its steps, before or after it was computed."""
        if ticket.committed:
            raise ValueError(f"ticket {ticket.number} has arrived; it cannot be truncated any more")
        if not 0 < steps <= ticket.steps:
            raise ValueError(
                f"cannot truncate ticket {ticket.number} to {steps} steps; it has {ticket.steps}"
            )
        if steps != ticket.steps:
            ticket.steps, ticket.block, ticket.fault = steps, None, None
            self._pending[ticket.number] = ticket

    def release(self, tickets: Sequence[Ticket]) -> None:
        """The results were used; forget them."""
        live, pending = self.live, self._pending
        for ticket in tickets:
            live.pop(ticket.number, None)
            if pending:
                pending.pop(ticket.number, None)

    def forget(self, ticket: Ticket) -> None:
        """The payload arrived and will not be used; what the client learnt counts."""
        self.live.pop(ticket.number, None)
        if self.memories is None:
            self._pending.pop(ticket.number, None)

    def keep_memory(self, ticket: Ticket, steps: int) -> None:
        """The client left after `steps`: its payload is lost, what it learnt is not."""
        self.truncate(ticket, steps)
        self.commit(ticket)
        self.live.pop(ticket.number, None)

    def results(self, tickets: Sequence[Ticket]) -> Results:
        """Results of `tickets` of one phase, computing everything pending if one of them is."""
        if self.asleep:
            raise RuntimeError("results are not to be had while events are replayed")
        missing = {t.number: t for t in tickets if t.block is None and t.fault is None}
        if missing:
            self._pending |= missing
            self.flush()
        bad = faults_of(tickets)
        good = [t for t in tickets if t.fault is None] if bad else tickets
        gathered = payload_and_metrics(good) if good else (None, {})
        return sorted_out(len(tickets), bad, *gathered)

    def block(self, tickets: Sequence[Ticket]) -> int:
        """How many of the tickets of one phase `results_in_blocks` takes at a time.

        All, if there is room for what they send, or if some of it is there already or has to wait
        for other work of the same client.
        """
        each = self._uploads[tickets[0].order.phase] if tickets else 0
        room = max(1, self._engine.payload_bytes // max(1, each))
        if len(tickets) <= room:
            return len(tickets)
        first: dict[int, Ticket] = {}
        for ticket in self._pending.values():
            first.setdefault(ticket.client, ticket)
        ready = all(first.get(t.client) is t and not t.computed for t in tickets)
        return room if ready else len(tickets)

    def results_in_blocks(
        self,
        tickets: Sequence[Ticket],
        size: int,
        take: Callable[[Sequence[int], Any], None],
    ) -> Results:
        """Results without payloads: `take` gets those of `size` tickets at a time, with places.

        In the tickets' order. If some gave no sound result, it is as if nothing had been asked:
        the others may be asked again.
        """
        clients = _clients(tickets)
        before = None if self.memories is None else self.memories.read(clients)
        told = []
        for start in range(0, len(tickets), size):
            some = tickets[start : start + size]
            for ticket in some:
                self._pending.pop(ticket.number, None)
                ticket.block, ticket.fault = None, None
            self._compute_all(some)
            sound = [i for i, t in enumerate(some) if t.fault is None]
            if sound:
                payload, metrics = payload_and_metrics([some[i] for i in sound])
                take([start + i for i in sound], payload)
                told.append(metrics)
            for ticket in some:
                ticket.block = None
        results = sorted_out(
            len(tickets), faults_of(tickets), None, concatenate(told) if told else {}
        )
        if len(results.good) < len(tickets) and self.memories is not None and results.good:
            self.memories.write(clients[results.good], rows(before, results.good))
        return results

    def downloads(self) -> list[Download]:
        """What the work promised or unused was computed from, or will be."""
        return [t.order.payload for t in (*self.live.values(), *self._pending.values())]

    def flush(self) -> None:
        """Compute everything pending, in waves: a client's second ticket follows its first."""
        while self._pending:
            self._compute_all(self._wave())

    def _compute_all(self, tickets: Sequence[Ticket]) -> None:
        """Compute tickets of different clients in as few stacks as possible."""
        groups: dict[tuple[int, int, int], list[Ticket]] = {}
        order, steps, group = None, 0, []
        for ticket in tickets:
            if ticket.order is not order or ticket.steps != steps:  # few are of another
                order, steps = ticket.order, ticket.steps
                own = 0 if self._together[order.phase] else order.payload.number
                group = groups.setdefault((order.phase, steps, own), [])
            group.append(ticket)
        for (phase, steps, _), group in groups.items():
            clients = [ticket.client for ticket in group]
            if not all(map(lt, clients, clients[1:])):  # a single dispatch's are in order
                group.sort(key=_by_client)
            self._compute(self._phases[phase], steps, group)

    def _wave(self) -> list[Ticket]:
        """Take what may be computed now from what is pending."""
        if self.memories is None:
            wave = list(self._pending.values())
            self._pending = {}
            return wave
        first: dict[int, Ticket] = {}
        for ticket in self._pending.values():
            first.setdefault(ticket.client, ticket)
        for ticket in first.values():
            del self._pending[ticket.number]
        return list(first.values())

    def snapshot(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """JSON-ready description of everything promised or unused; arrays go to `arrays`."""
        kept = {**self.live, **self._pending}
        tickets = []
        for number in sorted(kept):
            ticket, result = kept[number], None
            block = ticket.block
            if block is not None:
                metrics = {k: v[ticket.row] for k, v in block.metrics.items()}
                parts = (rows(block.payload, ticket.row), rows(block.memory, ticket.row), metrics)
                result = encode(parts, arrays)
            tickets.append(
                {"number": number, "steps": ticket.steps, "result": result, "fault": ticket.fault}
            )
        return {"next": self.next, "tickets": tickets}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Fill the tickets that replay recreated with what `snapshot` described."""
        kept = {**self.live, **self._pending}
        numbers = [t["number"] for t in state["tickets"]]
        replayed = self.next if self.next else state["next"]
        if replayed != state["next"] or not self.live.keys() <= set(numbers) <= kept.keys():
            raise ReplayMismatch(
                f"replay promised {replayed} pieces of work and holds {sorted(self.live)[:9]}; the "
                f"snapshot promised {state['next']} and holds {numbers[:9]}"
            )
        self._pending = {}
        self.next = state["next"]
        for saved in state["tickets"]:
            ticket = kept[saved["number"]]
            ticket.steps, ticket.fault = saved["steps"], saved["fault"]
            if saved["result"] is not None:
                one = rows(decode(saved["result"], arrays), None)  # a leading axis of length 1
                ticket.block, ticket.row = LocalResult(*one), 0
            if not ticket.computed:
                self._pending[ticket.number] = ticket

    def _compute(self, phase: Phase[Any, Any, Any], steps: int, group: list[Ticket]) -> None:
        try:
            with np.errstate(all="ignore"):  # what comes of it is looked through below
                block = self._engine.run(self._stack(phase, steps, group))
            parts = block.payload, block.memory
            sound = None if block.finite else finite_rows(parts, len(group))
        except Exception as error:
            if self._engine.strict:
                raise
            if len(group) == 1:
                if isinstance(error, MemoryError | SpecError):  # no client's failure
                    raise
                group[0].fault = f"{type(error).__name__}: {error}"
            else:  # find out whose fault it is
                for ticket in group:
                    self._compute(phase, steps, [ticket])
            return
        self.stacks += 1
        self.stacked += len(group)
        for row, ticket in enumerate(group):
            ticket.block, ticket.row = block, row
        for row in () if sound is None else np.flatnonzero(~sound).tolist():
            group[row].block, group[row].fault = None, NOT_FINITE
        if self.memories is not None:
            self._remember([t for t in group if t.committed and t.fault is None])

    def _stack(self, phase: Phase[Any, Any, Any], steps: int, group: list[Ticket]) -> Stack:
        clients = _clients(group)
        orders = [t.order for t in group]
        first = orders[0]
        if orders.count(first) == len(orders):
            dispatches = np.full(len(orders), first.dispatch, dtype=np.int64)
            times, downloads = np.full(len(orders), first.asked), [first.payload]
        else:
            dispatches = np.array([order.dispatch for order in orders], dtype=np.int64)
            times = np.array([order.asked for order in orders])
            downloads = [order.payload for order in orders]
        shared = downloads.count(downloads[0]) == len(downloads)
        return Stack(
            phase=phase,
            steps=steps,
            clients=clients,
            dispatches=dispatches,
            times=times,
            downloads=[d.tree for d in (downloads[:1] if shared else downloads)],
            shared=shared,
            memory=None if self.memories is None else self.memories.read(clients),
            spare=True,  # a copy, read anew for whoever has to be computed again
        )

    def _remember(self, tickets: list[Ticket]) -> None:
        if tickets and self.memories is not None:
            self.memories.write(_clients(tickets), new_memories(tickets))


_by_client = attrgetter("client", "number")


def _clients(tickets: Sequence[Ticket]) -> Ints:
    return np.array([ticket.client for ticket in tickets], dtype=np.int64)
