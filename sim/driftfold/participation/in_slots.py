"""Kinds whose slots are seconds, or the dispatches themselves: what they share."""

from driftfold.participation.base import Participation


class InSlots(Participation):
    """A kind with a field `slot`: the length of its slots in seconds; None: a slot is a dispatch.

    Where slots are dispatches, each has a probability that can be told. Where they are seconds, who
    contributes to a dispatch depends on when it is sent and how long it takes.
    """

    slot: float | None

    @property
    def knows_probability(self) -> bool:  # type: ignore[override]
        """Whether a slot is a dispatch."""
        return self.slot is None
