"""What clients meet: distributions, addressing, and the truth about changes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.drift import Drift, FeatureNoise, LabelMixture, LabelSwaps
from driftfold.drift.schedules import Step
from driftfold.drift.targets import OneClass
from driftfold.errors import SpecError
from driftfold.rng import Seed
from driftfold.tasks import DriftingClassification
from driftfold.tasks.streams.pretraining import Pretraining
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.split import split, whole_shares
from driftfold.tasks.streams.stream import _distinct

QUICK = Pretraining(epochs=1)


def problem(**fields: object) -> StreamProblem:
    usual: dict[str, object] = {"pretraining": QUICK, "keep_trained": False, "steps": 10}
    return DriftingClassification(**(usual | fields)).build(Seed(5))  # type: ignore[arg-type]


LABELS = problem(drift=(LabelMixture(),), clients=30)
PLAIN = problem(clients=30)


@given(st.permutations(list(range(12))))
@settings(max_examples=10, deadline=None)
def test_batches_do_not_depend_on_order_or_company(order: list[int]) -> None:
    clients, steps = np.array(order) % 4, np.array(order) // 4
    x, y = LABELS.stream.batch(clients, steps)
    for i in range(0, 12, 5):
        alone = LABELS.stream.batch(clients[i], steps[i])
        assert x[i].tobytes() == alone[0].tobytes()
        assert y[i].tolist() == alone[1].tolist()


def test_without_drift_of_labels_a_batch_is_distinct_samples() -> None:
    rows = PLAIN.stream.rows(np.arange(30), np.full(30, 3))
    assert all(len(set(batch)) == 50 for batch in rows.tolist())


@pytest.mark.parametrize("drift", [(), (FeatureNoise(),)], ids=["nothing", "inputs"])
def test_classes_come_as_before_deployment_where_nothing_moves_them(drift: tuple[Drift]) -> None:
    """Not as in the pool, which has what training left: 600 batches of 50, to 5 standard errors."""
    task = problem(drift=drift, clients=60, source=400, reference=5, source_classes="decay")
    prior, stream = task.source.prior, task.stream
    clients, steps = np.repeat(np.arange(60), 10), np.tile(np.arange(10), 60)
    rows = stream.rows(clients, steps)
    assert all(len(set(batch)) == 50 for batch in rows.tolist())
    shares = np.bincount(stream.labels[rows].reshape(-1), minlength=10) / rows.size
    error = np.sqrt(prior * (1 - prior) / rows.size)
    assert (np.abs(shares - prior) <= 5 * error).all()
    there = np.bincount(stream.labels, minlength=10) / len(stream.labels)
    assert (np.abs(there - prior) > 5 * error).sum() > 5
    assert task.fleet.label_shares is not None
    np.testing.assert_allclose(task.fleet.label_shares, np.tile(prior, (60, 1)), rtol=1e-12)


def test_distinct_picks_are_every_subset_alike() -> None:
    """3 of 5 in one cell and 2 of 2 in another: ten subsets, 500 times each to 5 deviations."""
    cells = np.tile([0, 1, 0, 1, 0], (5000, 1))
    uniform = Seed(1).stream("test").uniform(np.arange(5000), 0, 5)
    picked = _distinct(cells, uniform, np.array([5, 2]))
    assert (np.sort(picked[:, [1, 3]], axis=1) == [0, 1]).all()
    subsets, counts = np.unique(np.sort(picked[:, ::2], axis=1), axis=0, return_counts=True)
    assert len(subsets) == 10
    assert (np.abs(counts - 500) < 5 * (500 * 0.9) ** 0.5).all()


def test_a_class_of_too_few_samples_has_some_again() -> None:
    picked = _distinct(np.zeros((1, 4), int), np.array([[0.1, 0.1, 0.9, 0.9]]), np.array([3]))
    assert picked.tolist() == [[0, 0, 2, 2]]


def test_domains_come_as_in_the_pool_where_nothing_moves_them() -> None:
    """Two to one, to 5 standard errors."""
    plain = PLAIN.stream
    domains = (np.arange(len(plain.labels)) % 3 == 0) * 1
    for stream in (plain, LABELS.stream):
        rows = replace(stream, domains=domains).rows(np.arange(30), np.zeros(30, int))
        assert abs(domains[rows].mean() - 1 / 3) < 5 * (2 / 9 / rows.size) ** 0.5


def test_classes_come_with_the_shares_of_the_drift() -> None:
    """500 batches of 50 at w = 1: each share to 5 standard errors."""
    stream = LABELS.stream
    client, last = np.array([7]), np.array([9])
    shares = stream.drifting.shares(client, last)[0]
    rows = []
    for seed in range(500):  # other seeds, the same shares: fresh draws of one distribution
        moved = replace(stream, seed=Seed(seed))
        rows.append(moved.rows(client, last)[0])
    counts = np.bincount(stream.labels[np.concatenate(rows)], minlength=10)
    error = np.sqrt(shares * (1 - shares) / counts.sum())
    assert (np.abs(counts / counts.sum() - shares) <= 5 * error + 1e-12).all()


def test_every_sample_of_a_class_comes_alike() -> None:
    """Chi-square over the samples of one class, 20,000 draws: within 6 standard deviations."""
    target = problem(drift=(LabelMixture(Step(at=(1.0,)), OneClass()),), clients=20, batch=500)
    clients = np.repeat(np.arange(20), 9)[:40]
    steps = np.tile(np.arange(1, 10), 20)[:40]
    rows = target.stream.rows(clients, steps)
    label = target.stream.labels[rows]
    for k in (0, 5):
        drawn = rows[label == k]
        members = np.flatnonzero(target.stream.labels == k)
        expected = len(drawn) / len(members)
        if expected < 5:
            continue
        counts = np.bincount(drawn, minlength=len(target.stream.labels))[members]
        chi = ((counts - expected) ** 2 / expected).sum()
        degrees = len(members) - 1
        assert abs(chi - degrees) < 6 * np.sqrt(2 * degrees)


def test_steps_follow_the_clock() -> None:
    slow = problem(period=60.0)
    assert slow.step_at(np.array([0.0, 59.9, 60.0, 3 * 60.0, 1e6])).tolist() == [0, 0, 1, 3, 9]
    tenth = problem(period=0.1)
    assert tenth.step_at(np.array([0.1 * t for t in range(10)])).tolist() == list(range(10))


def test_inputs_and_labels_pass_through_all_drifts() -> None:
    swaps, noise = LabelSwaps(Step(at=(5.0,))), FeatureNoise(Step(at=(5.0,)))
    both = problem(drift=(swaps, noise))
    clients = np.arange(20)
    x, y = both.stream.batch(clients, np.full(20, 4))
    rows = both.stream.rows(clients, np.full(20, 4))
    assert (y == both.stream.labels[rows]).all()
    assert (x == both.stream.pool[rows]).all()
    x, y = both.stream.batch(clients, np.full(20, 5))
    rows = both.stream.rows(clients, np.full(20, 5))
    assert (y != both.stream.labels[rows]).any()
    assert (x != both.stream.pool[rows]).any()


def test_true_changes_are_told_once_with_how_many_they_concern() -> None:
    jump = problem(drift=(LabelMixture(Step(at=(4.0,))),), clients=3, period=10.0)
    told = jump.changes(-1.0, 1000.0)
    assert [(c.time, dict(c.values)) for c in told] == [(40.0, {"step": 4.0, "labels": 3.0})]
    assert jump.changes(40.0, 1000.0) == []
    assert len(jump.changes(39.0, 40.0)) == 1


def test_the_parts_of_the_data_do_not_overlap() -> None:
    y = np.arange(400) % 4
    parts = split(y, 100, 40, np.array([0.4, 0.3, 0.2, 0.1]), Seed(1))
    every = np.concatenate([parts.source, parts.held_out, parts.pool])
    assert sorted(every.tolist()) == list(range(400))
    assert np.bincount(y[parts.source]).tolist() == [40, 30, 20, 10]
    with pytest.raises(SpecError, match="class 0 has 100 rows"):
        split(y, 100, 40, np.array([1.0, 0.0, 0.0, 0.0]), Seed(1))


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=9), st.integers(0, 1000))
def test_whole_shares_are_within_one_and_sum_up(shares: list[float], total: int) -> None:
    counts = whole_shares(np.array(shares), total)
    assert counts.sum() == total
    assert (np.abs(counts - np.array(shares) / sum(shares) * total) < 1 + 1e-6).all()


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(SpecError, match="only 797 samples are left"):
        problem(batch=798)
    with pytest.raises(SpecError, match="lower `reference`"):
        problem(reference=100)


def test_a_class_that_the_pool_lacks_is_told() -> None:
    """The next class would come in its place."""
    stream = LABELS.stream
    kept = stream.labels != 3
    less = replace(stream, pool=stream.pool[kept], labels=stream.labels[kept])
    with pytest.raises(SpecError, match="class 3 is to come at step 0"):
        less.check()
