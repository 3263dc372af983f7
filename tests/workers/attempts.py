"""Single attempts, by processes that some starter starts, without a supervisor around them."""

from pathlib import Path
from typing import Any

from driftfold_workers.artefacts.runs import OUTPUT
from driftfold_workers.attempts.messages import Done, Message, Recorded, Saved
from driftfold_workers.attempts.order import Order
from driftfold_workers.attempts.process import Process
from tests.workers.experiments import PLUGIN, SAME, experiment, told


def order(folder: Path, job: str = "a", **more: Any) -> Order:
    facts = {"epoch": 1, "spec": experiment(6), "checkpoint": None, "plugins": (PLUGIN,), **more}
    return Order(job=job, runs=str(folder), output=str(folder / job / OUTPUT), **facts)


async def said(process: Process) -> list[Message]:
    """All that a process says until its end."""
    heard = []
    async for message in process.messages():
        heard.append(message)
        if isinstance(message, Saved):
            process.confirm(message.name)
    assert await process.wait() == 0
    await process.dismiss()
    return heard


def numbers(heard: list[Message]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result and the records, without what differs from run to run."""
    done = heard[-1]
    assert isinstance(done, Done)
    lines = [message.line for message in heard if isinstance(message, Recorded)]
    return {name: done.result[name] for name in SAME}, told(lines)
