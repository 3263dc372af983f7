"""What happened to the clients of a round, counted."""

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
        self.round = _nothing()
        self.total = _nothing()

    def add(self, outcome: str, count: int = 1) -> None:
        """Count `count` more of an outcome."""
        self.round[outcome] += count

    def close_round(self) -> dict[str, float]:
        """Return the counts of the round that ends, and begin a new one."""
        counts = {name: float(count) for name, count in self.round.items()}
        self.total = self.counts()
        self.round = _nothing()
        return counts

    def counts(self) -> dict[str, int]:
        """Counts of the whole run so far."""
        return {name: count + self.round[name] for name, count in self.total.items()}

    def state(self) -> dict[str, dict[str, int]]:
        """JSON-ready counts."""
        return {"round": dict(self.round), "total": dict(self.total)}

    def restore(self, state: dict[str, dict[str, int]]) -> None:
        """Take over what `state` gave."""
        self.round = _nothing() | state["round"]
        self.total = _nothing() | state["total"]


def _nothing() -> dict[str, int]:
    return dict.fromkeys(OUTCOMES, 0)
