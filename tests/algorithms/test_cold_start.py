"""T6: frequencies that count the present round make the first rounds of a run short."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import RFedAGS
from driftfold.arrays import Floats
from driftfold.estimators import Estimator, Inclusive, Oracle
from driftfold.manifolds import Euclidean
from driftfold.participation import Bernoulli
from driftfold.run import run
from driftfold.spec import JobSpec
from driftfold.telemetry.memory import Memory
from driftfold.world.policy import Horizon
from tests.algorithms.scattered import Scattered

CLIENTS, PROBABILITY, ALPHA, ROUNDS = 1500, 0.1, 0.2, 12
ERROR = np.sqrt((1 - PROBABILITY) / PROBABILITY / CLIENTS)
"""Standard error of the responders' total weight with true probabilities; the rule's is less."""


def records(rule: Estimator[Any]) -> tuple[Floats, Floats]:
    """Weight that responders of each round have together, and the distance to the optimum.

    f_i(x) = |x - c_i|^2 / 2 on a line, centres c_i within 1 of each other and x_1 100 away: a round
    of total weight W leaves 1 - alpha W of the distance.
    """
    memory = Memory()
    spec = JobSpec(
        task=Scattered(Euclidean(1), CLIENTS, samples=1, apart=0.5, spread=0.1, away=100.0),
        algorithm=RFedAGS(steps=1, step_size=ALPHA),
        participation=Bernoulli(p=PROBABILITY),
        estimator=rule,
        horizon=Horizon(rounds=ROUNDS),
        evaluate_every=1,
        seed=1,
    )
    run(spec, sinks=[memory])
    rounds = [r.values for r in memory.records]
    weight = np.array([v["weight_sum"] for v in rounds if "weight_sum" in v])
    distance = np.array([v["distance"] for v in rounds if "distance" in v])
    return weight, distance


def test_the_first_rounds_of_a_run_are_short() -> None:
    """T6: the responders of round t weigh 1 - (1 - p)^t together, with true probabilities 1.

    Within four standard errors, 12 times.
    """
    weight, _ = records(Inclusive())
    mean = 1 - (1 - PROBABILITY) ** np.arange(1, ROUNDS + 1)
    assert np.abs(weight - mean).max() < 4 * ERROR
    assert weight[0] == pytest.approx(PROBABILITY, abs=4 * np.sqrt(0.09 / CLIENTS))
    assert weight[0] < weight[5] < weight[-1] < 0.9
    known, _ = records(Oracle())
    assert np.abs(known - 1).max() < 4 * ERROR


def test_so_a_run_is_behind_at_first() -> None:
    """T6: what is left after t rounds is the product of 1 - alpha (1 - (1 - p)^s), s <= t.

    Each round's weight is off, which changes a logarithm by alpha / (1 - alpha) of that; errors of
    t rounds add up to the root of t.
    """
    t = np.arange(1, ROUNDS + 1)
    left: dict[Estimator[Any], Any] = {
        Inclusive(): np.cumprod(1 - ALPHA * (1 - (1 - PROBABILITY) ** t)),
        Oracle(): (1 - ALPHA) ** t,
    }
    ends = []
    for rule, law in left.items():
        _, distance = records(rule)
        off = np.abs(np.log(distance[1:] / distance[0] / law))
        assert np.all(off < 4 * ERROR * ALPHA / (1 - ALPHA) * np.sqrt(t))
        ends.append(distance[-1])
    assert ends[0] > 3 * ends[1]
