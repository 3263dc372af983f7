"""The client that blocks, used beside a server in the test's own event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from driftfold_api.client import Client
from tests.api.serving import Api

T = TypeVar("T")


async def elsewhere(
    api: Api,
    use: Callable[[Client], T],
    patience: float = 20.0,
    tell: Callable[[str], None] | None = None,
) -> T:
    """Use the client that blocks in a thread of its own."""

    def work() -> T:
        with Client(api.url, patience=patience, tell=tell) as client:
            return use(client)

    return await asyncio.to_thread(work)
