"""Naming who waits for what, from the stacks of suspended tasks."""

import asyncio
import re
from types import CodeType, FrameType
from typing import Any

from driftfold.kernel.errors import Waiter


def waiters(loop: asyncio.AbstractEventLoop) -> tuple[Waiter, ...]:
    """Every unfinished task of `loop` with what it awaits, in the order of their names."""
    found = [Waiter(task.get_name(), _awaits(task)) for task in asyncio.all_tasks(loop)]
    return tuple(sorted(found, key=lambda waiter: (natural(waiter.task), waiter.awaits)))


def _awaits(task: asyncio.Task[Any]) -> str:
    """Describe the chain of awaits of a suspended task, outermost first."""
    chain: list[str] = []
    awaited: Any = task.get_coro()
    while awaited is not None:
        frame: FrameType | None = _first(awaited, "cr_frame", "gi_frame", "ag_frame")
        if frame is None:
            break
        code: CodeType = frame.f_code
        chain.append(f"{code.co_qualname} ({_short(code.co_filename)}:{frame.f_lineno})")
        awaited = _first(awaited, "cr_await", "gi_yieldfrom", "ag_await")
    waits_for = task._fut_waiter  # type: ignore[attr-defined]
    if isinstance(waits_for, asyncio.Task):
        chain.append(waits_for.get_name())
    return " -> ".join(chain) if chain else repr(task.get_coro())


def _first(awaited: Any, *names: str) -> Any:
    return next((getattr(awaited, name) for name in names if hasattr(awaited, name)), None)


def _short(path: str) -> str:
    return "/".join(path.replace("\\", "/").rsplit("/", 2)[-2:])


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key that puts client-9 before client-10."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]
