"""What local steps look at: a net, a client's batch, and the labelled examples that it has."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from driftfold.arrays import Array, Ints
from driftfold.nets.base import Model
from driftfold.nets.masks import Masks
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.view import StreamView


@dataclass(frozen=True, eq=False)
class Scene:
    """Inputs of k clients as a net takes them.

    Attributes
    ----------
    model
        The net whose parameters are stepped on.
    inputs
        Batches, shape (k, n, *model.inputs).
    truth
        Their true classes, shape (k, n), for controls.
    examples
        Where `reference` comes from: what needs no examples does not ask.
    reference_labels, each
        `each` labelled examples of every class: their classes, shape (m K,).
    masks
        Dropout of the passes 0, 1, 2, ... of a visit.
    beyond
        Features of `reference` under one body, of theta (P,).
    """

    model: Model
    inputs: Array
    truth: Ints
    examples: Callable[[], Array]
    reference_labels: Ints
    each: int
    masks: Callable[[int], Masks]
    beyond: Callable[[Array], Array] | None = None

    @cached_property
    def reference(self) -> Array:
        """The labelled examples, shape (..., m K, *model.inputs)."""
        return self.examples()

    @classmethod
    def of(cls, problem: StreamProblem, view: StreamView) -> "Scene":
        """Return what clients see with the whole net."""
        source = problem.source
        return cls(
            problem.model,
            view.inputs,
            view.truth,
            lambda: source.reference,
            source.reference_labels,
            source.each,
            view.masks,
            source.reference_features,
        )

    def beyond_body(self, theta: Array) -> "Scene":
        """Return what the head sees when the body stays as in theta, (P,) or (k, P).

        The body is gone through once, however many steps the head then takes; and where it is one
        for all, (P,), the examples go through it once, however many stacks of clients there are.
        """
        return replace(
            self,
            model=self.model.head_model,
            inputs=self.model.forward(theta, self.inputs).features,
            examples=lambda: self._features(theta),
            beyond=None,
        )

    def _features(self, theta: Array) -> Array:
        if theta.ndim == 1 and self.beyond is not None:
            return self.beyond(theta)
        return self.model.forward(theta, self.reference).features
