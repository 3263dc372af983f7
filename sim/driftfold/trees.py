"""Trees: nested frozen dataclasses whose leaves are arrays or plain values.

Server states, downloads, payloads and client memories are such trees. A class marked `@node` can
be stacked along a leading client axis, taken apart again, and written to a snapshot and read back
without pickling: the snapshot stores the node's registered name, never code.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from driftfold.errors import CheckpointError

T = TypeVar("T")

_nodes: dict[str, type[Any]] = {}


@dataclass_transform(frozen_default=True)
def node(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass that may appear in trees."""
    made = dataclass(frozen=True, eq=False)(cls)
    _nodes[f"{cls.__module__}.{cls.__qualname__}"] = made
    return made


def map_leaves(fn: Callable[..., Any], tree: T, *others: T) -> T:
    """Apply `fn` to the corresponding array leaves of trees of one structure."""
    if is_dataclass(tree) and not isinstance(tree, type):
        new = {
            f.name: map_leaves(fn, getattr(tree, f.name), *(getattr(o, f.name) for o in others))
            for f in fields(tree)
        }
        return type(tree)(**new)
    if isinstance(tree, Mapping):
        return {k: map_leaves(fn, v, *(o[k] for o in others)) for k, v in tree.items()}  # type: ignore[return-value,index]
    if isinstance(tree, list | tuple):
        return type(tree)(map_leaves(fn, v, *(o[i] for o in others)) for i, v in enumerate(tree))  # type: ignore[index,call-arg,return-value]
    return fn(tree, *others) if _is_array(tree) else tree


def leaves(tree: Any) -> list[Any]:
    """Return the array leaves in order of definition."""
    found: list[Any] = []

    def keep(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    map_leaves(keep, tree)
    return found


def stack(trees: Sequence[T]) -> T:
    """Stack trees along a new leading axis; plain values must agree and stay as they are."""
    return map_leaves(lambda *parts: np.stack(parts), trees[0], *trees[1:])


def rows(tree: T, index: Any) -> T:
    """Take rows `index` of every array leaf (an int removes the leading axis)."""
    return map_leaves(lambda leaf: leaf[index], tree)


def spread(tree: T, count: int) -> T:
    """View each array leaf as `count` equal rows, without copying."""
    return map_leaves(lambda leaf: np.broadcast_to(leaf, (count, *leaf.shape)), tree)


def nbytes(tree: Any) -> int:
    """Total size of the array leaves, in bytes: what a transfer of the tree costs."""
    return sum(int(leaf.nbytes) for leaf in leaves(tree))


def finite(tree: Any) -> bool:
    """Return whether every floating leaf is free of NaN and infinity."""
    return all(
        bool(np.isfinite(leaf).all()) for leaf in leaves(tree) if leaf.dtype.kind in "fc"
    )


def finite_rows(tree: Any, count: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return for each of `count` rows whether every floating leaf is finite there."""
    good = np.ones(count, dtype=bool)
    for leaf in leaves(tree):
        if leaf.dtype.kind in "fc":
            good &= np.isfinite(leaf).reshape(count, -1).all(axis=1)
    return good


def encode(tree: Any, arrays: dict[str, Any]) -> Any:
    """Split a tree into a JSON-ready skeleton and its arrays (added to `arrays`)."""
    if is_dataclass(tree) and not isinstance(tree, type):
        name = f"{type(tree).__module__}.{type(tree).__qualname__}"
        if name not in _nodes:
            raise CheckpointError(f"{name} is part of a state but not a tree node; mark it @node")
        return {"node": name, "of": {f.name: encode(getattr(tree, f.name), arrays) for f in fields(tree)}}
    if isinstance(tree, Mapping):
        return {"map": [[k, encode(v, arrays)] for k, v in tree.items()]}
    if isinstance(tree, list | tuple):
        return {"tuple" if isinstance(tree, tuple) else "list": [encode(v, arrays) for v in tree]}
    if _is_array(tree):
        name = f"a{len(arrays)}"
        arrays[name] = np.asarray(tree)
        return {"array": name}
    if tree is None or isinstance(tree, bool | int | float | str):
        return {"value": tree}
    raise CheckpointError(
        f"cannot store a {type(tree).__name__} in a snapshot; states hold arrays, numbers, "
        "strings and @node dataclasses of them"
    )


def decode(skeleton: Any, arrays: Mapping[str, Any]) -> Any:
    """Rebuild the tree that `encode` took apart."""
    ((form, body),) = ((k, v) for k, v in skeleton.items() if k != "of")
    if form == "node":
        if body not in _nodes:
            raise CheckpointError(
                f"the snapshot holds a {body}, which is not known here; import the plug-in "
                "that defines it before resuming"
            )
        return _nodes[body](**{k: decode(v, arrays) for k, v in skeleton["of"].items()})
    if form == "map":
        return {k: decode(v, arrays) for k, v in body}
    if form in ("tuple", "list"):
        parts = [decode(v, arrays) for v in body]
        return tuple(parts) if form == "tuple" else parts
    return arrays[body] if form == "array" else body


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
