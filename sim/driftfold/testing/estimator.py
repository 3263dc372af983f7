"""Conformance of an estimator kind."""

from typing import Any

import numpy as np

from driftfold.arrays import Floats, Ints
from driftfold.estimators.base import Estimator
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance
from driftfold.testing.expect import expect
from driftfold.trees import decode, encode, leaves


def check_estimator(
    rule: Estimator[Any], fleet: Fleet, attendance: Attendance, rounds: int = 40
) -> None:
    """Raise `AssertionError` unless `rule` keeps the contract of `Estimator` on `fleet`.

    `attendance` decides who responds in each round. Checked: weights have the right shape, are
    finite and at least 0; the state passed in is left as it was; the same state and responders
    give the same weights; and a state that went through a snapshot goes on like the original.

    >>> from driftfold.estimators import Inclusive
    >>> from driftfold.participation import Bernoulli
    >>> from driftfold.rng import Seed
    >>> fleet = Fleet(Seed(1), samples=np.full(8, 5), importance=np.full(8, 0.125))
    >>> check_estimator(Inclusive(), fleet, Bernoulli().attend(fleet))
    """
    everyone = np.arange(fleet.size)
    state = rule.begin(fleet, attendance)
    for t in range(1, rounds + 1):
        responders = everyone[attendance.responds(everyone, t)]
        # Every fourth round is empty, so that skipping is part of every history.
        if not responders.size or t % 4 == 0:
            state = rule.skip(state, t)
            continue
        before = [leaf.copy() for leaf in leaves(state)]
        weights, after = rule.weigh(state, fleet, responders, t)
        _check_weights(weights, responders, t)
        expect(
            all(map(np.array_equal, leaves(state), before)),
            f"weigh changed the state passed to it in round {t}; return a new one",
        )
        restored = through_snapshot(state)
        for which, other in (("the same state", state), ("a restored state", restored)):
            again, state_again = rule.weigh(other, fleet, responders, t)
            expect(
                np.array_equal(again, weights)
                and all(map(np.array_equal, leaves(state_again), leaves(after))),
                f"round {t}: {which} gave other weights or another new state",
            )
        state = after


def through_snapshot(state: Any) -> Any:
    """Return the state as it comes back from a snapshot."""
    arrays: dict[str, Any] = {}
    skeleton = encode(state, arrays)
    return decode(skeleton, {name: array.copy() for name, array in arrays.items()})


def _check_weights(weights: Floats, responders: Ints, t: int) -> None:
    expect(
        weights.shape == responders.shape and weights.dtype == np.float64,
        f"round {t}: {len(responders)} responders got weights {weights.dtype} {weights.shape}; "
        f"wanted float64 {responders.shape}",
    )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    expect(
        not bad.size,
        f"round {t}: client {responders[bad[:1]]} got weight {weights[bad[:1]]}; weights are "
        "finite and at least 0",
    )
