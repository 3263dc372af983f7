"""The names of a run's own events: who, at which stage of which visit.

An event's key is one 63-bit number, so that the kernel can file it without looking: 28 bits for
the client, 30 for the dispatch, 3 for the phase, 2 for the stage. It holds no task name and no
address, so that two runs of one specification name their events alike.
"""

from typing import Final, TypeVar

from driftfold.arrays import Ints
from driftfold.errors import RunError

N = TypeVar("N", int, Ints)

CLIENTS: Final = 2**28 - 1
DISPATCHES: Final = 2**30
PHASES: Final = 2**3
SERVER: Final = CLIENTS
"""The server's place among the client numbers."""


# Where a client is in its visit. Plain numbers: adding an enum's member costs more than the sleep.
DOWNLOADED: Final = 0
WORKED: Final = 1
SENT: Final = 2
LEFT: Final = 3

# What the server does by itself.
WAITED: Final = 0
CLOSED: Final = 1
EMPTY: Final = 2


def visit_key(client: N, dispatch: int, phase: int) -> N:
    """Key of stage 0 of a visit, or the keys of many clients' visits; add the stage.

    Keys of one phase are in the order of their clients, and a client's in that of its dispatches.

    >>> visit_key(1, 0, 0) + SENT == (1 << 35) + 2
    True
    """
    return client << 35 | dispatch << 5 | phase << 2


def server_key(dispatch: int, phase: int, event: int) -> int:
    """Key of an event of the server."""
    return visit_key(SERVER, dispatch, phase) + event


def check_room(clients: int, dispatch: int, phases: int) -> None:
    """Raise `RunError` when the numbers do not fit into a key."""
    for what, got, room in (
        ("clients", clients, CLIENTS),
        ("dispatches", dispatch, DISPATCHES),
        ("phases", phases, PHASES),
    ):
        if got > room:
            raise RunError(f"{got} {what} in one run; event keys have room for {room}")
