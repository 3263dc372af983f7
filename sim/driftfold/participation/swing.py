"""A daily swing of rates that gives a fleet a wanted ratio of peak to trough."""

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from driftfold.arrays import Floats
from driftfold.errors import SpecError

DAY = 86400.0
_OMEGA = 2 * np.pi / DAY
_HARMONICS = 48
_GRID = np.arange(0, DAY, 300.0)
_WAVES = np.exp(1j * _OMEGA * np.arange(1, _HARMONICS + 1)[:, None] * _GRID)


@final
@dataclass(frozen=True)
class Swing:
    """Rates on(t) = on (1 + amplitude c(t)), off(t) = off (1 - amplitude_off c(t)), c a cosine.

    Attributes
    ----------
    on, off
        Mean rates in 1/s.
    amplitude, amplitude_off
        Relative size of their swings, from 0 to 1.
    """

    on: float
    off: float
    amplitude: float
    amplitude_off: float


def online(swing: Swing, spread: float, zones: tuple[float, ...]) -> Floats:
    """Share of a fleet that is on, every 5 minutes of a day, shape (288,).

    The share P(t) of clients with one rhythm solves dP/dt = on(t) (1 - P) - off(t) P. Its periodic
    solution is found by harmonic balance; over phases Normal(0, spread) plus a zone, drawn evenly
    (both in seconds), harmonic k shrinks by exp(-(k w spread)^2 / 2) and the mean of exp(-i k w
    zone). The cosine peaks at time 0.

    >>> day = online(Swing(on=1e-3, off=1e-3, amplitude=0.0, amplitude_off=0.0), 0.0, (0.0,))
    >>> day.shape, float(day[0].round(12))
    ((288,), 0.5)
    """
    mean, harmonics = _balance(swing)
    k = np.arange(1, _HARMONICS + 1)
    shrunk = harmonics * np.exp(-((k * _OMEGA * spread) ** 2) / 2)
    shrunk = shrunk * np.exp(-1j * _OMEGA * np.outer(k, zones)).mean(axis=1)
    # Not a matrix product, whose rounding may differ between machines' libraries.
    day: Floats = mean + 2 * (shrunk[:, None] * _WAVES).sum(axis=0).real
    return day


@lru_cache(maxsize=64)
def solve(
    duty: float, session: float, ratio: float, spread: float, zones: tuple[float, ...], rates: str
) -> Swing:
    """Return the swing with mean share `duty` and peak / trough = `ratio` in the fleet.

    `session` is the mean session length 1 / off in seconds; `rates` says what swings: "on" (coming
    on), "both" (going off the other way, with the same amplitude) or "auto", which is "both" only
    where "on" does not reach the ratio. Raises `SpecError` when no amplitude up to 1 does.

    >>> swing = solve(0.15, 3600.0, 4.0, 5400.0, (0.0,), "on")
    >>> round(swing.amplitude, 2)
    0.73
    """
    most = 0.0
    for both in {"on": (False,), "both": (True,), "auto": (False, True)}[rates]:
        most = _ratio(_calibrated(1.0, duty, session, both), spread, zones)
        if most < ratio:
            continue
        low, high = 0.0, 1.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            swing = _calibrated(middle, duty, session, both)
            low, high = (middle, high) if _ratio(swing, spread, zones) < ratio else (low, middle)
        return _calibrated(float(f"{high:.6g}"), duty, session, both)
    raise SpecError(
        f"no daily swing of sessions of {session:g} s gives a fleet that is on a share {duty:g} of "
        f"the time {ratio:g} times as many clients at its peak as at its trough, only {most:.2f} "
        f"times with rates = {rates!r}; choose a smaller ratio, shorter sessions, a smaller spread,"
        " zones that lie closer together" + ("" if rates != "on" else ", or rates = 'auto'")
    )


def _ratio(swing: Swing, spread: float, zones: tuple[float, ...]) -> float:
    day = online(swing, spread, zones)
    lowest = float(day.min())
    return float(day.max()) / lowest if lowest > 0 else np.inf


def _calibrated(amplitude: float, duty: float, session: float, both: bool) -> Swing:
    """Return the swing of that amplitude whose mean share is `duty`."""
    off = 1 / session
    low, high = off * duty / (1 - duty) / 64, off * duty / (1 - duty) * 4096
    while high > low * (1 + 1e-9):
        middle = (low * high) ** 0.5
        mean = _balance(Swing(middle, off, amplitude, amplitude if both else 0.0))[0]
        low, high = (middle, high) if mean < duty else (low, middle)
    return Swing(float(f"{high:.7g}"), off, amplitude, amplitude if both else 0.0)


def _balance(swing: Swing) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.complex128]]]:
    """Mean of the periodic solution P, and its harmonics c_1, c_2, ... (of exp(i k w t)).

    (i w k + A0) c_k + A1 / 2 (c_{k-1} + c_{k+1}) = B_k with on + off = A0 + A1 cos and on =
    B_0 + 2 B_1 cos. From the highest harmonic down c_k = d_k c_{k-1}, so that c_0 is left alone.
    """
    total = swing.on + swing.off
    half = (swing.on * swing.amplitude - swing.off * swing.amplitude_off) / 2
    drive = swing.on * swing.amplitude / 2
    links = [0j] * (_HARMONICS + 2)
    for k in range(_HARMONICS, 0, -1):
        links[k] = -half / (1j * _OMEGA * k + total + half * links[k + 1])
    # Equation 1 has a drive of its own: c_1 = pushed + links[1] c_0.
    pushed = drive / (1j * _OMEGA + total + half * links[2])
    mean = (swing.on - 2 * half * pushed.real) / (total + 2 * half * links[1].real)
    harmonics = [pushed + links[1] * mean]
    for k in range(2, _HARMONICS + 1):
        harmonics.append(links[k] * harmonics[-1])
    return mean, np.array(harmonics)
