"""Online learning of the last linear layer, within a ball: what UOGD and ATLAS stand on.

Bai, Y., Zhang, Y.-J., Zhao, P., Sugiyama, M., Zhou, Z.-H.: "Adapting to online label shift with
provable guarantees", NeurIPS 2022. With features fixed the risk

    F_t(W) = sum_k max(p_t,k, 0) F_0^k(W),    p_t = M^-1 g_t,

is convex in the weights W of the last layer. They stay in the ball of radius ||W_0||_F, whose
diameter is D; G bounds the gradients in it. Cut-off shares are not renormalised: they may add up to
more than 1.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from driftfold.arrays import Array, Bools, Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.guards import smallest_singular_value
from driftfold.risks.base import Slope
from driftfold.risks.bbse_source import BbseSource
from driftfold.risks.scene import Scene
from driftfold.rng import Seed
from driftfold.softmax import softmax
from driftfold.tasks.streams.problem import StreamProblem
from driftfold.tasks.streams.source import Source
from driftfold.tasks.streams.view import StreamView
from driftfold.trees import spread

SAMPLES = 100
"""Shares and weights that are looked at for G."""

_steepest: WeakKeyDictionary[Source, float] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LastLayer:
    """The weights W of a net's last linear layer, as vectors of length m; its bias stays.

    Attributes
    ----------
    problem
        Streams.
    labels
        How shares are estimated.
    """

    problem: StreamProblem
    labels: LabelEstimate[Any]

    @cached_property
    def where(self) -> Bools:
        """Which numbers of the head's vector they are."""
        layout = self.problem.model.head_model.layout
        matrices = [entry.name for entry in layout.entries if len(entry.shape) == 2]
        return layout.where(matrices[-1:])

    @cached_property
    def head(self) -> Array:
        """The trained head, a vector."""
        model, start = self.problem.model, self.problem.source.start
        head: Array = start[model.layout.where(model.head)]
        return head

    @property
    def start(self) -> Array:
        """W_0, shape (m,)."""
        weights: Array = self.head[self.where]
        return weights

    @property
    def risk(self) -> BbseSource:
        """F_t."""
        return BbseSource(self.labels)

    @cached_property
    def radius(self) -> float:
        """D / 2 = ||W_0||_F."""
        return float(np.linalg.norm(self.start.astype(np.float64)))

    @cached_property
    def sigma(self) -> float:
        """Smallest singular value of M."""
        return float(smallest_singular_value(self.problem.source.facts().confusion))

    @property
    def steepest(self) -> float:
        """G: the longest gradient among `SAMPLES` random shares and W in the ball."""
        if self.problem.source not in _steepest:
            _steepest[self.problem.source] = self._found_steepest()
        return _steepest[self.problem.source]

    def _found_steepest(self) -> float:
        stream, size, found = (
            Seed(0).stream("gradient of the last layer"),
            int(self.where.sum()),
            0.0,
        )
        nobody = np.zeros(1, dtype=np.int64)
        scene = self.scene(self.problem.view(nobody, nobody))
        for sample in range(SAMPLES):
            way = stream.normal(0, sample, size)
            u = stream.uniform(1, sample, 1 + self.problem.model.classes)
            drawn = -np.log(1 - u[1:])
            w = way * (self.radius * u[0] ** (1 / size) / np.linalg.norm(way))
            slope = self.slope(w[None].astype(self.head.dtype), scene, (drawn / drawn.sum())[None])
            found = max(found, float(np.linalg.norm(slope.gradient.astype(np.float64))))
        return found

    @cached_property
    def _reference(self) -> Array:
        source = self.problem.source
        return self.problem.model.forward(source.start, source.reference).features

    def scene(self, view: StreamView) -> Scene:
        """Batches and examples as the head sees them."""
        model, source = self.problem.model, self.problem.source
        features = model.forward(source.start, view.inputs).features
        scene = Scene.of(self.problem, view)
        return replace(
            scene, model=model.head_model, inputs=features, examples=lambda: self._reference
        )

    def shares(self, scene: Scene, memory: Any) -> tuple[Floats, Any]:
        """Estimate p of the batches without its negative entries, (k, K), and what it remembers."""
        logits = self.logits(self.start[None], scene.inputs)
        facts, said = self.problem.source.facts(), softmax(logits.astype(np.float64))
        p, memory = self.labels.estimate(memory, facts, said)
        return np.maximum(p, 0.0), memory

    def unknown(self) -> tuple[Floats, Any]:
        """No shares, (K,), and what estimates remember before the first batch."""
        return np.zeros(self.problem.model.classes), self.labels.begin(self.problem.source.facts())

    def check(self) -> None:
        """Raise `DataError` where M has no inverse, and the estimate needs one."""
        nobody = np.zeros(1, dtype=np.int64)
        scene = self.scene(self.problem.view(nobody, nobody))
        self.shares(scene, spread(self.unknown()[1], 1))

    def logits(self, w: Array, features: Array) -> Array:
        """Of weights (..., m) and features (..., n, d), shape (..., n, K)."""
        return self.problem.model.head_model.forward(self._heads(w), features).logits

    def slope(self, w: Array, scene: Scene, p: Floats) -> Slope:
        """F at weights (k, m) and shares (k, K), and its gradient (k, m)."""
        slope = self.risk.slope(self._heads(w), scene, p, only=self.where)
        return replace(slope, gradient=slope.gradient[..., self.where])

    def _heads(self, w: Array) -> Array:
        heads = np.repeat(self.head[None], w.shape[0], axis=0)
        heads[:, self.where] = w
        return heads


def in_ball(w: Array, radius: float) -> Array:
    """Weights (..., m), those outside the ball scaled down to its surface.

    >>> in_ball(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """
    square = np.ascontiguousarray(w.astype(np.float64) ** 2).sum(axis=-1, keepdims=True)
    length = np.sqrt(square)
    outside = length > radius
    scale = np.where(outside, radius / np.where(outside, length, 1.0), 1.0)
    made: Array = w * scale.astype(w.dtype)
    return made
