"""Traces: when what was asked for waited, ran and ended, in spans as OpenTelemetry has them.

This is all that the service knows of it: `Untraced` does nothing and needs nothing. What sends
spans somewhere is in `otel_tracing`, imported only where the environment asks for it.
"""

import logging
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

log = logging.getLogger("driftfold.traces")

Facts = Mapping[str, str | int | float | bool]
NONE: Facts = MappingProxyType({})
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables that say where spans go: each asks for traces."""
PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class Span(ABC):
    """Something that takes time.

    Attributes
    ----------
    context
        The span as its children name it: a `traceparent` of W3C Trace Context; "" for none.
    """

    context: str

    @abstractmethod
    def end(self, facts: Facts = NONE, *, problem: str = "", at: float | None = None) -> None:
        """Tell that it is over, at a Unix time or now; with a problem, that it went wrong."""


class Tracer(ABC):
    """Begins spans."""

    @abstractmethod
    def begin(
        self, name: str, parent: str = "", facts: Facts = NONE, *, at: float | None = None
    ) -> Span:
        """Begin a span, at a Unix time or now, under another one's `context`."""

    @abstractmethod
    def close(self) -> None:
        """Send what is left. It waits a few seconds at most."""

    @contextmanager
    def span(self, name: str, parent: str = "", facts: Facts = NONE) -> Iterator[Span]:
        """Give a span that ends with the block, with a problem if the block raises."""
        span = self.begin(name, parent, facts)
        try:
            yield span
        except BaseException as error:
            span.end(problem=type(error).__name__)
            raise
        span.end()


class _Nothing(Span):
    def __init__(self, context: str) -> None:
        self.context = context

    def end(self, facts: Facts = NONE, *, problem: str = "", at: float | None = None) -> None:
        pass


class Untraced(Tracer):
    """Passes on whose child a span would be, and nothing else."""

    def begin(
        self, name: str, parent: str = "", facts: Facts = NONE, *, at: float | None = None
    ) -> Span:
        """Begin nothing."""
        return _Nothing(parent)

    def close(self) -> None:
        """Send nothing."""


UNTRACED = Untraced()


def tracer_here(service: str, environ: Mapping[str, str] = os.environ) -> Tracer:
    """Return a tracer for a process, as the variables of OpenTelemetry ask for.

    >>> tracer_here("driftfold-api", {}) is UNTRACED
    True
    """
    asked = next((name for name in ENDPOINTS if environ.get(name)), None)
    off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if asked is None or off or environ.get("OTEL_TRACES_EXPORTER") == "none":
        return UNTRACED
    try:
        from driftfold_workers.observing.otel_tracing import to_collector
    except ImportError as error:
        log.warning(
            "%s is set, but nothing is traced: %s; pip install 'driftfold[otel]'", asked, error
        )
        return UNTRACED
    return to_collector(service)


def parent_in(header: str | None) -> str:
    """Return the `traceparent` of a request; "" when there is none, or it is not valid.

    >>> parent_in("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    >>> parent_in("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), parent_in(None)
    ('', '')
    """
    return header if header is not None and PARENT.fullmatch(header) else ""
