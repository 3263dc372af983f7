"""Normals from the library of kernels and from arrays: the same bits."""

import numpy as np
import pytest

from driftfold import normals as module
from driftfold import philox
from driftfold.native import drawer
from driftfold.normals import normals


@pytest.mark.skipif(drawer() is None, reason="there is no library of kernels here")
@pytest.mark.parametrize(("rows", "count"), [(1, 1), (3, 2), (18, 1), (65, 7), (4, 0), (0, 3)])
def test_both_forms_give_the_same_bits(
    rows: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients, visits = np.arange(rows, dtype=np.uint64) * np.uint64(9), np.full(rows, 4, np.uint64)
    drawn = normals(2**63 + 5, clients, visits, [3, 8], count)
    monkeypatch.setattr(module, "drawer", lambda: None)
    monkeypatch.setattr(philox, "drawer", lambda: None)
    by_arrays = normals(2**63 + 5, clients, visits, [3, 8], count)
    assert drawn.shape == by_arrays.shape == (2, rows, count)
    assert drawn.tobytes() == by_arrays.tobytes()


def test_fewer_are_a_prefix_of_more() -> None:
    clients = np.arange(40, dtype=np.uint64)
    many = normals(1, clients, clients, [3], 6)
    for count in range(6):
        assert normals(1, clients, clients, [3], count).tobytes() == many[..., :count].tobytes()


def test_each_purpose_has_its_own() -> None:
    clients = np.arange(40, dtype=np.uint64)
    both = normals(1, clients, clients, [3, 8], 4)
    for place, purpose in enumerate((3, 8)):
        assert normals(1, clients, clients, [purpose], 4)[0].tobytes() == both[place].tobytes()
