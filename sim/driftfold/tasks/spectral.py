"""Logarithms of symmetric matrices in torch, with gradients where eigenvalues repeat."""

from functools import cache
from typing import Any

from driftfold.arrays import Array
from driftfold.torch_lazily import load_torch


def log_above(matrix: Array, floor: float) -> Array:
    """log(max(matrix, floor)) by eigenvalues, of symmetric tensors (..., n, n).

    The layers "ReEig" and "LogEig" of SPDNet (Huang and Van Gool 2017) in one. The derivative is
    that of Daleckii and Krein: torch's own, through eigenvectors, is NaN wherever two eigenvalues
    agree, for example at the identity.

    >>> torch = load_torch()
    >>> s = (2 * torch.eye(2, dtype=torch.float64)).requires_grad_()
    >>> log_above(s, 1e-6).trace().backward()
    >>> s.grad.tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    made: Array = _function()(matrix, floor)
    return made


@cache
def _function() -> Any:
    """The function with its derivative; a class of torch's, so made when torch is there."""
    torch = load_torch()

    class LogAbove(torch.autograd.Function):  # type: ignore[misc, name-defined]
        generate_vmap_rule = True

        @staticmethod
        def forward(matrix: Array, floor: float) -> tuple[Array, Array, Array]:
            values, vectors = torch.linalg.eigh((matrix + matrix.mT) / 2)
            logs = torch.log(torch.clamp(values, min=floor))
            return (vectors * logs[..., None, :]) @ vectors.mT, values, vectors

        @staticmethod
        def setup_context(context: Any, inputs: tuple[Array, float], output: Any) -> None:
            _, values, vectors = output
            context.floor = inputs[1]
            context.mark_non_differentiable(values, vectors)
            context.save_for_backward(values, vectors)

        @staticmethod
        def backward(context: Any, upstream: Array, *rest: Array) -> tuple[Array, None]:
            values, vectors = context.saved_tensors
            inside = vectors.mT @ (upstream + upstream.mT) @ vectors / 2
            made = vectors @ (_divided_differences(values, context.floor) * inside) @ vectors.mT
            return made, None

    return lambda matrix, floor: LogAbove.apply(matrix, floor)[0]


def _divided_differences(values: Array, floor: float) -> Array:
    """(f(a) - f(b)) / (a - b) of f = log(max(., floor)), and f' where a = b, shape (..., n, n)."""
    torch = load_torch()
    kept = torch.clamp(values, min=floor)
    a, b = kept[..., :, None], kept[..., None, :]
    # log(a/b) = 2 atanh(t), t = (a - b)/(a + b): no cancellation, however close a and b are.
    t = (a - b) / (a + b)
    ratio = torch.where(t.abs() > 1e-4, torch.atanh(t) / torch.where(t == 0, 1.0, t), 1 + t * t / 3)
    logs = 2 * ratio / (a + b)
    # Below the floor f is constant: the slope shrinks by the share of a - b that is above it.
    apart = values[..., :, None] - values[..., None, :]
    share = torch.where(apart == 0, 1.0, (a - b) / torch.where(apart == 0, 1.0, apart))
    above = values > floor
    both = above[..., :, None] & above[..., None, :]
    none = ~above[..., :, None] & ~above[..., None, :]
    zero = torch.zeros_like(logs)
    return torch.where(both, logs, torch.where(none, zero, logs * share))
