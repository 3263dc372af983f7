"""The least sum of two norms, ||C w - g|| + rho ||w - 1|| over w >= 0.

The same w minimises ||C w - g||^2 + s ||w - 1||^2 for some s: the two norms trade along one convex
curve. Along it s grows, ||C w - g|| with it, and the sum falls as long as s ||w - 1|| is below
rho ||C w - g||. So s is a root of the balance of the two in logarithms, found by false position
(with the weights of Anderson and Bjorck), and each w is a quadratic problem.
"""

from dataclasses import dataclass

import numpy as np

from driftfold.arrays import Bools, Floats, Ints
from driftfold.label_shift.nonnegative import nonnegative
from driftfold.lanes import in_whole_vectors

_LEAST, _MOST = 1e-12, 1e6
"""Range of s, as multiples of the mean square of a column of C."""

_NONE = 1e-300


def two_norms(joint: Floats, predicted: Floats, rho: float) -> Floats:
    """The minimising w, shape (k, K), of C (k, K, K) and g (k, K).

    Each problem is solved for itself: its bits do not depend on the others.

    >>> c = np.array([[[0.45, 0.1], [0.05, 0.4]]])
    >>> two_norms(c, np.array([[0.55, 0.45]]), rho=0.001).round(9)
    array([[1., 1.]])
    >>> two_norms(c, np.array([[0.45, 0.55]]), rho=0.4).round(4)
    array([[1., 1.]])
    """
    curve = _Curve.of(joint, predicted, rho)
    low, high = curve.scale + np.log(_LEAST), curve.scale + np.log(_MOST)
    w, below = curve.at(low, np.ones(predicted.shape, bool))
    _, above = curve.at(high, w > 0)
    # Where the sum grows from the first s on the least residual is best; where it falls to the
    # last, no shift is.
    w = np.where((above <= 0)[:, None], 1.0, w)
    todo = np.flatnonzero((below < 0) & (above > 0))
    low, high, below, above = low[todo], high[todo], below[todo], above[todo]
    last = np.zeros(len(todo))
    for _ in range(100):
        if not todo.size:
            break
        s = low + (high - low) * (below / (below - above))
        w[todo], balance = curve.rows(todo).at(s, w[todo] > 0)
        up, side = balance < 0, np.sign(balance)
        # An end that stays twice counts for less the next time, so that it comes nearer too.
        bent = 1 - balance / np.where(up, below, above)
        weight = np.where(side == last, np.clip(bent, 0.1, 0.5), 1.0)
        below, above = np.where(up, balance, below * weight), np.where(up, above * weight, balance)
        low, high = np.where(up, s, low), np.where(up, high, s)
        left = (np.abs(balance) > 1e-10) & (high - low > 1e-10)
        todo, last, low, high, below, above = (
            x[left] for x in (todo, side, low, high, below, above)
        )
    return w


@dataclass(frozen=True)
class _Curve:
    """Minimisers of ||C w - g||^2 + s ||w - 1||^2 by log s."""

    joint: Floats
    predicted: Floats
    rho: float
    square: Floats
    right: Floats

    @classmethod
    def of(cls, joint: Floats, predicted: Floats, rho: float) -> "_Curve":
        transposed = np.swapaxes(joint, -1, -2)
        right = (transposed @ predicted[..., None])[..., 0]
        return cls(joint, predicted, rho, transposed @ joint, right)

    @property
    def scale(self) -> Floats:
        trace = np.trace(self.square, axis1=-2, axis2=-1)
        return _log(trace / self.square.shape[-1])

    def rows(self, some: Ints) -> "_Curve":
        joint, predicted = self.joint[some], self.predicted[some]
        return _Curve(joint, predicted, self.rho, self.square[some], self.right[some])

    def at(self, log: Floats, positive: Bools) -> tuple[Floats, Floats]:
        """Return w, and log(s ||w - 1||) - log(rho ||C w - g||)."""
        s = in_whole_vectors(np.exp, log)[:, None]
        q = self.square + s[..., None] * np.eye(self.square.shape[-1])
        w = nonnegative(q, self.right + s, positive)
        residual = (self.joint @ w[..., None])[..., 0] - self.predicted
        return w, log + _log(_norm(w - 1)) - _log(self.rho * _norm(residual))


def _norm(x: Floats) -> Floats:
    length: Floats = np.sqrt((x * x).sum(axis=-1))
    return length


def _log(x: Floats) -> Floats:
    return in_whole_vectors(np.log, np.maximum(x, _NONE))
