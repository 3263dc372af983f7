"""The whole story of one run, from the first broadcast to the horizon."""

import asyncio
from contextlib import nullcontext

from driftfold.world.cadence import Cadence
from driftfold.world.keeper import Keeper
from driftfold.world.server import NobodyLeft, Server


async def live(server: Server, cadence: Cadence, keeper: Keeper) -> str:
    """Run the federation to its end; return why it ended.

    "rounds" and "seconds" name the horizon that was reached; "nobody left" says that no client
    will ever be available again.
    """
    horizon = server.world.horizon
    keeper.begin(server)
    limit = (
        nullcontext() if horizon.seconds is None else asyncio.timeout_at(float(horizon.seconds))
    )
    try:
        async with limit:
            while horizon.rounds is None or server.version < horizon.rounds:
                await cadence.advance(server)
                keeper.after_step(server)
        return "rounds"
    except NobodyLeft:
        return "nobody left"
    except TimeoutError:
        if isinstance(limit, asyncio.Timeout) and limit.expired():
            return "seconds"
        raise
    finally:
        for task in list(server.in_flight.values()):
            task.cancel()
