"""A few labels a step: which, and what a step by them is."""

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.risks import Labelled, Scene
from driftfold.risks.labelled import labelled_rows
from driftfold.tasks.streams import StreamProblem
from tests.algorithms.adaptation.streams import small


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small()


def test_which_inputs_are_labelled_goes_by_client_and_step(problem: StreamProblem) -> None:
    clients, steps = np.array([0, 1, 2, 1]), np.array([3, 3, 0, 3])
    chosen = labelled_rows(problem, clients, steps, 5)
    assert all(len(set(row)) == 5 for row in chosen.tolist())
    assert chosen[1].tolist() == chosen[3].tolist() != chosen[0].tolist()
    alone = labelled_rows(problem, clients[2:3], steps[2:3], 5)
    assert alone.tolist() == chosen[2:3].tolist()
    everything = labelled_rows(problem, clients, steps, 20)
    assert np.sort(everything, axis=1).tolist() == [list(range(20))] * 4
    with pytest.raises(SpecError, match="budget of 21 labels"):
        labelled_rows(problem, clients, steps, 21)


def test_the_slope_is_that_of_the_labelled_inputs_alone(problem: StreamProblem) -> None:
    """Against central differences of a plain loop, to 1e-6 of the largest entry."""
    risk, who = Labelled(3), np.array([2])
    view = problem.view(who, who, np.array([problem.period]))
    rows, _ = risk.consider(problem, problem.source.start[None], view, None)
    theta = problem.source.start + 0.1

    def loss(theta: np.ndarray) -> float:
        total = 0.0
        for i in rows[0]:
            logits = problem.model.forward(theta, view.inputs[0, i : i + 1]).logits[0]
            total -= logits[view.truth[0, i]] - np.log(np.exp(logits).sum())
        return total / 3

    slope = risk.slope(theta[None], Scene.of(problem, view), rows)
    assert slope.value[0] == pytest.approx(loss(theta), abs=1e-12)
    picks = np.arange(0, len(theta), 41)
    step = 1e-6
    for p in picks:
        ahead, behind = theta.copy(), theta.copy()
        ahead[p] += step
        behind[p] -= step
        expected = (loss(ahead) - loss(behind)) / (2 * step)
        assert slope.gradient[0, p] == pytest.approx(expected, abs=1e-6)
    assert np.abs(slope.gradient).max() > 0.1
    assert risk.examples(problem) == 3
