"""Memories of clients: sparse, and what was written is what is read."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from driftfold.compute.memories import Memories
from driftfold.trees import leaves, node


@node
class Two:
    x: Any
    n: Any


def fresh() -> Two:
    return Two(np.full((2, 3), 7.0), np.array(5))


def made(*values: int) -> Two:
    v = np.array(values)
    return Two(np.multiply.outer(v, np.ones((2, 3))), v)


def test_rows_are_made_for_visited_clients_only() -> None:
    store = Memories(fresh())
    store.write(np.array([10**12, 3]), made(1, 2))
    ids, tree = store.visited()
    assert ids.tolist() == [10**12, 3]
    assert tree.x.shape == (2, 2, 3)
    assert tree.n.tolist() == [1, 2]
    assert max(leaf.base.nbytes for leaf in leaves(tree) if leaf.base is not None) < 10_000


def test_growth_is_geometric() -> None:
    """Or a million first visits would copy a million times."""
    store, sizes = Memories(np.zeros(1)), set()
    for client in range(2000):
        store.write(np.array([client]), np.full((1, 1), float(client)))
        sizes.add(len(store._table))
    assert len(sizes) <= 12
    np.testing.assert_array_equal(store.read(np.arange(2000))[:, 0], np.arange(2000.0))


def test_what_is_read_is_a_copy() -> None:
    store = Memories(fresh())
    got = store.read(np.array([1, 2]))
    got.x[...] = -1.0
    assert (store.read(np.array([1, 2])).x == 7.0).all()


def test_restoring_forgets_what_was_there() -> None:
    store = Memories(fresh())
    store.write(np.array([4, 9]), made(1, 2))
    kept = store.visited()
    other = Memories(fresh())
    other.write(np.array([1, 2, 3]), made(9, 9, 9))
    other.restore(*kept)
    ids, tree = other.visited()
    assert ids.tolist() == [4, 9]
    np.testing.assert_array_equal(tree.x, kept[1].x)
    assert other.read(np.array([1])).n.tolist() == [5]
    other.restore(np.array([], dtype=np.int64), fresh())
    assert not len(other.visited()[0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(st.integers(0, 30), unique=True, max_size=8)), max_size=20
    )
)
def test_like_a_dictionary(calls: list[tuple[bool, list[int]]]) -> None:
    store, model = Memories(fresh()), dict.fromkeys(range(31), (7.0, 5))
    for number, (write, clients) in enumerate(calls):
        ids = np.array(clients, dtype=np.int64)
        if write and clients:
            values = [100 * number + c for c in clients]
            store.write(ids, made(*values))
            model |= {c: (float(v), v) for c, v in zip(clients, values, strict=True)}
        got = store.read(ids)
        assert [(x[0, 0], n) for x, n in zip(got.x, got.n.tolist(), strict=True)] == [
            model[c] for c in clients
        ]
        assert all((x == x[0, 0]).all() for x in got.x)
