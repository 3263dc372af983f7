"""The nets once more, as torch modules written by themselves, on the same flat parameters."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from driftfold.arrays import Array
from driftfold.nets import Model
from driftfold.torch_lazily import one_thread

MODES = {"eval": False, "batch": True, "train": True}


def mlp(sizes: Sequence[int], slope: float, norms: bool) -> nn.Sequential:
    """Hidden layers, and the last one."""
    layers: list[nn.Module] = []
    for i, (size, width) in enumerate(pairwise(sizes)):
        layers.append(nn.Linear(size, width))
        if i < len(sizes) - 2:
            layers += [nn.BatchNorm1d(width)] if norms else []
            layers.append(nn.LeakyReLU(slope) if slope else nn.ReLU())
    return nn.Sequential(*layers).double()


class Block(nn.Module):
    """A basic block with a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int, slope: float) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(outputs))
        self.bend = nn.LeakyReLU(slope)

    def forward(self, x: Any) -> Any:
        y = self.norm2(self.conv2(self.bend(self.norm1(self.conv1(x)))))
        return torch.relu(y + self.shortcut(x))


def mini_resnet6(channels: int, classes: int) -> nn.Sequential:
    """Three blocks, pooling, two linear layers."""
    return nn.Sequential(
        Block(channels, 32, 1, 0.01),
        Block(32, 64, 2, 0.01),
        Block(64, 128, 2, 0.01),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 64),
        nn.LeakyReLU(),
        nn.Linear(64, classes),
    ).double()


def resnet18(channels: int, classes: int, width: int) -> nn.Sequential:
    """A stem, eight blocks, pooling, a linear layer."""
    layers: list[nn.Module] = [
        nn.Conv2d(channels, width, 3, 1, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
    ]
    size = width
    for i in range(4):
        wide = width * 2**i
        layers += [Block(size, wide, 1 if i == 0 else 2, 0.0), Block(wide, wide, 1, 0.0)]
        size = wide
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(size, classes)]
    return nn.Sequential(*layers, *last).double()


def fill(module: nn.Module, theta: Array) -> None:
    """Give a module the numbers of a flat vector, which has its arrays in the module's order."""
    start = 0
    for tensor in _arrays(module):
        size = tensor.numel()
        tensor.data.copy_(torch.from_numpy(theta[start : start + size]).reshape(tensor.shape))
        start += size
    assert start == len(theta)


def flat(module: nn.Module, gradients: bool = False) -> Array:
    """The module's numbers, or their gradients, as one vector."""
    parts = []
    for tensor in _arrays(module):
        made = tensor
        if gradients:
            made = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
        parts.append(made.detach().numpy().reshape(-1))
    return np.concatenate(parts)


def check_against(
    model: Model, module: nn.Sequential, theta: Array, x: Array, inputs: Any, tolerance: float
) -> None:
    """Logits, gradients and moved buffers of a model are those of its twin, in every mode.

    Two passes in mode "train", so that running statistics are averaged with what they were.
    """
    with one_thread(torch):
        _check_against(model, module, theta, x, inputs, tolerance)


def _check_against(
    model: Model, module: nn.Sequential, theta: Array, x: Array, inputs: Any, tolerance: float
) -> None:
    rng = np.random.default_rng(3)
    for mode, training in MODES.items():
        fill(module, theta)
        module.train(training)
        moved = theta
        for _ in range(2 if mode == "train" else 1):
            module.zero_grad()
            ran = model.forward(moved, x, mode)  # type: ignore[arg-type]
            logits = module(inputs)
            np.testing.assert_allclose(
                ran.logits, logits.detach().numpy(), rtol=tolerance, atol=tolerance
            )
            g = rng.standard_normal(ran.logits.shape)
            (logits * torch.from_numpy(g)).sum().backward()
            wanted = flat(module, gradients=True)
            np.testing.assert_allclose(
                ran.pullback(g), wanted, atol=tolerance * float(np.abs(wanted).max())
            )
            moved = ran.moved
        if mode == "train":
            np.testing.assert_allclose(moved, flat(module), rtol=tolerance, atol=tolerance)
        else:
            assert moved is theta or np.array_equal(moved, theta)


def _arrays(module: nn.Module) -> list[Any]:
    """Parameters and running statistics of every layer, in the order of the layers."""
    found: list[Any] = []
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.BatchNorm1d | nn.BatchNorm2d):
            found += [each for each in (layer.weight, layer.bias) if each is not None]
            if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
                found += [layer.running_mean, layer.running_var]
    return found
