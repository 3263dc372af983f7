"""Lines of the log: one each, whole, and about what their writer works at."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from driftfold_workers.observing.logs import Format, Level, bind, bound, configure

log = logging.getLogger("driftfold.test")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    levels = {name: logging.getLogger(name).level for name in ("driftfold", "uvicorn")}
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = handlers, level
    for name, known in levels.items():
        logging.getLogger(name).setLevel(known)


class Written:
    """What is logged from now on."""

    def __init__(self, form: Format = Format.JSON, level: Level = Level.INFO) -> None:
        self.stream = io.StringIO()
        configure(form, level, self.stream)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


def test_a_line_is_one_object_whatever_is_in_it() -> None:
    written = Written()
    log.info("two\nlines, \x1b[31m, %s and %s", "Grüße", {"a": object})
    try:
        raise ValueError("why\nnot")
    except ValueError:
        log.exception("it failed", extra={"facts": {"status": 500, "message": "not this"}})
    plain, failed = written.lines()
    assert plain["message"].startswith("two\nlines, \x1b[31m, Grüße")
    assert (plain["level"], plain["logger"]) == ("info", "driftfold.test")
    assert plain["time"].endswith("Z")
    assert (failed["message"], failed["status"], failed["level"]) == ("it failed", 500, "error")
    assert failed["trace"].endswith("ValueError: why\nnot")
    assert written.stream.getvalue().isascii()


def test_facts_are_bound_to_a_block_and_what_it_starts() -> None:
    written = Written()

    async def attempt(job: str) -> None:
        bind(job=job)
        await asyncio.sleep(0)
        await asyncio.create_task(heartbeat())

    async def heartbeat() -> None:
        await asyncio.sleep(0)
        log.info("beat")

    async def both() -> None:
        await asyncio.gather(attempt("a"), attempt("b"))
        log.info("over")

    with bound(worker="anne"):
        asyncio.run(both())
    log.info("outside")
    told = [(line.get("job"), line.get("worker")) for line in written.lines()]
    assert sorted(told[:2]) == [("a", "anne"), ("b", "anne")]
    assert told[2:] == [(None, "anne"), (None, None)]


def test_levels_are_those_of_our_own_loggers() -> None:
    written = Written(level=Level.DEBUG)
    log.debug("ours")
    logging.getLogger("sqlalchemy.engine").info("SELECT secrets")
    logging.getLogger("redis").warning("theirs")
    assert [line["message"] for line in written.lines()] == ["ours", "theirs"]
    written = Written(level=Level.WARNING)
    log.info("less")
    assert not written.lines()


def test_text_is_the_message_alone() -> None:
    written = Written(Format.TEXT)
    with bound(job="a"):
        log.info("job %s: begun", "a")
    assert written.stream.getvalue() == "job a: begun\n"
