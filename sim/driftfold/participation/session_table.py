"""Tables of recorded sessions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.errors import DataError

DAY = 86400.0


@final
@dataclass(frozen=True, eq=False)
class SessionTable:
    """Sessions [start, end) of users, in seconds from the start of the record.

    Attributes
    ----------
    users
        What the record calls them.
    first
        Sessions of user i are those from first[i] to before first[i + 1], shape (users + 1,).
    starts, ends
        Sessions, ascending and apart from each other within a user, shape (sessions,) each.
    periods
        After how many seconds each user's record begins anew, shape (users,).
    """

    users: tuple[str, ...]
    first: Ints
    starts: Floats
    ends: Floats
    periods: Floats

    def scaled(self, factor: float) -> "SessionTable":
        """Return the table with all times multiplied by `factor`."""
        return SessionTable(
            self.users, self.first, self.starts * factor, self.ends * factor, self.periods * factor
        )

    def write(self, path: Path) -> None:
        """Write the table as .csv with the columns client, start, end and period.

        A user without sessions has one of length zero.
        """
        with path.open("w", encoding="utf-8") as file:
            file.write("client,start,end,period\n")
            for i, user in enumerate(self.users):
                own = slice(int(self.first[i]), int(self.first[i + 1]))
                sessions = zip(self.starts[own].tolist(), self.ends[own].tolist(), strict=True)
                for start, end in list(sessions) or [(0.0, 0.0)]:
                    file.write(f"{user},{start!r},{end!r},{float(self.periods[i])!r}\n")


def table_of(
    sessions: Iterable[tuple[str, Sequence[tuple[float, float]], float | None]], where: object
) -> SessionTable:
    """Return the table of users with their sessions in any order, and the period of each or None.

    Sessions of length zero are none; those that overlap or touch are one. Without a period a
    record begins anew after the whole days that hold all sessions of all users. Raises `DataError`,
    naming `where`, for times that are not finite, negative, descending or beyond the period.

    >>> table = table_of([("a", [(5.0, 9.0), (1.0, 5.0), (20.0, 20.0)], None)], "here")
    >>> table.starts.tolist(), table.ends.tolist(), table.periods.tolist()
    ([1.0], [9.0], [86400.0])
    """
    users: list[str] = []
    first: list[int] = [0]
    starts: list[float] = []
    ends: list[float] = []
    periods: list[float | None] = []
    for user, own, period in sessions:
        _check(user, own, period, where)
        for start, end in sorted(own):
            if start == end:
                continue
            if len(starts) > first[-1] and start <= ends[-1]:
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        users.append(user)
        first.append(len(starts))
        periods.append(period)
    if not users:
        raise DataError(f"{where} has no sessions; name a file that has some")
    whole = DAY * max(1.0, float(np.ceil(max(ends, default=0.0) / DAY)))
    return SessionTable(
        tuple(users),
        np.array(first, dtype=np.int64),
        np.array(starts, dtype=np.float64),
        np.array(ends, dtype=np.float64),
        np.array([whole if p is None else p for p in periods], dtype=np.float64),
    )


def _check(
    user: str, sessions: Sequence[tuple[float, float]], period: float | None, where: object
) -> None:
    limit = np.inf if period is None else period
    for start, end in sessions:
        if not 0 <= start <= end < np.inf or not end <= limit:
            raise DataError(
                f"{where}: user {user!r} has a session from {start} to {end} s"
                + ("" if period is None else f" in a period of {period} s")
                + "; wanted 0 <= start <= end, at most the period"
            )
