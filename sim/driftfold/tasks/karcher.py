"""The mean of points on a manifold without positive curvature, by Karcher's iteration."""

from math import sqrt, tanh

import numpy as np

from driftfold.arrays import Array
from driftfold.tasks.frechet import FrechetProblem

_MOST = 500  # steps; 10 to 30 are taken
_IN_VAIN = 10  # steps in a row that may bring no shorter gradient: not each one need


def karcher_mean(problem: FrechetProblem, start: Array, curvature: float) -> Array:
    """Minimise F by x <- Exp_x(-h grad F(x)) until rounding stops it.

    Where sectional curvatures lie in [-curvature, 0], the Hessian of dist(., y)^2 / 2 at distance
    d has eigenvalues from 1 to t coth t, t = d sqrt(curvature). That bound is concave in d^2, so
    its mean over the data is at most its value at the mean of d^2, which is F(x) / scale and
    falls. The step h starts as the best one for these bounds (Bini and Iannazzo 2013, there with
    a bound for each matrix), and then is that of Barzilai and Borwein (1988) within them.
    Coefficients must not be negative, and their weighted mean must be 1.

    >>> from driftfold.data.synthetic_spd import SyntheticSpd
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks.spd_frechet_mean import SpdFrechetMean
    >>> data = SyntheticSpd(clients=2, samples=5, size=3, freedom=6)
    >>> problem = SpdFrechetMean(data=data).build(Seed(1))
    >>> x = karcher_mean(problem, problem.initial_point(), curvature=0.5)
    >>> float(problem.manifold.norm(x, problem.gradient(x))) < 1e-14
    True
    """
    manifold, x, g = problem.manifold, start, problem.gradient(start)
    t = sqrt(curvature * problem.objective(x) / problem.scale)
    largest = t / tanh(t) if t > 0 else 1.0
    step = 1 / (problem.scale * (1 + largest))
    best, shortest, vain = x, float(manifold.norm(x, g)), 0
    for _ in range(_MOST):
        if shortest == 0 or vain == _IN_VAIN:
            break
        y = manifold.exp(x, -step * g)
        before, g = manifold.transport(x, y, g), problem.gradient(y)
        x, length = y, float(manifold.norm(y, g))
        if length < shortest:
            best, shortest, vain = x, length, 0
        else:
            vain += 1
        change = g - before
        bend = -step * float(manifold.inner(x, before, change))
        moved = step * step * float(manifold.inner(x, before, before))
        longest = 0.5 / problem.scale
        step = float(np.clip(moved / bend, longest / largest, longest)) if bend > 0 else longest
    return best
