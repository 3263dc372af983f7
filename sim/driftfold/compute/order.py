"""What the clients of one dispatch were asked to do."""

from typing import NamedTuple

from driftfold.compute.download import Download


class Order(NamedTuple):
    """What all clients of one dispatch were asked to do in one phase, and when (virtual time).

    `asked` is when the dispatch was made: all its phases see the data of that moment. `sent` is
    when this phase began. Where several cohorts are at work side by side, `group` says which this
    is. One order is shared by all its clients: there are many of them, and what is the same for
    all is looked at once.
    """

    phase: int
    dispatch: int
    version: int
    payload: Download
    asked: float
    sent: float
    group: int = 0
