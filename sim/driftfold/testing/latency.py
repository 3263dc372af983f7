"""Conformance of a latency kind."""

from collections.abc import Callable

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.latency.base import Delays, Latency
from driftfold.testing.expect import expect


def check_latency(model: Latency, fleet: Fleet, dispatches: int = 20) -> None:
    """Raise `AssertionError` unless `model` keeps the contract of `Delays` on `fleet`.

    Checked: shapes; delays are finite and at least 0; more bytes or samples never take less time;
    `visit` gives what the three others do; and delays are the same in any order, in any company,
    again, and from a second copy.

    >>> from driftfold.latency import Lognormal
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(8, 5), importance=np.full(8, 0.125))
    >>> check_latency(Lognormal(), fleet)
    """
    everyone = np.arange(fleet.size)
    delays = model.delays(fleet)
    copy = model.delays(fleet)
    for name, ask in _questions(delays).items():
        again = _questions(copy)[name]
        said = [ask(everyone, 1000, d) for d in range(dispatches)]
        for d, seconds in enumerate(said):
            _check_values(name, seconds, everyone.shape)
            expect(
                np.all(ask(everyone, 2000, d) >= seconds)
                and np.all(ask(everyone, 0, d) <= seconds),
                f"{name} takes less time for more work (dispatch {d})",
            )
        _check_purity(name, said, [ask, again], everyone)
        _check_values(name, ask(everyone[:0], 1000, 0), (0,))
    samples = np.linspace(0.0, 1000.0, fleet.size)
    for d in range(dispatches):
        apart = (
            delays.download(everyone, 2000, d),
            delays.compute(everyone, samples, d),
            delays.upload(everyone, 500, d),
        )
        expect(
            np.array_equal(copy.visit(everyone, 2000, samples, 500, d), apart),
            f"visit differs from download, compute and upload (dispatch {d})",
        )


Ask = Callable[[Ints, int, int], Floats]


def _questions(delays: Delays) -> dict[str, Ask]:
    def compute(clients: Ints, amount: int, dispatch: int) -> Floats:
        return delays.compute(clients, np.full(len(clients), float(amount)), dispatch)

    return {"download": delays.download, "compute": compute, "upload": delays.upload}


def _check_values(name: str, seconds: Floats, shape: tuple[int, ...]) -> None:
    expect(
        seconds.shape == shape and seconds.dtype == np.float64,
        f"{name} returned {seconds.dtype} {seconds.shape}; wanted float64 {shape}",
    )
    bad = np.flatnonzero(~(np.isfinite(seconds) & (seconds >= 0)))
    expect(
        not bad.size,
        f"{name} returned {seconds[bad[:1]]} seconds for client {bad[:1]}; delays are finite and "
        "at least 0",
    )


def _check_purity(name: str, said: list[Floats], ways: list[Ask], everyone: Ints) -> None:
    rng = np.random.default_rng(0)
    for d in rng.permutation(len(said)):
        some = rng.permutation(everyone)[: 1 + int(d) % len(everyone)]
        for ask in ways:
            expect(
                np.array_equal(ask(some, 1000, int(d)), said[d][some]),
                f"{name} of clients {some.tolist()}, dispatch {d} changed with the order or "
                "company of the queries; draw from fleet.seed by client and dispatch only",
            )
