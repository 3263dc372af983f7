"""`python -m driftfold_workers.health`: exit 0 when a worker of this host is at work.

For health checks of containers. A worker is at work when the job store that REDIS_URL names has
heard from it lately.
"""

import asyncio
import os
import socket
import sys

from driftfold_workers.jobs.store import StoreError
from driftfold_workers.redis_store import RedisJobStore

WITHIN = 5.0  # seconds


async def at_work(url: str, host: str, prefix: str = "df") -> bool:
    """Return whether the store knows a worker whose name begins with that of a host."""
    try:
        async with RedisJobStore.open(url, prefix=prefix, patience=WITHIN) as store:
            return any(str(w["name"]).startswith(f"{host}-") for w in await store.workers())
    except StoreError:
        return False


if __name__ == "__main__":
    sys.exit(not asyncio.run(at_work(os.environ["REDIS_URL"], socket.gethostname())))
