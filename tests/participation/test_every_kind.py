"""Every answer of every kind, in any order, equals that of lists made step by step.

A million random queries of each model over four of its periods where marked slow, a few thousand by
default. Half of the times lie at changes, or a rounding error before or after them.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftfold.fleet import Fleet
from driftfold.participation import (
    Adversarial,
    Always,
    Bernoulli,
    Cyclic,
    Diurnal,
    DiurnalSessions,
    Dropout,
    InterleavedSine,
    Jump,
    LabelBernoulli,
    LabelCycle,
    LabelSetBernoulli,
    LognormalSine,
    Markov,
    MarkovSessions,
    Outage,
    Participation,
    Sessions,
    Sine,
    SizeBernoulli,
    Staircase,
    Trace,
    Uniform,
)
from driftfold.registry import kind_of, kinds
from tests.participation.fleets import fleet_of
from tests.participation.intervals import compare, moments
from tests.participation.oracles import answers, compare_answers, lives
from tests.participation.test_trace import written

DAY = 86400.0
THIRD = 1000 / 3
# Each with the length of one of its periods in seconds.
IN_TIME: list[tuple[Participation, float]] = [
    (Adversarial("all_off", start=10.0, end=30.0), 10.0),
    (Adversarial("flapping", every=0.1), 0.2),
    (Always(), 1.0),
    (LabelCycle(slot=0.1), 2.4),
    (Cyclic(period=21, slot=0.1), 2.1),
    (Diurnal(), DAY),
    (Diurnal(duty=0.05, amplitude=2.0, slot=700.0), DAY),
    (DiurnalSessions(), DAY),
    (DiurnalSessions(duty=0.4, session=14400.0, zones=(-5.0, -8.0)), DAY),
    (Dropout(Always(), first=10.0, last=90.0, unit="seconds"), 25.0),
    (Dropout(MarkovSessions(session=7.0), last=80.0, unit="seconds"), 25.0),
    (Dropout(Sine(slot=0.1), first=5.0, last=50.0), 2.0),
    (InterleavedSine(slot=THIRD), 20 * THIRD),
    (Jump(at=40, slot=7.0), 140.0),
    (LognormalSine(amplitude=0.4, level=0.5, slot=THIRD), 24 * THIRD),
    (Markov(slot=0.1), 3.0),
    (Markov(p=0.5, rate=0.9, slot=3600.0), 15 * 3600.0),
    (Markov(memory=0.7, regions=3, shock=0.6, slot=THIRD), 20 * THIRD),
    (MarkovSessions(), 4 * 3600.0),
    (MarkovSessions(p=0.1, session=0.3, spread=0.0), 3.0),
    (MarkovSessions(p=2e-4, session=7.0), 8750.0),
    (MarkovSessions(p=1 - 2e-4, session=700.0), 175.0),
    (DiurnalSessions(duty=2e-4, ratio=2.0, session=60.0), DAY),
    (Outage(Always(), every=20.0, duration=7.0), 20.0),
    (Outage(MarkovSessions(session=7.0), share=0.8, every=1 / 3, duration=0.3, regions=4), 1.0),
    (Outage(Dropout(Always(), last=80.0, unit="seconds"), every=20.0, duration=19.0), 20.0),
    (Sessions(), DAY),
    (Sessions(gap=6.0, session=9.0, nights=0.5), DAY),
    (Sine(slot=0.1), 2.0),
    (Staircase(slot=60.0), 1200.0),
    (Trace("sessions.csv"), 100.0),
    (Trace("sessions.csv", repeat=False, scale=0.7), 25.0),
    (Trace("sessions.csv", scale=1 / 3), 100 / 3),
    (Trace("fedscale.json"), 2 * DAY),
    (Trace("flash.json", scale=0.1), 0.2 * DAY),
]
# Each with the number of dispatches in one of its periods.
BY_DISPATCH: list[tuple[Participation, int]] = [
    (Adversarial("silent", client=3), 1),
    (Bernoulli(), 1),
    (Bernoulli(p=0.3), 1),
    (LabelSetBernoulli(), 1),
    (LabelSetBernoulli(by="count"), 1),
    (LabelCycle(), 24),
    (Cyclic(period=9), 9),
    (Diurnal(slot="dispatch"), 24),
    (Dropout(Bernoulli(), first=5.0, last=400.0), 100),
    (InterleavedSine(), 20),
    (Jump(at=10), 20),
    (LabelBernoulli(), 1),
    (LognormalSine(amplitude=0.4, level=0.5), 24),
    (Markov(), 40),
    (Markov(memory=0.2, regions=2, shock=0.5), 10),
    (Outage(Dropout(Uniform(rho=0.5), last=100.0)), 25),
    (Sine(), 20),
    (SizeBernoulli(power=-1.0), 1),
    (Staircase(), 20),
    (Uniform(rho=0.3), 1),
    (Uniform(size=11), 1),
]
# One model of each kind, and the traces.
QUICK = {kind_of(model): (model, period) for model, period in reversed(IN_TIME)}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces of users whose records differ in length."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "sessions.csv")
    rng = np.random.default_rng(0)
    behaviour = {}
    for user in range(12):
        days = int(rng.integers(2, 6))
        edges = np.sort(rng.uniform(0, days * DAY, 2 * int(rng.integers(0, 30)))).round(3)
        starts, ends = edges[::2].tolist(), edges[1::2].tolist()
        behaviour[str(user)] = {"active": starts, "inactive": ends, "finish_time": days * DAY}
    (tmp_path / "fedscale.json").write_text(json.dumps(behaviour))
    names = ["battery_charged_on", "battery_charged_off", "wifi", "4g", "screen_lock"]
    names += ["screen_unlock", "80.0%"]
    states = {}
    for user in range(7):
        seconds = np.sort(rng.integers(0, 2 * 86400, 300))
        lines = [
            f"2020-02-{1 + s // 86400:02d} {s // 3600 % 24:02d}:{s // 60 % 60:02d}:{s % 60:02d}\t"
            + names[int(rng.integers(len(names)))]
            for s in seconds.tolist()
        ]
        states[f"u{user}"] = {"messages": "\n".join(lines)}
    (tmp_path / "flash.json").write_text(json.dumps(states))


def labelled(clients: int) -> Fleet:
    """Clients of different sizes, most without some of the classes."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), clients)
    shares[shares < 0.2] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)
    fleet = fleet_of(clients, label_shares=shares)
    return replace(fleet, samples=rng.integers(5, 50, clients))


def check_in_time(model: Participation, period: float, clients: int, times: int) -> None:
    attendance = model.attend(labelled(clients))
    # Longer than is asked about, so that the changes after the last queries are on the list.
    truth = lives(attendance, clients, 8 * period)
    rng = np.random.default_rng(3)
    asked = moments(truth, 4 * period, times, rng)
    assert compare(attendance, truth, asked, rng) == clients * times


def check_by_dispatch(model: Participation, period: int, clients: int, count: int) -> None:
    attendance = model.attend(labelled(clients))
    truth = answers(attendance, clients, max(4 * period, count))
    assert compare_answers(attendance, truth, count, np.random.default_rng(3)) == clients * count


@pytest.mark.parametrize(("model", "period"), [*QUICK.values(), *IN_TIME[-4:]], ids=repr)
def test_in_time(model: Participation, period: float) -> None:
    check_in_time(model, period, clients=10, times=40)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "period"), IN_TIME, ids=repr)
def test_in_time_a_million_times(model: Participation, period: float) -> None:
    check_in_time(model, period, clients=1000, times=1000)


@pytest.mark.parametrize(("model", "period"), BY_DISPATCH, ids=repr)
def test_by_dispatch(model: Participation, period: int) -> None:
    check_by_dispatch(model, period, clients=20, count=50)
    check_in_time(model, 1.0, clients=20, times=2)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "period"), BY_DISPATCH, ids=repr)
def test_by_dispatch_a_million_times(model: Participation, period: int) -> None:
    check_by_dispatch(model, period, clients=1000, count=1000)
    check_in_time(model, 1.0, clients=1000, times=10)


def test_every_kind_of_the_library_is_compared() -> None:
    shipped = {
        kind
        for kind, cls in kinds("participation").items()
        if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {kind_of(model) for model, _ in [*IN_TIME, *BY_DISPATCH]}
