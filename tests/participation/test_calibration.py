"""Session lengths and gaps of a replayed trace, and of the generator, against the trace itself.

The trace is made here, in FedScale's form, by a program of its own: phones that are charged at
night, and now and then by day.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from driftfold.arrays import Floats
from driftfold.participation import Attendance, Sessions, Trace
from driftfold.participation.blocks import InBlocks
from driftfold.participation.next_session import next_session
from tests.participation.fleets import fleet_of
from tests.participation.intervals import from_blocks

HOUR, DAY = 3600.0, 86400.0
LIKE = 0.05
"""Largest Kolmogorov-Smirnov distance of two laws that count as alike."""


def one_day(rng: np.random.Generator, gap: float) -> list[tuple[float, float]]:
    """Sessions of a day that begins 8 hours before the usual night, joined where they meet."""
    sessions = []
    if rng.random() < 0.85:
        start = max(8 * HOUR + HOUR * rng.standard_normal(), 0.0)
        sessions.append((start, start + 8 * HOUR * rng.lognormal(0, 0.35)))
    t = 0.0
    while t < DAY:
        start = t + gap * rng.lognormal(0, 1.0)
        t = start + 20 * 60 * rng.lognormal(0, 1.0)
        sessions.append((start, t))
    joined: list[tuple[float, float]] = []
    for start, end in sorted((s, min(e, DAY)) for s, e in sessions if s < DAY):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def written(path: Path, users: int, days: int) -> None:
    rng = np.random.default_rng(7)
    record = {}
    for user in range(users):
        begin = (22.5 + 1.5 * rng.standard_normal()) * HOUR - 8 * HOUR
        gap = 150 * 60 * rng.lognormal(0, 0.5)
        life = [
            (begin % DAY + (day - 1) * DAY + start, begin % DAY + (day - 1) * DAY + end)
            for day in range(days + 1)
            for start, end in one_day(rng, gap)
        ]
        kept = [(max(s, 0.0), min(e, days * DAY)) for s, e in life if e > 0 and s < days * DAY]
        record[str(user)] = {
            "duration": sum(e - s for s, e in kept),
            "active": [s for s, _ in kept],
            "inactive": [e for _, e in kept],
            "finish_time": days * DAY,
            "model": "made up",
        }
    path.write_text(json.dumps(record))


def of_the_file(path: Path) -> tuple[Floats, Floats]:
    """Lengths of the sessions, and of the gaps between two of one user."""
    lengths: list[float] = []
    gaps: list[float] = []
    for user in json.loads(path.read_text()).values():
        starts, ends = np.array(user["active"]), np.array(user["inactive"])
        lengths += (ends - starts).tolist()
        gaps += (starts[1:] - ends[:-1]).tolist()
    return np.array(lengths), np.array(gaps)


def walked(attendance: Attendance, clients: int, until: float) -> tuple[Floats, Floats]:
    """The same by asking each client for one session after the other, as a server would."""
    lengths: list[float] = []
    gaps: list[float] = []
    for client in range(clients):
        begins, ends = next_session(attendance, client, 0.0)
        while ends < until:
            lengths.append(ends - begins)
            before = ends
            begins, ends = next_session(attendance, client, ends)
            gaps.append(begins - before)
    return np.array(lengths), np.array(gaps)


def distance(one: Floats, other: Floats) -> float:
    return float(stats.ks_2samp(one, other).statistic)


@pytest.mark.parametrize(
    ("users", "days"), [(30, 5), pytest.param(400, 14, marks=pytest.mark.slow)]
)
def test_a_replayed_trace_has_the_sessions_and_gaps_of_its_file(
    users: int, days: int, tmp_path: Path
) -> None:
    """Shuffled, and over two of its periods: sessions over their border are the only new ones."""
    path = tmp_path / "trace.json"
    written(path, users, days)
    replay = Trace(str(path)).attend(fleet_of(users))
    found = walked(replay, users, 2 * days * DAY)
    assert len(found[0]) > 2 * 0.9 * len(of_the_file(path)[0])
    for told, recorded in zip(found, of_the_file(path), strict=True):
        assert distance(told, recorded) < LIKE


@pytest.mark.slow
def test_a_sample_of_a_trace_is_like_it(tmp_path: Path) -> None:
    """A fleet half as large, with time stretched and brought back."""
    path = tmp_path / "trace.json"
    written(path, 1000, 7)
    half = walked(Trace(str(path), scale=3.0).attend(fleet_of(500)), 500, 3 * 7 * DAY)
    for told, recorded in zip(half, of_the_file(path), strict=True):
        assert distance(told / 3.0, recorded) < LIKE


def fitted(path: Path) -> Sessions:
    """Two lognormal laws of sessions, by expectation and maximisation, and one of gaps by day."""
    lengths, _ = of_the_file(path)
    users = json.loads(path.read_text()).values()
    days = sum(user["finish_time"] for user in users) / DAY
    z = np.log(lengths)
    share, means, sds = np.array([0.5, 0.5]), np.log([1200.0, 8 * HOUR]), np.array([1.0, 1.0])
    for _ in range(200):
        density = share * np.exp(-((z[:, None] - means) ** 2) / (2 * sds**2)) / sds
        each = density / density.sum(axis=1, keepdims=True)
        share, total = each.mean(axis=0), each.sum(axis=0)
        means = (each * z[:, None]).sum(axis=0) / total
        sds = np.sqrt((each * (z[:, None] - means) ** 2).sum(axis=0) / total)
    return Sessions(
        nights=float(share[1] * len(z) / days),
        night=float(np.exp(means[1])) / HOUR,
        night_spread=float(sds[1]),
        session=float(np.exp(means[0])) / 60,
        session_spread=float(sds[0]),
    )


@pytest.mark.slow
@pytest.mark.parametrize("fit", [False, True], ids=["true parameters", "fitted"])
def test_the_generator_has_the_sessions_and_gaps_of_the_trace(fit: bool, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    written(path, 1000, 14)
    model = fitted(path) if fit else Sessions()
    attendance = model.attend(fleet_of(1000))
    assert isinstance(attendance, InBlocks)
    lengths: list[float] = []
    gaps: list[float] = []
    for life in from_blocks(attendance, 1000, 14 * DAY):
        between = np.diff(life.times)
        lengths += between[int(life.on) :: 2].tolist()
        gaps += between[int(not life.on) :: 2].tolist()
    for made, recorded in zip((lengths, gaps), of_the_file(path), strict=True):
        assert distance(np.array(made), recorded) < LIKE
