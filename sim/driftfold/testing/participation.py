"""Conformance of a participation kind."""

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, KnownProbability, Participation
from driftfold.testing.expect import expect


def check_participation(model: Participation, fleet: Fleet, span: float = 3 * 86400.0) -> None:
    """Raise `AssertionError` unless `model` keeps the contract of `Attendance` on `fleet`.

    Checked: shapes and types; answers are the same in any order, in any company, again, and from a
    second attendance of the same fleet; sessions agree with `available` at times up to `span`
    seconds; and response frequencies agree with `probability` where it is known.

    >>> from driftfold.participation import Diurnal
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(8, 5), importance=np.full(8, 0.125))
    >>> check_participation(Diurnal(), fleet)
    """
    attendance = model.attend(fleet)
    rng = np.random.default_rng(0)
    times = [0.0, *rng.uniform(0.0, span, 30).tolist()]
    everyone = np.arange(fleet.size)
    _check_shapes(attendance, everyone)
    _check_purity(attendance, model.attend(fleet), everyone, times, rng)
    for t in times:
        _check_sessions(attendance, everyone, t, span, rng)
    if isinstance(attendance, KnownProbability):
        _check_probability(attendance, attendance.probability(everyone), everyone)


def _check_shapes(attendance: Attendance, everyone: Ints) -> None:
    for clients in (everyone, everyone[:1], everyone[:0], everyone[[0, 0]]):
        shape = clients.shape
        for name, flags in (
            ("available", attendance.available(clients, 0.0)),
            ("responds", attendance.responds(clients, 0)),
        ):
            expect(
                flags.shape == shape and flags.dtype == bool,
                f"{name} of {len(clients)} clients returned {flags.dtype} {flags.shape}; "
                f"wanted bool {shape}",
            )
        for name, moments in (
            ("session_end", attendance.session_end(clients, 0.0)),
            ("next_on", attendance.next_on(clients, 0.0)),
        ):
            expect(
                moments.shape == shape and moments.dtype == np.float64,
                f"{name} of {len(clients)} clients returned {moments.dtype} {moments.shape}; "
                f"wanted float64 {shape}",
            )


def _check_purity(
    first: Attendance,
    second: Attendance,
    everyone: Ints,
    times: list[float],
    rng: np.random.Generator,
) -> None:
    said = [_everything(first, everyone, t, d) for d, t in enumerate(times)]
    for d in rng.permutation(len(times)):
        some = rng.permutation(everyone)[: 1 + int(d) % len(everyone)]
        for other in (first, second):
            again = _everything(other, some, times[d], int(d))
            for name, values in again.items():
                expect(
                    np.array_equal(values, said[d][name][some]),
                    f"{name} of clients {some.tolist()} at time {times[d]!r}, dispatch {d} changed "
                    "with the order or company of the queries; draw from fleet.seed by client and "
                    "time or dispatch only",
                )


def _everything(
    attendance: Attendance, clients: Ints, t: float, dispatch: int
) -> dict[str, Bools | Floats]:
    return {
        "available": attendance.available(clients, t),
        "session_end": attendance.session_end(clients, t),
        "next_on": attendance.next_on(clients, t),
        "responds": attendance.responds(clients, dispatch),
    }


def _check_sessions(
    attendance: Attendance, everyone: Ints, t: float, span: float, rng: np.random.Generator
) -> None:
    on = attendance.available(everyone, t)
    ends = attendance.session_end(everyone, t)
    starts = attendance.next_on(everyone, t)
    expect(
        np.all(ends[~on] == t), f"session_end at {t!r} is not that time for clients that are off"
    )
    expect(np.all(starts[on] == t), f"next_on at {t!r} is not that time for clients that are on")
    for i in everyone:
        one = np.array([i])
        change = float(ends[i] if on[i] else starts[i])
        expect(change > t, f"client {i}: the change after {t!r} is at {change!r}, not later")
        until = min(change, t + span)
        inside = [np.nextafter(until, t), *rng.uniform(t, until, 5)]
        expect(
            all(bool(attendance.available(one, float(s))[0]) == bool(on[i]) for s in inside),
            f"client {i} changes between {t!r} and {change!r}, where session_end and next_on say "
            "it does not",
        )
        expect(
            np.isinf(change) or bool(attendance.available(one, change)[0]) != bool(on[i]),
            f"client {i} does not change at {change!r}, where session_end or next_on say it does",
        )


def _check_probability(
    attendance: Attendance, p: Floats, everyone: Ints, dispatches: int = 2000
) -> None:
    expect(
        p.shape == everyone.shape and bool(((p >= 0) & (p <= 1)).all()),
        f"probability returned shape {p.shape}, values {p.min()} to {p.max()}; wanted "
        f"{everyone.shape}, between 0 and 1",
    )
    # Far apart, since answers may have a memory; a prime step meets all phases of a cycle alike.
    asked = range(0, 997 * dispatches, 997)
    answers = np.array([attendance.responds(everyone, d) for d in asked])
    share: Floats = answers.mean(axis=0)
    # Six standard errors, and two answers for p near 0: about one failure in 10^9 correct clients.
    slack = 6 * np.sqrt(p * (1 - p) / dispatches) + np.where((p > 0) & (p < 1), 2 / dispatches, 0)
    worst = int((np.abs(share - p) - slack).argmax())
    expect(
        abs(share[worst] - p[worst]) <= slack[worst] + 1e-12,
        f"client {worst} answered a share {share[worst]} of {dispatches} dispatches, but its "
        f"probability is {p[worst]}",
    )
