"""What is known before deployment: a trained model, and labelled data to know it by."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftfold.arrays import Array, Bools, Floats, Ints
from driftfold.label_shift.source import SourceFacts, source_facts
from driftfold.nets.base import Model, Pass
from driftfold.signals.means import directions, mean, unbiased_square
from driftfold.softmax import softmax


@dataclass(frozen=True, eq=False)
class Source:
    """The state of knowledge at deployment; server and clients share it.

    Attributes
    ----------
    model
        The net.
    start
        Its trained parameters theta_0, shape (P,).
    prior
        Class distribution pi_0 of the examples that it was trained on, shape (K,).
    reference, reference_labels
        m training examples of each class, class by class, that every client has: shapes
        (m K, *inputs) and (m K,).
    held_out, held_out_labels
        Labelled examples that the model was not trained on: (h, *inputs) and (h,).
    """

    model: Model
    start: Floats
    prior: Floats
    reference: Array
    reference_labels: Ints
    held_out: Array
    held_out_labels: Ints

    @property
    def classes(self) -> int:
        """Number of classes K."""
        return self.model.classes

    @property
    def each(self) -> int:
        """Reference examples m of each class."""
        return len(self.reference_labels) // self.classes

    @cached_property
    def _on_held_out(self) -> Pass:
        return self.model.forward(self.start, self.held_out)

    @cached_property
    def held_out_probabilities(self) -> Floats:
        """What theta_0 says of the held-out examples, shape (h, K), float64."""
        said: Floats = softmax(self._on_held_out.logits.astype(np.float64))
        return said

    @property
    def held_out_features(self) -> Array:
        """h(x) of the held-out examples under theta_0, shape (h, d)."""
        return self._on_held_out.features

    def reference_features(self, theta: Array) -> Array:
        """h(x) of the reference examples under one theta (P,), shape (m K, d).

        Those of the last body are kept: the head has no part in them, and all clients of a round
        may have one body.
        """
        body = theta[self._of_body]
        before = self._bodies[-1] if self._bodies else None
        if before is None or body.tobytes() != before[0].tobytes():
            features = self.model.forward(theta, self.reference).features
            before = body, features
            self._bodies[:] = [before]
        return before[1]

    @cached_property
    def _of_body(self) -> Bools:
        which: Bools = ~self.model.layout.where(self.model.head)
        return which

    @cached_property
    def _bodies(self) -> list[tuple[Array, Array]]:
        return []

    @cached_property
    def directions(self) -> tuple[Floats, Floats]:
        """Mean directions z_k of features h(x) / ||h(x)|| of each class under theta_0, (K, d).

        And their products z_k . z_l, (K, K), without bias on the diagonal.
        """
        each = directions(self.held_out_features)
        means = np.zeros((self.classes, each.shape[-1]))
        squares = np.zeros(self.classes)
        for k in np.unique(self.held_out_labels):
            some = each[None, self.held_out_labels == k]
            means[k] = mean(some)[0]
            squares[k] = unbiased_square(some, means[None, k])[0]
        products = means @ means.T
        np.fill_diagonal(products, squares)
        return means, products

    def facts(self, soft: bool = False) -> SourceFacts:
        """What label estimates know: confusion of theta_0 on held-out examples, and the prior."""
        known = self._facts
        if soft not in known:
            said = self.held_out_probabilities
            known[soft] = source_facts(said, self.held_out_labels, self.prior, soft)
        return known[soft]

    @cached_property
    def _facts(self) -> dict[bool, SourceFacts]:
        return {}
