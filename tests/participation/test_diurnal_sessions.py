import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.participation import DiurnalSessions
from driftfold.participation.swing import DAY, Swing, online, solve
from tests.participation.fleets import fleet_of

HOUR = 3600.0


def integrated(swing: Swing) -> list[float]:
    """P(t) on each full 5 minutes of a day by small Euler-Heun steps, after ten days."""
    step, p = 30.0, 0.3
    day: list[float] = []
    for n in range(11 * 2880):
        t = n * step
        if t >= 10 * DAY and n % 10 == 0:
            day.append(p)
        slopes: list[float] = []
        for s, q in ((t, p), (t + step, None)):
            c = np.cos(2 * np.pi * s / DAY)
            value = p + step * slopes[0] if q is None else q
            on = swing.on * (1 + swing.amplitude * c)
            off = swing.off * (1 - swing.amplitude_off * c)
            slopes.append(on * (1 - value) - off * value)
        p += step * sum(slopes) / 2
    return day


@pytest.mark.slow
@pytest.mark.parametrize(
    "swing", [Swing(1e-4, 5e-4, 0.9, 0.0), Swing(5e-6, 3e-5, 0.9, 0.9), Swing(1e-3, 1e-4, 1.0, 0.0)]
)
def test_harmonic_balance_solves_the_equation(swing: Swing) -> None:
    # Heun's error is about (rate step)^2 = 1e-4 of the change at worst.
    np.testing.assert_allclose(online(swing, 0.0, (0.0,)), integrated(swing), atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hours", "spread", "rates", "amplitude"),
    [
        (0.5, 1.5, "on", 0.72),
        (1.0, 1.5, "on", 0.73),
        (2.0, 1.5, "on", 0.78),
        (4.0, 1.5, "on", 0.96),
        (4.0, 1.5, "both", 0.56),
        (8.0, 1.5, "both", 0.86),
        (0.5, 0.0, "on", 0.66),
        (1.0, 0.0, "on", 0.68),
        (2.0, 0.0, "on", 0.73),
        (4.0, 0.0, "on", 0.90),
    ],
)
def test_amplitudes_for_four_times_as_many_by_night(
    hours: float, spread: float, rates: str, amplitude: float
) -> None:
    """Amplitudes of a fleet that is on 15 % of the time, to two digits, by another program."""
    swing = solve(0.15, hours * HOUR, 4.0, spread * HOUR, (0.0,), rates)
    assert abs(swing.amplitude - amplitude) < 0.011


def test_a_ratio_out_of_reach_is_refused() -> None:
    with pytest.raises(SpecError, match=r"only 2\.30 times with rates = 'on'.*rates = 'auto'"):
        DiurnalSessions(session=8 * HOUR, rates="on").attend(fleet_of(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        DiurnalSessions(),
        DiurnalSessions(duty=0.4, session=4 * HOUR),
        DiurnalSessions(duty=0.15, session=8 * HOUR),
        DiurnalSessions(zones=(-5.0, -6.0, -6.0, -8.0)),
    ],
    ids=repr,
)
def test_four_times_as_many_at_the_peak_as_at_the_trough(model: DiurnalSessions) -> None:
    size = 30_000
    attendance = model.attend(fleet_of(size))
    everyone = np.arange(size)
    for first in (0, 50):
        hourly = np.array(
            [
                [attendance.available(everyone, DAY * d + HOUR * h).mean() for h in range(24)]
                for d in range(first, first + 3)
            ]
        ).mean(axis=0)
        assert 3.7 < hourly.max() / hourly.min() < 4.3
        assert abs(hourly.mean() - model.duty) < 0.01
