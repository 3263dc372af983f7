"""What may happen to a job, and in which order: told from its lifecycle events alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BEGIN, END = ("claimed", "resumed"), ("released", "lost")
FINAL = ("succeeded", "failed", "canceled")
NOTES = ("checkpoint", "cancel-requested", "pause-requested", "diverged")
"""What happens while somebody runs it, and changes nothing of that."""
PAUSES = ("paused", "unpaused")
UNCOUNTED = ("drained", "paused")
"""Outcomes of attempts that are no fault of the job; "failed" may be one, too."""
EITHER = ("failed",)


def violations(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Everything in a list of events that cannot be, with the number of the event."""
    numbers = [event["number"] for event in events]
    if numbers != list(range(1, len(events) + 1)):
        yield f"events are numbered {numbers}"
    if not events or events[0]["kind"] != "submitted":
        yield "it does not begin with its submission"
    finals = [event["kind"] for event in events if event["kind"] in FINAL]
    if len(finals) != 1 or events[-1]["kind"] not in FINAL:
        yield f"it ends with {[event['kind'] for event in events[-1:]]}, and its ends are {finals}"
    times = [event["time"] for event in events]
    if times != sorted(times):
        yield "its events are not in order of time"
    running, paused, saved, epoch, attempt, seq = False, False, False, 0, 0, 0
    attempts = {1}  # that the next one may be
    for event in events[1:]:
        kind, facts, place = event["kind"], event["facts"], f"event {event['number']}"
        if kind != "checkpoint":  # which may stand before the end of a log that is made again
            if facts.get("seq", seq) < seq:
                yield f"{place}: its log shrinks from record {seq} to {facts['seq']}"
            seq = max(seq, facts.get("seq", 0))
        if kind in BEGIN:
            if running or paused:
                yield f"{place}: it is {kind} while {'somebody runs it' if running else 'paused'}"
            if facts.get("epoch", 0) <= epoch:
                yield f"{place}: epoch {facts.get('epoch')} follows {epoch}"
            if (kind == "resumed") is not saved:
                yield f"{place}: it is {kind}, {'with' if saved else 'without'} a snapshot"
            if facts.get("attempt") not in attempts:
                yield f"{place}: attempt {facts.get('attempt')}, where {attempts} may follow"
            running, epoch, attempt = True, facts.get("epoch", 0), facts.get("attempt", 0)
        elif kind in (*END, *NOTES, *FINAL):
            queued = kind in FINAL and not running
            if not (running or kind == "canceled" or (queued and _ends(events, event))):
                yield f"{place}: it is {kind} while nobody runs it"
            if running and facts.get("epoch") != epoch:
                yield f"{place}: {kind} by epoch {facts.get('epoch')}, while {epoch} runs it"
            saved = saved or kind == "checkpoint"
            if kind in END:
                running = False
                attempts = _next(attempt, facts.get("outcome", ""))
        elif kind in PAUSES:
            if (kind == "paused" and running) or (kind == "unpaused" and not (running or paused)):
                yield f"{place}: it is {kind} while {'somebody' if running else 'nobody'} runs it"
            paused = kind == "paused"
        else:
            yield f"{place}: nobody knows what {kind} means"


def _ends(events: Sequence[Mapping[str, Any]], event: Mapping[str, Any]) -> bool:
    """Whether an event is of one step with the one before, which took the job back."""
    before = events[event["number"] - 2]
    return bool(before["kind"] in END and before["time"] == event["time"])


def _next(attempt: int, outcome: str) -> set[int]:
    if outcome in UNCOUNTED:
        return {attempt}
    return {attempt, attempt + 1} if outcome in EITHER else {attempt + 1}
