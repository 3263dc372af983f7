"""Fleets of 10 to 5,000 clients, each with as many inputs a step as ever."""

from driftfold.studies.base import Arm
from driftfold.studies.fedade.contests import by_bounds
from driftfold.studies.fedade.measuring import measured
from driftfold.studies.fedade.questions import LIN, PRESET, frozen
from driftfold.studies.fedade.settings import DIGITS
from driftfold.studies.fedade.systems import arm, signalled

COUNTS = (10, 100, 1000, 5000)
"""Numbers of clients."""

CROWD_END = 40
"""Steps of their streams."""


def _crowd(clients: int) -> tuple[Arm, ...]:
    own = (
        LIN,
        f"task.clients={clients}",
        f"task.steps={CROWD_END}",
        f"horizon.rounds={CROWD_END}",
    )
    ade = by_bounds(DIGITS, "entropy", signalled(""))
    says = f"{clients:,}: "
    return (
        frozen(f"{clients}-frozen", own, f"{says}frozen"),
        arm(f"{clients}-ade", "entropy", PRESET, own, f"{says}Fed-ADE, entropy", by=ade),
    )


CLIENTS = measured(
    "clients",
    f"Digits, Lin: {COUNTS[0]} to {COUNTS[-1]:,} clients",
    f"{CROWD_END} steps of 50 inputs a client",
    tuple(made for clients in COUNTS for made in _crowd(clients)),
    seeds=(1, 2, 3),
    at=(CROWD_END,),
)
