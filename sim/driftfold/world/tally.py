"""What happened to the clients of a round, counted."""

from collections import Counter
from typing import Final

OUTCOMES: Final = (
    "invited",
    "declined",
    "arrived",
    "accepted",
    "rejected",
    "failed",
    "unused",
    "late",
    "dropped",
    "suspended",
    "partial",
    "missed",
    "skipped",
    "bytes_down",
    "bytes_up",
)
"""Asked to take part; said no at once; answered in time; of these used, or refused for their
values, or failed with an error, or left unused (from too old a model, or in a round with too few
answers); sent away by the server; left before the end of their work; visits that waited for their
client to come back; answers, of those that arrived, from a part of the work; away
when a later phase reached them; rounds that left the model as it was; bytes sent to clients, and
received from them."""


class Tally:
    """Counts of the present round and of the whole run."""

    def __init__(self) -> None:
        self.round: Counter[str] = Counter()
        self.total: Counter[str] = Counter()

    def add(self, outcome: str, count: int = 1) -> None:
        """Count `count` more of an outcome."""
        self.round[outcome] += count

    def close_round(self) -> dict[str, float]:
        """Return the counts of the round that ends, and begin a new one."""
        counts = {name: float(self.round[name]) for name in OUTCOMES}
        self.total.update(self.round)
        self.round.clear()
        return counts

    def counts(self) -> dict[str, int]:
        """Counts of the whole run so far."""
        both = self.total + self.round
        return {name: both[name] for name in OUTCOMES}

    def state(self) -> dict[str, dict[str, int]]:
        """JSON-ready counts."""
        return {"round": dict(self.round), "total": dict(self.total)}

    def restore(self, state: dict[str, dict[str, int]]) -> None:
        """Take over what `state` gave."""
        self.round = Counter(state["round"])
        self.total = Counter(state["total"])
