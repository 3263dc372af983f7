"""Versions of a column are values, and cost what changes."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.columns import Column, replaced
from driftfold.trees import decode, encode, leaves
from tests.work import allocated

SIZE = 5


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 20),
            st.dictionaries(st.integers(0, SIZE - 1), st.integers(-9, 9), max_size=SIZE),
            st.integers(0, 20),
        ),
        max_size=20,
    )
)
def test_every_version_stays_what_it_was(history: list[tuple[int, dict[int, int], int]]) -> None:
    """Against copies: any version is replaced, and any read, in any order."""
    versions, copies = [Column(np.zeros(SIZE, dtype=np.int64))], [np.zeros(SIZE, dtype=np.int64)]
    for which, changes, read in history:
        of = which % len(versions)
        clients = np.array(list(changes), dtype=np.int64)
        entries = np.array(list(changes.values()), dtype=np.int64)
        versions.append(replaced(versions[of], clients, entries))
        copies.append(copies[of].copy())
        copies[-1][clients] = entries
        some = np.array([read % SIZE, 0])
        assert versions[read % len(versions)][some].tolist() == (
            copies[read % len(versions)][some].tolist()
        )
    for version, copy in zip(versions, copies, strict=True):
        assert np.asarray(version).tolist() == copy.tolist()
        assert version.copy().tolist() == copy.tolist()


def test_what_is_read_is_a_copy() -> None:
    given = np.zeros((3, 2))
    column = replaced(given, np.array([1]), np.ones((1, 2)))
    assert not given.any()
    for read in (column[np.array([1])], np.asarray(column), column.copy()):
        read[:] = 7.0
    assert np.asarray(column).tolist() == [[0, 0], [1, 1], [0, 0]]


def test_a_column_is_a_leaf_of_a_tree() -> None:
    column: Column[Any] = replaced(np.zeros(3), np.array([1]), np.ones(1))
    assert leaves({"x": column}) == [column]
    arrays: dict[str, Any] = {}
    skeleton = encode(column, arrays)
    replaced(column, np.array([0]), np.ones(1))
    assert decode(skeleton, arrays).tolist() == [0, 1, 0]


def test_replacing_a_few_does_not_touch_all() -> None:
    column = Column(np.zeros(1_000_000))
    some = np.arange(0, 1_000_000, 100_000)
    with allocated() as memory:
        for step in range(100):
            column = replaced(column, some, step)
            assert (column[some] == step).all()
    assert memory.peak < 100_000  # bytes; one copy would be 8,000,000
