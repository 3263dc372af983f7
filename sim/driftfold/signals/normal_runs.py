"""How long values have come from one normal distribution: beliefs about run lengths.

Adams, R. P., MacKay, D. J. C.: "Bayesian online changepoint detection", 2007, algorithm 1. Mean and
variance are unknown, with a normal-inverse-gamma prior (Murphy 2007, section 3), so that a run's
next value is Student's.
"""

import math
from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Floats
from driftfold.lanes import in_whole_vectors
from driftfold.trees import node


@node
class Runs:
    """Of each client, by length r = 0, 1, ... of the present run, (k, L).

    Attributes
    ----------
    share
        Probability of the length; the last one stands for all that are at least as long.
    mean, spread
        The posterior's mu and beta, of the last r values.
    """

    share: Floats
    mean: Floats
    spread: Floats


@dataclass(frozen=True)
class NormalRuns:
    """Rule of the beliefs.

    Attributes
    ----------
    hazard
        Probability that a run ends after a value.
    mean, weight, shape, spread
        Prior of a run: mu, kappa, alpha, beta.
    longest
        L - 1, from which on lengths are not told apart.

    Examples
    --------
    >>> rule = NormalRuns(hazard=0.01, mean=0.0, weight=1.0, shape=1.0, spread=0.01, longest=50)
    >>> runs = rule.begin(1)
    >>> for x in [0.1] * 10 + [0.8]:
    ...     runs = rule.see(runs, np.array([x]))
    >>> runs.share[0].argmax()
    np.int64(1)
    """

    hazard: float
    mean: float
    weight: float
    shape: float
    spread: float
    longest: int

    def begin(self, clients: int) -> Runs:
        """Before the first value a run of length 0 is certain."""
        share = np.zeros((clients, self.longest + 1))
        share[:, 0] = 1.0
        return Runs(share, np.full_like(share, self.mean), np.full_like(share, self.spread))

    def see(self, runs: Runs, x: Floats) -> Runs:
        """Beliefs after one more value of each client, x (k,)."""
        lengths = np.arange(self.longest + 1)
        kappa, alpha = self.weight + lengths, self.shape + lengths / 2
        off = x[:, None] - runs.mean
        log = _student(off, 2 * alpha, runs.spread * (kappa + 1) / (alpha * kappa))
        likely = runs.share * in_whole_vectors(np.exp, log - log.max(axis=-1, keepdims=True))
        likely = likely / likely.sum(axis=-1, keepdims=True)
        share = np.empty_like(likely)
        share[:, 0] = self.hazard
        share[:, 1:] = (1 - self.hazard) * likely[:, :-1]
        share[:, -1] += (1 - self.hazard) * likely[:, -1]
        mean, spread = np.full_like(share, self.mean), np.full_like(share, self.spread)
        mean[:, 1:] = (runs.mean + off / (kappa + 1))[:, :-1]
        spread[:, 1:] = (runs.spread + kappa * off * off / (2 * (kappa + 1)))[:, :-1]
        return Runs(share, mean, spread)


def _student(off: Floats, freedom: Floats, square: Floats) -> Floats:
    """Log-density of Student's t at `off` from its centre, (k, L), of scale^2 `square`."""
    constant = np.array(
        [math.lgamma((f + 1) / 2) - math.lgamma(f / 2) - math.log(f * math.pi) / 2 for f in freedom]
    )
    scale = in_whole_vectors(np.log, square)
    tails = in_whole_vectors(np.log1p, off * off / (freedom * square))
    density: Floats = constant - 0.5 * scale - 0.5 * (freedom + 1) * tails
    return density
