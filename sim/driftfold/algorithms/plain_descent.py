"""Plain local descent, whose end points the server averages in one way or another."""

from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Endpoint, LocalResult
from driftfold.algorithms.local_steps import D, LocalWork, S
from driftfold.tasks.base import View


@dataclass(frozen=True)
class PlainDescent(LocalWork[S, D, Endpoint]):
    """An exchange in which clients take K gradient steps, and send the point where they end."""

    payload_kind = Endpoint
    descent = "endpoint"

    def local(self, download: D, view: View, memory: Any, steps: int) -> LocalResult[Endpoint]:
        """K steps x_{k+1} = R_{x_k}(-alpha_k grad f_i(x_k; B_k)) from x_t."""
        manifold = self.problem.manifold
        x = download.point
        for k, batch in enumerate(self.batches(download, view, steps)):
            x = manifold.retract(x, -download.alpha(k) * view.gradient(x, batch))
        return LocalResult(Endpoint(x))
