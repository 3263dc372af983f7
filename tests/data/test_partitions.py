from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Ints
from driftfold.data import (
    Dataset,
    DirichletLabels,
    Iid,
    InOrder,
    Natural,
    Partition,
    Shards,
    assemble,
)
from driftfold.errors import SpecError
from driftfold.rng import Seed

PARTITIONS: list[Partition] = [
    Iid(),
    Shards(per_client=1),
    Shards(per_client=3),
    DirichletLabels(alpha=0.01),
    DirichletLabels(alpha=1.0, minimum=3),
    DirichletLabels(alpha=1e4, minimum=0),
]


def labelled(samples: int, classes: int) -> Dataset:
    y = (np.arange(samples) * 7) % classes
    return Dataset(x=np.arange(samples, dtype=float)[:, None], y=y)


@pytest.mark.parametrize("partition", PARTITIONS, ids=repr)
@settings(max_examples=25, deadline=None)
@given(
    clients=st.integers(1, 12),
    spare=st.integers(0, 60),
    classes=st.integers(1, 9),
    seed=st.integers(0, 2**64 - 1),
)
def test_every_row_goes_to_exactly_one_client(
    partition: Partition, clients: int, spare: int, classes: int, seed: int
) -> None:
    data = labelled(3 * clients + spare, classes)
    parts = partition.split(data, clients, Seed(seed))
    assert len(parts) == clients
    assert all(part.dtype == np.int64 for part in parts)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(data.x)))


def test_shards_with_a_seed_of_their_own_are_dealt_alike_in_all_experiments() -> None:
    data = labelled(200, 5)
    fixed = Shards(per_client=2, seed=7)
    first, again = fixed.split(data, 4, Seed(1)), fixed.split(data, 4, Seed(2))
    plain = Shards(per_client=2).split(data, 4, Seed(7))
    for a, b, c in zip(first, again, plain, strict=True):
        assert np.array_equal(a, b)
        assert np.array_equal(a, c)


@pytest.mark.parametrize("partition", PARTITIONS, ids=repr)
def test_the_seed_alone_decides(partition: Partition) -> None:
    data = labelled(200, 5)
    first = partition.split(data, 4, Seed(1))
    again = partition.split(data, 4, Seed(1))
    other = partition.split(data, 4, Seed(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@given(clients=st.integers(1, 12), spare=st.integers(0, 30))
def test_in_order_every_client_gets_a_run_of_rows(clients: int, spare: int) -> None:
    parts = InOrder().split(labelled(clients + spare, 3), clients, Seed(0))
    assert np.array_equal(np.concatenate(parts), np.arange(clients + spare))
    assert np.ptp([len(part) for part in parts]) <= 1
    with pytest.raises(SpecError, match="cannot be divided"):
        InOrder().split(labelled(clients, 3), clients + 1, Seed(0))


def test_iid_sizes_differ_by_one_and_labels_are_mixed() -> None:
    data = labelled(10_003, 4)
    parts = Iid().split(data, 10, Seed(1))
    assert {len(part) for part in parts} == {1000, 1001}
    shares = assemble(data, parts).label_shares
    assert shares is not None
    # A share of 1/4 among 1,000 has standard error 0.0137; five of them for 40 shares.
    assert np.abs(shares - 0.25).max() < 5 * 0.0137


@settings(max_examples=25, deadline=None)
@given(clients=st.integers(1, 10), per_client=st.integers(1, 4), seed=st.integers(0, 99))
def test_shards_are_equal_and_show_few_labels(clients: int, per_client: int, seed: int) -> None:
    shards = clients * per_client
    data = labelled(shards * 6, 5)
    parts = Shards(per_client).split(data, clients, Seed(seed))
    assert {len(part) for part in parts} == {6 * per_client}
    assert data.y is not None
    for part in parts:
        for shard in data.y[part].reshape(per_client, 6):
            assert (np.diff(shard) >= 0).all()  # a run of the samples sorted by label


def test_shards_of_whole_classes_give_one_class_each() -> None:
    data = labelled(60, 6)
    parts = Shards(per_client=1).split(data, 6, Seed(3))
    shares = assemble(data, parts).label_shares
    assert shares is not None
    assert np.array_equal(np.sort(shares, axis=1)[:, -1], np.ones(6))
    assert np.array_equal(shares.sum(axis=0), np.ones(6))


def test_shards_are_dealt_at_random() -> None:
    data = labelled(60, 6)
    held = [Shards(1).split(data, 6, Seed(s))[0][0] % 6 for s in range(300)]
    counts = np.bincount(held, minlength=6)
    # Client 0 holds each of six shards 50 times on average, standard deviation 6.5.
    assert np.abs(counts - 50).max() < 5 * 6.5


def test_natural_owners_keep_their_rows_in_order() -> None:
    owner = np.array([2, 0, 2, 0, 3])
    data = Dataset(x=np.zeros((5, 1)), owner=owner)
    parts = Natural().split(data, 4, Seed(0))
    assert [part.tolist() for part in parts] == [[1, 3], [], [0, 2], [4]]


def test_dirichlet_shares_have_the_moments_of_the_distribution() -> None:
    alpha, clients = 0.5, 5
    data = labelled(20_000, 200)
    parts = DirichletLabels(alpha, minimum=0).split(data, clients, Seed(7))
    assert data.y is not None
    counts = np.stack([np.bincount(data.y[part], minlength=200) for part in parts], axis=1)
    shares = counts / 100
    # Share of a client: mean 1/5, variance (1/5)(4/5)/(5 alpha + 1) = 0.0457, over 200 classes
    # (rounding to 100 samples adds less than 10^-4). Standard error of the mean 0.0151, of the
    # variance below 0.007.
    assert np.abs(shares.mean(axis=0) - 0.2).max() < 5 * 0.0151
    assert abs(shares.var(axis=0).mean() - 0.16 / 3.5) < 5 * 0.007 / np.sqrt(5)


def test_dirichlet_skew_falls_with_alpha() -> None:
    data = labelled(2000, 10)

    def largest(alpha: float) -> float:
        shares = assemble(data, DirichletLabels(alpha, 10).split(data, 10, Seed(1))).label_shares
        assert shares is not None
        return float(shares.max(axis=1).mean())

    assert largest(0.05) > 0.6 > largest(1.0) > 0.2 > largest(1000.0)


@settings(max_examples=50, deadline=None)
@given(
    alpha=st.floats(1e-6, 1e6),
    clients=st.integers(1, 15),
    minimum=st.integers(0, 8),
    spare=st.integers(0, 20),
    seed=st.integers(0, 1000),
)
def test_dirichlet_always_ends_with_the_minimum(
    alpha: float, clients: int, minimum: int, spare: int, seed: int
) -> None:
    data = labelled(max(1, clients * minimum + spare), 3)
    parts = DirichletLabels(alpha, minimum).split(data, clients, Seed(seed))
    assert min(len(part) for part in parts) >= minimum
    assert sum(len(part) for part in parts) == len(data.x)


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (Iid(), "10 samples cannot be divided among 11 clients with at least 1 each"),
        (Shards(per_client=2), r"at least 2 each \(22 in all\); use fewer clients or more data"),
        (DirichletLabels(minimum=1), "10 samples cannot be divided"),
    ],
)
def test_too_few_samples_are_refused(partition: Partition, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        partition.split(labelled(10, 2), 11, Seed(0))


@pytest.mark.parametrize("partition", [Shards(), DirichletLabels()])
def test_partitions_by_label_need_labels(partition: Partition) -> None:
    with pytest.raises(SpecError, match="divides by label and these data have none"):
        partition.split(Dataset(x=np.zeros((100, 1))), 2, Seed(0))


def test_the_natural_partition_needs_owners_and_their_number() -> None:
    with pytest.raises(SpecError, match="needs data that say who owns each sample"):
        Natural().split(Dataset(x=np.zeros((3, 1))), 2, Seed(0))
    data = Dataset(x=np.zeros((3, 1)), owner=np.array([0, 1, 1]))
    with pytest.raises(SpecError, match="belong to 2 clients by nature, but 3 were asked for"):
        Natural().split(data, 3, Seed(0))


def test_a_partition_does_not_change_the_data() -> None:
    data = labelled(100, 5)
    kept: tuple[Any, Ints | None] = (data.x.copy(), None if data.y is None else data.y.copy())
    for partition in PARTITIONS:
        partition.split(data, 5, Seed(0))
    assert np.array_equal(data.x, kept[0])
    assert np.array_equal(data.y, kept[1])  # type: ignore[arg-type]
