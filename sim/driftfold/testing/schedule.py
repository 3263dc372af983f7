"""Conformance of a schedule of drift."""

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.drift.schedule import Path, Schedule
from driftfold.drift.timeline import Timeline
from driftfold.rng import Seed
from driftfold.testing.expect import expect

_ROUNDING = 1e-12


def check_schedule(schedule: Schedule, timeline: Timeline | None = None) -> None:
    """Raise `AssertionError` unless `schedule` keeps the contract of `Path` on `timeline`.

    Checked: shapes and types; w lies in [0, 1], also between steps, before the first and after the
    last; answers are the same in any order, in any company, again, and from a second path; and
    `changes` are where w jumps, or begins to move another way. By default the stream has 7 clients
    of 3 groups and 60 steps of an hour.

    >>> from driftfold.drift.schedules import Square
    >>> check_schedule(Square())
    """
    if timeline is None:
        groups = np.arange(7) % 3
        timeline = Timeline(7, steps=60, seconds=3600.0, seed=Seed(3), groups=groups)
    path = schedule.path(timeline)
    expect(path.steps == timeline.steps, f"path has {path.steps} steps of {timeline.steps}")
    who, when = np.divmod(np.arange(timeline.clients * path.steps), path.steps)
    w = path.weight(who, when)
    _check_values(path, who, when, w)
    _check_purity(path, schedule.path(timeline), who, when, w)
    changed = path.changed(who, when).reshape(timeline.clients, path.steps)
    for client, course in enumerate(w.reshape(timeline.clients, path.steps)):
        _check_changes(path, client, course)
        expect(
            np.array_equal(np.flatnonzero(changed[client]), path.changes(client)),
            f"changes of client {client} are {path.changes(client)}, but changed is true at "
            f"{np.flatnonzero(changed[client])}",
        )


def _check_values(path: Path, who: Ints, when: Ints, w: Floats) -> None:
    between = path.weight(who, np.asarray(when * 1.5 - 7.25, np.float64))
    for values, shape in (
        (w, who.shape),
        (between, who.shape),
        (path.weight(who[:0], when[:0]), (0,)),
    ):
        expect(
            values.shape == shape and values.dtype == np.float64,
            f"weight of {shape[0]} clients returned {values.dtype} {values.shape}; wanted float64 "
            f"{shape}",
        )
        bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
        expect(
            not bad.size,
            f"weight returned {values[bad[:1]]}; w lies between 0 and 1 at any step, also before "
            "the first, after the last and between two",
        )


def _check_purity(path: Path, second: Path, who: Ints, when: Ints, w: Floats) -> None:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(who))
    pieces = np.split(order, np.cumsum([1, 1, 2, 3, 7, 37, 64]))
    for asked in (path, second):
        for some in pieces:
            expect(
                np.array_equal(asked.weight(who[some], when[some]), w[some]),
                f"weight of clients {who[some][:5]} at steps {when[some][:5]} changed with the "
                "order or company of the queries; draw from timeline.stream by client and step",
            )


def _check_changes(path: Path, client: int, w: Floats) -> None:
    changes = path.changes(client)
    moved = np.diff(w)
    expect(
        changes.dtype == np.int64
        and np.all(np.diff(changes) > 0)
        and np.all((changes >= 1) & (changes < len(w))),
        f"changes of client {client} are {changes}; wanted int64, ascending, from 1 to "
        f"{len(w) - 1}",
    )
    if path.abrupt:
        jumps = np.flatnonzero(moved) + 1
        expect(
            np.array_equal(changes, jumps),
            f"changes of client {client} are {changes}, but w jumps at {jumps}",
        )
        return
    way = np.where(np.abs(moved) > _ROUNDING, np.sign(moved), 0.0)
    for run in np.split(way, changes - 1):
        expect(
            not (run > 0).any() or not (run < 0).any(),
            f"client {client}: w turns between two of the changes {changes}",
        )
    first = np.flatnonzero(way)
    expect(
        not first.size or (changes.size and changes[0] == first[0] + 1),
        f"client {client}: w begins to move at step {first[:1] + 1}, but changes are {changes}",
    )
