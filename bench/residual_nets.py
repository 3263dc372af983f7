"""One step of entropy descent of MiniResNet6 for a stack of clients, in torch, two other ways."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

TINY, EPS, SLOPE = 1e-10, 1e-5, 0.01
STRIDES = (1, 2, 2)

Step = Callable[[], Any]
Parts = Mapping[str, Any]


def mapped_step(model: Any, theta: Any, x: Any) -> Step:
    """`torch.func.vmap` of `torch.func.grad` over clients; gives gradients by name."""
    import torch

    parts, inputs = _tensors(model, theta), _channels_first(x)
    running = {name: part for name, part in parts.items() if "running" in name}
    free = {name: part for name, part in parts.items() if name not in running}

    def loss(own: Parts, fixed: Parts, z: Any) -> Any:
        return _entropy(_logits({**own, **fixed}, z)).mean()

    gradient = torch.func.vmap(torch.func.grad(loss))
    return lambda: gradient(free, running, inputs)


def grouped_step(model: Any, theta: Any, x: Any) -> Step:
    """One convolution for all clients, each a group of channels; gives gradients by name."""
    import torch

    parts, inputs = _tensors(model, theta), _channels_first(x)
    count, n = inputs.shape[:2]
    functional = torch.nn.functional

    def convolved(own: Parts, conv: str, norm: str, z: Any, stride: int) -> Any:
        kernels = own[f"{conv}.weight"]
        size = kernels.shape[-1]
        y = functional.conv2d(z, kernels.flatten(0, 1), None, stride, size // 2, 1, count)
        mean, var, weight, bias = (
            own[f"{norm}.{each}"].flatten()
            for each in ("running_mean", "running_var", "weight", "bias")
        )
        return functional.batch_norm(y, mean, var, weight, bias, False, 0.1, EPS)

    def once() -> Any:
        own = {n: p.detach().requires_grad_("running" not in n) for n, p in parts.items()}
        z = inputs.transpose(0, 1).flatten(1, 2)
        for i, stride in enumerate(STRIDES):
            z = _block(own, f"body.{i}", z, stride, convolved)
        h = z.mean((2, 3)).reshape(n, count, -1).transpose(0, 1)
        for i in range(2):
            h = torch.baddbmm(own[f"head.{i}.bias"][:, None], h, own[f"head.{i}.weight"].mT)
            h = functional.leaky_relu(h, SLOPE) if i == 0 else h
        wanted = {name: part for name, part in own.items() if "running" not in name}
        found = torch.autograd.grad(_entropy(h).mean(1).sum(), list(wanted.values()))
        return dict(zip(wanted, found, strict=True))

    return once


def _logits(own: Parts, x: Any) -> Any:
    """Logits of one client's pictures."""
    from torch.nn import functional

    def convolved(own: Parts, conv: str, norm: str, z: Any, stride: int) -> Any:
        kernels = own[f"{conv}.weight"]
        y = functional.conv2d(z, kernels, None, stride, kernels.shape[-1] // 2)
        mean, var = own[f"{norm}.running_mean"], own[f"{norm}.running_var"]
        weight, bias = own[f"{norm}.weight"], own[f"{norm}.bias"]
        return functional.batch_norm(y, mean, var, weight, bias, False, 0.1, EPS)

    z = x
    for i, stride in enumerate(STRIDES):
        z = _block(own, f"body.{i}", z, stride, convolved)
    h = functional.linear(z.mean((2, 3)), own["head.0.weight"], own["head.0.bias"])
    h = functional.leaky_relu(h, SLOPE)
    return functional.linear(h, own["head.1.weight"], own["head.1.bias"])


def _block(own: Parts, name: str, z: Any, stride: int, convolved: Callable[..., Any]) -> Any:
    from torch.nn import functional

    y = convolved(own, f"{name}.conv1", f"{name}.norm1", z, stride)
    y = functional.leaky_relu(y, SLOPE)
    y = convolved(own, f"{name}.conv2", f"{name}.norm2", y, 1)
    way = convolved(own, f"{name}.shortcut.conv", f"{name}.shortcut.norm", z, stride)
    return functional.relu(y + way)


def _entropy(logits: Any) -> Any:
    p = logits.softmax(-1)
    return -(p * (p + TINY).log()).sum(-1)


def _tensors(model: Any, theta: Any) -> dict[str, Any]:
    import torch

    parts = model.layout.parts(theta)
    return {name: torch.from_numpy(np.ascontiguousarray(part)) for name, part in parts.items()}


def _channels_first(x: Any) -> Any:
    """Pictures (C, n, channels, height, width)."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(x, -1, -3)))
