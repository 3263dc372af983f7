"""Rules that forget: their definitions, and how well they follow probabilities that change."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Bools, Floats
from driftfold.estimators import (
    Beta,
    Capped,
    Estimator,
    Ewma,
    FedAU,
    Inclusive,
    Kalman,
    Oracle,
    Past,
    Window,
)
from driftfold.participation import Always, Sine
from tests.estimators import textbook
from tests.participation.fleets import fleet_of
from tests.work import allocated

RULES: dict[str, tuple[Estimator[Any], textbook.Follow]] = {
    "fedau": (FedAU(), textbook.fedau(50)),
    "fedau-short": (FedAU(cutoff=4), textbook.fedau(4)),
    "fedau-every": (FedAU(cutoff=1), textbook.fedau(1)),
    "fedau-endless": (FedAU(cutoff="none"), textbook.fedau(None)),
    "ewma": (Ewma(), textbook.ewma(0.01, 0.5, 0.01)),
    "ewma-debiased": (Ewma(0.2, start=0.0), textbook.ewma(0.2, 0.0, 0.01)),
    "ewma-bounded": (Ewma(0.3, smallest=0.25), textbook.ewma(0.3, 0.5, 0.25)),
    "window": (Window(), textbook.window(50)),
    "window-1": (Window(1), textbook.window(1)),
    "window-64": (Window(64), textbook.window(64)),
    "window-65": (Window(65), textbook.window(65)),
    "window-200": (Window(200), textbook.window(200)),
    "beta": (Beta(), textbook.beta(0.98, 1.0, "probability", 0.01)),
    "beta-inverse": (Beta(of="inverse"), textbook.beta(0.98, 1.0, "inverse", 0.01)),
    "beta-all": (Beta(1.0, 2.0, "inverse"), textbook.beta(1.0, 2.0, "inverse", 0.01)),
    "kalman": (Kalman(), textbook.kalman(None)),
    "kalman-resets": (Kalman(threshold=1.0), textbook.kalman(1.0)),
    "kalman-seasons": (
        Kalman(period=20.0, harmonics=2),
        textbook.seasonal_kalman(20.0, 2),
    ),
}


def histories(rounds: int) -> Bools:
    """Rare, often, always, never, in blocks, and at a period of 64, shape (rounds, 6)."""
    rng, t = np.random.default_rng(5), np.arange(rounds)
    columns = [rng.random(rounds) < 0.05, rng.random(rounds) < 0.6, t >= 0, t < 0]
    return np.stack([*columns, t // 30 % 2 == 1, t % 64 == 63], axis=1)


def multipliers(rule: Estimator[Any], answers: Bools) -> Floats:
    """w_i / a_i of the clients in each round, NaN where they are silent; shape (rounds, N)."""
    fleet = fleet_of(answers.shape[1])
    state = rule.begin(fleet, Always().attend(fleet))
    made = np.full(answers.shape, np.nan)
    for t, came in enumerate(answers, start=1):
        responders = np.flatnonzero(came)
        if len(responders):
            weights, state = rule.weigh(state, fleet, responders, t)
            made[t - 1, responders] = weights / fleet.importance[responders]
        else:
            state = rule.skip(state, t)
    return made


@pytest.mark.parametrize("name", RULES)
def test_weights_are_those_of_the_definition_in_every_round(name: str) -> None:
    """To 1e-9: powers in place of repeated products, and sums in another order."""
    rule, follow = RULES[name]
    answers = histories(100 if name != "window-200" else 250)
    answers[20:40] = False  # rounds in which nobody responds
    made = multipliers(rule, answers)
    for client in range(answers.shape[1]):
        expected = np.where(answers[:, client], follow(answers[:, client].tolist()), np.nan)
        np.testing.assert_allclose(made[:, client], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("rule", "bound"),
    [(FedAU(), 50), (Ewma(), 100), (Window(9), 20), (Beta(of="inverse"), 100), (Kalman(), 100)],
    ids=repr,
)
def test_a_client_first_seen_late_has_a_bounded_weight(rule: Estimator[Any], bound: float) -> None:
    answers = np.zeros((150, 2), dtype=bool)
    answers[:, 0] = answers[-1] = True
    assert 1 < multipliers(rule, answers)[-1, 1] <= bound * (1 + 1e-12)
    assert multipliers(Inclusive(), answers)[-1, 1] == pytest.approx(150)


@pytest.mark.parametrize("rule", [FedAU(), Ewma(), Window(), Beta(), Kalman()], ids=repr)
def test_importance_scales_the_weight(rule: Estimator[Any]) -> None:
    even, odd = fleet_of(4), fleet_of(4)
    odd.importance[:] = [0.1, 0.2, 0.3, 0.4]
    one, other = (rule.begin(fleet, Always().attend(fleet)) for fleet in (even, odd))
    for t, members in enumerate(([0, 1], [1], [0, 1, 2, 3]), start=1):
        some = np.array(members)
        mine, one = rule.weigh(one, even, some, t)
        yours, other = rule.weigh(other, odd, some, t)
        np.testing.assert_allclose(yours / odd.importance[some], mine * 4, rtol=1e-14)


def test_a_round_costs_what_its_responders_cost() -> None:
    """Rows of the others are what they were, bit for bit, after any number of rounds."""
    size = 100_000
    fleet = fleet_of(size)
    attendance = Sine().attend(fleet)
    lazy: list[Estimator[Any]] = [
        FedAU(), Ewma(), Window(), Beta(), Past(), Inclusive(), Capped(Oracle(), max_weight=9.0),
    ]  # fmt: skip
    for rule in lazy:
        begun, some = rule.begin(fleet, attendance), np.array([3, 7])
        with allocated() as memory:
            foreseen = rule.foresee(begun, attendance, some, 40)
            _, after = rule.weigh(foreseen, fleet, some, 40)
        assert memory.peak < 100_000  # bytes; a column of all has 800,000
        assert rule.skip(after, 41) is after
        for old, new in zip(vars(begun).values(), vars(after).values(), strict=True):
            differ = np.asarray(old) != np.asarray(new)
            assert set(np.flatnonzero(differ.reshape(size, -1).any(axis=1)).tolist()) <= {3, 7}


@pytest.mark.slow
def test_a_reset_makes_the_filter_learn_a_jump_sooner() -> None:
    """After 400 rounds of 0.9 a client answers with 0.1: weights 40 rounds later."""
    rng = np.random.default_rng(8)
    p = np.where(np.arange(440) < 400, 0.9, 0.1)
    answers = rng.random((440, 300)) < p[:, None]
    answers[-1] = True
    steady = np.median(multipliers(Kalman(), answers)[-1])
    reset = np.median(multipliers(Kalman(threshold=5.0), answers)[-1])
    assert steady < 3.0 < reset < 14.0


def error(rule: Estimator[Any], p: Floats, seed: int) -> float:
    """Root mean square of a_i / w_i - p_i over 200 clients and all rounds from 201; p by round."""
    fleet, everyone = fleet_of(200), np.arange(200)
    state, squares = rule.begin(fleet, Always().attend(fleet)), []
    answers = np.random.default_rng(seed).random((len(p), 200)) < p[:, None]
    for t, came in enumerate(answers, start=1):
        if t > 200:
            weights, _ = rule.weigh(state, fleet, everyone, t)
            squares.append(np.mean((fleet.importance / weights - p[t - 1]) ** 2))
        state = rule.weigh(state, fleet, np.flatnonzero(came), t)[1]
    return float(np.sqrt(np.mean(squares)))


T = np.arange(1200)
CHANGES: dict[str, Floats] = {
    "sine": 0.4 * (0.6 * np.sin(2 * np.pi * T / 400) + 1),
    "jump": np.where(T < 600, 0.8, 0.2),
    "season": 0.5 + 0.4 * np.sin(2 * np.pi * T / 24),
}
# Measured: sine .092 to .115 against .185 of counts, jump .07 to .14 against .33, season .08
# against .28.
FOLLOW: dict[str, list[Estimator[Any]]] = {
    "sine": [Ewma(0.03), Window(), Beta(), Kalman()],
    "jump": [Ewma(), Window(), Beta(), Kalman(), Kalman(threshold=5.0)],
    "season": [Kalman(period=24.0, smallest=0.1)],
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_changing_probabilities_are_followed_better_than_by_counts(change: str) -> None:
    counted = error(Inclusive(), CHANGES[change], 3)
    for rule in FOLLOW[change]:
        assert error(rule, CHANGES[change], 3) < 0.7 * counted, rule


@pytest.mark.slow
def test_counts_are_best_where_nothing_changes() -> None:
    """So forgetting has a price, and the test above can fail."""
    fixed = np.full(1200, 0.3)
    counted = error(Inclusive(), fixed, 4)
    forget: list[Estimator[Any]] = [Ewma(), Window(), Beta(), Kalman()]
    for rule in forget:
        assert error(rule, fixed, 4) > 1.3 * counted


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.1, 0.4, 0.9])
def test_fedau_weights_are_inverse_probabilities_on_average(p: float) -> None:
    """The mean interval has mean 1 / p once there is one: within four standard errors, and 3 %.

    The interval that is still open is left out, which favours short ones by less than that here.
    """
    answers = np.random.default_rng(6).random((1000, 400)) < p
    answers[-1] = True
    omega = multipliers(FedAU(cutoff="none"), answers)[-1]
    error = 4 * omega.std() / np.sqrt(len(omega)) + 0.03 / p
    assert abs(omega.mean() - 1 / p) < error
