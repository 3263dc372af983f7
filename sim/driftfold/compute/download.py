"""What the server sent: one tree, held by all who got it."""

from typing import Any


class Download:
    """A download in one place.

    While a run is replayed there are no tensors to send: clients get an empty download, which is
    filled when replay is done. `number` counts the downloads of a run, so that the replayed ones
    are known again.
    """

    __slots__ = ("__weakref__", "number", "tree")

    def __init__(self, number: int, tree: Any) -> None:
        self.number = number
        self.tree = tree
