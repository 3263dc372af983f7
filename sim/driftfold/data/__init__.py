"""Data sets, and how they are divided among clients."""

from driftfold.data.assemble import assemble
from driftfold.data.base import ClientData, Data, Dataset, Partition
from driftfold.data.dirichlet import DirichletLabels
from driftfold.data.fashion_mnist import FashionMnistCut
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.data.idx import Idx
from driftfold.data.iid import Iid
from driftfold.data.natural import Natural
from driftfold.data.npz import Npz
from driftfold.data.shards import Shards

__all__ = [
    "ClientData",
    "Data",
    "Dataset",
    "DirichletLabels",
    "FashionMnistCut",
    "GaussianBlocks",
    "GaussianClasses",
    "Idx",
    "Iid",
    "Natural",
    "Npz",
    "Partition",
    "Shards",
    "assemble",
]
