"""Transitions: what happens to a job happens in one script, or not at all."""

import secrets
from typing import Any

from driftfold_workers.redis.link import Argument, RedisLink
from driftfold_workers.redis.script import read

PRELUDE = "queue/scripts/prelude"


async def transition(link: RedisLink, name: str, job: str, *args: Argument) -> Any:
    """Run a script about a job: one of the queue's, or one that is named with its folder.

    Where a reply is lost the script is sent again, with the same nonce, by which it knows that.
    """
    path = name if "/" in name else f"queue/scripts/{name}"
    nonce = secrets.token_hex(8)
    return await link.script(read(PRELUDE, path), link.keys.transition(job), job, nonce, *args)
