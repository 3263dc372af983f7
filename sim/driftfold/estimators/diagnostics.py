"""Figures that say how good a set of weights is."""

import numpy as np

from driftfold.arrays import Floats


@np.errstate(over="ignore")
def effective_size(weights: Floats) -> float:
    """Kish's effective number of contributions, (sum w)^2 / sum w^2; 0 when all weigh nothing.

    `weights` has shape (k,). k equal weights count as k, one that dwarfs the others as 1.
    Source: Kish, Survey Sampling (1965), section 11.2.

    >>> effective_size(np.array([1.0, 1.0, 1.0, 0.0]))
    3.0
    >>> effective_size(np.array([1e-320, 1e-320])), effective_size(np.array([1e300, 1e300]))
    (2.0, 2.0)
    """
    square = float(np.add.reduce(weights * weights))
    if not 1e-280 < square < 1e280:  # then squares may be 0 or infinite where weights are not
        largest = float(np.max(np.abs(weights), initial=0.0))
        if 0 < largest <= 1e-150 or 1e150 <= largest < np.inf:
            return effective_size(weights / largest)
    return float(np.add.reduce(weights)) ** 2 / square if square > 0 else 0.0


def largest_multiplier(weights: Floats, importance: Floats) -> float:
    """Largest w_i / a_i: how many plain steps the heaviest contribution counts for.

    Both have shape (k,); clients of no importance are passed over.

    >>> largest_multiplier(np.array([0.5, 2.0]), np.array([0.25, 0.25]))
    8.0
    """
    matter = importance > 0
    return float(np.max(weights[matter] / importance[matter], initial=0.0))


def squared_bias(weights: Floats, importance: Floats, probability: Floats) -> float:
    """Sum over clients of (w_i p_i / a_i - 1)^2, for weights that do not depend on the draw.

    All have shape (N,): the weight w_i each client would get if it contributed, its importance
    a_i, the true probability p_i that it does. Zero exactly when the expected step is the step of
    full participation, w_i p_i = a_i. Clients of no importance are passed over.

    >>> squared_bias(np.array([1.0, 0.5]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    0.25
    """
    matter = importance > 0
    ratio = weights[matter] * probability[matter] / importance[matter]
    return float(np.sum((ratio - 1.0) ** 2))
