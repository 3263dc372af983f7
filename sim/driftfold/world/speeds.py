"""Speeds: who is fast and who is slow, as the latency model has it."""

import numpy as np

from driftfold.arrays import Ints
from driftfold.errors import SpecError
from driftfold.world.world import World


def check_tiers(cadence: str, tiers: int, clients: int) -> None:
    """Raise `SpecError` where some of the tiers would have nobody."""
    if tiers > clients:
        raise SpecError(
            f"cadence.tiers: got {tiers} for {clients} clients, wanted at most one tier for each; "
            f"set tiers of cadence '{cadence}' to {clients} or fewer"
        )


def speed_ranks(world: World, probes: int) -> Ints:
    """Place of each client from the fastest, 0 .. N - 1, by the mean of `probes` visits' times.

    The times are those of the first phase's work in dispatches 0, 1, 2, ...; shape (N,).
    """
    work, delays, everyone = world.phases[0], world.delays, np.arange(world.fleet.size)
    samples = work.samples(everyone, 0)
    total = np.zeros(len(everyone))
    for dispatch in range(probes):
        for seconds in delays.visit(
            everyone, work.download_bytes(), samples, work.upload_bytes(), dispatch
        ):
            total += seconds
    ranks = np.empty_like(everyone)
    ranks[np.argsort(total, kind="stable")] = everyone
    return ranks
