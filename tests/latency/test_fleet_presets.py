"""Fleets of devices in a run: rounds last as long as the clients that they wait for."""

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import load_spec
from tests.participation.fleets import fleet_of

ROUNDS = 100
BYTES = 8 * 100 * 10  # a model of 100 features and 10 classes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "invited", "samples", "saves"),
    [("fleet-phones", 39, 100.0, 3.0), ("fleet-fedscale", 39, 100.0, 1.7)],
)
def test_rounds_last_until_the_cohort_has_answered(
    preset: str, invited: int, samples: float, saves: float
) -> None:
    spec = load_spec(preset, overrides=[f"horizon.rounds={ROUNDS}", "evaluate_every=1000"])
    delays, clients = build(spec).delays, np.arange(300)
    rng = np.random.default_rng(0)
    rounds = []
    for visit in range(1000, 3000):  # visits that the run does not come to
        seconds = (
            delays.download(clients, BYTES, visit)
            + delays.compute(clients, np.full(300, samples), visit)
            + delays.upload(clients, BYTES, visit)
        )
        rounds.append(np.sort(rng.choice(seconds, invited, replace=False))[29])
    result = run(spec)
    assert (result.counts["arrived"], result.counts["late"]) == (30 * ROUNDS, 9 * ROUNDS)
    # Four standard errors of the mean of a run's rounds.
    error = 4 * np.std(rounds) / np.sqrt(ROUNDS)
    assert result.time / ROUNDS == pytest.approx(np.mean(rounds), abs=error)
    patient = run(
        load_spec(
            preset,
            overrides=[
                f"horizon.rounds={ROUNDS}",
                "evaluate_every=1000",
                "cadence.over_selection=1.0",
            ],
        )
    )
    assert patient.time > saves * result.time


@pytest.mark.slow
def test_rounds_of_flash_wait_for_the_slowest_phone() -> None:
    spec = load_spec("fleet-flash", overrides=["horizon.rounds=20", "evaluate_every=1000"])
    result = run(spec)
    assert result.counts["arrived"] == 100 * 20
    # 20 batches of 1.64 s on the slowest phone, with 6 % of variation from visit to visit.
    assert 20 * 1.642 < result.time / 20 < 20 * 1.642 * 1.3


GOOGLE = ["evaluate_every=10000"]
PATIENT = ["cadence.over_selection=1.0", "cadence.deadline=null"]


def check_google(seed: int, slack: float, *changes: str) -> None:
    day = run(load_spec("fleet-google", overrides=[*GOOGLE, f"seed={seed}", *changes]))
    shares = {name: 100 * count / day.counts["invited"] for name, count in day.counts.items()}
    # The published session shapes, within two points.
    assert shares["arrived"] == pytest.approx(75, abs=slack)
    assert shares["late"] == pytest.approx(22, abs=slack)
    assert shares["dropped"] == pytest.approx(2, abs=slack)
    assert 120 < day.time / day.rounds < 180


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_outcomes_of_the_fleet_like_googles(seed: int) -> None:
    check_google(seed, 2.0)
    waits = [*GOOGLE, f"seed={seed}", *PATIENT, "horizon.seconds=250000"]
    patient = run(load_spec("fleet-google", overrides=waits)).counts
    assert 0.06 < patient["dropped"] / (patient["dropped"] + patient["arrived"]) < 0.10


def test_outcomes_of_its_first_rounds() -> None:
    """1,560 invitations: a standard error of a point in each share."""
    check_google(1, 4.0, "horizon.rounds=12")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "days"), [(4000, 10), (40_000, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_four_times_as_many_are_there_at_the_peak_as_at_the_trough(
    seed: int, size: int, days: int
) -> None:
    """Means of an hour; on one day the share of the preset's own 4,000 is off by a tenth."""
    attendance = load_spec("fleet-google").participation.attend(fleet_of(size, seed))
    everyone = np.arange(size)
    on = [attendance.available(everyone, 600.0 * n).mean() for n in range(144 * days)]
    hourly = np.array(on).reshape(days, 24, 6).mean(axis=(0, 2))
    assert hourly.max() / hourly.min() == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize(
    ("preset", "hour", "share"),
    [("fleet-felix", 12, 0.5), ("fleet-felix-mobiperf", 2, 0.1), ("fleet-felix-mobiperf", 20, 0.2)],
)
def test_shares_of_felix(preset: str, hour: int, share: float) -> None:
    size = 20_000
    attendance = load_spec(preset).participation.attend(fleet_of(size))
    on = attendance.available(np.arange(size), 3600.0 * hour + 17.0).mean()
    assert on == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / size))
