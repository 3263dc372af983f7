"""When a run ends, and what it does with failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt


@dataclass(frozen=True)
class Horizon:
    """When the run ends: at whichever of its limits comes first. At least one must be given.

    Attributes
    ----------
    rounds
        Server steps.
    seconds
        Virtual time.
    """

    rounds: Annotated[int, Gt(0)] | None = None
    seconds: Annotated[float, Gt(0)] | None = None


@dataclass(frozen=True)
class FaultPolicy:
    """What to do when a client fails, or leaves.

    Attributes
    ----------
    on_client_error
        A client raised: "skip" loses and counts its update, "fail" ends the run.
    on_bad_update
        An update is not finite, or would make the model so: "reject" drops and counts it, "fail"
        ends the run.
    on_interrupt
        A client's session ends before its visit: "lose" loses and counts it, "suspend" lets it go
        on when the client is there again, "partial" sends the local steps that are done by then.
    """

    on_client_error: Literal["skip", "fail"] = "skip"
    on_bad_update: Literal["reject", "fail"] = "reject"
    on_interrupt: Literal["lose", "suspend", "partial"] = "lose"

    def conventions(self) -> Mapping[str, str]:
        """What a visit is that outlasts its client's session, for the result."""
        return {"interrupted": _MEANING[self.on_interrupt]}


_MEANING = {
    "lose": "lost when the session ends",
    "suspend": "suspended until the next session, transfers too",
    "partial": "steps done are sent at once; weight divided by their share of the way",
}
