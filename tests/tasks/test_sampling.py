from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Ints
from driftfold.errors import SpecError
from driftfold.rng import Seed
from driftfold.tasks import Growing, sampling
from driftfold.tasks.sampling import batch_sizes, draw

STREAM = Seed(5).stream("batch")


def drawn(samples: Ints, sizes: Ints, steps: int, dispatch: int = 0) -> Ints:
    clients = np.arange(len(samples))
    dispatches = np.full(len(samples), dispatch)
    return draw(STREAM, clients, dispatches, samples, sizes, steps, int(sizes.max()))


@settings(deadline=None)
@given(
    samples=st.lists(st.integers(0, 30), min_size=1, max_size=8),
    share=st.floats(0.01, 1.0),
    steps=st.integers(1, 4),
)
def test_a_batch_has_distinct_rows_of_its_own_client(
    samples: list[int], share: float, steps: int
) -> None:
    held = np.array(samples)
    sizes = batch_sizes(share, held)
    if sizes.max() == 0:
        return
    rows = drawn(held, sizes, steps)
    assert rows.shape == (steps, len(samples), sizes.max())
    for step in rows:
        for own, n, size in zip(step, held, sizes, strict=True):
            chosen = own[:size].tolist()
            assert len(set(chosen)) == size
            assert all(0 <= row < n for row in chosen)
            assert ((own >= 0) & (own < held.max())).all()  # padding stays inside the block


def test_what_a_product_is_off_by_is_no_sample() -> None:
    """0.07 * 100 and 100 * 1.1 exceed 7 and 110 by rounding; 1e-12 of 5 samples is one of them."""
    held = np.array([100, 5, 0])
    assert batch_sizes(0.07, held).tolist() == [7, 1, 0]
    assert batch_sizes(1e-12, held).tolist() == [1, 1, 0]
    rule = Growing(100, factor=1.1, period=1)
    assert [rule.size(t, 0) for t in range(5)] == [100, 110, 121, 134, 147]


def test_every_subset_is_equally_likely() -> None:
    count = 6000
    rows = np.sort(drawn(np.full(count, 5), np.full(count, 2), steps=4)[..., :2], axis=-1)
    codes = (rows[..., 0] * 5 + rows[..., 1]).ravel()
    _, times = np.unique(codes, return_counts=True)
    # 24,000 draws of 10 subsets: 2,400 each, standard deviation 46.5.
    assert len(times) == 10
    assert np.abs(times - 2400).max() < 5 * 46.5


def test_each_row_is_as_likely_when_sizes_differ() -> None:
    samples = np.array([7, 20])
    rows = np.concatenate([drawn(samples, np.array([3, 10]), 5, d) for d in range(1000)])
    for client, (n, size) in enumerate([(7, 3), (20, 10)]):
        times = np.bincount(rows[:, client, :size].ravel(), minlength=n)
        p = size / n
        # Each row is in a batch with probability B/n, 5,000 batches.
        assert np.abs(times / 5000 - p).max() < 5 * np.sqrt(p * (1 - p) / 5000)


def test_steps_of_one_client_are_independent() -> None:
    rows = np.concatenate([drawn(np.array([10]), np.array([1]), 2, d) for d in range(2500)], axis=1)
    pairs = np.bincount(rows[0, :, 0] * 10 + rows[1, :, 0], minlength=100)
    # 100 pairs, 25 each: chi-square with 99 degrees of freedom, mean 99, standard deviation 14.
    assert abs(((pairs - 25) ** 2 / 25).sum() - 99) < 5 * 14


def test_fewer_steps_are_a_prefix() -> None:
    samples, sizes = np.array([9, 40, 3]), np.array([4, 20, 2])
    assert np.array_equal(drawn(samples, sizes, 2), drawn(samples, sizes, 7)[:2])


def test_batches_are_addressed_by_client_and_dispatch() -> None:
    samples, sizes = np.array([50, 50]), np.array([10, 10])
    both = drawn(samples, sizes, 2)
    alone = draw(STREAM, np.array([1]), np.array([0]), samples[1:], sizes[1:], 2, 10)
    assert np.array_equal(alone[:, 0], both[:, 1])
    assert not np.array_equal(both[:, 0], both[:, 1])
    assert not np.array_equal(drawn(samples, sizes, 2, dispatch=1), both)


def test_batches_are_shuffles_by_hand() -> None:
    samples, sizes, steps, pad = [6, 11], [4, 7], 3, 7
    rows = drawn(np.array(samples), np.array(sizes), steps, dispatch=8)
    for client, (n, size) in enumerate(zip(samples, sizes, strict=True)):
        words = STREAM.words(client, 8, steps * pad).tolist()
        for step in range(steps):
            table = list(range(n))
            for m in range(size):
                pick = m + (words[step * pad + m] * (n - m) >> 32)
                table[m], table[pick] = table[pick], table[m]
            assert rows[step, client, :size].tolist() == table[:size]


def test_tables_cut_into_tiles_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, sizes = np.array([9, 40, 3]), np.array([4, 20, 2])
    whole = drawn(samples, sizes, 5)
    monkeypatch.setattr(sampling, "_TABLE", 80)  # two columns of 40 at a time
    assert np.array_equal(drawn(samples, sizes, 5), whole)


def test_a_batch_of_all_rows_is_a_permutation() -> None:
    rows = drawn(np.array([12, 5]), np.array([12, 5]), 3)
    for step in rows:
        assert sorted(step[0]) == list(range(12))
        assert sorted(step[1, :5]) == list(range(5))


def test_sizes_are_rounded_up_and_never_above_the_data() -> None:
    held = np.array([30, 7, 1, 0])
    assert batch_sizes(0.1, held).tolist() == [3, 1, 1, 0]
    assert batch_sizes(0.5, held).tolist() == [15, 4, 1, 0]
    assert batch_sizes(1.0, held).tolist() == held.tolist()
    assert batch_sizes(5, held).tolist() == [5, 5, 1, 0]
    assert batch_sizes("full", held).tolist() == held.tolist()
    assert batch_sizes(10**30, held).tolist() == held.tolist()  # beyond the integers of arrays


@pytest.mark.parametrize("size", [0, -1, 0.0, -0.5, 1.5, 2.0, float("nan"), True, "half"])
def test_other_sizes_are_refused(size: Any) -> None:
    with pytest.raises(SpecError, match=r"got batch size .*; wanted a whole number from 1"):
        batch_sizes(size, np.array([10]))
