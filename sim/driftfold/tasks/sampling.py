"""Mini-batches: how large, and which samples."""

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Ints
from driftfold.errors import SpecError
from driftfold.rng import Stream
from driftfold.tasks.batch_size import BatchSize

_ROUNDING = 1e-9  # 0.1 * 30 is 3.0000000000000004: its ceiling should be 3
_TABLE = 2**19  # entries of a table of permutations that stays in a second-level cache


def batch_sizes(size: BatchSize, samples: Ints) -> Ints:
    """Return the samples B_i in a mini-batch of clients with n_i `samples`, at most n_i.

    Raises `SpecError` for a number below 1 or a fraction outside (0, 1].

    >>> batch_sizes(0.5, np.array([5, 4, 0])).tolist(), batch_sizes(3, np.array([5, 2])).tolist()
    ([3, 2, 0], [3, 2])
    """
    if size == "full":
        return samples
    if isinstance(size, str | bool) or not size > 0 or (isinstance(size, float) and size > 1):
        raise SpecError(
            f"got batch size {size!r}; wanted a whole number from 1, a fraction above 0.0 and up "
            "to 1.0, or 'full'"
        )
    if isinstance(size, float):
        part = np.ceil(size * samples - _ROUNDING).astype(np.int64)
        samples = np.clip(part, np.minimum(samples, 1), samples)
    else:
        samples = np.minimum(min(size, int(samples.max(initial=0))), samples)
    return samples


def draw(
    stream: Stream,
    clients: Ints,
    dispatches: Ints,
    samples: Ints,
    sizes: Ints,
    steps: int,
    pad: int,
    start: int = 0,
) -> Ints:
    """Draw `steps` mini-batches of each client without replacement, shape (steps, C, pad).

    Step k of a client is a partial Fisher-Yates shuffle by words ``start + k * pad ..`` of its
    stream at (client, dispatch), so fewer steps are a prefix and company changes nothing. An index
    is uniform up to n_i / 2^32.

    Parameters
    ----------
    stream
        Where the randomness comes from.
    clients, dispatches
        Address of each draw, shape (C,).
    samples, sizes
        n_i and B_i <= n_i of each client, shape (C,).
    pad
        Length of each batch, at least every B_i; entries past B_i are any valid row.
    start
        Words of the stream that earlier steps have used.
    """
    count = len(clients)
    drawn = stream.words(clients, dispatches, start + steps * pad)[:, start:]
    drawn = drawn.reshape(count, steps, pad)
    words = np.ascontiguousarray(drawn.transpose(2, 1, 0))
    place = np.arange(pad)[:, None]
    left = np.where(place < sizes, samples - place, 1)  # past B_i, a row is exchanged with itself
    picks = (words * left[:, None].astype(np.uint64) >> np.uint64(32)).astype(np.int64)
    picks += place[..., None]
    columns = picks.reshape(pad, steps * count)
    longest = max(int(samples.max(initial=0)), pad)
    width = max(1, _TABLE // longest)
    for start in range(0, steps * count, width):
        tile = slice(start, start + width)
        columns[:, tile] = _shuffled(columns[:, tile], longest)
    return np.ascontiguousarray(picks.transpose(1, 2, 0))


def _shuffled(picks: Ints, longest: int) -> npt.NDArray[np.int32]:
    """First places of shuffles in which place m was exchanged with place `picks[m]`."""
    pad, count = picks.shape
    table = np.empty((longest, count), dtype=np.int32)
    table[:] = np.arange(longest, dtype=np.int32)[:, None]
    flat = table.reshape(-1)
    # Places are rows of the table, so that one step works on all shuffles along contiguous memory.
    for row, at in zip(table, picks * count + np.arange(count), strict=False):
        taken = flat[at]
        flat[at] = row
        row[:] = taken
    return table[:pad]
