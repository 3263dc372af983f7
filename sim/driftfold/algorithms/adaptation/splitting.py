"""Models of two parts: the body psi, which clients share, and phi, which is each client's own."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftfold.algorithms.adaptation.base import Adapting
from driftfold.algorithms.base import Arrivals
from driftfold.arrays import Array, Bools, Floats
from driftfold.combinations.aggregation import weighted_sum
from driftfold.trees import node


@node
class Server:
    """The server's state: the model with the shared part as it is now, and the trained head."""

    theta: Array


@node
class Body:
    """The shared part psi: what the server sends, and what clients send."""

    shared: Array


@dataclass(frozen=True)
class Splitting(Adapting):
    """A phase that sends psi down; phi stays with the clients."""

    @cached_property
    def own(self) -> Bools:
        """Which parameters are personal, shape (P,)."""
        own: Bools = self.algorithm.own(self.problem)
        return own

    def broadcast(self, state: Server, version: int) -> Body:
        """Send psi."""
        return Body(state.theta[~self.own])

    def joined(self, shared: Array, personal: Array) -> Array:
        """Theta = (psi, phi), shape (k, P)."""
        theta = np.empty((len(personal), len(self.own)), personal.dtype)
        theta[:, ~self.own], theta[:, self.own] = shared, personal
        return theta

    def averaged(self, state: Server, arrivals: Arrivals[Body, Body], weights: Floats) -> Server:
        """Psi + sum_c w_c (psi_c - psi), each against the psi that it was computed from."""
        ways = arrivals.payload.shared - arrivals.download.shared
        theta = state.theta.copy()
        theta[~self.own] += weighted_sum(weights, ways).astype(theta.dtype)
        return Server(theta)

    def download_bytes(self) -> int:
        """The shared part."""
        return int((~self.own).sum()) * self.problem.itemsize
