"""Each request has an id, is counted, and leaves a line in the log.

The id is that of the header X-Request-ID, or a new one; the answer has it, and every line that is
logged for the request.
"""

import logging
import re
import secrets
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from driftfold_api.metrics.requests import RequestMetrics
from driftfold_api.problem import INTERNAL, PROBLEM, REQUEST, REQUEST_HEADER
from driftfold_workers.observing.logs import bind

HEADER = REQUEST_HEADER.lower().encode()
GIVEN = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
"""Ids that are taken over: others could be anything, and would be in every log."""
PATH = 200  # bytes of an address that go into the log
SEND = "send"
"""Where the state of a request has what the server sends with, nothing being around it."""
ID = 36  # signs of what stands in the place of a job's id

log = logging.getLogger("driftfold.access")


class Observed:
    """An app whose requests are observed."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        request = _id_of(scope)
        # Not taken back: the server logs what this raises, in the same task.
        bind(request=request)
        state = scope.setdefault("state", {})
        state[REQUEST] = request
        state[SEND] = send
        status, seconds = 500, 0.0

        async def sending(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], perf_counter() - began
                headers = [*message.get("headers", ()), (HEADER, request.encode())]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception:  # which is answered further out
            state[PROBLEM] = INTERNAL.slug
            raise
        finally:
            took = perf_counter() - began
            route = getattr(scope.get("route"), "path", None)
            told = state.get(PROBLEM)
            self.metrics.answered(scope["method"], route, status, seconds or took, told)
            if log.isEnabledFor(logging.INFO):
                _write(scope, route, status, took)


def _id_of(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == HEADER and GIVEN.fullmatch(value):
            given: bytes = value
            return given.decode("ascii")
    return secrets.token_hex(8)


def _write(scope: Scope, route: str | None, status: int, took: float) -> None:
    """Write the line; not what follows the address, which may be anything."""
    client = scope.get("client")
    facts = {
        "method": scope["method"],
        # As it came, in ASCII: what it stands for may have line breaks.
        "path": scope["raw_path"][:PATH].decode("ascii", "replace"),
        "route": route,
        "status": status,
        "seconds": round(took, 6),
        "client": client[0] if client else None,
    }
    if job := scope.get("path_params", {}).get("job"):
        facts["job"] = job[:ID]
    log.info("%(method)s %(path)s %(status)d", facts, extra={"facts": facts})
