"""The users of a campaign: they submit, cancel and read along, whatever happens to the service."""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_json
from driftfold_api.client import AsyncClient
from tests.faults.chaos.orders import Order
from tests.workers.experiments import without_timing

AGAIN = 0.3  # seconds
PATIENCE = 300.0  # seconds


class Users:
    """What they have got.

    Attributes
    ----------
    accepted
        The job of each key, as the first answer said.
    answers
        How often each status was answered; 0 where none was.
    seen
        The records that somebody read along.
    complaints
        What should not have happened.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.accepted: dict[str, str] = {}
        self.canceled: set[str] = set()
        self.answers: Counter[int] = Counter()
        self.seen: dict[str, list[dict[str, Any]]] = {}
        self.complaints: list[str] = []

    async def want(self, order: Order) -> None:
        """See one order through."""
        for _ in range(order.careless):
            await self._leave(order)
        job = await self._submit(order)
        wishes = (self._watch(order, job), self._cancel(order, job), self._pause(order, job))
        await asyncio.gather(*wishes)

    async def _submit(self, order: Order) -> str:
        answer = await self._insist("POST", "/v1/jobs", (202,), **_request(order))
        job: str = answer.json()["id"]
        self.accepted[order.key] = job
        return job

    async def _leave(self, order: Order) -> None:
        """Send the request and go, with the answer on its way perhaps."""
        where, request = urlsplit(self.url), _request(order)
        head = ["POST /v1/jobs HTTP/1.1", f"Host: {where.netloc}", "Content-Type: application/json"]
        head += [f"Content-Length: {len(request['content'])}"]
        head += [f"{name}: {value}" for name, value in request["headers"].items()]
        with suppress(OSError):
            _, writer = await asyncio.open_connection(where.hostname, where.port)
            writer.write("\r\n".join([*head, "", ""]).encode() + request["content"])
            await writer.drain()
            writer.close()

    async def _cancel(self, order: Order, job: str) -> None:
        if order.canceled is not None:
            await asyncio.sleep(order.canceled)
            await self._insist("POST", f"/v1/jobs/{job}/cancel", (202, 409))
            self.canceled.add(order.key)

    async def _pause(self, order: Order, job: str) -> None:
        if order.paused is not None:
            await asyncio.sleep(order.paused)
            await self._insist("POST", f"/v1/jobs/{job}/pause", (202, 409))
            await asyncio.sleep(order.paused)
            await self._insist("POST", f"/v1/jobs/{job}/resume", (202, 409))

    async def _watch(self, order: Order, job: str) -> None:
        if not order.watched:
            return
        seen = self.seen[order.key] = []
        try:
            async with AsyncClient(self.url, patience=PATIENCE) as client:
                async for event in client.watch(job):
                    if isinstance(event, Record):
                        seen.append(without_timing(to_json(event)))
        except Exception as error:
            self.complaints.append(f"{order.key}: whoever read along got {error!r}")

    async def _insist(
        self, method: str, path: str, wanted: tuple[int, ...], **request: Any
    ) -> httpx.Response:
        """Ask again and again until there is an answer that is one."""
        async with httpx.AsyncClient(base_url=self.url, timeout=20.0, trust_env=False) as http:
            while True:
                try:
                    answer = await http.request(method, path, **request)
                except httpx.TransportError:
                    self.answers[0] += 1
                else:
                    self.answers[answer.status_code] += 1
                    if answer.status_code in wanted:
                        return answer
                    if answer.status_code != 503:
                        told = f"{method} {path}: {answer.status_code} {answer.text[:300]}"
                        self.complaints.append(told)
                        if answer.status_code < 500:
                            raise RuntimeError(told)
                await asyncio.sleep(AGAIN)


def _request(order: Order) -> dict[str, Any]:
    body = {"spec": dict(order.spec), "name": order.key, **order.terms}
    headers = {"Content-Type": "application/json", "Idempotency-Key": order.key}
    return {"content": json.dumps(body).encode(), "headers": headers}
