"""Partial work: what a client has done when its session ends, taken for an answer.

A client that did k < K steps went only part of its way. Taken as it is, who is interrupted more
often would count for less in what is minimised. So each of its steps counts for more, and all of
them for K: the server's weight is divided by the share of the way that was done,

    w_i u_i / s,    s = (alpha_0 + ... + alpha_{k-1}) / (alpha_0 + ... + alpha_{K-1}),

and the objective keeps the task's weights, to first order in the step size. For gradient streams
that is the mean over the steps done, times K. It is the normalised averaging of Wang, J., Liu, Q.,
Liang, H., Joshi, G., Poor, H. V.: "Tackling the objective inconsistency problem in heterogeneous
federated optimization" (FedNova), NeurIPS 2020, for plain descent, with K as the effective number
of steps.
"""

from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Algorithm
from driftfold.algorithms.local_steps import LocalSteps, S
from driftfold.algorithms.step_size import sizes_at
from driftfold.algorithms.wrapped import Wrapper


@dataclass(frozen=True)
class PartialWork(LocalSteps[S]):
    """Capability of an algorithm: the first k of K local steps are an answer, too.

    Its clients descend from the server's point, so that what k steps give is a part of the way of
    K; and they keep nothing that would have to be of all K.
    """

    def share(self, version: int, steps: int) -> float:
        """Which share of its way a client has gone after `steps` local steps, in (0, 1].

        The way is that of server version 0, 1, 2, ...; steps count by their size.

        Examples
        --------
        >>> from driftfold.algorithms import PerStep, RFedAGS
        >>> RFedAGS(steps=5).share(0, 2)
        0.4
        >>> RFedAGS(steps=2, step_size=PerStep(0.25, (3.0, 1.0))).share(0, 1)
        0.75
        """
        sizes = sizes_at(self.step_size, version, self.steps)
        if len(sizes) == 1:
            return steps / self.steps
        return sum(sizes[:steps]) / sum(sizes)


def innermost(algorithm: Algorithm[Any]) -> Algorithm[Any]:
    """Return the algorithm whose local steps are taken: the one inside all wrappers.

    >>> from driftfold.algorithms import MIFA, FedAvg
    >>> innermost(MIFA(FedAvg(steps=3)))
    FedAvg(steps=3, ...)
    """
    while isinstance(algorithm, Wrapper):
        algorithm = algorithm.algorithm
    return algorithm
