"""Metrics, for Prometheus to scrape."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Header, Response
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from driftfold_api.metrics.families import families
from driftfold_api.metrics.scrape import Found, scrape
from driftfold_api.openapi import problems
from driftfold_api.service import ServiceHere

router = APIRouter(tags=["health"])

TEXT = {
    "description": "Metrics in the text format of Prometheus, or that of OpenMetrics.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get("/metrics", response_class=Response, responses={200: TEXT, **problems()})
async def metrics(
    service: ServiceHere, accept: Annotated[str, Header(include_in_schema=False)] = ""
) -> Response:
    """Return what is counted. What gives no answer is left out, and told to be down."""
    encode, media_type = choose_encoder(accept)
    found = _Everything(await scrape(service), service.requests.registry)
    return Response(encode(found), headers={"Content-Type": media_type})


class _Everything(Collector):
    def __init__(self, found: Found, own: Collector) -> None:
        self._found = found
        self._own = own

    def collect(self) -> Iterator[Metric]:
        yield from families(self._found)
        yield from self._own.collect()
