"""One step of entropy descent of multilayer perceptrons, as bare programs and as torch modules."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

TINY = 1e-10

Step = Callable[[], Any]


def bare_numpy(sizes: Sequence[int], theta: Any, x: Any, rate: float) -> Step:
    """Batched products on arrays of their own, forward and back; returns weights and biases."""
    weights, biases = _parts(sizes, theta)
    scale = x.dtype.type(rate)

    def once() -> Any:
        layers = [x]
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            y = np.matmul(layers[-1], w) + b[:, None]
            layers.append(np.maximum(y, 0) if i < len(weights) - 1 else y)
        d = _entropy_slope(layers[-1]) / x.shape[1]
        for i in reversed(range(len(weights))):
            gw, gb = np.matmul(layers[i].swapaxes(1, 2), d), d.sum(axis=1)
            if i:
                d = np.matmul(d, weights[i].swapaxes(1, 2)) * (layers[i] > 0)
            weights[i] -= scale * gw
            biases[i] -= scale * gb
        return weights, biases

    return once


def bare_torch(sizes: Sequence[int], theta: Any, x: Any, rate: float) -> Step:
    """Batched products in torch, and its automatic gradient; returns weights and biases."""
    import torch

    both = [torch.from_numpy(a).requires_grad_() for part in _parts(sizes, theta) for a in part]
    weights, biases = both[: len(both) // 2], both[len(both) // 2 :]
    inputs = torch.from_numpy(x)

    def once() -> Any:
        y = inputs
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            y = torch.baddbmm(b[:, None], y, w)
            y = y.relu() if i < len(weights) - 1 else y
        p = y.softmax(-1)
        loss = -(p * (p + TINY).log()).sum(-1).mean(1).sum()
        gradients = torch.autograd.grad(loss, both)
        with torch.no_grad():
            for array, g in zip(both, gradients, strict=True):
                array -= rate * g
        return weights, biases

    return once


def modules(sizes: Sequence[int], x: Any, rate: float) -> Step:
    """Each client's own module and optimiser, one after the other."""
    import torch

    inputs = torch.from_numpy(x)

    def net() -> Any:
        layers: list[Any] = []
        for i, (size, width) in enumerate(pairwise(sizes)):
            layers.append(torch.nn.Linear(size, width))
            layers += [torch.nn.ReLU()] if i < len(sizes) - 2 else []
        return torch.nn.Sequential(*layers).to(inputs.dtype)

    nets = [net() for _ in x]
    optimisers = [torch.optim.SGD(each.parameters(), lr=rate) for each in nets]

    def once() -> None:
        for own, optimiser, batch in zip(nets, optimisers, inputs, strict=True):
            p = own(batch).softmax(-1)
            optimiser.zero_grad()
            (-(p * (p + TINY).log()).sum(-1).mean()).backward()
            optimiser.step()

    return once


def _parts(sizes: Sequence[int], theta: Any) -> tuple[list[Any], list[Any]]:
    """Weights (C, inputs, outputs) and biases (C, outputs), copied from flat vectors."""
    weights, biases, start = [], [], 0
    for size, width in pairwise(sizes):
        flat = theta[:, start : start + size * width].reshape(-1, width, size)
        weights.append(np.ascontiguousarray(flat.swapaxes(1, 2)))
        start += size * width
        biases.append(theta[:, start : start + width].copy())
        start += width
    return weights, biases


def _entropy_slope(logits: Any) -> Any:
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    slope = -np.log(p + p.dtype.type(TINY)) - p / (p + p.dtype.type(TINY))
    return p * (slope - (p * slope).sum(axis=-1, keepdims=True))
