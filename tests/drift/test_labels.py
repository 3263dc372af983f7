"""Label shift: where shares come from and where they go."""

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.drift import LabelCourse, LabelMixture, LabelTarget, Timeline
from driftfold.drift.clocks import ByGroup
from driftfold.drift.schedules import Linear, Square, Staggered, Step
from driftfold.drift.targets import (
    Decay,
    Dirichlet,
    Gaussian,
    Given,
    OneClass,
    OtherClient,
    Partition,
    Uniform,
)
from driftfold.errors import CapabilityError, SpecError
from driftfold.rng import Seed
from tests.drift.timelines import pool, timeline


def shares(target: LabelTarget, clients: int = 20, classes: int = 10, **of: object) -> object:
    return target.shares(timeline(clients=clients), pool(classes, **of))


def test_a_mixture_goes_from_the_prior_to_the_target() -> None:
    course = LabelMixture(Linear()).bind(timeline(), pool())
    everyone = np.arange(20)
    assert np.array_equal(course.shares(everyone, np.zeros(20, int)), np.full((20, 10), 0.1))
    assert np.array_equal(course.shares(everyone, np.full(20, 99)), course.towards())
    w = 33 / 99
    halfway = (1 - w) * 0.1 + w * course.towards()
    assert course.shares(everyone, np.full(20, 33)) == pytest.approx(halfway, abs=1e-15)


def test_dirichlet_shares_have_their_moments() -> None:
    drawn = np.asarray(shares(Dirichlet(0.1), clients=20000, classes=5))
    # Mean 1/K; variance (K-1) / (K^2 (K alpha + 1)); five standard errors of 20,000 clients.
    variance = 4 / (25 * 1.5)
    assert drawn.mean(axis=0) == pytest.approx(0.2, abs=5 * np.sqrt(variance / 20000))
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.05)
    assert drawn.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(drawn[:3], np.asarray(shares(Dirichlet(0.1), clients=3, classes=5)))


def test_targets_with_a_name_draw_the_same_in_every_drift() -> None:
    one, other = timeline().of("labels"), timeline().of("elsewhere")
    for target, same in ((Dirichlet(), False), (Dirichlet(name="home"), True)):
        both = [target.shares(t, pool()).tolist() for t in (one, other)]
        assert (both[0] == both[1]) is same


def test_a_partition_counts_what_clients_got() -> None:
    labels = np.repeat(np.arange(10), 100)
    target = Partition(alpha=0.1, kept=1.0)
    made = target.shares(timeline(clients=10), pool(labels=labels))
    held = target._divided(timeline(clients=10), np.full(10, 100))
    assert held.sum(axis=0).tolist() == [100] * 10
    assert held.sum(axis=1).min() >= 6
    assert made == pytest.approx(held / held.sum(axis=1, keepdims=True))
    # Whoever had a tenth of the pool got nothing of later classes.
    for row in held:
        full = np.flatnonzero(np.cumsum(row) >= 100)
        assert not full.size or not row[full[0] + 1 :].any()


def test_a_partition_keeps_a_random_part() -> None:
    labels = np.repeat(np.arange(4), 500)
    line = timeline(clients=5)
    all_of_it, part = (Partition(kept=k).shares(line, pool(4, labels=labels)) for k in (1.0, 0.8))
    assert not np.array_equal(all_of_it, part)
    assert part == pytest.approx(all_of_it, abs=0.1)  # 5 sd of 0.02 for 300 of 375 samples


def test_a_partition_that_cannot_be_is_refused() -> None:
    with pytest.raises(CapabilityError, match="choose target 'dirichlet'"):
        shares(Partition())
    with pytest.raises(SpecError, match="20 samples for 20 clients with 2 or more"):
        shares(Partition(minimum=2), labels=np.arange(20) % 10)


def naive_partition(rng: np.random.Generator, labels: Ints, clients: int, alpha: float) -> Floats:
    """The division as scripts write it, with lists."""
    while True:
        parts: list[list[int]] = [[] for _ in range(clients)]
        for label in range(10):
            rows = rng.permutation(np.flatnonzero(labels == label))
            drawn = rng.dirichlet(np.full(clients, alpha))
            drawn *= [len(part) < len(labels) / clients for part in parts]
            cuts = (np.cumsum(drawn / drawn.sum()) * len(rows)).astype(int)[:-1]
            for part, piece in zip(parts, np.split(rows, cuts), strict=True):
                part.extend(piece.tolist())
        if min(map(len, parts)) >= 6:
            counts = np.array([np.bincount(labels[part], minlength=10) for part in parts])
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@pytest.mark.slow
def test_partitions_have_the_law_of_the_division_by_lists() -> None:
    labels, rng = np.arange(1000) % 10, np.random.default_rng(0)
    ours = [
        Partition(kept=1.0).shares(timeline(clients=20, seed=s), pool(labels=labels))
        for s in range(300)
    ]
    theirs = [naive_partition(rng, labels, 20, 0.1) for _ in range(300)]
    for classes in (False, True):  # the largest share, and the number of classes, of a client
        one, other = (
            [((s > 0).sum(axis=1) if classes else s.max(axis=1)).mean() for s in made]
            for made in (ours, theirs)
        )
        error = np.sqrt((np.var(one) + np.var(other)) / 300)
        assert abs(np.mean(one) - np.mean(other)) < 4 * error  # four standard errors
        assert np.std(one) == pytest.approx(np.std(other), rel=0.25)


@pytest.mark.slow
def test_a_partition_that_is_not_found_is_refused() -> None:
    with pytest.raises(SpecError, match="found no division of 200 samples among 100 clients"):
        shares(Partition(minimum=2), clients=100, labels=np.arange(200) % 10)


def test_targets_without_chance() -> None:
    line = timeline(clients=3)
    assert OneClass().shares(line, pool(2)).tolist() == [[1, 0], [0, 1], [1, 0]]
    assert OneClass(1).shares(line, pool(2)).tolist() == [[0, 1]] * 3
    assert Uniform().shares(line, pool(4)).tolist() == [[0.25] * 4] * 3
    assert Given((1, 3)).shares(line, pool(2)).tolist() == [[0.25, 0.75]] * 3
    decay = Decay(0.1).shares(line, pool(10))[0]
    assert decay[9] / decay[0] == pytest.approx(0.1)
    assert np.diff(np.log(decay)) == pytest.approx(np.log(0.1) / 9)
    gaussian = Gaussian().shares(line, pool(10))[0]
    assert gaussian[0] / gaussian[4] == pytest.approx(np.exp(-(4.5**2 - 0.5**2) / (2 * 2.0**2)))
    with pytest.raises(SpecError, match="0 to 1 here"):
        OneClass(2).shares(line, pool(2))
    with pytest.raises(SpecError, match="one weight for each class"):
        Given((1, 2, 3)).shares(line, pool(2))
    with pytest.raises(SpecError, match="not all of them 0"):
        Given(((1, 2), (0, 0))).shares(line, pool(2))


def test_clients_swap_what_they_have() -> None:
    swapped = LabelMixture(Square(), OtherClient(Dirichlet()), Dirichlet())
    course = swapped.bind(timeline(clients=4), pool())
    before = course.shares(np.arange(4), np.zeros(4, int))
    after = course.shares(np.arange(4), np.full(4, 4))
    assert np.array_equal(after, np.roll(before, -1, axis=0))


def test_nothing_changes_where_the_target_is_the_origin() -> None:
    course = LabelMixture(Step(), Uniform(), Uniform()).bind(timeline(), pool())
    assert not course.changes(0).size
    moving = LabelMixture(Step(), OneClass(), Uniform()).bind(timeline(), pool())
    assert moving.changes(0).tolist() == [50]


def test_clients_that_move_to_one_class_move_together() -> None:
    schedule = Staggered(Step(at=(50,)), ByGroup(start=(0, 10, 20)))
    course = LabelMixture(schedule, OneClass()).bind(timeline(clients=6), pool(3))
    assert [int(course.changes(i)[0]) for i in range(6)] == [50, 60, 70, 50, 60, 70]


def test_the_signal_of_one_step_is_small_as_published() -> None:
    # Dirichlet(0.1) targets of 10 classes along the linear schedule of 100 steps: the distance
    # 1 - cos of neighbouring shares is 8.0e-5 on average, of prior and target 0.556.
    line = Timeline(500, 100, 60.0, Seed(5))
    course: LabelCourse = LabelMixture().bind(line, pool())
    who = np.arange(500)
    each = np.array([course.shares(who, np.full(500, t)) for t in range(100)])
    assert distance(each[1:], each[:-1]).mean() == pytest.approx(8.0e-5, rel=0.1)
    assert distance(each[0], each[-1]).mean() == pytest.approx(0.556, rel=0.03)


def distance(a: Floats, b: Floats) -> Floats:
    cosine: Floats = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    return 1 - cosine
