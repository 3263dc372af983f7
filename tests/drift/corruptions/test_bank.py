"""A bank gives the same bits whatever it was asked before, and remembers what it has room for."""

from dataclasses import dataclass

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.drift.corruptions import CLEAN, PUBLISHED, Bank, Corruption, GaussianNoise
from driftfold.drift.corruptions.eight_bit import from_bytes, to_bytes
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed
from tests.drift.corruptions.pictures import clothes, coloured

KINDS = PUBLISHED[:4]


def pool() -> Floats:
    return clothes(30)


def test_pictures_are_those_of_the_corruption_rounded_to_bytes() -> None:
    bank = Bank(pool(), KINDS, Seed(3))
    rows = np.array([[4, 9, 4], [29, 0, 4]])
    made = bank.pictures(np.array([[0], [2]]), np.array([[5], [1]]), rows)
    assert made.dtype == np.uint8
    for i, (which, severity) in enumerate(((0, 5), (2, 1))):
        seen = from_bytes(to_bytes(pool()[rows[i]]))
        wanted = KINDS[which].corrupt(seen, severity, rows[i], Seed(3))
        assert np.array_equal(made[i], to_bytes(wanted))


@pytest.mark.parametrize("room", [0, 3 * 30 * 784, 10**9])
def test_bits_do_not_depend_on_questions_before(room: int) -> None:
    rng = np.random.default_rng(0)
    bank = Bank(pool(), KINDS, room=room)
    for _ in range(12):
        asked = rng.integers(0, 4, (5, 1)), rng.integers(0, 6, (5, 1)), rng.integers(0, 30, (5, 7))
        assert np.array_equal(bank.pictures(*asked), Bank(pool(), KINDS).pictures(*asked))
        assert bank.held <= max(room, pool().size)


@register("test_counted_rows")
@dataclass(frozen=True)
class CountedRows(Corruption):
    def apply(self, planes: Floats, severity: int, rows: Ints, seed: Seed) -> Floats:
        MADE.extend(rows.tolist())
        return 1 - planes


MADE: list[int] = []


def test_each_picture_is_made_once_while_there_is_room() -> None:
    MADE.clear()
    bank = Bank(pool(), [CountedRows(), CountedRows()], room=pool().size)
    bank.pictures(0, 1, np.array([3, 3, 5]))
    bank.pictures(0, 1, np.array([5, 7]))
    assert MADE == [3, 5, 7]
    bank.pictures(1, 1, np.array([0]))  # another page, in place of the first
    bank.pictures(0, 1, np.array([5]))
    assert MADE == [3, 5, 7, 0, 5]


def test_severity_zero_is_the_picture_itself() -> None:
    bank = Bank(pool(), KINDS)
    rows = np.arange(30)
    assert np.array_equal(bank.pictures(1, CLEAN, rows), to_bytes(pool()))
    assert bank.held == 0


def test_pools_of_bytes_and_of_colours() -> None:
    x = to_bytes(coloured(5))
    bank = Bank(x, [GaussianNoise()])
    wanted = to_bytes(GaussianNoise().corrupt(from_bytes(x), 2, np.arange(5)))
    assert np.array_equal(bank.pictures(0, 2, np.arange(5)), wanted)


def test_what_a_bank_does_not_have_is_refused() -> None:
    bank = Bank(pool(), KINDS)
    with pytest.raises(DataError, match="rows are numbered 0 to 29 in this bank, got 0 to 30"):
        bank.pictures(0, 1, np.array([0, 30]))
    with pytest.raises(DataError, match="corruptions are numbered 0 to 3"):
        bank.pictures(-1, 1, np.array([0]))
    for severity in (-1, 6):
        with pytest.raises(DataError, match=f"severities are numbered 0 to 5 .* got {severity}"):
            bank.pictures(0, severity, np.array([0]))
    with pytest.raises(DataError, match="scale them"):
        Bank(2 * pool(), KINDS)
