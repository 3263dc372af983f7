"""The likeliest shares of a mixture of known densities, many mixtures at once.

Expectation maximisation is p <- mean_i of f_i p / (f_i . p). It creeps where shares go to 0, so
every other iterate is extrapolated: Varadhan, R., Roland, C.: "Simple and globally convergent
methods for accelerating the convergence of any EM algorithm", Scandinavian Journal of Statistics
2008 (SQUAREM, scheme S3), and kept only where it is likelier.
"""

import numpy as np

from driftfold.arrays import Floats
from driftfold.lanes import in_whole_vectors

_LEAST = 1e-300


def likeliest(
    densities: Floats, start: Floats, tolerance: float, iterations: int = 10_000
) -> Floats:
    """Shares p (k, K) that maximise sum_i log(f_i . p), of densities f (k, n, K) at n samples.

    It ends where a plain iteration moves p by less than `tolerance`, in sum of absolute changes, or
    after that many of them. A share of 0 at the start stays 0; a sample that no component explains
    says nothing. Each mixture is solved for itself: its bits do not depend on the others.

    >>> f = np.array([[[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]])
    >>> likeliest(f, np.array([[0.5, 0.5]]), tolerance=1e-9).round(4)
    array([[0.4177, 0.5823]])
    """
    p, f = start.copy(), densities
    todo = np.arange(len(p))
    for _ in range(-(-iterations // 3)):
        if not todo.size:
            break
        here = p[todo]
        one, _ = _step(f, here)
        two, height = _step(f, one)
        three, higher = _step(f, _extrapolated(here, one, two))
        resting = np.abs(one - here).sum(axis=-1) < tolerance
        likelier = np.where((higher >= height)[:, None], three, two)
        p[todo] = np.where(resting[:, None], one, likelier)
        todo, f = todo[~resting], f[~resting]
    return p


def _step(f: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the next iterate of each mixture, and its log-likelihood at this one."""
    evidence = f @ p[..., None]
    told = evidence > _LEAST
    trust = np.where(told, 1.0 / np.maximum(evidence, _LEAST), 0.0)
    now = p * (np.swapaxes(trust, 1, 2) @ f)[:, 0]
    total = now.sum(axis=-1, keepdims=True)
    now = np.where(total > 0, now / np.where(total > 0, total, 1.0), p)
    logs = in_whole_vectors(np.log, np.where(told, evidence, _LEAST))
    return now, logs.sum(axis=(1, 2))


def _extrapolated(here: Floats, one: Floats, two: Floats) -> Floats:
    """Where the three seem to lead, with shares that stay above 0."""
    first = one - here
    turn = two - one - first
    lengths = [np.sqrt((x * x).sum(axis=-1)) for x in (first, turn)]
    stride = np.maximum(lengths[0] / np.maximum(lengths[1], _LEAST), 1.0)[:, None]
    stride = np.minimum(stride, 1e6)
    far = np.maximum(here + 2 * stride * first + stride * stride * turn, 0.1 * two)
    shares: Floats = far / far.sum(axis=-1, keepdims=True)
    return shares
