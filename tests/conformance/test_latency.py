"""Every registered latency keeps its contract, and the check catches those that do not."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.fleet import Fleet
from driftfold.latency import (
    Constant,
    ConstantLinks,
    Delays,
    FlashPhones,
    Latency,
    Lognormal,
    Population,
    Stragglers,
    Trace,
)
from driftfold.registry import kind_of, kinds
from driftfold.rng import Seed
from driftfold.testing.latency import check_latency

EXAMPLES: list[Latency] = [
    Constant(),
    Constant(download=1.0, overhead=0.5, per_sample=0.01, upload=2.0),
    Lognormal(),
    Lognormal(device_spread=0.0, compute_jitter=0.0, link_jitter=0.0, down_spread=0.0),
    Lognormal(device_spread=10.0, compute_jitter=10.0, link_correlation=-1.0),
    Population(correlation=-0.5),
    Population(FlashPhones(), ConstantLinks(round_trip=0.1, up_cv=10.0)),
    Stragglers(Lognormal(), clients=3),
    Stragglers(Constant(overhead=1.0), clients=70, factor=0.0),
]


def fleet() -> Fleet:
    return Fleet(Seed(2), np.full(70, 10), np.full(70, 1 / 70))


@pytest.mark.parametrize("model", EXAMPLES, ids=repr)
def test_contract(model: Latency) -> None:
    check_latency(model, fleet())


def test_contract_of_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "devices.csv"
    path.write_text("seconds_per_sample,down_bytes_s,up_bytes_s\n0.1,3e5,1e5\n0.7,1e4,2e4\n")
    check_latency(Trace(str(path), compute_cv=0.1, down_cv=0.4, round_trip=0.1), fleet())


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind for kind, cls in kinds("latency").items() if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {"trace", *(kind_of(model) for model in EXAMPLES)}


@dataclass(frozen=True)
class Fixed(Latency):
    """Hands out one set of delays, to try the check on."""

    made: Delays

    def delays(self, fleet: Fleet) -> Delays:
        return self.made


class Instant(Delays):
    """Takes no time at all."""

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.zeros(len(clients))

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        return np.zeros(len(clients))

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.zeros(len(clients))


class Backwards(Instant):
    """Ends before it begins."""

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        return np.full(len(clients), -1.0)


class Endless(Instant):
    """Never ends."""

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.full(len(clients), np.inf)


class Eager(Instant):
    """Is done sooner the more there is to do."""

    def download(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.full(len(clients), 1 / (1 + nbytes))


@dataclass
class Advancing(Instant):
    """A generator that every query advances."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return nbytes * (1 + 1e-9 * self.rng.random(len(clients)))


class Shared(Instant):
    """Divides one pipe among those who ask."""

    def upload(self, clients: Ints, nbytes: int, dispatch: int) -> Floats:
        return np.full(len(clients), float(nbytes * len(clients)))


class Hasty(Instant):
    """Forgets the work of a whole visit."""

    def compute(self, clients: Ints, samples: Floats, dispatch: int) -> Floats:
        return samples.copy()

    def visit(
        self, clients: Ints, down: int, samples: Floats, up: int, dispatch: int
    ) -> tuple[Floats, Floats, Floats]:
        return super().visit(clients, down, 0 * samples, up, dispatch)


@pytest.mark.parametrize(
    ("delays", "message"),
    [
        (Backwards(), "at least 0"),
        (Endless(), "finite"),
        (Eager(), "less time for more work"),
        (Advancing(), "order or company"),
        (Shared(), "order or company"),
        (Hasty(), "visit differs"),
    ],
)
def test_the_check_catches(delays: Delays, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_latency(Fixed(delays), fleet())
