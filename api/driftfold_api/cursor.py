"""Cursors: a short text that says how far somebody has come in the logs of many jobs."""

import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

ALL = "*"  # begins the entry of whoever follows jobs that begin


@dataclass(frozen=True)
class Place:
    """Numbers of the last record and the last lifecycle event that were told of a job."""

    after: int = 0
    lifecycle_after: int = 0
    over: bool = False


@dataclass(frozen=True)
class Cursor:
    """Places in logs, and up to which turn jobs that begin were seen (None: not looked for).

    >>> job = "01900000-0000-7000-8000-000000000000"
    >>> Cursor({job: Place(7, 2)}, 5).text
    '*.5,AZAAAAAAcACAAAAAAAAAAA.7.2'
    >>> Cursor.read(Cursor({job: Place(over=True)}).text).places[job].over
    True
    """

    places: Mapping[str, Place] = field(default_factory=dict)
    turn: int | None = None

    @property
    def text(self) -> str:
        """What is sent."""
        return join([entry(job, place) for job, place in self.places.items()], self.turn)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the cursor in a text; `ValueError` if there is none."""
        places: dict[str, Place] = {}
        turn = None
        for part in text.split(","):
            name, *numbers = part.split(".")
            if any(not (number.isascii() and number.isdecimal()) for number in numbers):
                raise ValueError(f"{part!r} is no part of a cursor")
            match name, [int(number) for number in numbers]:
                case "*", [seen]:
                    turn = seen
                case _, []:
                    places[_long(name)] = Place(over=True)
                case _, [after, lifecycle]:
                    places[_long(name)] = Place(after, lifecycle)
                case _:
                    raise ValueError(f"{part!r} is no part of a cursor")
        return cls(places, turn)


def entry(job: str, place: Place) -> str:
    """Return the part of a cursor about one job."""
    return short(job) if place.over else f"{short(job)}.{place.after}.{place.lifecycle_after}"


def join(entries: Iterable[str], turn: int | None) -> str:
    """Return a cursor of its parts."""
    first = () if turn is None else (f"{ALL}.{turn}",)
    return ",".join((*first, *entries))


@lru_cache(2**14)
def short(job: str) -> str:
    """Return the id of a job in 22 letters."""
    return urlsafe_b64encode(uuid.UUID(job).bytes).rstrip(b"=").decode("ascii")


def _long(name: str) -> str:
    if len(name) != 22:
        raise ValueError(f"{name!r} names no job")
    return str(uuid.UUID(bytes=urlsafe_b64decode(name + "==")))
