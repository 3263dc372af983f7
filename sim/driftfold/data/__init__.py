"""Data sets, and how they are divided among clients."""

from driftfold.data.assemble import assemble
from driftfold.data.balanced_tree import BalancedTree
from driftfold.data.base import ClientData, Data, Dataset, Partition
from driftfold.data.dirichlet import DirichletLabels
from driftfold.data.fashion_mnist import FashionMnistCut
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.data.idx import Idx
from driftfold.data.iid import Iid
from driftfold.data.in_order import InOrder
from driftfold.data.low_rank_ratings import LowRankRatings
from driftfold.data.natural import Natural
from driftfold.data.npz import Npz
from driftfold.data.ratings import Ratings, RatingSource, hold_out, ratings_of, standardised
from driftfold.data.relation import (
    Relation,
    RelationSource,
    laplacian_features,
    laplacian_spectrum,
    relation_of,
)
from driftfold.data.shards import Shards
from driftfold.data.spd_rows import matrices_of, rows_of
from driftfold.data.synthetic_spd import SyntheticSpd
from driftfold.data.wordnet_mammals import WordNetMammals
from driftfold.data.wrapped_normal import WrappedNormal

__all__ = [
    "BalancedTree",
    "ClientData",
    "Data",
    "Dataset",
    "DirichletLabels",
    "FashionMnistCut",
    "GaussianBlocks",
    "GaussianClasses",
    "Idx",
    "Iid",
    "InOrder",
    "LowRankRatings",
    "Natural",
    "Npz",
    "Partition",
    "RatingSource",
    "Ratings",
    "Relation",
    "RelationSource",
    "Shards",
    "SyntheticSpd",
    "WordNetMammals",
    "WrappedNormal",
    "assemble",
    "hold_out",
    "laplacian_features",
    "laplacian_spectrum",
    "matrices_of",
    "ratings_of",
    "relation_of",
    "rows_of",
    "standardised",
]
