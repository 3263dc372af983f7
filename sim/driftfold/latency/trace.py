"""Devices and links from a table of measurements."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Ints
from driftfold.errors import DataError
from driftfold.fleet import Fleet
from driftfold.latency.base import Delays, Latency
from driftfold.latency.device_table import DeviceTable, read_table
from driftfold.latency.devices import Pace
from driftfold.latency.jitter import Cv, log_sd
from driftfold.latency.lasting import LastingDelays
from driftfold.latency.links import Rates
from driftfold.registry import register
from driftfold.rng import Seed


@register("trace")
@dataclass(frozen=True)
class Trace(Latency):
    r"""Each client has the device and the link of one row of a table, and so their correlation.

    The table is a .csv file with the columns ``seconds_per_sample``, ``down_bytes_s``,
    ``up_bytes_s``, and ``client`` or ``device``; or FedScale's client_device_capacity as .json,
    ``{"1": {"computation": 162.0, "communication": 5648.1}, ...}``: milliseconds of inference, of
    which training takes three times as many, and kbit/s (1024 bits) in both directions.

    Attributes
    ----------
    path
        The file.
    assignment
        Which row is whose: `shuffled` deals the rows out in an order that the seed fixes, all of
        them before any comes again; `by_client` takes the row of the client's number, 0, 1, ...
    compute_cv
        Coefficient of variation of one client's time of computing from dispatch to dispatch.
    down_cv, up_cv
        Coefficient of variation of one client's rate from dispatch to dispatch.
    round_trip
        Seconds that any transfer takes beside bytes / rate, even an empty one.
    overhead
        Seconds added to each piece of work.

    Notes
    -----
    FedScale publishes its table as a pickle, which may run any code, so it is not read. To convert
    it once: ``json.dump(driftfold.data.plain_pickle.load_plain(content, path), file)``. Tables
    are often sorted, so the first rows are no sample of them: hence `shuffled`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "devices.csv"
    >>> names = "client,seconds_per_sample,down_bytes_s,up_bytes_s"
    >>> path.write_text(f"{names}\n0,0.5,2000,1000\n1,1.0,500,100\n")
    80
    >>> fleet = Fleet(Seed(1), samples=np.array([5, 5]), importance=np.full(2, 0.5))
    >>> delays = Trace(str(path), assignment="by_client").delays(fleet)
    >>> delays.download(np.array([0, 1]), nbytes=1000, dispatch=0)
    array([0.5, 2. ])
    """

    path: str
    assignment: Literal["shuffled", "by_client"] = "shuffled"
    compute_cv: Cv = 0.0
    down_cv: Cv = 0.0
    up_cv: Cv = 0.0
    round_trip: Annotated[float, Ge(0)] = 0.0
    overhead: Annotated[float, Ge(0)] = 0.0

    def delays(self, fleet: Fleet) -> Delays:
        """Return the delays of `fleet`: reads the table and assigns its rows.

        Raises `DataError` when the table cannot be read, or lacks a client with `by_client`.
        """
        table, size = read_table(Path(self.path)), fleet.size
        if self.assignment == "by_client":
            rows = rows_by_client(table, size, self.path)
        else:
            rows = shuffled_rows(fleet.seed, len(table.seconds), size)
        return LastingDelays(
            seed=fleet.seed,
            pace=Pace(table.seconds[rows], np.full(size, log_sd(self.compute_cv))),
            rates=Rates(
                down=table.down[rows],
                up=table.up[rows],
                round_trip=np.full(size, float(self.round_trip)),
                down_jitter=np.full(size, log_sd(self.down_cv)),
                up_jitter=np.full(size, log_sd(self.up_cv)),
            ),
            overhead=self.overhead,
        )


def shuffled_rows(seed: Seed, rows: int, size: int) -> Ints:
    """Return a row for each of `size` clients, shape (size,); a client's does not depend on `size`.

    >>> sorted(shuffled_rows(Seed(1), rows=3, size=6).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    deals = -(-size // rows)  # each deals out all rows, in an order of its own
    deal, row = np.divmod(np.arange(deals * rows), rows)
    keys = seed.stream("latency.trace").uniform(row, deal, 1)[:, 0]
    return row[np.lexsort((keys, deal))][:size]


def rows_by_client(table: DeviceTable, size: int, where: object) -> Ints:
    """Return the row of each client number, shape (size,); raises `DataError` if one has none."""
    found: dict[str, int] = {}
    for row, owner in enumerate(table.owners):
        if owner in found:
            raise DataError(f"{where} has two rows for {owner!r}; remove one, or use 'shuffled'")
        found[owner] = row
    missing = next((client for client in range(size) if str(client) not in found), None)
    if missing is not None:
        raise DataError(
            f"{where} has no row for client {missing} of {size}; number the rows by client from 0, "
            "or use assignment = 'shuffled'"
        )
    return np.array([found[str(client)] for client in range(size)], np.int64)
