"""What a finished run gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from driftfold.arrays import Array
from driftfold.telemetry.json_form import to_json_number


@dataclass(frozen=True)
class Result:
    """The outcome of one run.

    Attributes
    ----------
    spec_digest
        Identity of the experiment: equal digests mean equal results.
    event_digest
        Digest of the run's own events, in order: who did what, when.
    metrics_digest
        Digest of the values of all training records; does not depend on how often was evaluated.
    evaluation_digest
        Digest of the values of all evaluations.
    model_digest
        Digest of the final model's bytes.
    model
        The final model, shape of the task's points.
    metrics
        The final evaluation.
    counts
        What happened to clients over the whole run, by outcome.
    ended
        Why the run ended: "rounds", "seconds", "nobody left", or "stopped" when it was asked to.
    rounds, events, time
        Server steps, events, virtual seconds.
    timing
        Wall and CPU seconds of the run, seconds until the first round, stacks computed; not
        repeatable.
    resumed_from
        Server version of the snapshot that the run was resumed from, or None.
    conventions
        What the run means by its figures where systems differ, such as staleness.
    changes
        What differs between the software of the snapshot and of this process.
    """

    event_digest: str
    metrics_digest: str
    evaluation_digest: str
    model_digest: str
    model: Array = field(compare=False, repr=False)
    metrics: Mapping[str, float]
    counts: Mapping[str, int]
    ended: str
    rounds: int
    events: int
    time: float
    timing: Mapping[str, float] = field(default_factory=dict)
    spec_digest: str = ""
    resumed_from: int | None = None
    conventions: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[str, ...] = ()

    def told(self, **facts: Any) -> "Result":
        """Return the same result with more facts about how it came about."""
        return replace(self, **facts)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, without the model; NaN and infinities become strings."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "model"}
        for name in ("metrics", "counts", "timing"):
            plain[name] = {k: to_json_number(v) for k, v in plain[name].items()}
        plain["conventions"] = dict(self.conventions)
        return {**plain, "changes": list(self.changes)}
