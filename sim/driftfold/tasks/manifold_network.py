"""A small net with a layer on a manifold, trained as one point of a product manifold."""

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt

from driftfold.data.base import Data, Partition
from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.data.iid import Iid
from driftfold.registry import register
from driftfold.rng import Seed
from driftfold.tasks.base import Task
from driftfold.tasks.division import Clients, Weighting, divide
from driftfold.tasks.network import NetworkProblem
from driftfold.tasks.spd_network import SpdNetwork
from driftfold.tasks.stiefel_network import StiefelNetwork

_NETWORKS: dict[str, type[NetworkProblem]] = {"stiefel": StiefelNetwork, "spd": SpdNetwork}


@register("manifold_network")
@dataclass(frozen=True)
class ManifoldNetwork(Task):
    """Classification by a net one of whose layers lives on a manifold, with cross-entropy.

    With layer "stiefel" the scores of a sample z are tanh(z U^T) W + b, U with orthonormal rows.
    With layer "spd" a sample is a symmetric positive definite matrix, flattened, and the net is
    SPDNet's: a bilinear map by orthonormal rows, centring at a point of the SPD manifold, the
    logarithm, a linear layer. Gradients are by automatic differentiation (torch), batched over
    clients.

    Attributes
    ----------
    layer
        "stiefel" or "spd".
    data
        Where the samples come from; they need labels.
    partition
        How they are divided.
    clients
        Number of clients, or "natural": the owners that the data name.
    width
        Rows of the layer on the Stiefel manifold, at most the size of a sample.
    l2
        Weight of the quadratic penalty on the last layer.
    weighting
        ``clients``: a_i = 1/N. ``samples``: a_i proportional to n_i.
    precision
        Of samples, points and gradients.

    Examples
    --------
    >>> task = ManifoldNetwork(data=GaussianClasses(classes=3, features=6, samples=60), clients=2)
    >>> problem = replace(task, width=4).build(Seed(1))
    >>> {name: part.shape for name, part in problem.product.factors.items()}
    {'bias': (3,), 'layer': (4, 6), 'weights': (4, 3)}
    """

    packages: ClassVar[tuple[str, ...]] = ("torch",)

    layer: Literal["stiefel", "spd"] = "stiefel"
    data: Data = field(default_factory=GaussianClasses)
    partition: Partition = field(default_factory=Iid)
    clients: Clients = 20
    width: Annotated[int, Gt(0)] = 8
    l2: Annotated[float, Ge(0)] = 0.0
    weighting: Weighting = "clients"
    precision: Literal["float64", "float32"] = "float64"

    def build(self, seed: Seed) -> NetworkProblem:
        """Load the data, divide them, and make the net."""
        data, fleet = divide(self.data, self.partition, self.clients, self.weighting, seed)
        data = replace(data, x=data.x.astype(self.precision, copy=False))
        return _NETWORKS[self.layer](data, fleet, self.width, self.l2)
