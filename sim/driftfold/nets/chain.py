"""Dense nets: layers one after the other on stacks of NumPy arrays."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from driftfold.arrays import Array, Bools, Floats
from driftfold.nets.base import Mode, Model, Pass
from driftfold.nets.batch_norm import BatchNorm
from driftfold.nets.layer import Layer, Trace
from driftfold.nets.layout import Layout
from driftfold.nets.masks import Masks
from driftfold.rng import Stream


class Chain(Model):
    """A body and a head of layers; the first layer is linear.

    Parameters
    ----------
    inputs
        Shape of one input; it is flattened.
    classes, features, dtype
        See `Model`.
    body, top
        Layers up to h(x), which may be none, and those from there to the logits.
    head
        Prefixes of the names of the layers of `top`.
    """

    def __init__(
        self,
        inputs: tuple[int, ...],
        classes: int,
        features: int,
        dtype: np.dtype[Any],
        body: Sequence[Layer],
        top: Sequence[Layer],
        head: tuple[str, ...],
    ) -> None:
        self.inputs, self.classes, self.features, self.dtype = inputs, classes, features, dtype
        self.body, self.top, self.head = tuple(body), tuple(top), head
        layers = (*self.body, *self.top)
        self.layout = Layout(tuple(entry for layer in layers for entry in layer.entries))
        self.norms = tuple(layer.name for layer in layers if isinstance(layer, BatchNorm))

    @cached_property
    def head_model(self) -> "Chain":
        """The layers on top of the features."""
        if not self.body and len(self.inputs) == 1:
            return self
        size = self.features
        return Chain((size,), self.classes, size, self.dtype, (), self.top, self.head)

    def initial(self, stream: Stream) -> Floats:
        """Layers' own, in the model's type."""
        parts: dict[str, Floats] = {}
        for layer in (*self.body, *self.top):
            parts |= layer.initial(stream)
        joined: Floats = self.layout.join(parts).astype(self.dtype)
        return joined

    def pass_bytes(self, n: int) -> int:
        """Inputs, and what the layers make of them."""
        kept = prod(self.inputs) + sum(layer.kept for layer in (*self.body, *self.top))
        return n * kept * self.dtype.itemsize

    def forward(
        self, theta: Array, x: Array, mode: Mode = "eval", masks: Masks | None = None
    ) -> "ChainPass":
        """All clients at once, one product a client and layer."""
        lead, rank = self._lead(theta, x), len(self.inputs)
        theta, x = theta.astype(self.dtype, copy=False), x.astype(self.dtype, copy=False)
        x = x.reshape(*x.shape[: x.ndim - rank], prod(self.inputs))
        parts = self.layout.parts(theta)
        traces, features = [], x
        for layer in (*self.body, *self.top):
            trace = layer.forward(parts, x, mode, masks)
            traces.append(trace)
            x = trace.y
            if len(traces) == len(self.body):
                features = x
        return ChainPass(self, theta, traces, _of_lead(features, lead), x)


class ChainPass(Pass):
    """The traces of all layers."""

    def __init__(
        self, chain: Chain, theta: Array, traces: Sequence[Trace], features: Array, logits: Array
    ) -> None:
        self._chain, self._theta, self._traces = chain, theta, traces
        self.features, self.logits = features, logits

    @cached_property
    def moved(self) -> Array:
        """Theta, with the buffers that the layers moved."""
        return with_moved(
            self._chain.layout,
            self._theta,
            self.logits.shape[:-2],
            {name: value for trace in self._traces for name, value in trace.moved.items()},
        )

    def pullback(
        self, of_logits: Array | None, of_features: Array | None = None, only: Bools | None = None
    ) -> Array:
        """Through the layers in reverse, to the first that has a wanted parameter."""
        layout = self._chain.layout
        wanted = layout.wanted(only)
        lead = self.logits.shape[:-2]
        full = len(wanted) == len(layout.entries) and of_logits is not None
        gradient = (np.empty if full else np.zeros)((*lead, layout.size), self._theta.dtype)
        grads = {name: g for name, g in layout.parts(gradient).items() if name in wanted}
        self.back(of_logits, of_features, grads, to_input=False)
        return gradient

    def back(
        self,
        of_logits: Array | None,
        of_features: Array | None,
        grads: Mapping[str, Array],
        to_input: bool,
    ) -> Array | None:
        """Fill `grads`, arrays (..., *shape) by name of the parameters that are wanted.

        Returns the gradient in the inputs, (..., n, flattened), if `to_input`.
        """
        layers = (*self._chain.body, *self._chain.top)
        bottom = len(self._chain.body)
        last = 0 if to_input else _first_wanted(layers, grads)
        dy = None if of_logits is None else _own(of_logits, self.logits)
        for i in range(len(layers), last - 1, -1):
            if i == bottom and of_features is not None:
                more = _own(of_features, self.features)
                dy = more if dy is None else np.add(dy, more, out=dy)
            if i == last:
                return dy
            if dy is not None:
                dy = self._traces[i - 1].back(dy, grads, to_input or i - 1 > last)
        return dy


def with_moved(
    layout: Layout, theta: Array, lead: tuple[int, ...], moved: Mapping[str, Array]
) -> Array:
    """Copies (..., P) of theta with other buffers; theta itself where none moved."""
    if not moved:
        return theta
    made = np.array(_of_lead(theta, lead, own=1))
    for name, part in layout.parts(made).items():
        if name in moved:
            part[...] = moved[name]
    return made


def _of_lead(array: Array, lead: tuple[int, ...], own: int = 2) -> Array:
    """View with the leading axes `lead` before its own last ones."""
    shape = (*lead, *array.shape[array.ndim - own :])
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _own(gradient: Array, like: Array) -> Array:
    """A copy that may be overwritten, of the shape and type of `like`."""
    return np.array(np.broadcast_to(gradient, like.shape), dtype=like.dtype, order="C")


def _first_wanted(layers: Sequence[Layer], grads: Mapping[str, Array]) -> int:
    """Place of the first layer with a wanted parameter, or that after the last one."""
    for i, layer in enumerate(layers):
        if any(entry.name in grads for entry in layer.entries):
            return i
    return len(layers)
