"""Specifications that were broken at random are refused, or make one whole job."""

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from redis import Redis

from driftfold import presets
from driftfold.spec import load_spec, to_mapping
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import Api

PRESETS = tuple(name for name in presets.names() if name.endswith("-small") or "toy" in name)
ANSWERS = (202, 400, 413, 422)

Path = tuple[str | int, ...]


@cache
def complete(name: str) -> str:
    return json.dumps(to_mapping(load_spec(name)))


def paths(table: Any, before: Path = ()) -> list[Path]:
    """Every place in a table, the table itself left out."""
    found: list[Path] = []
    entries = table.items() if isinstance(table, Mapping) else enumerate(table)
    for name, value in entries:
        found.append((*before, name))
        if isinstance(value, Mapping | list):
            found += paths(value, (*before, name))
    return found


def text_of(spec: Any) -> str:
    """The request; a place that says how deep it is becomes so many objects, one in another."""
    text = json.dumps({"spec": spec})
    return re.sub(r'"deep (\d+)"', lambda found: _deep(int(found[1])), text)


def _deep(depth: int) -> str:
    return '{"a":' * depth + "0" + "}" * depth


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),  # NaN and infinity, too: which are no JSON
    st.text(max_size=30),
    st.sampled_from(["x" * 100_000, "\0", "\u202e", "🏻" * 50, "../../etc/passwd", "NaN", "1e999"]),
    st.sampled_from([1e308, -1e308, 5e-324, 2**63, -(2**63) - 1, 10**400, 10**12]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
    st.sampled_from(["deep 40", "deep 900", "deep 20000"]),
)


@st.composite
def broken(draw: st.DrawFn) -> Any:
    """A preset in full, changed in one to four places."""
    table = json.loads(complete(draw(st.sampled_from(PRESETS))))
    for _ in range(draw(st.integers(1, 4))):
        places = paths(table)
        if not places:
            return table
        *way, last = draw(st.sampled_from(places))
        parent = table
        for name in way:
            parent = parent[name]
        how = draw(st.sampled_from(["drop", "retype", "retype", "add", "swap", "copy"]))
        if how == "drop":
            del parent[last]
        elif how == "retype":
            parent[last] = draw(ODD)
        elif how == "add" and isinstance(parent, dict):
            parent[draw(st.text(max_size=8))] = draw(ODD)
        elif how == "swap":
            parent[last] = deepcopy(_at(table, draw(st.sampled_from(places))))
        elif how == "copy" and isinstance(parent, dict):
            parent[draw(st.sampled_from(places))[-1] if places else "a"] = deepcopy(parent[last])
    return table


def _at(table: Any, path: Path) -> Any:
    for name in path:
        table = table[name]
    return table


@dataclass
class Fuzz:
    """Sends specifications, and counts what is there after each."""

    url: str
    archive: str
    redis: str
    prefix: str

    def there(self) -> tuple[int, int, int, int]:
        """Jobs and keys of idempotency in the archive; jobs and lifecycles in Redis."""
        with closing(sqlite3.connect(f"file:{self.archive}?mode=ro", uri=True)) as archive:
            rows = [
                archive.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("jobs", "idempotency")
            ]
        with Redis.from_url(self.redis) as redis:
            keys = [
                sum(1 for _ in redis.scan_iter(f"{{{self.prefix}}}:{kind}:*", count=10_000))
                for kind in ("job", "ev")
            ]
        return rows[0], rows[1], keys[0], keys[1]

    def run(self, examples: int) -> Counter[int]:
        answers: Counter[int] = Counter()
        known = self.there()

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(spec=broken(), key=st.booleans())
        def send(spec: Any, key: bool) -> None:
            nonlocal known
            headers = {"Content-Type": "application/json"}
            if key:
                headers["Idempotency-Key"] = f"key-{sum(answers.values())}"
            answer = http.post("/v1/jobs", content=text_of(spec), headers=headers)
            answers[answer.status_code] += 1
            assert answer.status_code in ANSWERS, answer.text
            if answer.status_code == 202:
                known = (known[0] + 1, known[1] + key, known[2] + 1, known[3] + 1)
            elif answer.status_code == 422:
                assert answer.json()["errors"]
            assert self.there() == known, answer.text

        with httpx.Client(base_url=self.url, timeout=60.0, trust_env=False) as http:
            send()
        return answers


@pytest.mark.asyncio
@pytest.mark.parametrize("examples", [30, pytest.param(1500, marks=pytest.mark.slow)])
async def test_broken_specifications(
    api: Api, store: RedisJobStore, server: EmbeddedServer, examples: int
) -> None:
    file = f"{api._folder}/archive.sqlite"
    fuzz = Fuzz(api.url, file, server.url, store.keys.prefix)
    answers = await asyncio.to_thread(fuzz.run, examples)
    assert sum(answers.values()) >= examples
    assert answers[422] > examples / 4
    assert answers[202] > 0
