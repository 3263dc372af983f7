"""Spans by the SDK of OpenTelemetry, which the extra `driftfold[otel]` brings."""

import threading

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from driftfold import __version__
from driftfold_workers.observing.tracing import NONE, Facts, Span, Tracer

CLOSE_WITHIN = 5.0  # seconds: a collector that does not answer holds nobody up
_propagator = TraceContextTextMapPropagator()


class OtelTracer(Tracer):
    """Begins spans that a processor takes when they are over.

    It has a provider of its own, so programs that embed the service keep theirs.
    """

    def __init__(self, service: str, processor: SpanProcessor) -> None:
        here = Resource.create({"service.version": __version__})
        if str(here.attributes["service.name"]).startswith("unknown_service"):
            here = here.merge(Resource({"service.name": service}))  # no variable names it
        self._provider = TracerProvider(resource=here)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("driftfold", __version__)

    def begin(
        self, name: str, parent: str = "", facts: Facts = NONE, *, at: float | None = None
    ) -> Span:
        """Begin a span."""
        context = _propagator.extract({"traceparent": parent} if parent else {})
        span = self._tracer.start_span(
            name, context, start_time=_nanoseconds(at), attributes=_named(facts)
        )
        return _OtelSpan(span)

    def close(self) -> None:
        """Send what is left."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_WITHIN)


class _OtelSpan(Span):
    def __init__(self, span: OtelSpan) -> None:
        known = span.get_span_context()
        self.context = f"00-{known.trace_id:032x}-{known.span_id:016x}-{known.trace_flags:02x}"
        self._span = span

    def end(self, facts: Facts = NONE, *, problem: str = "", at: float | None = None) -> None:
        self._span.set_attributes(_named(facts))
        if problem:
            self._span.set_status(StatusCode.ERROR, problem)
        self._span.end(_nanoseconds(at))


def to_collector(service: str) -> Tracer:
    """Return a tracer that sends in the background to where OTEL_EXPORTER_OTLP_ENDPOINT says."""
    return OtelTracer(service, BatchSpanProcessor(OTLPSpanExporter()))


def _named(facts: Facts) -> Facts:
    return {f"driftfold.{name}": fact for name, fact in facts.items()}


def _nanoseconds(at: float | None) -> int | None:
    return None if at is None else int(at * 1e9)
