"""Every registered estimator keeps its contract, and the check catches those that do not."""

from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats, Ints
from driftfold.errors import CapabilityError, CheckpointError
from driftfold.estimators import (
    Beta,
    Capped,
    Estimator,
    Ewma,
    FedAU,
    Hajek,
    Inclusive,
    Kalman,
    Oracle,
    Past,
    Shrunk,
    Silent,
    Unweighted,
    Window,
)
from driftfold.estimators.counts import no_counts
from driftfold.fleet import Fleet
from driftfold.participation import Always, Attendance, Bernoulli, Diurnal, Participation, Uniform
from driftfold.registry import kind_of, kinds
from driftfold.rng import Seed
from driftfold.testing.estimator import check_estimator
from driftfold.trees import node

EXAMPLES: list[Estimator[Any]] = [
    Inclusive(),
    Oracle(),
    Past(),
    Past(prior=1.0, max_weight=3.0),
    Past(unseen="zero"),
    Unweighted(),
    Capped(Inclusive(), max_weight=2.0),
    Hajek(Oracle()),
    Hajek(Past(unseen="zero")),
    FedAU(cutoff=5),
    Ewma(beta=0.2, start=0.0),
    Window(rounds=70),
    Beta(of="inverse"),
    Kalman(threshold=2.0, period=7.0),
    Shrunk(Oracle()),
    Silent(Beta(), rounds=3),
]
MODELS: list[Participation] = [Always(), Bernoulli(low=0.05), Uniform(size=4)]


def fleet() -> Fleet:
    importance = np.random.default_rng(0).dirichlet(np.ones(11))
    return Fleet(Seed(2), np.full(11, 10), importance)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("rule", EXAMPLES, ids=repr)
def test_contract(rule: Estimator[Any], model: Participation) -> None:
    check_estimator(rule, fleet(), model.attend(fleet()))


@pytest.mark.parametrize("rule", EXAMPLES, ids=repr)
def test_need_of_a_probability_is_declared(rule: Estimator[Any]) -> None:
    attendance = Diurnal().attend(fleet())
    if rule.needs_probability:
        with pytest.raises(CapabilityError):
            rule.begin(fleet(), attendance)
    else:
        check_estimator(rule, fleet(), attendance)


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind for kind, cls in kinds("estimator").items() if cls.__module__.startswith("driftfold.")
    }
    assert shipped == {kind_of(rule) for rule in EXAMPLES}


class Hand(Estimator[Any]):
    """Plain counts, for the broken rules below."""

    def begin(self, fleet: Fleet, attendance: Attendance) -> Any:
        return no_counts(fleet.size)

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        return np.ones(len(responders)), state.counting(responders)


@node
class Changeable:
    responses: Ints


class InPlace(Hand):
    """Counts in the caller's state."""

    def begin(self, fleet: Fleet, attendance: Attendance) -> Any:
        return Changeable(np.zeros(fleet.size, dtype=np.int64))

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        state.responses[responders] += 1
        return np.ones(len(responders)), state


class Divides(Hand):
    """Divides by a count that may be 0."""

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        with np.errstate(divide="ignore"):
            return 1.0 / state.responses[responders], state.counting(responders)


class Remembers(Hand):
    """Keeps its history in itself."""

    calls = 0

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        self.calls += 1
        return np.full(len(responders), float(self.calls)), state


class Everybody(Hand):
    """Returns a weight for each client of the fleet."""

    def weigh(self, state: Any, fleet: Fleet, responders: Ints, round: int) -> tuple[Floats, Any]:
        return fleet.importance, state


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (InPlace(), "changed the state passed to it"),
        (Divides(), "finite and at least 0"),
        (Remembers(), "other weights"),
        (Everybody(), "wanted float64"),
    ],
)
def test_the_check_catches(rule: Estimator[Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_estimator(rule, fleet(), Bernoulli().attend(fleet()))


def test_a_state_that_is_no_tree_cannot_be_kept() -> None:
    class Opaque(Hand):
        def begin(self, fleet: Fleet, attendance: Attendance) -> Any:
            return object()

        def weigh(
            self, state: Any, fleet: Fleet, responders: Ints, round: int
        ) -> tuple[Floats, Any]:
            return np.ones(len(responders)), state

    with pytest.raises(CheckpointError, match="cannot store"):
        check_estimator(Opaque(), fleet(), Always().attend(fleet()))


def test_counts_are_not_shared_between_states() -> None:
    before = no_counts(3)
    after = before.counting(np.array([1]))
    assert np.asarray(before.responses).tolist() == [0, 0, 0]
    assert np.asarray(after.responses).tolist() == [0, 1, 0]
