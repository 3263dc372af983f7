"""One trace across the processes of a service, as a collector of our own receives it."""

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.command.service import serving

pytestmark = pytest.mark.slow

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


class Collector(ThreadingHTTPServer):
    """Takes spans by OTLP over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.spans: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        server = self.server
        assert isinstance(server, Collector)
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {entry.key: entry.value.string_value for entry in group.resource.attributes}
            for scope in group.scope_spans:
                server.spans += [(named["service.name"], span) for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


def test_a_job_is_one_trace_from_its_submission_to_its_end(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.proto", reason="the extra otel is not installed")
    with collecting() as collector:
        with serving(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url) as served:
            with httpx.Client(base_url=served.url, trust_env=False, timeout=30.0) as http:
                spec = {"extends": "pca-synthetic", "horizon": {"rounds": 20}}
                asked = http.post("/v1/jobs", json={"spec": spec}, headers={"traceparent": PARENT})
                job = asked.json()["id"]
                while http.get(f"/v1/jobs/{job}").json()["state"] != "succeeded":
                    time.sleep(0.1)
            assert served.stop() == 0  # which sends what is left
        spans = {span.name: span for _, span in collector.spans}
        assert {span.trace_id.hex() for span in spans.values()} == {TRACE}
        parents = {
            name: next((n for n, s in spans.items() if s.span_id == span.parent_span_id), "")
            for name, span in spans.items()
        }
        assert parents == {
            "submit": "",
            "queue": "submit",
            "attempt": "submit",
            "rounds": "attempt",
            "finish": "attempt",
        }
        assert spans["submit"].parent_span_id.hex() == "00f067aa0ba902b7"
        services = {span.name: service for service, span in collector.spans}
        assert services["submit"] == "driftfold-api"
        assert services["attempt"] == "driftfold-worker"
        order = [
            spans[name].end_time_unix_nano for name in ("submit", "queue", "rounds", "attempt")
        ]
        assert order == sorted(order)
