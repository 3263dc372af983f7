"""Starting processes by forking templates, which have done their imports."""

import asyncio
import os
import sys

from driftfold_workers.attempts.adopted import Adopted
from driftfold_workers.attempts.guardian import adopting
from driftfold_workers.attempts.process import Child
from driftfold_workers.attempts.starter import Spawning, Starter
from driftfold_workers.attempts.template_link import TemplateGone, TemplateLink

LOOK = 0.02  # seconds


def best_starter() -> Starter:
    """Return the fastest way to start processes that this system has."""
    return Forking() if _can_adopt() else Spawning()


class Forking(Starter):
    """Has processes forked: from a template, or from one with torch once there is need of it.

    Torch is an import of seconds and hundreds of megabytes, so runs without it get a process
    without it. The first run with it does not wait for the second template: it has no heartbeat
    before it has a process, and imports torch itself.
    """

    def __init__(self) -> None:
        self._templates: dict[bool, TemplateLink] = {}  # by whether it has torch

    @property
    def templates(self) -> tuple[int, ...]:
        """Process numbers of the templates, the one without torch first."""
        return tuple(self._templates[torch].pid for torch in sorted(self._templates))

    @property
    def ready_with_torch(self) -> bool:
        """Whether the next process for a run with torch has imported it."""
        return True in self._templates and self._templates[True].ready

    async def ready(self) -> None:
        """Wait until the template has imported everything; where it has ended, start another."""
        template = self._template(torch=False)
        try:
            while not template.ready:
                await asyncio.sleep(LOOK)
        except TemplateGone:
            self._forget(template, torch=False)
            raise

    async def dismiss(self) -> None:
        """End the templates; what was forked from them goes on."""
        while self._templates:
            self._templates.popitem()[1].end()

    async def _begin(self, orders: int, pipe: int, *, torch: bool) -> Child:
        with adopting():
            try:
                number = await self._fork(orders, pipe, torch=torch)
            except TemplateGone:  # killed perhaps; there is a new one now
                number = await self._fork(orders, pipe, torch=torch)
            return Adopted(number)

    async def _fork(self, orders: int, pipe: int, *, torch: bool) -> int:
        template = self._template(torch=torch)
        try:
            if torch and not template.ready:
                return await self._fork(orders, pipe, torch=False)
            return await template.fork(orders, pipe)
        except (TemplateGone, TimeoutError):
            self._forget(template, torch=torch)
            raise

    def _forget(self, template: TemplateLink, *, torch: bool) -> None:
        if self._templates.get(torch) is template:  # else somebody else has seen to it
            self._templates.pop(torch).end()

    def _template(self, *, torch: bool) -> TemplateLink:
        if torch not in self._templates:
            self._templates[torch] = TemplateLink(torch=torch)
        return self._templates[torch]


def _can_adopt() -> bool:
    if sys.platform != "linux":
        return False
    try:
        with adopting():
            os.close(os.pidfd_open(os.getpid()))
    except OSError:  # an old system, or a container that forbids it
        return False
    return True
