"""The whole story of one run, from the first broadcast to the horizon."""

import asyncio
from contextlib import nullcontext

from driftfold.errors import RunError
from driftfold.kernel import now
from driftfold.world.cadence import Cadence
from driftfold.world.keeper import Keeper
from driftfold.world.roster import NobodyLeft
from driftfold.world.server import Server

STANDSTILL = 10_000
"""Rounds without virtual time after which a horizon in seconds alone is given up."""


async def live(server: Server, cadence: Cadence, keeper: Keeper) -> str:
    """Run the federation to its end; return why it ended.

    "rounds" and "seconds" name the horizon that was reached; "nobody left" says that no client
    will ever be available again. Raises `RunError` when a horizon in seconds will never come.
    """
    horizon = server.world.horizon
    keeper.begin(server)
    limit = nullcontext() if horizon.seconds is None else asyncio.timeout_at(float(horizon.seconds))
    ended = "rounds"
    moved, since = now(), server.version
    try:
        async with limit:
            while horizon.rounds is None or server.version < horizon.rounds:
                await cadence.advance(server)
                keeper.after_step(server)
                if keeper.stopping(server):
                    return "stopped"
                if now() != moved:
                    moved, since = now(), server.version
                elif horizon.rounds is None and server.version - since >= STANDSTILL:
                    raise RunError(
                        f"{STANDSTILL:,} rounds took no virtual time, so the horizon of "
                        f"{horizon.seconds} s will never come; give the latency model delays, or "
                        "the horizon a number of rounds"
                    )
    except NobodyLeft:
        ended = "nobody left"
    except TimeoutError:
        if not (isinstance(limit, asyncio.Timeout) and limit.expired()):
            raise
        ended = "seconds"
    keeper.end(server)
    return ended
