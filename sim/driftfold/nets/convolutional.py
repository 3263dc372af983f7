"""Nets of convolutions, in torch, under a dense head."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from driftfold.arrays import Array, Bools, Floats
from driftfold.errors import SpecError
from driftfold.nets.base import Mode, Model, Pass
from driftfold.nets.chain import Chain, ChainPass, with_moved
from driftfold.nets.layer import Layer
from driftfold.nets.layout import Layout
from driftfold.nets.masks import Masks
from driftfold.nets.pictures import Pictures
from driftfold.nets.stage import Stage
from driftfold.rng import Stream
from driftfold.torch_lazily import load_torch, one_thread

_Graph = tuple[Mapping[str, Array], Array]  # parameters as leaves, features


class Convolutional(Model):
    """Stages of convolutions, the mean over the pixels, and dense layers on it.

    Inputs are pictures (height, width) or (height, width, channels), as they lie in memory what
    torch calls channels last. The body is computed one client after another: on one core that was
    no slower than one grouped convolution for all clients and 1.4 times as fast as
    `torch.func.vmap` (MiniResNet6, 50 pictures of 32 x 32 x 3, float32: 264, 288 and 380 ms a
    client and step on a busy machine, `bench/drift.py`; channels first took a quarter more); the
    memory of one client suffices, and its bits cannot depend on the others. The head is dense, for
    all clients at once.

    Parameters
    ----------
    inputs, classes, dtype
        See `Model`.
    stages
        The body.
    top, head
        Layers of the head, and the prefixes of their names.

    Attributes
    ----------
    memory
        Bytes, about, that a pass may keep for the way back. Beyond, the rest of the clients are
        passed forward once more when they are pulled back, at a third more time.
    """

    memory: int = 2**28

    def __init__(
        self,
        inputs: tuple[int, ...],
        classes: int,
        dtype: np.dtype[Any],
        stages: Sequence[Stage],
        top: Sequence[Layer],
        head: tuple[str, ...],
    ) -> None:
        self.inputs, self.classes, self.dtype = inputs, classes, dtype
        self.stages, self.head = tuple(stages), head
        self.features = width = self.stages[-1].outputs
        self._head_model = Chain((width,), classes, width, dtype, (), top, head)
        self.body = Layout(tuple(entry for stage in self.stages for entry in stage.entries))
        self.layout = Layout((*self.body.entries, *self._head_model.layout.entries))
        self.norms = tuple(norm for stage in self.stages for norm in stage.norms)

    @property
    def head_model(self) -> Chain:
        """The dense layers on the mean over the pixels."""
        return self._head_model

    def initial(self, stream: Stream) -> Floats:
        """Stages' and layers' own, in the model's type."""
        parts: dict[str, Floats] = {}
        for stage in self.stages:
            parts |= stage.initial(stream)
        body = self.body.join(parts).astype(self.dtype)
        joined: Floats = np.concatenate([body, self.head_model.initial(stream)])
        return joined

    def pass_bytes(self, n: int) -> int:
        """What torch keeps of the pictures between the stages."""
        pixels, kept = (self.inputs[0], self.inputs[1]), 0
        for stage in self.stages:
            kept += stage.kept(pixels)
            pixels = stage.size(pixels)
        return n * kept * self.dtype.itemsize + self.head_model.pass_bytes(n)

    def forward(
        self, theta: Array, x: Array, mode: Mode = "eval", masks: Masks | None = None
    ) -> "ConvolutionalPass":
        """Bodies one client after another, heads all at once."""
        return ConvolutionalPass(self, theta, x, mode, masks, self._lead(theta, x))

    def tensors(self, torch: Any, body: Array) -> dict[str, Array]:
        """Parameters of one client's body by name, kernels with their channels last."""
        made = {}
        for name, part in self.body.parts(body.astype(self.dtype, copy=False)).items():
            tensor = torch.from_numpy(np.array(part))
            made[name] = (
                tensor.contiguous(memory_format=torch.channels_last) if part.ndim == 4 else tensor
            )
        return made

    def pictures(self, torch: Any, x: Array) -> Array:
        """Pictures of one client as a tensor (n, channels, height, width), channels last."""
        channels = self.inputs[2] if len(self.inputs) == 3 else 1
        rows = np.array(x, dtype=self.dtype).reshape(len(x), *self.inputs[:2], channels)
        return torch.from_numpy(rows).permute(0, 3, 1, 2)


class ConvolutionalPass(Pass):
    """Graphs of the first clients' bodies, as many as the memory is for, and all heads' traces."""

    def __init__(
        self,
        model: Convolutional,
        theta: Array,
        x: Array,
        mode: Mode,
        masks: Masks | None,
        lead: tuple[int, ...],
    ) -> None:
        self._model, self._theta, self._mode, self._masks = model, theta, mode, masks
        self._split = model.body.size
        self._bodies = np.broadcast_to(theta, (*lead, model.layout.size))[..., : self._split]
        own = len(model.inputs) + 1
        self._x = np.broadcast_to(x, (*lead, *x.shape[x.ndim - own :]))
        n = self._x.shape[len(lead)]
        self._moved: dict[str, Array] = {}
        self._graphs: dict[tuple[int, ...], _Graph] = {}
        self.features = np.empty((*lead, n, model.features), model.dtype)
        kept = model.memory // max(1, model.pass_bytes(n))
        for place in np.ndindex(lead):
            graph = self._run(place, grad=len(self._graphs) < kept, first=True)
            self.features[place] = graph[1].detach().numpy()
            if len(self._graphs) < kept:
                self._graphs[place] = graph
        heads = theta[..., self._split :]
        self._head: ChainPass = model.head_model.forward(heads, self.features, mode, masks)
        self.logits = self._head.logits

    @cached_property
    def moved(self) -> Array:
        """Theta, with the buffers that the stages moved."""
        lead = self.features.shape[:-2]
        return with_moved(self._model.layout, self._theta, lead, self._moved)

    def pullback(
        self, of_logits: Array | None, of_features: Array | None = None, only: Bools | None = None
    ) -> Array:
        """Through the heads, then through those bodies that have a wanted parameter."""
        model = self._model
        wanted = model.layout.wanted(only)
        lead = self.features.shape[:-2]
        gradient = np.zeros((*lead, model.layout.size), model.dtype)
        grads = {name: g for name, g in model.layout.parts(gradient).items() if name in wanted}
        body = [entry.name for entry in model.body.entries if entry.name in wanted]
        above = {name: grads[name] for name in grads if name not in model.body.slices}
        dy = self._head.back(of_logits, of_features, above, to_input=bool(body))
        if body and dy is not None:
            for place in np.ndindex(lead):
                for name, value in zip(body, self._pulled(place, dy[place], body), strict=True):
                    grads[name][place] = value
        return gradient

    def _pulled(self, place: tuple[int, ...], dy: Array, names: Sequence[str]) -> Sequence[Array]:
        """Gradients of one client's features along `dy` in its body's arrays of some names."""
        torch = load_torch()
        leaves, features = self._graphs.get(place) or self._run(place, grad=True, first=False)
        with one_thread(torch), torch.enable_grad():
            # Of a number: gradients along a tensor import torch's symbolic shapes, for seconds.
            product = (features * torch.from_numpy(np.array(dy))).sum()
            wanted = [leaves[name] for name in names]
            found = torch.autograd.grad(product, wanted, retain_graph=True)
        return [each.numpy() for each in found]

    def _run(self, place: tuple[int, ...], grad: bool, first: bool) -> _Graph:
        """One client's body; the first time, the buffers that move are put down."""
        torch, model = load_torch(), self._model
        lead = self._bodies.shape[:-1]
        masks = None if self._masks is None else self._masks.of(place, lead)
        with one_thread(torch), torch.set_grad_enabled(grad):
            leaves = model.tensors(torch, self._bodies[place])
            for entry in model.body.entries:
                leaves[entry.name].requires_grad_(grad and not entry.buffer)
            run = Pictures(torch, leaves, self._mode, masks)
            y = model.pictures(torch, self._x[place])
            for stage in model.stages:
                y = stage.apply(run, y)
            features = y.mean((2, 3))
        if first:
            for name, value in run.moved.items():
                shape = (*lead, *value.shape)
                self._moved.setdefault(name, np.empty(shape, model.dtype))[place] = value.numpy()
        return leaves, features


def channels_of(inputs: tuple[int, ...], net: str) -> int:
    """Return the channels of pictures of this shape; `SpecError` where they are no pictures."""
    if len(inputs) not in (2, 3) or min(inputs) < 1:
        raise SpecError(
            f"{net} takes pictures, got inputs of shape {inputs}; wanted (height, width) or "
            "(height, width, channels)"
        )
    return inputs[2] if len(inputs) == 3 else 1
