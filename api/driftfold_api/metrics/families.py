"""What a scrape found, as families of metrics. Labels have values from fixed lists only."""

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from driftfold import __version__
from driftfold_api.metrics.scrape import Found
from driftfold_workers.jobs.census import Census, counts_of
from driftfold_workers.jobs.job import State

OUTCOMES = (
    "finished",
    "failed",
    "canceled",
    "drained",
    "paused",
    "lease lost",
    "over its limit",
    "child died",
    "store lost",
)
ENDS = (State.SUCCEEDED, State.FAILED, State.CANCELED)


def families(found: Found) -> Iterator[Metric]:
    """Yield the families. Of a part that gave no answer there are none but that it is down."""
    yield _gauge("build_info", "Version of the service.", {__version__: 1.0}, "version")
    yield _gauge("store_up", "Whether the job store answers.", found.census is not None)
    yield _gauge("archive_up", "Whether the archive answers.", found.kept is not None)
    yield _gauge("sse_followers", "Streams that are open in this process.", found.followers)
    yield _counter("sse_events_sent", "Events that this process has sent.", found.events_sent)
    yield _gauge(
        "recorder_in_charge",
        "Whether this process fills the archive; of all processes one does.",
        found.in_charge,
    )
    if found.census is not None or found.kept is not None:
        by_state = {str(state): number for state, number in found.jobs.items()}
        yield _gauge("jobs", "Jobs by state.", by_state, "state")
    if found.census is not None:
        yield from _of_store(found.census)
    if found.lag is not None:
        yield _gauge("archive_lag_jobs", "Jobs that are not recorded to their end.", found.lag.jobs)
        yield _gauge("archive_lag_records", "Records that are not recorded.", found.lag.records)


def _of_store(census: Census) -> Iterator[Metric]:
    lines, counts = census.lines, census.counts
    yield _gauge(
        "queue_depth",
        "Jobs that begin as soon as a worker is free, by priority.",
        {str(rank): line.depth for rank, line in lines.items()},
        "priority",
    )
    yield _gauge(
        "queue_oldest_seconds",
        "Age of the oldest of them; 0 when there is none.",
        {str(rank): line.oldest for rank, line in lines.items()},
        "priority",
    )
    yield _gauge("queue_delayed", "Queued jobs that wait for a time.", census.delayed)
    yield _gauge("queue_held", "Queued jobs that wait for others.", census.held)
    yield _gauge("workers", "Workers that are there.", census.workers)
    slots = {"busy": census.running, "free": max(census.slots - census.running, 0)}
    yield _gauge("slots", "Slots of the workers that are there.", slots, "state")
    events = counts_of(counts, "event")
    yield _counter("jobs_submitted", "Jobs that were queued.", events.get("submitted", 0))
    yield _counter(
        "jobs_ended",
        "Jobs that are over, by final state.",
        {str(state): events.get(state, 0) for state in ENDS},
        "state",
    )
    yield _counter(
        "attempts_started",
        "Attempts begun, anew or from a snapshot.",
        {"anew": events.get("claimed", 0), "snapshot": events.get("resumed", 0)},
        "from",
    )
    outcomes = {**dict.fromkeys(OUTCOMES, 0.0), **counts_of(counts, "outcome")}
    yield _counter(
        "attempts", "Attempts that have ended, by what became of them.", outcomes, "outcome"
    )
    yield _counter("checkpoints", "Snapshots that a log vouches for.", events.get("checkpoint", 0))
    yield _counter("retries", "Attempts that counted, with another one after.", counts["retried"])
    yield _counter("lease_expiries", "Leases that were over.", counts["expired"])
    yield _counter("fenced_writes", "Writes refused to attempts given up.", counts["fenced"])
    yield _counter("records", "Records stored.", counts["records"])
    yield _counter("rounds", "Server steps stored.", counts["rounds"])
    yield _counter("virtual_seconds", "Virtual seconds simulated.", counts["virtual"])
    yield _counter("clients_lost", "Clients that left before they answered.", counts["dropped"])


def _gauge(
    name: str, told: str, value: float | Mapping[str, float], label: str = ""
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"driftfold_{name}", told, labels=[label] if label else None)
    _fill(family, value)
    return family


def _counter(
    name: str, told: str, value: float | Mapping[str, float], label: str = ""
) -> CounterMetricFamily:
    family = CounterMetricFamily(f"driftfold_{name}", told, labels=[label] if label else None)
    _fill(family, value)
    return family


def _fill(
    family: GaugeMetricFamily | CounterMetricFamily, value: float | Mapping[str, float]
) -> None:
    if isinstance(value, Mapping):
        for name, one in value.items():
            family.add_metric([name], one)
    else:
        family.add_metric([], float(value))
