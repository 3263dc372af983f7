"""Models of two parts: the body psi, which clients share, and phi, which is each client's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from driftfold.algorithms.adaptation.base import Adapting
from driftfold.algorithms.base import Arrivals
from driftfold.algorithms.summing import Summing
from driftfold.arrays import Array, Bools
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView
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
    """A phase that sends psi down; phi stays with the clients.

    Where the algorithm has a field `federated` and it is False, nothing is sent and psi stays with
    the clients, too: their memories then have it as `shared`, which is empty otherwise.
    """

    @property
    def federated(self) -> bool:
        """Whether psi is the server's."""
        return getattr(self.algorithm, "federated", True)

    @cached_property
    def own(self) -> Bools:
        """Which parameters are personal, shape (P,)."""
        own: Bools = self.algorithm.own(self.problem)
        return own

    @cached_property
    def places(self) -> tuple[Bools | slice, Bools | slice]:
        """Where psi and phi are in theta; a slice, many times as quick as a mask, where it can."""
        return together(~self.own), together(self.own)

    def broadcast(self, state: Server, version: int) -> Body:
        """Send psi, if it is the server's."""
        return Body(state.theta[~self.own] if self.federated else state.theta[:0])

    def body(self, download: Body, memory: Any) -> Array:
        """Psi of each client, (k, B): what came down, or its own."""
        shared: Array = download.shared if self.federated else memory.shared
        return shared

    def exchanged(self, shared: Array, memory: Any) -> tuple[Body, Any]:
        """What of psi (k, B) is sent, and the memory: psi goes up, or is kept."""
        if self.federated:
            return Body(shared), memory
        return Body(np.empty((len(shared), 0), shared.dtype)), replace(memory, shared=shared)

    def joined(self, shared: Array, personal: Array) -> Array:
        """Theta = (psi, phi), shape (k, P)."""
        psi, phi = self.places
        theta = np.empty((len(personal), len(self.own)), personal.dtype)
        theta[:, psi], theta[:, phi] = shared, personal
        return theta

    def split(self, theta: Array) -> tuple[Array, Array]:
        """(psi, phi) of theta (k, P), copies that do not keep it."""
        psi, phi = self.places
        return theta[:, psi].copy(), theta[:, phi].copy()

    def download_bytes(self) -> int:
        """The shared part, if it is the server's."""
        return int((~self.own).sum()) * self.problem.itemsize * self.federated


class Averaging(Splitting, Summing[Server, Body, Body]):
    """A phase in which psi goes up, too: psi + sum_c w_c (psi_c - psi) is the server's new one.

    Each is taken against the psi that it was computed from.
    """

    payload_kind = Body

    @property
    def moves(self) -> bool:
        """Whether clients send a psi that they have moved."""
        return self.federated

    def summands(self, arrivals: Arrivals[Body, Body]) -> tuple[Array, Array | None]:
        """Psi_c, and the psi that came down."""
        return arrivals.payload.shared, arrivals.download.shared if self.moves else None

    def advance(self, state: Server, total: Array) -> tuple[Server, Mapping[str, float]]:
        """Take the mean way of the shared parts."""
        if not self.moves:
            return state, {}
        theta = state.theta.copy()
        theta[~self.own] += total.astype(theta.dtype)
        return Server(theta), {}

    def upload_bytes(self) -> int:
        """The shared part, if clients move it."""
        return self.download_bytes() if self.moves else 0


def together(which: Bools) -> Bools | slice:
    """The same entries as a slice, where they lie side by side.

    >>> together(np.array([False, True, True])), together(np.array([True, False, True]))
    (slice(1, 3, None), array([ True, False,  True]))
    """
    at = np.flatnonzero(which)
    start, count = (int(at[0]), len(at)) if len(at) else (0, 0)
    return slice(start, start + count) if which[start : start + count].all() else which


def own_logits(
    problem: StreamProblem,
    theta: Array,
    own: Bools,
    personal: Array,
    view: StreamView,
    shared: Array | None = None,
) -> Array:
    """Logits (k, n, K) of one model theta (P,), with the clients' own parameters where `own`.

    `shared` are bodies of their own (k, B); an empty one, or none, is that of theta.
    """
    each = np.repeat(theta[None], len(view.clients), axis=0)
    each[:, own] = personal
    if shared is not None and shared.size:
        each[:, ~own] = shared
    return problem.model.forward(each, view.inputs).logits
