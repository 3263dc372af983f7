"""Kinds whose slots are seconds, or the dispatches themselves: what they share."""

from typing import Annotated, Literal, TypeAlias

from annotated_types import Interval

from driftfold.participation.base import Participation

SlotSeconds: TypeAlias = Annotated[float, Interval(ge=1e-3, le=1e9)]
"""Length of a slot in seconds. Slots are numbered in 32 bits, so the shortest last for 50 days."""

Slot: TypeAlias = SlotSeconds | Literal["dispatch"]
"""The length of a slot in seconds; or each dispatch is one."""


class InSlots(Participation):
    """A kind with a field `slot`: the length of its slots in seconds, or "dispatch".

    Where slots are dispatches, each has a probability that can be told. Where they are seconds, who
    contributes to a dispatch depends on when it is sent and how long it takes.
    """

    slot: Slot

    @property
    def knows_probability(self) -> bool:  # type: ignore[override]
        """Whether a slot is a dispatch."""
        return self.slot == "dispatch"
