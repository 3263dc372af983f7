"""Minima of weighted squared distances in hyperbolic space, by Newton's method."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from driftfold.arrays import Floats
from driftfold.manifolds.lorentz import Lorentz

_MOST = 200  # steps; about 10 are taken for data within distance 10
_HALVINGS = 40
_IN_VAIN = 3  # steps in a row that may bring nothing
_SLOPE = 1e-4  # of the promised descent that a step must bring (Armijo)
_ROUNDING = 1e-14  # relative differences of objectives that may be rounding

TILE = 2**13
"""Targets whose logarithms are computed at a time: what lies between is many times as large."""

Tiles: TypeAlias = Callable[[], Iterator[tuple[Floats, Floats]]]
"""Gives the targets a tile at a time, each time it is called: shape (k, dim), weights (k,)."""


def nearest_minimum(manifold: Lorentz, targets: Floats, weights: Floats, start: Floats) -> Floats:
    """Minimum of sum_j w_j dist(x, y_j)^2 below `start`, as accurate as rounding lets it be.

    In the frame at x the Hessian of dist(., y)^2 / 2 is n n^T + d coth(d) (I - n n^T), n the unit
    vector towards y and d its distance. Weights may be negative: directions of negative curvature
    are turned, and each step is halved until it descends.

    Parameters
    ----------
    manifold
        Where the targets are.
    targets
        Points, shape (m, dim).
    weights
        Shape (m,), of positive sum: otherwise there is no minimum.
    start
        First point, shape (dim,).

    Examples
    --------
    >>> ends = np.array([[0.0, 0.0], [np.sinh(2.0), 0.0]])
    >>> middle = nearest_minimum(Lorentz(2), ends, np.ones(2), np.array([0.3, 0.4]))
    >>> np.arcsinh(middle).round(12) + 0.0
    array([1., 0.])
    """

    def tiles() -> Iterator[tuple[Floats, Floats]]:
        for first in range(0, len(targets), TILE):
            yield targets[first : first + TILE], weights[first : first + TILE]

    return minimum_of_tiles(manifold, tiles, start)


def minimum_of_tiles(manifold: Lorentz, tiles: Tiles, start: Floats) -> Floats:
    """As `nearest_minimum`, of targets and weights that are made a tile at a time.

    >>> ends = np.array([[0.0, 0.0], [np.sinh(2.0), 0.0]])
    >>> tiles = lambda: iter([(ends[:1], np.ones(1)), (ends[1:], np.ones(1))])
    >>> minimum_of_tiles(Lorentz(2), tiles, np.array([0.3, 0.4])).round(12) + 0.0
    array([1.1752..., 0.        ])
    """
    rounding = _ROUNDING * sum(float(np.abs(weights).sum()) for _, weights in tiles())
    x = best = start
    lowest = shortest = np.inf
    value, gradient, hessian = _expansion(manifold, tiles, x)
    vain = 0
    for _ in range(_MOST):
        length = float(np.sqrt(gradient @ gradient))
        lower = value < lowest - rounding * (1 + abs(value))
        if lower or length < shortest:
            best, lowest, shortest, vain = x, min(value, lowest), length, 0
        else:
            vain += 1
        if vain == _IN_VAIN or length == 0:
            break
        u = _descent(hessian, gradient)
        slope, start = float(gradient @ u), x
        for _ in range(_HALVINGS):
            x = manifold.exp(start, u)
            reached, gradient, hessian = _expansion(manifold, tiles, x)
            if reached <= value + _SLOPE * slope + rounding * (1 + abs(value)):
                break
            u, slope = u / 2, slope / 2
        value = reached
    return best


def _expansion(manifold: Lorentz, tiles: Tiles, x: Floats) -> tuple[float, Floats, Floats]:
    """Value, gradient (dim,) and Hessian (dim, dim) in the frame at x."""
    value, gradient, hessian = 0.0, np.zeros(len(x)), np.zeros((len(x), len(x)))
    for targets, weights in tiles():
        parts = _part(manifold, targets, weights, x)
        value, gradient, hessian = value + parts[0], gradient + parts[1], hessian + parts[2]
    return value, gradient, hessian


def _part(
    manifold: Lorentz, targets: Floats, weights: Floats, x: Floats
) -> tuple[float, Floats, Floats]:
    """What some of the targets add to these."""
    logs = manifold.log(x, targets)
    squares = (logs * logs).sum(axis=-1)
    d = np.sqrt(squares)
    apart = d > 0
    safe = np.where(apart, d, 1.0)
    across = np.where(apart, safe / np.tanh(safe), 1.0)  # d coth d
    n = logs / safe[:, None]
    hessian = 2 * ((weights * (1 - across) * n.T) @ n + weights @ across * np.eye(len(x)))
    return float(weights @ squares), -2 * (weights @ logs), hessian


def _descent(hessian: Floats, gradient: Floats) -> Floats:
    values, vectors = np.linalg.eigh(hessian)
    sizes = np.maximum(np.abs(values), 1e-12 * np.abs(values).max(initial=0.0))
    direction: Floats = -vectors @ ((gradient @ vectors) / np.where(sizes > 0, sizes, 1.0))
    return direction
