"""Bounded integers and subsets on made-up words, where rare cases can be forced."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold import integers, philox
from driftfold.arrays import Ints
from driftfold.integers import Draw, Words, below, first_distinct, pair, scale, smallest_keys

WORD = st.integers(0, 2**32 - 1)


def scripted(words: list[list[int]]) -> Draw:
    table = np.array(words, np.uint32)

    def draw(rows: Ints, count: int) -> Words:
        assert count <= table.shape[1], "the script is too short"
        return table[rows, :count]

    return draw


@given(WORD, WORD, st.integers(1, 2**32))
def test_scale_is_exact(low: int, high: int, bound: int) -> None:
    number = pair(np.array([low, high], np.uint32))
    assert int(number[0]) == low + (high << 32)
    exact = int(number[0]) * bound >> 64
    assert int(scale(number, np.array([bound], np.uint64))[0]) == exact < bound


@pytest.mark.parametrize("library", [True, False])
@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_numbers_below_a_bound_are_scaled_pairs_of_words(
    count: int, library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not library:
        monkeypatch.setattr(integers, "drawer", lambda: None)
    rows = np.arange(6, dtype=np.uint64)
    bounds = np.array([1, 2, 6, 1000, 2**32 - 1, 2**32], np.uint64)
    words = philox.philox(2**40, rows, rows, 7, blocks=4)
    exact = [
        [(int(low) + (int(high) << 32)) * int(bound) >> 64 for low, high in own.reshape(-1, 2)]
        for own, bound in zip(words, bounds, strict=True)
    ]
    drawn = below(2**40, rows, rows, 7, bounds, count)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == [row[:count] for row in exact]


def test_smallest_keys_in_order_of_key() -> None:
    draw = scripted([[50, 10, 30, 20], [4, 3, 2, 1]])
    assert smallest_keys(draw, np.array([4, 3], np.uint64), 3).tolist() == [[1, 3, 2], [2, 1, 0]]


def test_a_tie_that_matters_is_drawn_again() -> None:
    # The second smallest key is shared: columns 1 and 2. The next four words decide.
    draw = scripted([[9, 5, 5, 1, 40, 30, 20, 10], [9, 9, 2, 1, 0, 0, 0, 0]])
    bounds = np.array([4, 4], np.uint64)
    assert smallest_keys(draw, bounds, 2).tolist() == [[3, 2], [3, 2]]
    alone = smallest_keys(draw, bounds[:1], 2)
    assert alone.tolist() == [[3, 2]]


def test_the_largest_key_is_no_tie_with_nothing() -> None:
    # A full key beside the filler of a row whose population equals the size.
    draw = scripted([[2**32 - 1, 3, 0, 0], [4, 3, 2, 1]])
    assert smallest_keys(draw, np.array([2, 4], np.uint64), 2).tolist() == [[1, 0], [3, 2]]


def test_first_distinct_skips_repeats_and_looks_further() -> None:
    # Bound 8: the number is the top three bits of the second word of each pair.
    def words(numbers: list[int]) -> list[int]:
        return [word for number in numbers for word in (0, number << 29)]

    few = words([3, 3, 5, 3, 5, 1] + [1] * 50)
    many = words([2] * 20 + [7, 6] + [0] * 34)
    chosen = first_distinct(scripted([few, many]), np.array([8, 8], np.uint64), 2)
    assert chosen.tolist() == [[3, 5], [2, 7]]
