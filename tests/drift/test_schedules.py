"""Schedules against the values that are published, and each against a formula of its own."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.drift import Schedule
from driftfold.drift.schedules import (
    Bernoulli,
    Between,
    Constant,
    Gradual,
    Incremental,
    Linear,
    Recurring,
    Sine,
    Square,
    Step,
)
from driftfold.errors import SpecError
from tests.drift.timelines import course, timeline, weights


def test_linear_is_that_of_the_released_scripts() -> None:
    w = weights(Linear())
    assert w.tolist() == [t / 99 for t in range(100)]
    assert round(w[1], 4) == 0.0101
    assert np.bincount(severities(w)).tolist() == [0, 1, 24, 25, 25, 25]


def test_linear_in_the_form_of_atlas() -> None:
    assert weights(Linear(start=-1)) == pytest.approx(
        [(t + 1) / 100 for t in range(100)], abs=1e-15
    )


def test_sine_is_that_of_the_released_scripts() -> None:
    printed = [0.5, 0.821, 0.992, 0.933, 0.671, 0.329, 0.067, 0.008, 0.179]
    w = weights(Sine())
    assert w.round(3).tolist() == [printed[t % 9] for t in range(100)]
    assert w == pytest.approx([0.5 * (1 + math.sin(2 * math.pi * (t % 9) / 9)) for t in range(100)])


def test_sine_in_the_form_of_atlas_goes_along_a_grid_of_half_a_period() -> None:
    grid = np.sin(np.linspace(0, np.pi, 10))
    assert weights(Sine(form="half")) == pytest.approx(np.tile(grid, 10), abs=1e-15)


def test_square_is_that_of_the_released_scripts() -> None:
    w = weights(Square())
    assert "".join(str(int(v)) for v in w[:12]) == "000011110000"
    assert np.array_equal(w[8:], w[:-8])
    assert np.bincount(severities(w)).tolist() == [0, 52, 0, 0, 0, 48]


def severities(w: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    return [min(max(math.ceil(4 * v) + 1, 1), 5) for v in w]


def test_a_step_jumps_where_it_is_told() -> None:
    w = weights(Step(at=(10, 20.5), levels=(0.2, 0.9, 0.4)))
    assert w.tolist() == [0.2] * 10 + [0.9] * 11 + [0.4] * 79
    assert weights(Step()).tolist() == [0.0] * 50 + [1.0] * 50
    assert (
        weights(Step(at=(10, 20, 30))).tolist() == [0.0] * 10 + [1.0] * 10 + [0.0] * 10 + [1.0] * 70
    )


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (Step(at=(20, 10)), "ascending"),
        (Step(at=(10, 20), levels=(0.0, 1.0)), "one level more"),
        (Linear(start=50, end=50), "after the start"),
        (Gradual(start=70, end=60), "after the start"),
        (Incremental(start=5, end=1), "after the start"),
    ],
)
def test_what_has_no_order_is_refused(schedule: Schedule, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        schedule.path(timeline())


def test_gradual_is_a_sigmoid_with_ends() -> None:
    def logistic(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    low, high = logistic(-4), logistic(4)
    path = Gradual(start=20, end=60).path(timeline())
    wanted = [
        (logistic(8 * min(max((t - 20) / 40, 0), 1) - 4) - low) / (high - low) for t in range(100)
    ]
    assert course(path) == pytest.approx(wanted, abs=1e-14)
    assert path.weight(np.zeros(3, int), np.array([20, 40, 60])).tolist() == [0, 0.5, 1]
    assert path.changes(0).tolist() == [21]


def test_incremental_goes_by_equal_jumps() -> None:
    path = Incremental(jumps=5, start=10, end=60).path(timeline())
    assert path.changes(0).tolist() == [20, 30, 40, 50, 60]
    assert np.unique(course(path)).tolist() == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def test_days_come_back_in_virtual_time() -> None:
    by_ten_minutes = Recurring(peak=12.0, hours=8.0).path(timeline(steps=432, seconds=600.0))
    assert by_ten_minutes.changes(0).tolist() == [48, 96, 192, 240, 336, 384]
    assert course(by_ten_minutes)[48:96].min() == 1.0
    wave = Recurring(peak=6.0, form="wave").path(timeline(steps=48))
    assert course(wave) == pytest.approx(
        [0.5 * (1 + math.cos(2 * math.pi * (t - 6) / 24)) for t in range(48)], abs=1e-14
    )
    assert wave.changes(0).tolist() == [1, 7, 19, 31, 43]


def test_between_two_other_weights() -> None:
    line = timeline()
    milder = Between(Linear(), low=0.25, high=0.75).path(line)
    assert course(milder) == pytest.approx(0.25 + 0.5 * course(Linear().path(line)), abs=1e-15)
    back = Between(Square(), low=1.0, high=0.0).path(line)
    assert np.array_equal(course(back), 1 - course(Square().path(line)))
    assert np.array_equal(back.changes(0), Square().path(line).changes(0))


def test_without_drift_nothing_changes() -> None:
    path = Constant(0.7).path(timeline())
    assert set(course(path).tolist()) == {0.7}
    assert not path.changes(0).size


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_a_chain_flips_with_its_probability_and_has_no_other_memory(p: float) -> None:
    path = Bernoulli(p=p).path(timeline(clients=200, steps=250))
    who, when = np.divmod(np.arange(200 * 250), 250)
    w = path.weight(who, when).reshape(200, 250)
    assert (w[:, 0] == 0).all()
    flips = np.diff(w) != 0
    # Five standard errors of 49,800 flips, and of as many pairs of neighbours.
    assert flips.mean() == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / flips.size))
    both = (flips[:, 1:] & flips[:, :-1]).mean()
    assert both == pytest.approx(p * p, abs=5 * 1.5 * p / math.sqrt(flips.size))


def test_a_chain_flips_with_one_over_the_root_of_the_stream() -> None:
    by_default, told = Bernoulli(), Bernoulli(p=0.1)
    assert np.array_equal(weights(by_default), weights(told))


def test_redrawn_states_are_independent_and_have_the_law_of_a_chain_at_each_step() -> None:
    path = Bernoulli(form="redraw").path(timeline(clients=4000, steps=100))
    everyone = np.arange(4000)
    w = np.array([path.weight(everyone, np.full(4000, t)) for t in (0, 1, 2, 5, 15, 16, 99)])
    wanted = np.array([(1 - 0.8**t) / 2 for t in (0, 1, 2, 5, 15, 16, 99)])
    # Five standard errors of 4,000 clients.
    assert np.abs(w.mean(axis=1) - wanted).max() < 5 * 0.5 / math.sqrt(4000)
    assert abs(np.corrcoef(w[4], w[5])[0, 1]) < 5 / math.sqrt(4000)  # a chain has 0.8


@pytest.mark.parametrize("form", ["chain", "redraw"])
def test_a_flip_for_certain_alternates(form: str) -> None:
    schedule = Bernoulli(p=1.0, form=form)  # type: ignore[arg-type]
    assert weights(schedule).tolist() == [t % 2 for t in range(100)]
    assert not weights(Bernoulli(p=0.0)).any()


def test_clients_flip_on_their_own_or_all_together() -> None:
    own, common = (Bernoulli(common=c).path(timeline()) for c in (False, True))
    assert not np.array_equal(course(own, 0), course(own, 1))
    assert np.array_equal(course(common, 0), course(common, 1))
    assert np.array_equal(course(common, 5), course(own, 0))


def test_parts_of_an_experiment_flip_on_their_own_unless_they_share_a_name() -> None:
    labels, inputs = timeline().of("labels"), timeline().of("inputs")
    assert not np.array_equal(course(Bernoulli().path(labels)), course(Bernoulli().path(inputs)))
    named = Bernoulli(name="weather")
    assert np.array_equal(course(named.path(labels)), course(named.path(inputs)))


@settings(max_examples=25)
@given(
    steps=st.lists(st.integers(0, 2000), min_size=1, max_size=30),
    p=st.sampled_from([1e-4, 0.02, 0.3, 0.6, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_a_chain_asked_anywhere_is_the_chain_walked_from_the_start(
    steps: list[int], p: float, seed: int
) -> None:
    path = Bernoulli(p=p).path(timeline(clients=2, steps=100, seed=seed))
    last = max(steps) + 1
    walked, state = [], 0
    rare = min(p, 1 - p)
    draws = path.draws.uniform(1, np.arange(-(-last // 16)), 16).reshape(-1)  # type: ignore[attr-defined]
    for t in range(last):
        if t and draws[t] < 2 * rare:
            state = int(draws[t] < rare)
        walked.append(state ^ (t % 2 if p > 0.5 else 0))
    asked = path.weight(np.ones(len(steps), int), np.array(steps))
    assert asked.tolist() == [walked[t] for t in steps]


@settings(max_examples=25)
@given(
    order=st.permutations(range(60)),
    schedule=st.sampled_from(
        [
            Linear(),
            Sine(),
            Square(),
            Bernoulli(),
            Bernoulli(form="redraw"),
            Gradual(),
            Incremental(),
        ]
    ),
)
def test_any_order_gives_what_going_through_gives(order: list[int], schedule: Schedule) -> None:
    path = schedule.path(timeline(clients=3, steps=60))
    through = course(path, client=2)
    assert [path.weight(np.array([2]), np.array([t]))[0] for t in order] == through[order].tolist()
    assert ((through >= 0) & (through <= 1)).all()
