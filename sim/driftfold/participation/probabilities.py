"""Probabilities of clients, given or drawn: what the kinds with a p_i share."""

from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Interval

from driftfold.arrays import Floats
from driftfold.errors import SpecError
from driftfold.fleet import Fleet

Probability: TypeAlias = Annotated[float, Interval(ge=0, le=1)]

DRAWN = "participation.p"
"""Stream of the p_i that are drawn: what else depends on how often a client is there reads it."""


def probabilities(
    kind: str, p: float | tuple[float, ...] | None, low: float, high: float, fleet: Fleet
) -> Floats:
    """Return p_i of each client, shape (N,): `p` where given, else p_i ~ U(low, high).

    Raises `SpecError`, which names `kind`, when they are no probabilities or not one per client.

    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> probabilities("sine", (0.2, 0.4), 0.0, 1.0, fleet)
    array([0.2, 0.4])
    """
    if p is None:
        return drawn(kind, low, high, fleet)
    values = np.asarray(p, dtype=np.float64)
    if values.ndim and len(values) != fleet.size:
        raise SpecError(
            f"participation '{kind}' got {len(values)} probabilities p for {fleet.size} "
            "clients; give one number, or a list of one for each client"
        )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        raise SpecError(
            f"participation '{kind}' got p = {values.flat[bad[0]]} (entry {bad[0]}); "
            "probabilities lie between 0 and 1"
        )
    return np.broadcast_to(values, fleet.size).copy()


def drawn(kind: str, low: float, high: float, fleet: Fleet, purpose: str = DRAWN) -> Floats:
    """Return p_i ~ U(low, high), shape (N,), fixed by the seed and the client's id.

    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(9, 5), importance=np.full(9, 1 / 9))
    >>> drawn("sine", 0.2, 0.4, fleet).shape
    (9,)
    """
    if not 0 <= low <= high <= 1:
        raise SpecError(
            f"participation '{kind}' got low = {low}, high = {high}; p_i is drawn "
            "from U(low, high), so set 0 <= low <= high <= 1"
        )
    u: Floats = fleet.seed.stream(purpose).uniform(np.arange(fleet.size), 0, 1)[:, 0]
    return low + (high - low) * u
