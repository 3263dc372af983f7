"""A whole service as processes of its own; whoever ends is replaced."""

import asyncio
import os
import secrets
import signal
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Self

from driftfold_workers.attempts.child import NAME
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.stopping import stopped
from tests.faults.chaos.disk import Disk, disk_at
from tests.faults.chaos.members import KILLED, TOLD, Member, Role
from tests.faults.chaos.network import Network
from tests.workers.experiments import PLUGIN, Behaviour

SLOTS = (2, 1, 1)
"""Of the workers; the last one has the network between itself and the job store."""
LOOK = 0.05  # seconds
ATTEMPTS = 100_000
"""No job fails because of how often its worker is killed."""
PARENT = ("--parent", os.getpid())
NO_STORE = ("gave no answer", "LOADING", "takes no writes")


class Fleet:
    """Everything that faults can hit.

    Attributes
    ----------
    surprises
        Processes that ended though nobody had told them to.
    begun
        Processes that were started, by their role.
    """

    def __init__(self, folder: Path, server: EmbeddedServer, behaviour: Behaviour) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.archive = folder / "archive.sqlite"
        self.server = server
        self.behaviour = behaviour
        self.token = secrets.token_hex(8)
        self.lease = 2.0
        self.network: Network
        self.disk: Disk
        self.members: list[Member] = []
        self.surprises: list[str] = []
        self.begun: dict[str, int] = {}
        self.refused = 0
        self._port = _free_port()
        self._tending: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def at(cls, folder: Path, lease: float, behaviour: Behaviour) -> AsyncIterator[Self]:
        """A service in a folder; it is tended until the end, and then killed."""
        async with AsyncExitStack() as stack:
            server = stack.enter_context(EmbeddedServer.open(folder / "redis"))
            fleet = cls(folder, server, behaviour)
            fleet.lease = lease
            fleet.disk = stack.enter_context(disk_at(fleet.runs, behaviour))
            fleet.network = await stack.enter_async_context(Network.before(server.url))
            stack.callback(fleet._kill)
            for role in [fleet._api(), *map(fleet._worker, range(len(SLOTS)))]:
                fleet.members.append(fleet._begin(role))
            fleet._tending = asyncio.create_task(fleet._tend(), name="tend")
            try:
                yield fleet
            finally:
                await fleet._leave()

    @property
    def url(self) -> str:
        """Where the API is, or will be."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def api(self) -> Member:
        """The process of the API."""
        return self.members[0]

    @property
    def workers(self) -> list[Member]:
        """The workers."""
        return self.members[1:]

    def jobs(self) -> list[int]:
        """Processes that run attempts, or wait for one."""
        return sorted(pid for worker in self.workers for pid in worker.descendants().get(NAME, ()))

    async def stop(self, *members: Member) -> list[str]:
        """Tell members to stop, and replace nobody any more; who did not end as it should."""
        await self._leave()
        for member in members:
            member.signal(signal.SIGTERM, *TOLD)
        late = []
        for member in members:
            try:
                code = await asyncio.to_thread(member.process.wait, 60)
            except Exception:
                code = None
            if code not in TOLD:
                late.append(f"{member.log.name} ended with {code} when it was told to stop")
        return late

    async def _leave(self) -> None:
        """Replace nobody any more."""
        if self._tending is not None:
            await stopped(self._tending)

    def _api(self) -> Role:
        words = ("serve", "--runs", self.runs, "--port", self._port, "--workers", 0, *PARENT)
        more = ("--archive", f"sqlite:///{self.archive}", "--plugin", PLUGIN)
        return Role("api", tuple(map(str, (*words, *more))), self.server.url)

    def _worker(self, place: int) -> Role:
        words = ("worker", "--runs", self.runs, "--slots", SLOTS[place], "--lease", self.lease)
        name = f"w{place + 1}-NUMBER"
        more = ("--attempts", ATTEMPTS, "--name", name, "--plugin", PLUGIN, *PARENT)
        afar = place == len(SLOTS) - 1
        url = self.network.url if afar else self.server.url
        return Role(f"w{place + 1}", tuple(map(str, (*words, *more))), url)

    def _begin(self, role: Role) -> Member:
        number = self.begun[role.name] = self.begun.get(role.name, 0) + 1
        return Member(role, number, self.folder, self.token)

    async def _tend(self) -> None:
        while True:
            for place, member in enumerate(self.members):
                if (code := member.ended) is not None:
                    self._note(member, code)
                    self.members[place] = self._begin(member.role)
            await asyncio.sleep(LOOK)

    def _note(self, member: Member, code: int) -> None:
        if code in member.expected:
            return
        said = member.log.read_text(errors="replace").strip()[-600:]
        # The API does not start without a job store, and says so.
        if member.role.name == "api" and any(word in said for word in NO_STORE):
            self.refused += 1
        else:
            when = time.strftime("%H:%M:%S")
            self.surprises.append(f"{when} {member.log.name} ended with {code}: {said}")

    def _kill(self) -> None:
        for member in self.members:
            member.signal(signal.SIGCONT)
            member.signal(signal.SIGKILL, *KILLED)
            member.process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
