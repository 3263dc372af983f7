"""The estimators as their definitions are written: one client, every round, plain numbers."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

Follow: TypeAlias = Callable[[Sequence[bool]], list[float]]
"""From responses in rounds 1, 2, ... to the multiplier w / a that holds in each round."""


def fedau(cutoff: int | None) -> Follow:
    def follow(answers: Sequence[bool]) -> list[float]:
        gap, intervals, omega, made = 0, 0, 1.0, []
        for came in answers:
            made.append(omega)
            gap += 1
            if came or gap == cutoff:
                omega = gap if intervals == 0 else (intervals * omega + gap) / (intervals + 1)
                intervals += 1
                gap = 0
        return made

    return follow


def ewma(beta: float, start: float, smallest: float) -> Follow:
    def follow(answers: Sequence[bool]) -> list[float]:
        rate, made = start, []
        for t, came in enumerate(answers):
            known = rate / (1 - (1 - beta) ** t) if start == 0 and t else rate
            made.append(1.0 if start == 0 and t == 0 else 1 / max(known, smallest))
            rate = (1 - beta) * rate + beta * came
        return made

    return follow


def window(rounds: int) -> Follow:
    def follow(answers: Sequence[bool]) -> list[float]:
        made = []
        for t in range(len(answers)):
            recent = answers[max(0, t - rounds) : t]
            made.append((len(recent) + 1) / (sum(recent) + 0.5))
        return made

    return follow


def beta(gamma: float, prior: float, of: str, smallest: float) -> Follow:
    def follow(answers: Sequence[bool]) -> list[float]:
        a = b = prior
        made = []
        for came in answers:
            inverse = (a + b) / a
            if of == "inverse":
                inverse = (a + b - 1) / (a - 1) if a > 1 else math.inf
            made.append(min(inverse, 1 / smallest))
            a, b = gamma * a + came, gamma * b + (not came)
        return made

    return follow


def kalman(threshold: float | None) -> Follow:
    """The scalar filter with its default figures."""

    def follow(answers: Sequence[bool]) -> list[float]:
        m, spread, rise, fall, made = 0.5, 0.25, 0.0, 0.0, []
        for came in answers:
            made.append(1 / m)
            spread += 1e-4
            off = came - m
            gain = spread / (spread + max(m * (1 - m), 0.01))
            m = min(max(m + gain * off, 0.01), 1.0)
            spread *= 1 - gain
            rise, fall = max(0.0, rise + off - 0.1), max(0.0, fall - off - 0.1)
            if threshold is not None and max(rise, fall) > threshold:
                spread, rise, fall = 0.25, 0.0, 0.0
        return made

    return follow


def seasonal_kalman(period: float, harmonics: int) -> Follow:
    """The filter with Fourier regressors, in matrices, without resets."""

    def follow(answers: Sequence[bool]) -> list[float]:
        n = 1 + 2 * harmonics
        theta, spread, made = np.zeros((n, 1)), 0.25 * np.eye(n), []
        theta[0] = 0.5
        for t, came in enumerate(answers, start=1):
            waves = [f(2 * math.pi * h * t / period) for f in (math.cos, math.sin)
                     for h in range(1, harmonics + 1)]  # fmt: skip
            phi = np.array([[1.0, *waves]])
            m = min(max((phi @ theta).item(), 0.01), 1.0)
            made.append(1 / m)
            spread = spread + 1e-4 * np.eye(n)
            gain = spread @ phi.T / ((phi @ spread @ phi.T).item() + max(m * (1 - m), 0.01))
            theta = theta + gain * (came - m)
            at = (phi @ theta).item()
            theta[0] += min(max(at, 0.01), 1.0) - at
            spread = (np.eye(n) - gain @ phi) @ spread
        return made

    return follow
