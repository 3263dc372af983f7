"""One round as a loop over clients with geoopt and with pymanopt: the same work, call by call.

All take K exact steps from the server's point, carry each gradient back there, sum over clients
and step once; closed-form gradients, since automatic ones are slower still.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Round = Callable[[], Any]


def _torch() -> Any:
    import torch

    torch.set_num_threads(1)
    return torch


def _geoopt() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import geoopt
    return geoopt


def pca_geoopt(problem: Any, alpha: float, steps: int, clients: int) -> Round:
    """Stiefel, QR retraction, projection; from samples."""
    torch = _torch()
    manifold = _geoopt().EuclideanStiefel()
    data = torch.from_numpy(problem.data.x[:clients])
    x0 = torch.from_numpy(problem.initial_point()).T.contiguous()

    def once() -> Any:
        total = torch.zeros_like(x0)
        for z in data:
            x = x0
            for k in range(steps):
                g = manifold.egrad2rgrad(x, -2.0 / len(z) * (z.T @ (z @ x)))
                total += alpha * (manifold.transp(x, x0, g) if k else g)
                if k + 1 < steps:
                    x = manifold.retr(x, -alpha * g)
        return manifold.retr(x0, -total / clients).T.numpy()

    return once


def pca_pymanopt(problem: Any, alpha: float, steps: int, clients: int) -> Round:
    """Stiefel, QR retraction, projection; from samples."""
    from pymanopt.manifolds import Stiefel

    data = problem.data.x[:clients]
    x0 = np.ascontiguousarray(problem.initial_point().T)
    manifold = Stiefel(*x0.shape)

    def once() -> Any:
        total = np.zeros_like(x0)
        for z in data:
            x = x0
            for k in range(steps):
                g = manifold.euclidean_to_riemannian_gradient(x, -2.0 / len(z) * (z.T @ (z @ x)))
                total += alpha * (manifold.transport(x, x0, g) if k else g)
                if k + 1 < steps:
                    x = manifold.retraction(x, -alpha * g)
        return manifold.retraction(x0, -total / clients).T

    return once


def spd_geoopt(problem: Any, alpha: float, steps: int, clients: int) -> Round:
    """Affine-invariant metric, exponential map, parallel transport; a client's points at once."""
    torch = _torch()
    manifold = _geoopt().SymmetricPositiveDefinite()
    factors = torch.from_numpy(problem.targets[:clients])
    data = factors @ factors.mT
    a = torch.from_numpy(problem.initial_point())
    x0 = a @ a.T

    def once() -> Any:
        total = torch.zeros_like(x0)
        for y in data:
            x = x0
            for k in range(steps):
                g = -manifold.logmap(x.expand(y.shape), y).mean(0)
                total += alpha * (manifold.transp(x, x0, g) if k else g)
                if k + 1 < steps:
                    x = manifold.expmap(x, -alpha * g)
        return manifold.expmap(x0, -total / clients).numpy()

    return once


def spd_pymanopt(problem: Any, alpha: float, steps: int, clients: int) -> Round:
    """Affine-invariant metric, exponential map; its transport does nothing, which is wrong."""
    from pymanopt.manifolds import SymmetricPositiveDefinite

    factors = problem.targets[:clients]
    data = factors @ factors.swapaxes(-1, -2)
    a = problem.initial_point()
    x0 = a @ a.T
    manifold = SymmetricPositiveDefinite(len(x0))

    def once() -> Any:
        total = np.zeros_like(x0)
        for targets in data:
            x = x0
            for k in range(steps):
                g = -np.mean([manifold.log(x, y) for y in targets], axis=0)
                total += alpha * (manifold.transport(x, x0, g) if k else g)
                if k + 1 < steps:
                    x = manifold.exp(x, -alpha * g)
        return manifold.exp(x0, -total / clients)

    return once


def lorentz_geoopt(problem: Any, alpha: float, steps: int, clients: int) -> Round:
    """Hyperboloid, exponential map, parallel transport; a client's points at once."""
    torch = _torch()
    manifold = _geoopt().Lorentz(k=1.0)
    embed = problem.manifold.embed
    data = torch.from_numpy(embed(problem.targets[:clients]))
    x0 = torch.from_numpy(embed(problem.initial_point()))

    def once() -> Any:
        total = torch.zeros_like(x0)
        for y in data:
            x = x0
            for k in range(steps):
                g = -manifold.logmap(x.expand(y.shape), y).mean(0)
                total += alpha * (manifold.transp(x, x0, g) if k else g)
                if k + 1 < steps:
                    x = manifold.expmap(x, -alpha * g)
        return manifold.expmap(x0, -total / clients)[1:].numpy()

    return once
