"""A risk that is left for another where label shift does not explain what a client meets.

BBSE holds where p(y) moves and p(x | y) stays (Lipton, Wang and Smola, ICML 2018). Where it does
not, its shares are wrong, and so is all that is weighted by them. Signs of it: a confusion matrix
whose smallest singular value is small, much negative mass in M^-1 g, and features that no mixture
of the source's classes explains. The last one is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from driftfold.arrays import Array, Bools, Floats
from driftfold.errors import DataError
from driftfold.label_shift.guards import Guards
from driftfold.label_shift.simplex import clip_renormalise
from driftfold.label_shift.solving import solved
from driftfold.label_shift.source import SourceFacts
from driftfold.nets.base import Mode
from driftfold.registry import register
from driftfold.risks.base import Risk, Slope
from driftfold.risks.bbse_source import BbseSource
from driftfold.risks.entropy import Entropy
from driftfold.risks.scene import Scene
from driftfold.signals.debiased import unbiased_distance
from driftfold.signals.means import directions, mean, unbiased_square
from driftfold.softmax import softmax
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.source import Source
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import chosen, node, spread


@node
class TwoMinds:
    """Of each client: what both risks believe, if the first is trusted, and how features moved."""

    inner: Any
    other: Any
    trusted: Any
    moved: Any


@register("guarded")
@dataclass(frozen=True)
class GuardedRisk(Risk):
    """A risk that builds on label shift, and another for batches that label shift does not explain.

    What is looked at is said by the model before deployment. While a client's batches are not
    trusted, the first risk does not remember them. Which share of the clients fell back is told as
    "fallback", and what is unexplained of their features as "unexplained".

    Attributes
    ----------
    of
        The risk that is trusted with label shift.
    reserve
        The one that takes its place.
    sigma
        Least smallest singular value of the confusion matrix M that is trusted.
    negative
        Most negative mass of M^-1 g that is trusted. Sampling alone gives some.
    moved
        Most that features may have turned from what the estimated shares explain, (1 - cos~) / 2
        of mean directions without bias; 1: they are not looked at. Under label shift alone it was
        at most 0.001 for digits, batches of 50 and a perceptron; corruptions made 0.02 of it.
    """

    of: Risk = field(default_factory=BbseSource)
    reserve: Risk = field(default_factory=Entropy)
    sigma: Annotated[float, Ge(0)] = 0.1
    negative: Annotated[float, Ge(0)] = 0.1
    moved: Annotated[float, Ge(0)] = 0.005

    def begin(self, problem: StreamProblem) -> Any:
        """Memories of both."""
        return self.of.begin(problem), self.reserve.begin(problem)

    def unknown(self, problem: StreamProblem) -> TwoMinds:
        """Nothing believed, and trust."""
        nothing = self.of.unknown(problem), self.reserve.unknown(problem)
        return TwoMinds(*nothing, np.ones((), dtype=bool), np.zeros(()))

    def consider(
        self, problem: StreamProblem, theta: Array, view: StreamView, memory: Any
    ) -> tuple[TwoMinds, Any]:
        """Ask both, and find whom to trust."""
        mine, others = memory
        source, k = problem.source, len(view.clients)
        made = problem.model.forward(source.start, view.inputs)
        said = softmax(made.logits.astype(np.float64))
        facts = source.facts()
        moved = unexplained(source, facts, said, made.features)
        trusted = ~Guards(self.sigma, self.negative, self.moved).suspect(facts, said, moved)
        inner = spread(self.of.unknown(problem), k)
        if trusted.any():  # without an inverse nobody is, and there is nothing to ask
            found, seen = self.of.consider(problem, theta, view, mine)
            inner, mine = chosen(trusted, (found, seen), (inner, mine))
        other, others = self.reserve.consider(problem, theta, view, others)
        return TwoMinds(inner, other, trusted, moved), (mine, others)

    def told(self, belief: TwoMinds) -> Mapping[str, Floats]:
        """Who fell back, and why, beside what the risks tell."""
        told = {"fallback": 1.0 - belief.trusted, "unexplained": belief.moved}
        return {**self.of.told(belief.inner), **self.reserve.told(belief.other), **told}

    def slope(
        self,
        theta: Array,
        scene: Scene,
        belief: TwoMinds,
        mode: Mode = "eval",
        turn: int = 0,
        only: Bools | None = None,
    ) -> Slope:
        """That of the one that is trusted."""
        asked = (self.of, belief.inner), (self.reserve, belief.other)
        trusted: Bools = belief.trusted
        if trusted.all() or not trusted.any():
            risk, own = asked[0 if trusted.all() else 1]
            return risk.slope(theta, scene, own, mode, turn, only)
        one, other = (risk.slope(theta, scene, own, mode, turn, only) for risk, own in asked)
        which = trusted[:, None]
        return Slope(
            np.where(which, one.gradient, other.gradient),
            np.where(which, one.moved, other.moved),
            np.where(trusted, one.value, other.value),
        )

    def examples(self, problem: StreamProblem) -> int:
        """Those of the risk that goes through more."""
        return max(self.of.examples(problem), self.reserve.examples(problem))


def unexplained(source: Source, facts: SourceFacts, said: Floats, features: Array) -> Floats:
    """How far mean features point away from what the estimated classes give, (k,), from 0 to 1.

    `said` and `features`, (k, n, K) and (k, n, d), are of theta_0. With z the mean direction of a
    batch's features, z_k those of the source's classes, and p the clipped M^-1 g: (1 - cos~) / 2 of
    z and sum_k p_k z_k, squared lengths without bias. 1 where M has no inverse.
    """
    if not said.shape[1]:
        return np.zeros(len(said))
    try:
        p = clip_renormalise(solved(facts.confusion, facts.predicted(said)))
    except DataError:
        return np.ones(len(said))
    means, products = source.directions
    each = directions(features)
    z, row = mean(each), p[:, None, :]
    explained = row @ means
    pooled = np.stack(
        [
            (explained @ z[:, :, None])[:, 0, 0],
            (row @ products @ p[:, :, None])[:, 0, 0],
            unbiased_square(each, z),
        ],
        axis=-1,
    )
    return np.clip(0.5 * unbiased_distance(pooled), 0.0, 1.0)
