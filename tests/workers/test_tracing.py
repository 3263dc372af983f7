"""Traces: spans as the SDK's exporter in memory has them, and nothing at all without the extra."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import pytest

from driftfold_workers.attempts.attempt_trace import AttemptTrace
from driftfold_workers.jobs.job import Claim, Job, State
from driftfold_workers.jobs.terms import Terms
from driftfold_workers.observing.tracing import UNTRACED, Tracer, tracer_here

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Told(SimpleNamespace):
    """A tracer, and the spans that have ended, by name."""

    tracer: Tracer

    def spans(self, name: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(
                parent=span.parent and f"{span.parent.span_id:016x}",
                trace=f"{span.context.trace_id:032x}",
                begin=span.start_time / 1e9,
                end=span.end_time / 1e9,
                failed=not span.status.is_ok and span.status.description,
                facts={key.partition(".")[2]: value for key, value in span.attributes.items()},
            )
            for span in self.exporter.get_finished_spans()
            if span.name == name
        ]


@pytest.fixture
def told() -> Iterator[Told]:
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from driftfold_workers.observing.otel_tracing import OtelTracer

    exporter = InMemorySpanExporter()
    tracer = OtelTracer("test", SimpleSpanProcessor(exporter))
    yield Told(tracer=tracer, exporter=exporter)
    tracer.close()


def claim(epoch: int = 1, **terms: object) -> Claim:
    job = Job(
        *("0192", {}, (), State.RUNNING),
        created=100.0,
        attempt=epoch,
        epoch=epoch,
        terms=Terms(trace=PARENT, **terms),  # type: ignore[arg-type]
    )
    return Claim(job, epoch)


def test_an_attempt_is_told_from_its_wait_to_its_end(told: Told) -> None:
    clock = SimpleNamespace(now=110.0)
    trace = AttemptTrace(told.tracer, claim(priority=7), "anne", lambda: clock.now)
    for _ in range(25):  # a thousand rounds a second, written ten times a second
        clock.now += 0.1
        trace.wrote(100, 100)
    trace.finishing().end({"state": "succeeded"})
    trace.over("finished")
    (queue,), (attempt,), (finish,) = map(told.spans, ("queue", "attempt", "finish"))
    assert (queue.begin, queue.end, queue.facts) == (100, 110, {"job": "0192", "priority": 7})
    assert queue.parent == attempt.parent == "00f067aa0ba902b7"
    assert queue.trace == attempt.trace == finish.trace == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert attempt.begin == 110
    assert {"worker": "anne", "epoch": 1, "outcome": "finished"}.items() <= attempt.facts.items()
    assert not attempt.failed
    rounds = told.spans("rounds")
    assert len(rounds) == 3
    assert sum(span.facts["records"] for span in rounds) == 2500
    assert all(before.end == after.begin for before, after in pairwise(rounds))
    assert {span.trace for span in rounds} == {attempt.trace}


def test_a_day_of_rounds_has_hundreds_of_spans_not_millions(told: Told) -> None:
    clock = SimpleNamespace(now=110.0)
    trace = AttemptTrace(told.tracer, claim(), "anne", lambda: clock.now)
    for _ in range(86_400):
        clock.now += 1.0
        trace.wrote(1000, None)
    trace.over("lost", "another attempt runs the job")
    assert 500 < len(told.spans("rounds")) < 700
    (attempt,) = told.spans("attempt")
    assert attempt.failed == "another attempt runs the job"


def test_of_a_later_attempt_no_wait_is_told(told: Told) -> None:
    AttemptTrace(told.tracer, claim(epoch=2), "anne").over("drained")
    assert not told.spans("queue")
    assert told.spans("attempt")[0].facts["attempt"] == 2


def test_a_block_that_raises_ends_its_span_with_a_problem(told: Told) -> None:
    with pytest.raises(KeyError), told.tracer.span("submit", PARENT):
        raise KeyError("no")
    assert told.spans("submit")[0].failed == "KeyError"


def test_without_traces_the_parent_goes_on_to_the_children() -> None:
    assert UNTRACED.begin("submit", PARENT).context == PARENT
    assert tracer_here("x", {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}) is UNTRACED
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1"}
    assert tracer_here("x", {**asked, "OTEL_SDK_DISABLED": "true"}) is UNTRACED
    assert tracer_here("x", {**asked, "OTEL_TRACES_EXPORTER": "none"}) is UNTRACED


@pytest.mark.parametrize("module", ["driftfold_workers.worker", "driftfold_api.serving"])
def test_who_asks_for_no_traces_imports_nothing_that_sends_them(module: str) -> None:
    # FastAPI and redis-py import some of OpenTelemetry by themselves where it is installed.
    theirs = ("opentelemetry.exporter", "opentelemetry.sdk.trace.export", "google.protobuf")
    code = (
        f"import {module}, sys\n"
        "from driftfold_workers.observing.tracing import tracer_here\n"
        "tracer_here('x', {})\n"
        f"print([n for n in sys.modules if n.startswith({theirs!r})])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
