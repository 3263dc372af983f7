import json
import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from driftfold import trees
from driftfold.errors import CheckpointError, TreeError
from driftfold.trees import node


@node
class Leaf:
    x: Any


@node
class Branch:
    left: Any
    right: Any = 7


dtypes = st.sampled_from(["f8", "f4", "i8", "i4", "u4", "u8", "?", "c16", "i1", ">f8"]).map(
    np.dtype
)
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)
    )
)
permuted = arrays.flatmap(
    lambda array: st.permutations(range(array.ndim)).map(lambda axes: array.transpose(axes))
)
scalars = dtypes.flatmap(lambda dtype: hnp.from_dtype(dtype))
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
keys = st.text(max_size=3) | st.integers() | st.booleans() | st.none()


def grow(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(children, max_size=3)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(keys, children, max_size=3)
        | st.builds(Leaf, children)
        | st.builds(Branch, children, children)
    )


forests = st.recursive(arrays | permuted | scalars | plain, grow, max_leaves=12)


def same(one: Any, other: Any) -> bool:
    """Whether two trees agree in types, dtypes, shapes, order of axes and every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Leaf):
        return same(one.x, other.x)
    if isinstance(one, Branch):
        return same(one.left, other.left) and same(one.right, other.right)
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=True)
        return all(a == b and type(a) is type(b) and same(v, w) for (a, v), (b, w) in pairs)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray | np.generic):
        return bool(
            one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
            and (not np.asarray(one).size or layout(one) == layout(other))
        )
    if isinstance(one, float):
        return bool(one.hex() == other.hex())
    return bool(one == other)


def layout(array: Any) -> list[int]:
    """Axes longer than 1, from the slowest to the fastest in memory."""
    long = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
    return sorted(long, key=lambda axis: -abs(array.strides[axis]))


@given(forests)
def test_encode_and_decode_return_every_bit(tree: Any) -> None:
    found: dict[str, Any] = {}
    text = json.dumps(trees.encode(tree, found), allow_nan=False)
    stored = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in found.items()}
    assert same(trees.decode(json.loads(text), stored), tree)


def test_a_layout_that_products_would_feel_survives() -> None:
    x = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    found: dict[str, Any] = {}
    skeleton = trees.encode({"x": x}, found)
    assert trees.decode(skeleton, found)["x"].strides == x.strides


def test_several_trees_share_one_set_of_arrays() -> None:
    found: dict[str, Any] = {}
    first = trees.encode(Leaf(np.zeros(2)), found)
    second = trees.encode([np.ones(2), np.full(1, 2.0)], found)
    assert trees.decode(first, found).x.tolist() == [0, 0]
    assert [a.tolist() for a in trees.decode(second, found)] == [[1, 1], [2]]


class Foreign:
    pass


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (Foreign(), "cannot store a Foreign"),
        ({1, 2}, "cannot store a set"),
        (b"bytes", "cannot store a bytes"),
        (Point(1, 2), "cannot store a Point"),
        (1j, "cannot store a complex"),
        ({(1, 2): 0}, r"the key \(1, 2\)"),
        (np.array([None]), "array of Python objects"),
        ([{"deep": len}], "cannot store a builtin"),
    ],
)
def test_what_cannot_come_back_is_refused(state: Any, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        trees.encode(state, {})


@dataclass(frozen=True)
class Loose:
    x: int = 1


def test_a_dataclass_that_is_no_node_is_refused() -> None:
    with pytest.raises(CheckpointError, match="Loose is part of a state but not a tree node"):
        trees.encode(Loose(), {})


def test_decoding_names_what_is_missing() -> None:
    found: dict[str, Any] = {}
    skeleton = trees.encode(Leaf(np.zeros(1)), found)
    with pytest.raises(CheckpointError, match="an array 'a0' that it does not hold"):
        trees.decode(skeleton, {})
    with pytest.raises(CheckpointError, match=r"holds a gone\.Leaf.* import the plug-in"):
        trees.decode(skeleton | {"node": "gone.Leaf"}, found)
    with pytest.raises(CheckpointError, match=r"has the fields \['y'\], but here it has \['x'\]"):
        trees.decode(skeleton | {"of": {"y": {"value": 1}}}, found)


def client(k: int) -> Branch:
    return Branch({"x": np.full((2, 3), float(k)), "n": 5}, [Leaf(np.array(k)), None, "text"])


def test_stack_and_rows_are_inverse() -> None:
    clients = [client(k) for k in range(4)]
    stacked = trees.stack(clients)
    assert [leaf.shape for leaf in trees.leaves(stacked)] == [(4, 2, 3), (4,)]
    for k in range(4):
        got = trees.rows(stacked, k)
        assert np.array_equal(got.left["x"], clients[k].left["x"])
        assert got.right[0].x == k
        assert (got.left["n"], got.right[1:]) == (5, [None, "text"])
    some = trees.rows(stacked, np.array([2, 0]))
    assert some.right[0].x.tolist() == [2, 0]


def test_stack_keeps_dtype() -> None:
    assert trees.stack([np.zeros(2, np.float32)] * 3).dtype == np.float32
    assert trees.stack([np.array([True])] * 3).dtype == bool


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (np.zeros(2), np.zeros(2, np.float32), r"float32\[2\], float64\[2\]"),
        (np.zeros(2), np.zeros(3), r"float64\[2\], float64\[3\]"),
        (np.zeros(2), 0.0, "holds float 0.0 where the first holds array"),
        (Leaf(1), Branch(1), "holds Branch .* where the first holds Leaf"),
        ([1], [1, 2], r"holds list \[1, 2\] where the first holds list of 1"),
        ([1], (1,), "holds tuple .* where the first holds list of 1"),
        ({"a": 1}, {"b": 1}, "where the first holds mapping of a;"),
        (Leaf(None), Leaf(np.zeros(2)), "None and array"),
        (1, 2, "1 and 2"),
        (1, 1.0, "1 and 1.0"),
        (True, 1, "True and 1"),
        ("a", "b", "'a' and 'b'"),
    ],
)
def test_stack_refuses_what_differs(one: Any, other: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        trees.stack([one, one, other])


def test_stack_agrees_on_nan() -> None:
    assert math.isnan(trees.stack([Leaf(math.nan), Leaf(float("nan"))]).x)


def test_stack_of_none_is_refused() -> None:
    with pytest.raises(TreeError, match="no trees"):
        trees.stack([])


def test_map_leaves_takes_plain_values_from_the_first() -> None:
    total = trees.map_leaves(
        np.add, client(1), Branch({"x": np.ones((2, 3)), "n": 9}, client(2).right)
    )
    assert (total.left["x"] == 2).all()
    assert total.left["n"] == 5
    assert total.right[0].x == 3


def test_mappings_become_dicts() -> None:
    made = trees.map_leaves(np.negative, OrderedDict(b=np.ones(1), a=2))
    assert type(made) is dict
    assert list(made) == ["b", "a"]


def test_spread_is_a_view() -> None:
    x = np.arange(3.0)
    wide = trees.spread(Leaf(x), 1000)
    assert wide.x.shape == (1000, 3)
    assert np.shares_memory(wide.x, x)


def test_nbytes_counts_arrays_only() -> None:
    assert trees.nbytes([np.zeros((2, 3)), {"a": np.zeros(4, np.float32)}, 7, "text"]) == 48 + 16


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_finds_the_row(bad: float) -> None:
    tree = {"x": np.zeros((4, 2, 3)), "n": np.arange(4), "y": [np.zeros(4, np.float32)]}
    assert trees.finite(tree)
    assert trees.finite_rows(tree, 4).tolist() == [True] * 4
    tree["x"][1, 1, 2] = bad  # type: ignore[index]
    tree["y"][0][3] = bad  # type: ignore[index]
    assert not trees.finite(tree)
    assert trees.finite_rows(tree, 4).tolist() == [True, False, True, False]


def test_finite_rows_of_nothing() -> None:
    assert trees.finite_rows({"x": np.zeros((0, 5))}, 0).tolist() == []
    assert trees.finite_rows({"x": np.zeros((2, 0))}, 2).tolist() == [True, True]
    assert trees.finite_rows({"n": 1}, 2).tolist() == [True, True]


def test_nodes_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Leaf(1).x = 2  # type: ignore[misc]
