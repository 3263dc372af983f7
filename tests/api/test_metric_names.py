"""The guide, the dashboard and the scrape example name metrics that there are; the guide all."""

import json
import re
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import api_on
from tests.modules import ROOT

pytestmark = pytest.mark.asyncio

DOCS = ROOT / "docs"
NAME = re.compile(r"\b(?:driftfold|process)_[a-z_]+\b")
SUFFIXES = ("_bucket", "_sum", "_count")
BY = re.compile(r"\bby \(([\w, ]+)\)")


async def there_are(store: RedisJobStore) -> dict[str, set[str]]:
    """Names of all samples, each with its labels."""
    async with api_on(store) as api, api.client() as http:
        await http.get("/livez")
        text = (await http.get("/metrics")).text
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def expressions(node: Any) -> list[str]:
    """All queries of the dashboard."""
    if isinstance(node, list):
        return [found for part in node for found in expressions(part)]
    if not isinstance(node, dict):
        return []
    own = [node["expr"]] if "expr" in node else []
    return own + [found for part in node.values() for found in expressions(part)]


async def test_all_that_is_drawn_exists_with_its_labels(store: RedisJobStore) -> None:
    known = await there_are(store)
    queries = expressions(json.loads((DOCS / "observability" / "grafana.json").read_text()))
    assert len(queries) > 20
    for query in queries:
        names = NAME.findall(query)
        assert names, query
        for name in names:
            assert name in known, query
        wanted = {label.strip() for group in BY.findall(query) for label in group.split(",")}
        assert wanted <= set().union(*(known[name] for name in names)), query


async def test_the_guide_tells_all_metrics_and_no_others(store: RedisJobStore) -> None:
    known = {name for name in await there_are(store) if name.startswith("driftfold_")}
    told_once = {name for name in known if not name.endswith("_created")}
    families = {re.sub(f"({'|'.join(SUFFIXES)})$", "", name) for name in told_once}
    rows = [
        line
        for line in (DOCS / "observability.md").read_text().splitlines()
        if line.startswith("| `driftfold_")
    ]
    told = {name for row in rows for name in NAME.findall(row.split("|")[1])}
    assert told == families


async def test_the_scrape_example_asks_what_compose_starts() -> None:
    config = yaml.safe_load((DOCS / "observability" / "prometheus.yml").read_text())
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    (target,) = jobs["driftfold-api"]["static_configs"][0]["targets"]
    service, port = target.split(":")
    assert port in compose["services"][service]["command"]
    (names,) = jobs["driftfold-worker"]["dns_sd_configs"]
    assert set(names["names"]) <= set(compose["services"])
