"""When a run ends, and what it does with failures."""

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
    """What to do when a client fails.

    Attributes
    ----------
    on_client_error
        A client raised: "skip" loses and counts its update, "fail" ends the run.
    on_bad_update
        An update is not finite, or would make the model so: "reject" drops and counts it, "fail"
        ends the run.
    """

    on_client_error: Literal["skip", "fail"] = "skip"
    on_bad_update: Literal["reject", "fail"] = "reject"
