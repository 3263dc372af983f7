"""Where the parameters of a net lie in its flat vector, found by name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from driftfold.arrays import Array, Bools
from driftfold.errors import SpecError
from driftfold.registry import unknown


@dataclass(frozen=True)
class Entry:
    """One array of a net.

    Attributes
    ----------
    name
        Full name, words joined by dots: ``body.0.weight``.
    shape
        Shape of the array.
    buffer
        Whether it follows the data instead of a gradient, as running means and variances do.
    """

    name: str
    shape: tuple[int, ...]
    buffer: bool = False

    @property
    def size(self) -> int:
        """Numbers of the array."""
        return prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """Arrays of a net one after the other in a vector of length P, the last axis of theta.

    Attributes
    ----------
    entries
        The arrays in order.

    Examples
    --------
    >>> layout = Layout((Entry("body.0.weight", (2, 3)), Entry("head.weight", (1, 2))))
    >>> layout.size, layout.names
    (8, ('body.0.weight', 'head.weight'))
    >>> layout.where(["body"]).tolist()
    [True, True, True, True, True, True, False, False]
    >>> layout.parts(np.zeros((5, 8)))["body.0.weight"].shape
    (5, 2, 3)
    >>> Layout((Entry("body.weight", (2, 3)),)).where(["boddy"])
    Traceback (most recent call last):
    driftfold.errors.SpecError: unknown parameter prefix 'boddy'; did you mean 'body'? known: body,
    body.weight
    """

    entries: tuple[Entry, ...]

    @cached_property
    def size(self) -> int:
        """Length P of the vector."""
        return sum(entry.size for entry in self.entries)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Full names in order."""
        return tuple(entry.name for entry in self.entries)

    @cached_property
    def slices(self) -> Mapping[str, slice]:
        """Place of each array in the vector, by name."""
        ends = np.cumsum([entry.size for entry in self.entries]).tolist()
        return {e.name: slice(end - e.size, end) for e, end in zip(self.entries, ends, strict=True)}

    @cached_property
    def buffers(self) -> Bools:
        """Which numbers belong to buffers, shape (P,)."""
        which = np.zeros(self.size, dtype=bool)
        for entry in self.entries:
            which[self.slices[entry.name]] = entry.buffer
        which.flags.writeable = False
        return which

    def where(self, prefixes: Iterable[str]) -> Bools:
        """Numbers of the arrays below any of some names, shape (P,), buffers included.

        An array is below a prefix when that is its full name, or its full name begins with the
        prefix and a dot. Raises `SpecError` for a prefix that nothing is below: parameters that
        are silently not found are never trained, or never averaged.
        """
        which = np.zeros(self.size, dtype=bool)
        for entry in self._below(prefixes):
            which[self.slices[entry.name]] = True
        return which

    def part(self, prefixes: Iterable[str]) -> "Layout":
        """Layout of the arrays below any of some names alone, of theta[..., where(prefixes)].

        >>> Layout((Entry("a.x", (2,)), Entry("b.x", (3,)))).part(["b"]).names
        ('b.x',)
        """
        return Layout(tuple(self._below(prefixes)))

    def parts(self, theta: Array) -> dict[str, Array]:
        """Views of the arrays in vectors theta (..., P), each of shape (..., *shape), by name."""
        lead = theta.shape[:-1]
        return {
            entry.name: theta[..., self.slices[entry.name]].reshape(*lead, *entry.shape)
            for entry in self.entries
        }

    def join(self, parts: Mapping[str, Array]) -> Array:
        """Vectors (..., P) of arrays by name, each of shape (..., *shape).

        >>> layout = Layout((Entry("a", (2,)), Entry("b", (1, 1))))
        >>> layout.join({"b": np.full((1, 1), 3.0), "a": np.arange(2.0)})
        array([0., 1., 3.])
        """
        flat = []
        for entry in self.entries:
            array = np.asarray(parts[entry.name])
            lead = array.shape[: array.ndim - len(entry.shape)]
            flat.append(array.reshape(*lead, entry.size))
        return np.concatenate(flat, axis=-1)

    def wanted(self, only: Bools | None) -> frozenset[str]:
        """Names of parameters, never buffers, of which `only` (P,) wants a number; all for None."""
        return frozenset(
            entry.name
            for entry in self.entries
            if not entry.buffer and (only is None or bool(only[self.slices[entry.name]].any()))
        )

    def _below(self, prefixes: Iterable[str]) -> Iterator[Entry]:
        chosen = tuple(prefixes)
        for prefix in chosen:
            if not any(_is_below(entry.name, prefix) for entry in self.entries):
                raise SpecError(unknown("parameter prefix", prefix, self._prefixes()))
        return (e for e in self.entries if any(_is_below(e.name, prefix) for prefix in chosen))

    def _prefixes(self) -> set[str]:
        words = (entry.name.split(".") for entry in self.entries)
        return {".".join(each[:n]) for each in words for n in range(1, len(each) + 1)}


def _is_below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")
