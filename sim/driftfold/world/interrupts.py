"""Interrupts: what becomes of a visit whose client's session ends before the visit does.

"lose": it is lost when the session ends.

"suspend": it goes on when the client is there again, transfers as well as work, so that a visit
takes its time in seconds of the client's sessions. It is lost when the client never comes back.

"partial": the end of a session ends the computing alone. The steps that were done by then are
sent at once, if there is one, and the transfer takes its usual time: what ends with a session is
the leave to compute (idle, charging), and the client, which is told, hands over what it has. To
send it when the client comes back would make it old, and that is what "suspend" is for.
"""

from collections.abc import Callable, Coroutine, Mapping
from math import inf
from typing import Any, Final

from driftfold.compute.ticket import Ticket
from driftfold.kernel import now, sleep
from driftfold.world.client import Errand, Host, give_up
from driftfold.world.events import DOWNLOADED, LEFT, SENT, WORKED


async def lose(server: Host, errand: Errand) -> None:
    """Get as far as the session lasts."""
    ticket = None
    key, order = errand.key, errand.order
    stays = max(0.0, errand.leaves - order.sent)
    try:
        if errand.download <= stays:
            await sleep(errand.download, key + DOWNLOADED)
            ticket = server.tickets.submit(order, errand.client, doomed=True)
        await sleep(max(0.0, errand.leaves - now()), key + LEFT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        server.lose(errand, ticket)


async def suspend(server: Host, errand: Errand) -> None:
    """Do what is to be done while the client is there, and wait while it is not."""
    ticket = None
    order = errand.order
    try:
        there = await _stay(server, errand, errand.download, DOWNLOADED)
        if there:
            ticket = server.tickets.submit(order, errand.client)
            there = await _stay(server, errand, errand.work, WORKED)
        there = there and await _stay(server, errand, errand.upload, SENT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        if there and ticket is not None:
            server.receive(errand, ticket)
        else:
            server.lose(errand, ticket)


async def _stay(server: Host, errand: Errand, seconds: float, stage: int) -> bool:
    """Let `seconds` of the client's sessions pass; False if it leaves for ever before that.

    Its leaving and its coming back are events of one name, in turn.
    """
    while now() + seconds > errand.leaves:
        left = errand.leaves
        seconds -= left - now()
        await sleep(left - now(), errand.key + LEFT)
        back, leaves = server.next_session(errand.client)
        if back == inf:
            return False
        if not errand.suspended:
            errand.suspended = True
            server.tally.add("suspended")
        await sleep(back - now(), errand.key + LEFT)
        errand.away += back - left
        errand.leaves = leaves
        if seconds == inf:  # it would come and go for ever
            break
    if seconds:
        await sleep(seconds, errand.key + stage)
    return True


async def submit_part(server: Host, errand: Errand) -> None:
    """Work while the session lasts, and send what is done by then."""
    ticket, done = None, 0
    key, order = errand.key, errand.order
    try:
        if errand.download <= errand.leaves - order.sent:
            if errand.download:
                await sleep(errand.download, key + DOWNLOADED)
            ticket = server.tickets.submit(order, errand.client)
            whole = ticket.steps
            done = errand.steps_done(errand.leaves, whole)
            if 0 < done < whole:  # known from the start, so that no more is ever computed
                server.tickets.truncate(ticket, done)
            if done == whole and errand.work:
                await sleep(errand.work, key + WORKED)
        if ticket is None or done < whole:
            await sleep(max(0.0, errand.leaves - now()), key + LEFT)
        if done and errand.upload:
            await sleep(errand.upload, key + SENT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        if done and ticket is not None:
            server.receive(errand, ticket)
        else:
            server.lose(errand, ticket)


async def send_now(server: Host, errand: Errand, ticket: Ticket) -> None:
    """Send what is done: the server has called for it."""
    try:
        if errand.upload:
            await sleep(errand.upload, errand.key + SENT)
    except BaseException as failure:
        give_up(server, errand, ticket, failure)
    else:
        server.receive(errand, ticket)


Visit = Callable[[Host, Errand], Coroutine[Any, Any, None]]
INTERRUPTED: Final[Mapping[str, Visit]] = {
    "lose": lose,
    "suspend": suspend,
    "partial": submit_part,
}
"""The story of a visit that will be interrupted, by the policy's name."""
