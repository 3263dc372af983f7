"""Trees: nested frozen dataclasses whose leaves are arrays or plain values.

Server states, downloads, payloads and client memories are such trees. A class marked `@node` can
be stacked along a leading client axis, taken apart again, and written to a snapshot and read back
without pickling: the snapshot stores the node's registered name, never code. Mappings, lists and
tuples may hold trees too; plain values are None, bool, int, float and str.

>>> import numpy as np
>>> @node
... class Pair:
...     x: np.ndarray
...     n: int = 1
>>> both = stack([Pair(np.zeros(2)), Pair(np.ones(2))])
>>> both.x.shape
(2, 2)
>>> arrays = {}
>>> skeleton = encode(Pair(np.ones(2), n=3), arrays)
>>> decode(skeleton, arrays).n
3
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from driftfold.arrays import Bools
from driftfold.errors import CheckpointError, TreeError

T = TypeVar("T")

_nodes: dict[str, type[Any]] = {}
_names: dict[type[Any], tuple[str, ...]] = {}  # of the fields of each node, in order


@dataclass_transform(frozen_default=True)
def node(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass that may appear in trees."""
    made = dataclass(frozen=True, eq=False)(cls)
    _nodes[f"{cls.__module__}.{cls.__qualname__}"] = made
    if all(f.init and not f.kw_only for f in fields(made)):  # type: ignore[arg-type]
        _names[made] = tuple(f.name for f in fields(made))  # type: ignore[arg-type]
    return made


def map_leaves(fn: Callable[..., Any], tree: T, *others: T) -> T:
    """Apply `fn` to the corresponding array leaves of trees of one structure.

    Plain values are taken from the first tree; mappings come back as dicts. Raises `TreeError`
    when the structures differ.

    >>> import numpy as np
    >>> map_leaves(np.add, {"x": np.ones(2), "n": 1}, {"x": np.ones(2), "n": 2})
    {'x': array([2., 2.]), 'n': 1}
    """
    made: T = _walk(fn, _first, tree, others) if others else _map_one(fn, tree)
    return made


def leaves(tree: Any) -> list[Any]:
    """Return the array leaves in order of definition."""
    found: list[Any] = []
    _collect(tree, found)
    return found


def stack(trees: Sequence[T]) -> T:
    """Stack trees along a new leading axis; plain values must agree and stay as they are.

    Raises `TreeError` when structures, dtypes or plain values differ: nobody's numbers may depend
    on who else is in the stack.
    """
    if not trees:
        raise TreeError("cannot stack no trees at all: their structure is unknown; give one")
    made: T = _walk(_stack_leaf, _agreed, trees[0], tuple(trees[1:]))
    return made


def concatenate(trees: Sequence[T]) -> T:
    """Put rows of trees one after the other; as strict as `stack` about what differs.

    >>> import numpy as np
    >>> concatenate([{"x": np.zeros((1, 2))}, {"x": np.ones((2, 2))}])["x"].shape
    (3, 2)
    """
    if not trees:
        raise TreeError("cannot join no trees at all: their structure is unknown; give one")
    made: T = _walk(_join_leaf, _agreed, trees[0], tuple(trees[1:]))
    return made


def rows(tree: T, index: Any) -> T:
    """Take rows `index` of every array leaf (an int removes the leading axis)."""
    return map_leaves(lambda leaf: leaf[index], tree)


def spread(tree: T, count: int) -> T:
    """View each array leaf as `count` equal rows, without copying."""
    return map_leaves(lambda leaf: _spread_leaf(leaf, count), tree)


def chosen(which: Bools, these: T, others: T) -> T:
    """Rows of one tree where `which`, (k,), and of another of its structure where not.

    >>> chosen(np.array([True, False]), {"x": np.ones((2, 1))}, {"x": np.zeros((2, 1))})
    {'x': array([[1.],
           [0.]])}
    """

    def pick(one: Any, other: Any) -> Any:
        return np.where(which.reshape(-1, *[1] * (one.ndim - 1)), one, other)

    return map_leaves(pick, these, others)


def nbytes(tree: Any) -> int:
    """Total size of the array leaves, in bytes: what a transfer of the tree costs."""
    return sum(int(leaf.nbytes) for leaf in leaves(tree))


def finite(tree: Any) -> bool:
    """Return whether every floating leaf is free of NaN and infinity."""
    return all(_seem_finite(leaf) or bool(np.isfinite(leaf).all()) for leaf in _floats(tree))


def finite_rows(tree: Any, count: int) -> Bools:
    """Return for each of `count` rows whether every floating leaf is finite there, (count,)."""
    good = np.ones(count, dtype=bool)
    for leaf in _floats(tree):
        if not _seem_finite(leaf):
            good &= np.isfinite(leaf).all(axis=tuple(range(1, leaf.ndim)))
    return good


def _spread_leaf(leaf: Any, count: int) -> Any:
    shape = (count, *leaf.shape)
    if type(leaf) is not np.ndarray or not leaf.flags.c_contiguous:
        return np.broadcast_to(leaf, shape)
    # The same view; NumPy's own function takes ten times as long, several times a round.
    view = np.ndarray(shape, leaf.dtype, leaf, 0, (0, *leaf.strides))
    view.flags.writeable = False
    return view


def _floats(tree: Any) -> list[Any]:
    return [leaf for leaf in leaves(tree) if leaf.dtype.kind in "fc"]


def _seem_finite(leaf: Any) -> bool:
    """Whether all is finite, told by one quick pass; False also where a square overflows."""
    flat = leaf.reshape(-1)
    return bool(np.isfinite(flat.dot(flat)))


def encode(tree: Any, arrays: dict[str, Any]) -> Any:
    """Split a tree into a skeleton, ready for strict JSON, and its arrays (added to `arrays`).

    Raises `CheckpointError` for what cannot be rebuilt from its name alone.
    """
    if _is_node(tree):
        name = f"{type(tree).__module__}.{type(tree).__qualname__}"
        if name not in _nodes:
            raise CheckpointError(f"{name} is part of a state but not a tree node; mark it @node")
        parts = {f.name: encode(getattr(tree, f.name), arrays) for f in fields(tree)}
        return {"node": name, "of": parts}
    if isinstance(tree, Mapping):
        return {"map": [[_plain_key(k), encode(v, arrays)] for k, v in tree.items()]}
    if type(tree) in (list, tuple):
        return {type(tree).__name__: [encode(v, arrays) for v in tree]}
    if _is_array(tree):
        return _encode_array(tree, arrays)
    if type(tree) is float and not math.isfinite(tree):
        return {"float": str(tree)}
    if tree is None or type(tree) in (bool, int, float, str):
        return {"value": tree}
    raise CheckpointError(
        f"cannot store a {type(tree).__name__} in a snapshot; states hold arrays, numbers, "
        "strings, lists, tuples, mappings and @node dataclasses of them"
    )


def decode(skeleton: Any, arrays: Mapping[str, Any]) -> Any:
    """Rebuild the tree that `encode` took apart; mappings come back as dicts."""
    if "node" in skeleton:
        return _decode_node(skeleton["node"], skeleton["of"], arrays)
    if "array" in skeleton or "scalar" in skeleton:
        return _decode_array(skeleton, arrays)
    ((form, body),) = skeleton.items()
    if form == "map":
        return {k: decode(v, arrays) for k, v in body}
    if form == "list":
        return [decode(v, arrays) for v in body]
    if form == "tuple":
        return tuple(decode(v, arrays) for v in body)
    return float(body) if form == "float" else body


# Every round walks its small trees many times: what follows is the short way for a single one.


def _map_one(fn: Callable[[Any], Any], tree: Any) -> Any:
    if tree is None:  # a part that is not there, as often as not
        return None
    names = _names.get(type(tree))
    if names is not None:
        return type(tree)(*[_map_one(fn, getattr(tree, name)) for name in names])
    if _is_array(tree):
        return fn(tree)
    return _walk(fn, _first, tree, ())


def _collect(tree: Any, found: list[Any]) -> None:
    names = _names.get(type(tree))
    if names is not None:
        for name in names:
            _collect(getattr(tree, name), found)
    elif _is_array(tree):
        found.append(tree)
    elif tree is not None:
        for part in _parts(tree):
            _collect(part, found)


def _parts(tree: Any) -> Iterable[Any]:
    if _is_node(tree):
        return [getattr(tree, f.name) for f in fields(tree)]
    if isinstance(tree, Mapping):
        return tree.values()
    return tree if isinstance(tree, list | tuple) else ()


def _first(value: Any, *_: Any) -> Any:
    return value


def _walk(fn: Callable[..., Any], plain: Callable[..., Any], tree: Any, others: Any) -> Any:
    if _is_node(tree):
        _match(others, type(tree).__name__, lambda o: type(o) is type(tree))
        made = {}
        for f in fields(tree):
            rest = [getattr(o, f.name) for o in others]
            made[f.name] = _walk(fn, plain, getattr(tree, f.name), rest)
        return type(tree)(**made)
    if isinstance(tree, Mapping):
        named = f"mapping of {', '.join(map(str, tree))}"
        _match(others, named, lambda o: isinstance(o, Mapping) and o.keys() == tree.keys())
        return {k: _walk(fn, plain, v, [o[k] for o in others]) for k, v in tree.items()}
    if isinstance(tree, list | tuple):
        sized = f"{type(tree).__name__} of {len(tree)}"
        _match(others, sized, lambda o: type(o) is type(tree) and len(o) == len(tree))
        return type(tree)(_walk(fn, plain, v, [o[i] for o in others]) for i, v in enumerate(tree))
    if _is_array(tree):
        _match(others, "array", _is_array)
        return fn(tree, *others)
    return plain(tree, *others)


def _match(others: Sequence[Any], wanted: str, alike: Callable[[Any], bool]) -> None:
    for other in others:
        if not alike(other):
            raise TreeError(
                f"trees differ in structure: one holds {type(other).__name__} {other!r:.60} where "
                f"the first holds {wanted}; make all trees of one kind alike"
            )


def _agreed(value: Any, *others: Any) -> Any:
    for other in others:
        both_nan = value != value and other != other
        if type(other) is not type(value) or not (other == value or both_nan):
            raise TreeError(
                f"cannot stack plain values that differ: {value!r} and {other!r}; "
                "make what differs between clients an array"
            )
    return value


def _stack_leaf(*parts: Any) -> Any:
    return _alike(np.stack, parts, lambda part: part.shape)


def _join_leaf(*parts: Any) -> Any:
    return _alike(np.concatenate, parts, lambda part: part.shape[1:])


def _alike(put: Callable[..., Any], parts: Sequence[Any], shape: Callable[[Any], Any]) -> Any:
    """Put arrays together whose dtype and `shape` have to agree."""
    try:
        return put(parts, dtype=parts[0].dtype, casting="no")
    except (TypeError, ValueError) as error:
        seen = sorted({f"{part.dtype}{list(shape(part))}" for part in parts})
        raise TreeError(
            f"cannot put together arrays of different kinds: got {', '.join(seen)}; "
            "every client's arrays must have one dtype and shape"
        ) from error


def _encode_array(leaf: Any, arrays: dict[str, Any]) -> Any:
    array = np.asarray(leaf)
    if array.dtype.hasobject:
        raise CheckpointError(
            "cannot store an array of Python objects in a snapshot; give it a numeric dtype"
        )
    name = f"a{len(arrays)}"
    arrays[name] = array
    if isinstance(leaf, np.generic):
        return {"scalar": name}
    # Products may round differently for another order of the axes in memory, and a resumed run
    # must repeat the first bit for bit: so the order is part of the state.
    axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    if axes == list(range(array.ndim)) or 0 in array.strides:
        return {"array": name}
    arrays[name] = array.transpose(axes)
    return {"array": name, "axes": axes}


def _decode_array(skeleton: Any, arrays: Mapping[str, Any]) -> Any:
    name = skeleton["array"] if "array" in skeleton else skeleton["scalar"]
    if name not in arrays:
        raise CheckpointError(f"the snapshot names an array {name!r} that it does not hold")
    if "scalar" in skeleton:
        return arrays[name][()]
    if "axes" in skeleton:
        return arrays[name].transpose(np.argsort(skeleton["axes"]))
    return arrays[name]


def _decode_node(name: str, parts: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    if name not in _nodes:
        raise CheckpointError(
            f"the snapshot holds a {name}, which is not known here; import the plug-in that "
            "defines it before resuming"
        )
    known = {f.name for f in fields(_nodes[name])}
    if known != parts.keys():
        raise CheckpointError(
            f"the snapshot's {name} has the fields {sorted(parts)}, but here it has "
            f"{sorted(known)}; resume with the version that wrote it, or start anew"
        )
    return _nodes[name](**{k: decode(v, arrays) for k, v in parts.items()})


def _plain_key(key: Any) -> Any:
    if key is not None and type(key) not in (bool, int, str):
        raise CheckpointError(
            f"cannot store a mapping with the key {key!r} in a snapshot; keys are strings or ints"
        )
    return key


def _is_node(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
