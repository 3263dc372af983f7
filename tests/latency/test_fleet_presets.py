"""Fleets of devices in a run: rounds last as long as the clients that they wait for."""

import numpy as np
import pytest

from driftfold.assembly import build
from driftfold.run import run
from driftfold.spec import load_spec

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


@pytest.mark.slow
def test_outcomes_of_the_fleet_like_googles() -> None:
    quiet = "evaluate_every=10000"
    day = run(load_spec("fleet-google", overrides=[quiet]))
    shares = {name: 100 * count / day.counts["invited"] for name, count in day.counts.items()}
    # The published session shapes, within two points.
    assert shares["arrived"] == pytest.approx(75, abs=2)
    assert shares["late"] == pytest.approx(22, abs=2)
    assert shares["dropped"] == pytest.approx(2, abs=2)
    assert 120 < day.time / day.rounds < 180
    waits = ["cadence.over_selection=1.0", "cadence.deadline=null", "horizon.seconds=250000"]
    patient = run(load_spec("fleet-google", overrides=[quiet, *waits])).counts
    assert 0.06 < patient["dropped"] / (patient["dropped"] + patient["arrived"]) < 0.10
