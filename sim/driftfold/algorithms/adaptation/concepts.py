"""What server and clients of FedCCFA keep and send."""

from driftfold.algorithms.adaptation.base import Adapted
from driftfold.arrays import Array
from driftfold.trees import node


@node
class Concepts:
    """Server state.

    Attributes
    ----------
    theta
        The shared body with the common head, shape (P,).
    heads
        Each client's head, shape (N, K (m + 1)).
    prototypes, known
        Each client's prototypes, (N, K, d), and which it has, (N, K).
    common, common_known
        Those over all clients, (K, d) and (K,): of a class whose own a client lacks.
    """

    theta: Array
    heads: Array
    prototypes: Array
    known: Array
    common: Array
    common_known: Array


@node
class Joined:
    """What comes down second: the mean body, and tables of heads and prototypes by client."""

    body: Array
    heads: Array
    prototypes: Array
    known: Array


@node
class Learnt:
    """What a client sends: body, balanced and own head, mean features and numbers by class."""

    body: Array
    balanced: Array
    head: Array
    means: Array
    counts: Array


@node
class Owned(Adapted):
    """What a client keeps: its head, and prototypes."""

    head: Array
    prototypes: Array
    known: Array
