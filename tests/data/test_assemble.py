import numpy as np
import pytest

from driftfold.arrays import Ints
from driftfold.data import Dataset, assemble
from driftfold.errors import DataError


def rows(*parts: list[int]) -> list[Ints]:
    return [np.array(part, dtype=np.int64) for part in parts]


DATA = Dataset(x=np.arange(12.0).reshape(6, 2), y=np.array([0, 1, 1, 0, 3, 1]))


def test_blocks_hold_the_rows_and_zeros_after_them() -> None:
    clients = assemble(DATA, rows([4, 0], [1, 2, 5], []))
    assert clients.samples.tolist() == [2, 3, 0]
    assert clients.x.shape == (3, 3, 2)
    assert clients.x.flags.c_contiguous
    assert clients.x[0].tolist() == [[8, 9], [0, 1], [0, 0]]
    assert not clients.x[2].any()
    assert clients.y is not None
    assert clients.y.tolist() == [[3, 0, 0], [1, 1, 1], [0, 0, 0]]


def test_label_shares_count_the_classes_of_the_whole_data() -> None:
    shares = assemble(DATA, rows([4, 0], [1, 2, 3, 5], [])).label_shares
    assert shares is not None
    assert shares.tolist() == [[0.5, 0, 0, 0.5], [0.25, 0.75, 0, 0], [0, 0, 0, 0]]


def test_data_without_labels_give_blocks_without_labels() -> None:
    clients = assemble(Dataset(x=np.ones((2, 1))), rows([0], [1]))
    assert clients.y is None
    assert clients.label_shares is None


def test_rows_may_stay_unused() -> None:
    assert assemble(DATA, rows([5])).x.tolist() == [[[10, 11]]]


def test_bad_partitions_are_refused() -> None:
    with pytest.raises(DataError, match="uses row 1 of the data 2 times"):
        assemble(DATA, rows([0, 1], [1]))
    with pytest.raises(DataError, match=r"names rows 0 .. 6 of data with rows 0 .. 5"):
        assemble(DATA, rows([0, 6]))
    with pytest.raises(DataError, match=r"names rows -1 .. 2"):
        assemble(DATA, rows([2, -1]))
    with pytest.raises(DataError, match="no client has a single sample"):
        assemble(DATA, rows([], []))
