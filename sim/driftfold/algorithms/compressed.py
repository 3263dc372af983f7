"""Compressed uploads: each client sends its tangent vector in fewer bytes.

With error feedback (Seide et al. 2014; Karimireddy et al., "Error feedback fixes SignSGD", 2019) a
client keeps what its messages have left out so far, and sends it along next time:

    e <- T_{x_s -> x_t} e;    send C(zeta + e);    e <- zeta + e - C(zeta + e),

where x_s is the point that the client was last sent, so its own memory moves with it from one
tangent space to the next. On a flat space what was sent and e sum to exactly what was to be sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftfold.algorithms.base import Arrivals, LocalResult, Phase
from driftfold.algorithms.wrapped import Altered, Wrapper
from driftfold.arrays import Array, Floats
from driftfold.compressors.base import Compressor
from driftfold.registry import register
from driftfold.tasks.base import Problem, View
from driftfold.trees import node


@node
class Residual:
    """What a client's messages have left out: a vector, and the point at which it is tangent."""

    point: Array
    vector: Array


@register("compressed")
@dataclass(frozen=True)
class Compressed(Wrapper):
    """An algorithm whose clients send their vectors coded, in every phase.

    A phase uploads the compressor's message and nothing else, so its size is the compressor's
    `message_bytes`; the download is the inner algorithm's.

    Attributes
    ----------
    algorithm
        The inner algorithm. Points that it sends are coded as vectors, by the inverse retraction.
    compressor
        How vectors are coded.
    error_feedback
        Whether clients keep what was left out, and send it along the next time.
    """

    compressor: Compressor
    error_feedback: bool = False

    def check(self, problem: Problem) -> None:
        """Require vectors that can be coded."""
        super().check(problem)
        for phase in self.phases(problem):
            assert isinstance(phase, Altered)
            self.compressor.check(phase.space)

    def needs_whole_work(self) -> str | None:
        """What was left out earlier has the weight of a whole way, and would get that of a part."""
        if not self.error_feedback:
            return None
        return (
            "what earlier messages left out is sent with a part, and would count for more with it"
        )

    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> Altered:
        """Return the phase with coded uploads."""
        return CodedUploads(phase, number, problem, self.compressor, self.error_feedback)

    def own_memory(self, problem: Problem) -> Any:
        """Nothing left out yet, in each phase."""
        if not self.error_feedback:
            return None
        x = problem.initial_point()
        return [Residual(x, np.zeros_like(x)) for _ in self.algorithm.phases(problem)]


@dataclass(frozen=True)
class CodedUploads(Altered):
    """One exchange with coded uploads."""

    compressor: Compressor
    error_feedback: bool

    @property
    def payload_kind(self) -> type[Any]:
        """The compressor's message."""
        return self.compressor.code

    def alter(
        self, result: LocalResult[Any], download: Any, view: View, own: Any
    ) -> LocalResult[Any]:
        """Code the vector, and what was left out before."""
        x, space, rule = self.base(download), self.space, self.compressor
        u = self.vector(result.payload, x)
        if self.error_feedback:
            u = u + self._carried(own[self.number], x)
        stream = view.stream(f"compressed/{self.number}")
        message = rule.encode(
            space, x, u, lambda count: stream.uniform(view.clients, view.dispatches, count)
        )
        if self.error_feedback:
            left = Residual(np.broadcast_to(x, u.shape), u - rule.decode(space, x, message))
            own = [*own[: self.number], left, *own[self.number + 1 :]]
        return LocalResult(message, own, result.metrics)

    def step(
        self, state: Any, arrivals: Arrivals[Any, Any], weights: Floats
    ) -> tuple[Any, Mapping[str, float]]:
        """Decode, and step as the inner phase."""
        x = self.base(arrivals.download)
        u = self.compressor.decode(self.space, x, arrivals.payload)
        return self.inner.step(state, replace(arrivals, payload=self.taken(x, u)), weights)

    def upload_bytes(self) -> int:
        """Size of one message."""
        return self.compressor.message_bytes(self.space, self.problem.itemsize)

    def _carried(self, kept: Residual, x: Array) -> Array:
        """What was left out, at x; zeros are so at every point."""
        x = np.ascontiguousarray(np.broadcast_to(x, kept.point.shape))  # strides can change bits
        axes = tuple(range(-len(self.space.shape), 0))
        nothing = np.all(kept.vector == 0, axis=axes, keepdims=True)
        start = np.where(nothing, x, kept.point)
        return np.where(nothing, 0, self.space.transport(start, x, kept.vector))
