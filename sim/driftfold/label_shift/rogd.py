"""Online gradient descent on the expected error of the reweighted classifier.

Wu, R., Guo, C., Su, Y., Weinberger, K. Q.: "Online adaptation to label distribution shift",
NeurIPS 2021, section 4.1 (ROGD), with the smooth surrogate: the classifier draws a class by its
reweighted probabilities.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.simplex import simplex_projection
from driftfold.label_shift.source import SourceFacts
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.trees import node


@node
class Descent:
    """Of each client: its shares p, (k, K), the length of its steps, (k,), of's memory."""

    p: Floats
    step: Floats
    inner: Any


@register("rogd")
@dataclass(frozen=True)
class Rogd(LabelEstimate[Descent]):
    """p <- projection of p - sqrt(2 / T) / L times the gradient of the expected error.

    The error is that of drawing class y with probability proportional to f(x)_y p_y / pi_0,y, on
    the held-out source examples of each class, weighed by another rule's estimate of the shares. L
    is the largest gradient's length among sampled p. The belief before a batch is the paper's p.

    Attributes
    ----------
    of
        Rule whose estimates the classes are weighed by.
    horizon
        T, the number of batches that the step is made for.
    smallest
        Least share of a class; at most 1 / (2 K), whatever is written here.
    samples
        Number of p that are looked at for L.
    calibrate
        Whether f is the model's probabilities after a bias-corrected temperature.

    Examples
    --------
    >>> from driftfold.label_shift.inverse import Inverse
    >>> from driftfold.label_shift.source import source_facts
    >>> from driftfold.trees import spread
    >>> said = np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]])
    >>> source = source_facts(said, np.array([0, 0, 1, 1]))
    >>> rule = Rogd(Inverse(), horizon=8, calibrate=False)
    >>> rule.estimate(spread(rule.begin(source), 1), source, said[None, :1])[0].round(2)
    array([[0.54, 0.46]])
    """

    of: LabelEstimate[Any]
    horizon: Annotated[int, Gt(0)] = 100
    smallest: Annotated[float, Ge(0)] = 0.01
    samples: Annotated[int, Gt(0)] = 100
    calibrate: bool = True

    def begin(self, source: SourceFacts) -> Descent:
        """Start from pi_0; look for L."""
        stream = Seed(0).stream("gradient of ROGD")  # what is sampled is part of the rule
        drawn = -np.log(1 - stream.uniform(np.arange(self.samples), 0, source.classes))
        shares = self._kept(drawn / drawn.sum(axis=-1, keepdims=True))
        largest = 0.0
        for p in (self._kept(source.prior), *shares):
            slopes = self._slopes(p[None], source)[0]
            largest = max(largest, float(np.sqrt((slopes**2).sum(axis=-1)).max()))
        step = np.sqrt(2.0 / self.horizon) / largest if largest > 0 else 0.0
        return Descent(self._kept(source.prior), np.asarray(step), self.of.begin(source))

    def belief(self, memory: Descent, source: SourceFacts, clients: int) -> Floats:
        """Return p."""
        return memory.p

    def update(
        self, memory: Descent, source: SourceFacts, predictions: Floats
    ) -> tuple[Floats, Descent]:
        """Make one step."""
        weights, inner = self.of.estimate(memory.inner, source, predictions)
        slope = (weights[..., None] * self._slopes(memory.p, source)).sum(axis=1)
        p = self._kept(memory.p - memory.step[:, None] * slope)
        return p, Descent(p, memory.step, inner)

    def _kept(self, p: Floats) -> Floats:
        """Nearest point of the simplex with all shares at least `smallest`."""
        least = min(self.smallest, 0.5 / p.shape[-1])
        room = 1 - least * p.shape[-1]
        kept: Floats = least + room * simplex_projection((p - least) / room)
        return kept

    def _slopes(self, p: Floats, source: SourceFacts) -> Floats:
        """Gradient by p of each class's error, (k, K, K) of p (k, K): one row for each class."""
        said, prior, classes = source.probabilities, source.prior, source.classes
        said = source.calibrated(said) if self.calibrate else said
        own = source.labels[:, None] == np.arange(classes)
        ratio = said / np.where(prior > 0, prior, 1.0)
        p = np.ascontiguousarray(p)  # the layout of equal rows would be handed on to all below
        scaled = ratio / np.maximum((ratio * p[:, None]).sum(axis=-1, keepdims=True), 1e-300)
        chosen = (scaled * p[:, None] * own).sum(
            axis=-1, keepdims=True
        )  # of the true class, (k, m, 1)
        slope = scaled * (own - chosen)
        errors = []
        for y in range(classes):
            some = np.ascontiguousarray(slope[:, own[:, y]])
            errors.append(-some.sum(axis=1) / some.shape[1])
        return np.stack(errors, axis=1)
