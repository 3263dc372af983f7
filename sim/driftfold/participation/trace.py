"""Recorded sessions, replayed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, final

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Bools, Floats, Ints
from driftfold.errors import DataError
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.session_files import read_sessions
from driftfold.participation.session_table import SessionTable
from driftfold.registry import register
from driftfold.rng import Stream


@register("trace")
@dataclass(frozen=True)
class Trace(Participation):
    r"""Each client is on when one user of a recorded trace was, and answers every dispatch.

    The file is .csv or .parquet with the columns ``client``, ``start``, ``end`` (seconds from the
    start of the record) and, if wanted, ``period``; or .json of FedScale's client_behave_trace or
    FLASH's state_traces. Sessions are half-open; those of length zero are none, and those that
    touch are one.

    Attributes
    ----------
    path
        The file.
    assignment
        Whose sessions a client has: `shuffled` deals users out in an order that the seed fixes, all
        of them before any comes again (records are often sorted by how much users are on);
        `by_client` takes the user whose name is the client's number, 0, 1, ...
    repeat
        Whether a record begins anew after its period (`period` of the file, FedScale's
        finish_time, else the whole days that hold all sessions); else clients stay off after it.
    scale
        Factor of all times, of the period too.

    Notes
    -----
    FedScale publishes its trace as a pickle, which may run any code, so it is not read. To convert
    it once: ``json.dump(driftfold.data.plain_pickle.load_plain(content, path), file)``.

    Examples
    --------
    >>> import tempfile
    >>> from driftfold.rng import Seed
    >>> path = Path(tempfile.mkdtemp()) / "sessions.csv"
    >>> path.write_text("client,start,end\n0,0,50\n1,20,30\n0,90,95\n")
    40
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> attendance = Trace(str(path), assignment="by_client").attend(fleet)
    >>> attendance.session_end(np.array([0, 1]), 25.0), attendance.next_on(np.array([0, 1]), 60.0)
    (array([50., 30.]), array([   90., 86420.]))
    """

    path: str
    assignment: Literal["shuffled", "by_client"] = "shuffled"
    repeat: bool = True
    scale: Annotated[float, Gt(0)] = 1.0

    def attend(self, fleet: Fleet) -> Attendance:
        """Return the attendance; reads the file, and raises `DataError` when it cannot."""
        table = read_sessions(Path(self.path))
        if self.assignment == "by_client":
            user = _by_number(table, fleet.size, self.path)
        else:
            users, draws = len(table.users), fleet.seed.stream("participation.trace")
            user = _dealt(draws, users, fleet.size)
        return Replay(table.scaled(self.scale), user, self.repeat)


@final
@dataclass(frozen=True, eq=False)
class Replay(Attendance):
    """Sessions of a table, found by bisection.

    Attributes
    ----------
    table
        The sessions.
    user
        The user whose sessions each client has, shape (N,).
    repeat
        Whether they begin anew after the user's period.
    """

    table: SessionTable
    user: Ints
    repeat: bool

    def available(self, clients: Ints, t: float) -> Bools:
        """Whether each client is in a session, shape (k,)."""
        user = self.user[clients]
        return self._place(user, t)[2]

    def session_end(self, clients: Ints, t: float) -> Floats:
        """When the session ends; t if the client is off at t."""
        table, user = self.table, self.user[clients]
        latest, cycle, on = self._place(user, t)
        result = np.full(len(clients), float(t))
        who, last = user[on], latest[on]
        ends = self._at(who, cycle[on], table.ends[last])
        if self.repeat:
            # A session until the period's end goes on if the next period begins with one.
            first = table.first[who]
            goes_on = (table.ends[last] == table.periods[who]) & (table.starts[first] == 0)
            whole = goes_on & (table.ends[first] == table.periods[who])
            again = self._at(who, cycle[on] + 1, table.ends[first])
            ends = np.where(whole, np.inf, np.where(goes_on, again, ends))
        result[on] = ends
        return result

    def next_on(self, clients: Ints, t: float) -> Floats:
        """Return t if the client is on, else the start of its next session, or infinity."""
        table, user = self.table, self.user[clients]
        latest, cycle, on = self._place(user, t)
        result = np.where(on, float(t), np.inf)
        here = ~on & (latest + 1 < table.first[user + 1])
        result[here] = self._at(user[here], cycle[here], table.starts[latest[here] + 1])
        if self.repeat:
            later = ~on & ~here & (table.first[user] < table.first[user + 1])
            first = table.starts[table.first[user[later]]]
            result[later] = self._at(user[later], cycle[later] + 1, first)
        return result

    def _place(self, user: Ints, t: float) -> tuple[Ints, Ints, Bools]:
        """Latest session that has begun by t, its period's number, and whether it holds t."""
        table, cycle = self.table, self._cycle(user, t)
        low, high = table.first[user], table.first[user + 1]
        searching = np.flatnonzero(low < high)
        while searching.size:
            middle = (low[searching] + high[searching]) // 2
            begun = self._at(user[searching], cycle[searching], table.starts[middle]) <= t
            low[searching] = np.where(begun, middle + 1, low[searching])
            high[searching] = np.where(begun, high[searching], middle)
            searching = searching[low[searching] < high[searching]]
        latest = low - 1
        on = latest >= table.first[user]
        on[on] = t < self._at(user[on], cycle[on], table.ends[latest[on]])
        return latest, cycle, on

    def _cycle(self, user: Ints, t: float) -> Ints:
        """Return the period that holds t, by the very products that periods start at."""
        if not self.repeat:
            return np.zeros(len(user), dtype=np.int64)
        period = self.table.periods[user]
        number = np.floor(t / period)
        number = np.where((number + 1) * period <= t, number + 1, number)
        return np.where(number * period > t, number - 1, number).astype(np.int64)

    def _at(self, user: Ints, cycle: Ints, times: Floats) -> Floats:
        """When, in each user's period of that number, its record's time is."""
        if not self.repeat:
            return times
        period = self.table.periods[user]
        # The last instant of a period is the first of the next, however sums are rounded.
        limit = (cycle + 1) * period
        return np.where(times == period, limit, np.minimum(cycle * period + times, limit))


def _by_number(table: SessionTable, size: int, where: str) -> Ints:
    """Return the user whose name is each client's number, shape (size,)."""
    number = {name: i for i, name in enumerate(table.users)}
    missing = next((i for i in range(size) if str(i) not in number), None)
    if missing is not None:
        raise DataError(
            f"{where} has no user {missing}, but the fleet has {size} clients; number users from "
            "0, or use assignment = 'shuffled'"
        )
    return np.array([number[str(i)] for i in range(size)], dtype=np.int64)


def _dealt(draws: Stream, users: int, size: int) -> Ints:
    """Return a user for each client, shape (size,); a client's does not depend on `size`."""
    deals = np.arange(-(-size // users))
    return draws.subsets(0, deals, users, users).reshape(-1)[:size]
