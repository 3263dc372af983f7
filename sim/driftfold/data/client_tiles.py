"""Clients a few at a time, so that what lies between drawing and storing stays small."""

from collections.abc import Iterator

NUMBERS = 2**15
"""Numbers of one tile: 256 kB of them, so that a tile and its temporaries stay in a cache."""


def client_tiles(clients: int, numbers: int) -> Iterator[slice]:
    """Cut `clients` clients with `numbers` numbers each into runs of at most `NUMBERS` numbers.

    Streams are addressed by client, so what is drawn does not depend on how clients are cut.

    >>> [(some.start, some.stop) for some in client_tiles(5, NUMBERS // 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    each = max(1, NUMBERS // max(1, numbers))
    for start in range(0, clients, each):
        yield slice(start, min(start + each, clients))
