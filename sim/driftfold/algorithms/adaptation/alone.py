"""Adaptations without a federation: each client has an instance of its own."""

from driftfold.algorithms.adaptation.base import Adaptation
from driftfold.arrays import Array
from driftfold.tasks.base import Problem
from driftfold.trees import node


@node
class Deployed:
    """The server's state: the model that was deployed."""

    theta: Array


class Alone(Adaptation):
    """An adaptation of which the server learns nothing: its model stays theta_0."""

    def begin(self, problem: Problem, x: Array) -> Deployed:
        """Keep the trained model."""
        return Deployed(x)

    def model(self, state: Deployed) -> Array:
        """The trained model."""
        return state.theta
