"""The bare program of an online step is the step that the simulator makes."""

import numpy as np

from bench.bare_adaptation import BareFedADE
from bench.online_steps import HIGH, LOW, bare, batches_of
from driftfold.algorithms.adaptation import FedADE
from driftfold.drift import LabelMixture
from driftfold.nets import Mlp
from driftfold.rates import Adaptive
from driftfold.risks import Entropy
from tests.algorithms.adaptation.streams import Rounds, small


def test_three_steps_are_those_of_fedade() -> None:
    """To 1e-12: products are those of other shapes, over three steps."""
    problem = small(net=Mlp((7, 5)), drift=(LabelMixture(),), batch=9)
    rounds = Rounds(FedADE(risk=Entropy(), rate=Adaptive(LOW, HIGH)), problem)
    program = bare(problem)
    assert isinstance(program, BareFedADE)
    batches, labels = batches_of(problem, 3)
    for step in range(3):
        first, second = rounds.round(step)
        rate, before, after = program.step(batches[step], labels[step])
        np.testing.assert_allclose(rate, first.metrics["rate"], rtol=0, atol=1e-12)
        assert (before / 9).tolist() == first.metrics["accuracy"].tolist()
        assert (after / 9).tolist() == second.metrics["accuracy_after"].tolist()
    parts = problem.model.layout.parts(rounds.state.theta)
    for own, name in zip(program.body[::2], ("body.0.weight", "body.1.weight"), strict=True):
        np.testing.assert_allclose(own.T, parts[name], rtol=0, atol=1e-12)
    heads = np.concatenate([program.head[0].swapaxes(1, 2).reshape(4, -1), program.head[1]], axis=1)
    np.testing.assert_allclose(heads, rounds.memory.personal, rtol=0, atol=1e-12)
