"""A worker's own metrics and health, for Prometheus and for health checks, on a port of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from driftfold_workers.supervisor import Supervisor

STOP_WITHIN = 1  # seconds for an answer that is being sent


class WorkerCollector(Collector):
    """Looks at a supervisor when it is asked, and costs nothing in between."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    def collect(self) -> Iterator[Metric]:
        """Yield what there is to tell."""
        slots = GaugeMetricFamily(
            "driftfold_worker_slots", "Slots of this worker.", labels=["state"]
        )
        slots.add_metric(["busy"], self._supervisor.busy)
        slots.add_metric(["free"], self._supervisor.slots - self._supervisor.busy)
        yield slots
        yield GaugeMetricFamily(
            "driftfold_worker_sign_age_seconds",
            "Seconds since the job store took this worker's last sign of life.",
            value=self._supervisor.silence,
        )


class _App:
    """Answers /metrics and /livez."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._registry = CollectorRegistry()
        self._registry.register(WorkerCollector(supervisor))
        ProcessCollector(registry=self._registry)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        status, kind, body = self._answer(scope.get("path", ""))
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, path: object) -> tuple[int, str, bytes]:
        if path == "/metrics":
            return 200, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        if path == "/livez":
            lost = self._supervisor.silence > self._supervisor.lease
            told = b"the job store takes no sign of life\n" if lost else b"ok\n"
            return 503 if lost else 200, "text/plain", told
        return 404, "text/plain", b"there are /metrics and /livez\n"


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the worker."""
        yield


@asynccontextmanager
async def telling(supervisor: Supervisor, port: int) -> AsyncIterator[None]:
    """Tell at a port of all addresses of this machine for as long as the block lasts."""
    server = _Server(
        uvicorn.Config(
            _App(supervisor),
            host="0.0.0.0",
            port=port,
            lifespan="off",
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=STOP_WITHIN,
        )
    )
    serving = asyncio.create_task(server.serve(), name="metrics")
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)
