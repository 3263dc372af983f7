"""Reading a stream of server-sent events with bare sockets of one's own, and checking its form."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.api.serving import Api


@dataclass
class Seen:
    """What a stream told, in order."""

    texts: list[str] = field(default_factory=list)
    ended: bool = False

    @property
    def ids(self) -> list[int]:
        """Numbers of the records."""
        return [int(self._field(text, "id")) for text in self.texts if self._field(text, "id")]

    @property
    def names(self) -> list[str]:
        """Numbers of the records, kinds of the lifecycle events, "end": in order."""
        told = []
        for text in self.texts:
            event = self._field(text, "event")
            data = self._field(text, "data")
            if event == "lifecycle":
                told.append(json.loads(data)["kind"])
            elif data:
                told.append(event or self._field(text, "id"))
        return told

    def data(self, name: str) -> list[dict[str, Any]]:
        """What the events of a name tell; "" is that of records."""
        return [
            json.loads(self._field(text, "data"))
            for text in self.texts
            if self._field(text, "data") and self._field(text, "event") == name
        ]

    @property
    def told(self) -> list[tuple[str, str]]:
        """Of a stream of many jobs: each job, and numbers, kinds and names as in `names`."""
        return [pair for text in self.texts for pair in self.pairs(text)]

    @property
    def cursors(self) -> list[str]:
        """Of a stream of many jobs: the id of every event that has one."""
        return [cursor for text in self.texts if (cursor := self._field(text, "id"))]

    @property
    def last_id(self) -> str:
        """The id of the last event that had one, as browsers give it back."""
        ids = (self._field(text, "id") for text in reversed(self.texts))
        return next((one for one in ids if one), "")

    @classmethod
    def pairs(cls, text: str) -> list[tuple[str, str]]:
        """What one event of a stream of many jobs tells."""
        name, data = cls._field(text, "event"), cls._field(text, "data")
        if not data:
            return []
        table = json.loads(data)
        job = table.get("job", "")
        match name:
            case "records":
                return [(job, str(record["seq"])) for record in table["records"]]
            case "lifecycle":
                return [(job, table["kind"])]
        return [(job, name)]

    @staticmethod
    def _field(text: str, name: str) -> str:
        lines = [line for line in text.split("\n") if line.startswith(f"{name}: ")]
        assert len(lines) <= 1, text
        return lines[0].partition(": ")[2] if lines else ""


class Stream:
    """One connection to the events of a job."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.seen = Seen()
        self._rest = b""

    async def more(self) -> bool:
        """Read on; False at the end. Chunk by chunk, as uvicorn sends it."""
        head = await self.reader.readline()
        size = int(head, 16) if head.strip() else 0
        if not size:
            self.seen.ended = True
            return False
        self._rest += await self.reader.readexactly(size)
        await self.reader.readexactly(2)
        *frames, self._rest = self._rest.split(b"\n\n")
        self.seen.texts += [frame.decode() for frame in frames]
        return True

    async def until(self, record: int) -> Seen:
        """Read until a record has come."""
        async with asyncio.timeout(60):
            while record not in self.seen.ids:
                assert await self.more(), self.seen.names
        return self.seen

    async def until_named(self, name: str) -> Seen:
        """Read until a lifecycle event, or the end, has come."""
        async with asyncio.timeout(60):
            while name not in self.seen.names:
                assert await self.more(), self.seen.names
        return self.seen

    async def whole(self) -> Seen:
        """Read until the server ends the stream."""
        async with asyncio.timeout(60):
            while await self.more():
                pass
        return self.seen


@asynccontextmanager
async def stream(
    api: Api | str, job: str, query: str = "", headers: Mapping[str, str] | None = None
) -> AsyncIterator[Stream]:
    """Open the events of a job, or with "" those of many."""
    url = api if isinstance(api, str) else api.url
    host, port = url.removeprefix("http://").split(":")
    # A small buffer, so that a reader that stops is noticed soon.
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**16)
    extra = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    place = f"/v1/jobs/{job}/events" if job else "/v1/events"
    writer.write(f"GET {place}{query} HTTP/1.1\r\nHost: localhost\r\n{extra}\r\n".encode())
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200"), head
        for wanted in ("text/event-stream", "cache-control: no-store", "x-accel-buffering: no"):
            assert wanted in head
        yield Stream(reader, writer)
    finally:
        writer.close()
