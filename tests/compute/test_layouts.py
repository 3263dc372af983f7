"""How a client's numbers lie in memory changes no sum over clients."""

import numpy as np

from driftfold.algorithms.adaptation import BnAdapt
from driftfold.combinations.aggregation import weighted_sum
from driftfold.compute.base import Stack
from driftfold.compute.stacked import StackedEngine
from driftfold.nets import Mlp
from driftfold.trees import leaves, spread
from tests.algorithms.adaptation.streams import small


def test_a_weighted_sum_is_in_order_of_the_rows_however_they_lie() -> None:
    rows = np.random.default_rng(1).standard_normal((40, 5))
    weights = np.random.default_rng(2).random(40)
    apart = np.asfortranarray(rows)
    assert apart.strides != rows.strides
    assert weighted_sum(weights, apart).tobytes() == weighted_sum(weights, rows).tobytes()
    bases = np.asfortranarray(rows[::-1])
    assert (
        weighted_sum(weights, apart, bases).tobytes()
        == weighted_sum(weights, rows, rows[::-1]).tobytes()
    )


def test_results_of_one_tile_lie_as_those_of_several() -> None:
    """BN-adapt sends theta[:, which], whose columns NumPy puts one after the other."""
    problem = small(net=Mlp((12, 8), batch_norm=True))
    rule, everyone = BnAdapt(federated=True, statistics="running"), np.arange(4)
    phase = rule.phases(problem)[0]
    down = phase.broadcast(rule.begin(problem, problem.source.start), 0)
    memory = spread(rule.memory(problem), 4)
    work = Stack(phase, 1, everyone, everyone, np.zeros(4), [down], True, memory)
    one, many = (StackedEngine(problem, tile).run(work) for tile in (4, 2))
    for a, b in zip(
        leaves([one.payload, one.memory]), leaves([many.payload, many.memory]), strict=True
    ):
        assert a.strides == b.strides
        assert a.tobytes() == b.tobytes()
