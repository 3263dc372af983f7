"""What uvicorn and its event loop ask for an event: an application that only sends.

python -m bench.bare_streams   # prints its port; what is posted goes to every client
"""

import asyncio

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.loops.auto import auto_loop_factory

from driftfold_api.server import listen

clients: set[asyncio.Event] = set()
told: list[bytes] = []


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Tell all clients what one posts."""
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        told.append((await receive())["body"])
        for client in clients:
            client.set()
        await _head(send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return
    changed = asyncio.Event()
    clients.add(changed)
    await _head(send)
    await send({"type": "http.response.body", "body": b"retry: 1\n\n", "more_body": True})
    while True:
        await changed.wait()
        changed.clear()
        await send({"type": "http.response.body", "body": told[-1], "more_body": True})


async def _head(send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


if __name__ == "__main__":
    with listen("127.0.0.1", 0) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(uvicorn.Server(config).serve([listening]))
