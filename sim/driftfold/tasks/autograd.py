"""A task of one's own: write the loss of one client in torch, get everybody's gradients.

Gradients are those of reverse differentiation through `torch.func.vmap` over clients. Arrays are
NumPy on both sides; torch is imported when the first gradient is asked for.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from driftfold.arrays import Array, Floats, Ints
from driftfold.data.base import ClientData
from driftfold.fleet import Fleet
from driftfold.manifolds.base import Manifold
from driftfold.tasks.base import Batch
from driftfold.tasks.sampled import SampledProblem, SeparableView
from driftfold.torch_lazily import load_torch, one_thread

_VECTOR_BYTES = 64  # of the widest registers of a processor
_TILE_BYTES = 2**16  # told of one client at most


class LossProblem(SampledProblem):
    """F(x) = sum_i a_i f_i(x), f_i the mean over client i's samples of a loss written in torch.

    Subclasses define `losses`, and `measures` if they want more metrics than the loss.

    A client's results do not depend, bit for bit, on who else is in the stack, for losses made of
    torch's elementwise functions, matrix products, reductions within a client, and its small
    factorisations: stacks are filled up to whole registers, since torch computes the last few
    numbers of an array by other code, and MKL is put in its strict mode (see `load_torch`). What
    couples samples of several clients, or draws random numbers, is not supported.

    Parameters
    ----------
    data
        The clients' samples, and their classes if they have any.
    fleet
        The clients.
    manifold
        Where x lives. A product's parts are found by `manifold.split(x)`, on torch as on NumPy.

    Attributes
    ----------
    memory
        Bytes that the intermediate results of a stack may take, about; more clients than that are
        computed one part after the other.

    Examples
    --------
    >>> from driftfold.data import GaussianBlocks, Natural
    >>> from driftfold.manifolds import Sphere
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.division import divide
    >>> class Robust(LossProblem):
    ...     def losses(self, x, z, y):
    ...         residual = z - (z @ x)[:, None] * x
    ...         return (1 + (residual**2).sum(-1)).sqrt()
    >>> data, fleet = divide(GaussianBlocks(3, 5, 4), Natural(), "natural", "clients", Seed(1))
    >>> problem = Robust(data, fleet, Sphere(4))
    >>> view = problem.view(np.arange(3), np.zeros(3, dtype=int))
    >>> view.gradient(problem.initial_point(), view.everything()).shape
    (3, 4)
    """

    memory: int = 2**28

    def __init__(self, data: ClientData, fleet: Fleet, manifold: Manifold) -> None:
        super().__init__(_without_padding(data), fleet)
        self.manifold = manifold
        self.itemsize = int(data.x.itemsize)

    @abstractmethod
    def losses(self, x: Array, z: Array, y: Array) -> Array:
        """Loss of each sample of one client, in torch.

        Parameters
        ----------
        x
            The point as the manifold stores it, a tensor of its shape.
        z
            Samples, shape (n, d).
        y
            Their classes, shape (n,), or None where the data have none.

        Returns
        -------
        A tensor of shape (n,).
        """

    def measures(self, x: Array, z: Array, y: Array) -> Mapping[str, Array]:
        """Named figures of each sample of one client, each of shape (n,); metrics are means."""
        return {}

    @property
    def client_bytes(self) -> int:
        """Four points, but so few bytes that a tile has some dozens of clients.

        A call of torch costs a millisecond for any number of clients, so many at a time pay, even
        where they do not fit the cache together.
        """
        return min(4 * self.itemsize * prod(self.manifold.shape), _TILE_BYTES)

    def initial_point(self) -> Array:
        """Return a random point of the manifold."""
        stream = self.fleet.seed.stream("initial point")
        point = self.manifold.random_point(stream, np.zeros(1, dtype=np.int64))[0]
        return point.astype(self.data.x.dtype)

    def view(self, clients: Ints, dispatches: Ints, times: Floats | float = 0.0) -> "LossView":
        """Return the samples of some clients."""
        return LossView(self, clients, dispatches)

    def evaluate(self, x: Array, time: float) -> Mapping[str, float]:
        """Objective F(x), and the clients' mean measures, weighted by importance like F."""
        figures: dict[str, float] = {}
        tile = self.stack_size
        for start in range(0, self.fleet.size, tile):
            ids = np.arange(start, min(self.fleet.size, start + tile))
            view = self.view(ids, np.zeros_like(ids))
            importance = self.fleet.importance[ids]
            for name, each in view.figures(x, view.everything()).items():
                figures[name] = figures.get(name, 0.0) + float(np.vdot(importance, each))
        return figures

    @property
    def stack_size(self) -> int:
        """Clients that are computed at a time: whole registers of them."""
        group = _VECTOR_BYTES // self.itemsize
        numbers = 8 * self.longest * self.dimension + 4 * prod(self.manifold.shape)
        return max(1, self.memory // (self.itemsize * numbers) // group) * group

    @cached_property
    def mapped(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Gradient of the mean loss, and all means, of a stack of clients in torch."""
        torch = load_torch()

        def loss(x: Array, z: Array, y: Array, w: Array) -> Array:
            return (w * self.losses(x, z, y)).sum()

        def figures(x: Array, z: Array, y: Array, w: Array) -> dict[str, Array]:
            means = {"loss": loss(x, z, y, w)}
            for name, each in self.measures(x, z, y).items():
                means[name] = (w * each).sum()
            return means

        axes = (0, 0, None if self.data.y is None else 0, 0)
        losses = torch.func.vmap(loss, axes)

        def gradient(x: Array, z: Array, y: Array, w: Array) -> Array:
            # Clients do not meet, so the gradient of the sum holds everybody's own. It needs one
            # layer less than vmap(grad(loss)), whose first call imports a compiler for a second.
            with torch.enable_grad():
                x.requires_grad_()
                total = losses(x, z, y, w).sum()
                if not total.requires_grad:  # the losses do not use x
                    return torch.zeros_like(x)
                return torch.autograd.grad(total, x, materialize_grads=True)[0]

        return gradient, torch.func.vmap(figures, axes)


class LossView(SeparableView):
    """The samples of some clients, for a loss written in torch."""

    def __init__(self, problem: LossProblem, clients: Ints, dispatches: Ints) -> None:
        super().__init__(problem, clients, dispatches)
        self._problem: LossProblem = problem

    def gradient(self, x: Array, batch: Batch) -> Array:
        """Riemannian gradient, from the Euclidean one by automatic differentiation."""
        x = self._spread(x)
        out = np.empty(x.shape, dtype=x.dtype)
        for part, tensors in self._tensors(x, batch):
            out[part] = self._stacks(self._problem.mapped[0], tensors)["all"]
        return self._problem.manifold.gradient(x, self._of_samples(out))

    def loss(self, x: Array, batch: Batch) -> Array:
        """Weighted mean of the losses."""
        return self.figures(x, batch)["loss"]

    def figures(self, x: Array, batch: Batch) -> dict[str, Array]:
        """Weighted means of loss and measures by name, each of shape (...)."""
        x = self._spread(x)
        out: dict[str, Array] = {}
        for part, tensors in self._tensors(x, batch):
            for name, values in self._stacks(self._problem.mapped[1], tensors).items():
                whole = out.setdefault(name, np.empty(self.clients.shape, dtype=x.dtype))
                whole[part] = values
        if not out:  # a stack of nobody
            out["loss"] = np.empty(self.clients.shape, dtype=x.dtype)
        return {name: self._of_samples(values) for name, values in out.items()}

    def _tensors(self, x: Array, batch: Batch) -> list[tuple[Any, list[Array]]]:
        """Pieces of the stack, each with its x, z, y and w of one floating type."""
        pieces: list[tuple[Any, list[Array]]] = []
        if not self.clients.size:
            return pieces
        labels = self._labels(batch)
        for part, z in self._samples(batch):
            kind = np.result_type(x, z)
            y = None if labels is None else labels[part]
            w = batch.weights[part]
            floats = [a.astype(kind, copy=False) for a in (x[part], z, w)]
            pieces.append((part, [floats[0], floats[1], y, floats[2]]))
        return pieces

    def _labels(self, batch: Batch) -> Array:
        y = self._problem.data.y
        if y is None:
            return None
        if batch.indices is None:
            return y[self.clients]
        return y.reshape(-1)[self._rows(batch.indices)]

    def _stacks(self, function: Callable[..., Any], arrays: Sequence[Array]) -> dict[str, Array]:
        """Apply `function` to the arrays (..., ...), some clients at a time."""
        alone = self.clients.ndim == 0
        stacked = [a[None] if alone and a is not None else a for a in arrays]
        count, size = len(stacked[0]), self._problem.stack_size
        torch = load_torch()
        made = []
        with one_thread(torch), torch.no_grad():
            for start in range(0, count, size):
                stop = min(count, start + size)
                tensors = [None if a is None else self._tensor(a, start, stop) for a in stacked]
                result = function(*tensors)
                named = result if isinstance(result, dict) else {"all": result}
                made.append({name: t[: stop - start].numpy() for name, t in named.items()})
        joined = {name: np.concatenate([piece[name] for piece in made]) for name in made[0]}
        return {name: values[0] for name, values in joined.items()} if alone else joined

    def _tensor(self, array: Array, start: int, stop: int) -> Any:
        """Rows start .. stop-1 as a tensor, filled up with the last one to whole registers."""
        group = _VECTOR_BYTES // self._problem.itemsize
        rows = np.minimum(np.arange(start, start + -(-(stop - start) // group) * group), stop - 1)
        return load_torch().from_numpy(array[rows])

    def _of_samples(self, values: Array) -> Array:
        """Return `values` with 0 for clients that hold no sample, whatever a loss makes of none."""
        samples = self._problem.data.samples[self.clients]
        if np.all(samples > 0):
            return values
        held = np.reshape(samples > 0, (*samples.shape, *[1] * (values.ndim - samples.ndim)))
        return np.where(held, values, np.zeros_like(values))


def _without_padding(data: ClientData) -> ClientData:
    """Copies of a client's first sample in place of zero rows, which a loss need not allow for."""
    padding = np.arange(data.x.shape[1]) >= data.samples[:, None]
    if not padding.any():
        return data
    x = np.where(padding[..., None], data.x[:, :1], data.x)
    y = None if data.y is None else np.where(padding, data.y[:, :1], data.y)
    return replace(data, x=x, y=y)
