"""The attempts at a job, told from its lifecycle events."""

from collections.abc import Iterable, Sequence

from driftfold_api.models import Attempt, Lifecycle

BEGIN = ("claimed", "resumed")
END = ("lost", "released", "succeeded", "failed", "canceled")


def attempts_of(events: Iterable[Lifecycle], before: Sequence[Attempt] = ()) -> list[Attempt]:
    """Return the attempts in order, the latest last.

    Those `before` the events may be the last one only: no other changes any more. A job that was
    never claimed has none. What happens to a job while nobody runs it (it is
    canceled in the queue, say) belongs to no attempt.
    """
    found = list(before)
    for event in events:
        facts = event.facts
        if event.kind in BEGIN:
            found.append(
                Attempt(
                    epoch=facts["epoch"],
                    attempt=facts["attempt"],
                    worker=facts.get("worker", ""),
                    resumed=event.kind == "resumed",
                    started=event.time,
                    ended=None,
                    outcome="running",
                    reason="",
                    first=facts.get("seq", 0),
                    last=None,
                )
            )
        elif event.kind in END and found and _about(found[-1], event):
            told = {
                "ended": event.time,
                "outcome": facts.get("outcome", event.kind),
                "reason": facts.get("reason", "") or found[-1].reason,
                "last": facts.get("seq", 0),
            }
            found[-1] = found[-1].model_copy(update=told)
    return found


def _about(latest: Attempt, event: Lifecycle) -> bool:
    """Whether an event ended the latest attempt, alone or in one step with an earlier event."""
    return latest.ended is None or latest.ended == event.time
