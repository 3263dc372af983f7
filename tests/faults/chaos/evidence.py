"""What is left of a campaign: rows, keys and files, read without the service's own code."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis import Redis


@dataclass
class Archived:
    """A job in the archive: its row, its log, its lifecycle, its attempts."""

    row: Mapping[str, Any]
    records: Sequence[tuple[int, str]]
    events: Sequence[Mapping[str, Any]]
    attempts: Sequence[Mapping[str, Any]]


@dataclass
class Stored:
    """A job in the job store: its fields, what it has of the log and of the lifecycle."""

    fields: Mapping[str, str]
    records: Sequence[tuple[int, str]]
    events: Sequence[tuple[int, str]]


@dataclass
class Evidence:
    """All that is there in the end.

    Attributes
    ----------
    archive, store
        Jobs by their ids.
    keys
        Job of each idempotency key.
    names
        All keys of Redis, without their prefix.
    sets
        Members of those keys that are sets, sorted or not.
    files
        What is in the folder of runs, relative to it.
    folder
        Of the runs.
    processes
        Processes of the service that are still there.
    """

    archive: dict[str, Archived]
    store: dict[str, Stored]
    keys: dict[str, str]
    names: list[str]
    sets: dict[str, list[str]]
    files: list[str]
    folder: Path
    processes: list[str] = field(default_factory=list)


def gather(archive: Path, redis: str, prefix: str, runs: Path) -> Evidence:
    """Read everything."""
    with closing(sqlite3.connect(f"file:{archive}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        rows = [dict(row) for row in connection.execute("SELECT * FROM jobs ORDER BY id")]
        kept = {row["id"]: _archived(connection, row) for row in rows}
        keys = dict(connection.execute("SELECT key, job FROM idempotency").fetchall())
    with Redis.from_url(redis, decode_responses=True, protocol=2) as client:
        mark = f"{{{prefix}}}:"
        names = sorted(name.removeprefix(mark) for name in client.keys(f"{mark}*"))
        sets = {name: _members(client, mark + name) for name in names}
        found = [name.removeprefix("job:") for name in names if name.startswith("job:")]
        store = {job: _stored(client, mark, job) for job in found}
    files = [str(path.relative_to(runs)) for path in sorted(runs.rglob("*"))]
    told = {name: members for name, members in sets.items() if members is not None}
    return Evidence(kept, store, keys, names, told, files, runs)


def _archived(connection: sqlite3.Connection, row: Mapping[str, Any]) -> Archived:
    def rows(what: str, order: str) -> list[dict[str, Any]]:
        query = f"SELECT * FROM {what} WHERE job = ? ORDER BY {order}"
        return [dict(found) for found in connection.execute(query, (row["id"],))]

    records = [(found["seq"], found["record"]) for found in rows("records", "seq")]
    events = [
        {**found, "facts": json.loads(found["facts"])} for found in rows("lifecycle", "number")
    ]
    return Archived(row, records, events, rows("attempts", "epoch"))


def _stored(client: Any, mark: str, job: str) -> Stored:
    def entries(name: str, field: str) -> list[tuple[int, str]]:
        found = client.xrange(f"{mark}{name}:{job}")
        return [(int(number.partition("-")[0]), fields[field]) for number, fields in found]

    fields = client.hgetall(f"{mark}job:{job}")
    return Stored(fields, entries("m", "record"), entries("ev", "kind"))


def _members(client: Any, name: str) -> list[str] | None:
    match client.type(name):
        case "zset":
            return list(client.zrange(name, 0, -1))
        case "set":
            return sorted(client.smembers(name))
        case "hash" if ":q:" in name:
            return sorted(client.hkeys(name))
        case _:
            return None
