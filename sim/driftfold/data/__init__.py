"""Data sets, and how they are divided among clients."""

from driftfold.data.assemble import assemble
from driftfold.data.balanced_tree import BalancedTree
from driftfold.data.base import ClientData, Data, Dataset, Partition
from driftfold.data.cifar10 import Cifar10
from driftfold.data.cifar10_jpeg import Cifar10Jpeg
from driftfold.data.cifar100 import Cifar100
from driftfold.data.cifar_c import Cifar10C, Cifar100C
from driftfold.data.colon_tiles import ColonTiles
from driftfold.data.connectomes import Connectomes
from driftfold.data.corrupted_images import CorruptedImages, open_corrupted
from driftfold.data.digits import Digits
from driftfold.data.dirichlet import DirichletLabels
from driftfold.data.emg import Emg
from driftfold.data.fashion_mnist import FashionMnist, FashionMnistCut
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.data.gaussian_classes import GaussianClasses
from driftfold.data.idx import Idx
from driftfold.data.iid import Iid
from driftfold.data.in_order import InOrder
from driftfold.data.long_tail_ratings import LongTailRatings
from driftfold.data.low_rank_ratings import LowRankRatings
from driftfold.data.mammal_points import BallPoints, read_mammal_points
from driftfold.data.mnist import Mnist
from driftfold.data.movielens import MovieLens1M, MovieLens100K
from driftfold.data.natural import Natural
from driftfold.data.noisy import Noisy
from driftfold.data.npz import Npz
from driftfold.data.pathmnist import PathMnist
from driftfold.data.picture_rows import picture_rows, pictures_of
from driftfold.data.ratings import Ratings, RatingSource, hold_out, ratings_of, standardised
from driftfold.data.relation import (
    Relation,
    RelationSource,
    laplacian_features,
    laplacian_spectrum,
    relation_of,
)
from driftfold.data.resampled import Resampled
from driftfold.data.shards import Shards
from driftfold.data.shrunk import Shrunk
from driftfold.data.spd_classes import SpdClasses
from driftfold.data.spd_rows import matrices_of, rows_of
from driftfold.data.subspace_regression import SubspaceRegression
from driftfold.data.synthetic_spd import SyntheticSpd
from driftfold.data.texts import (
    R8,
    R52,
    BbcNews,
    Encoder,
    HashedWords,
    MiniLm,
    Newsgroups,
    SpamAssassin,
    WordLlama,
)
from driftfold.data.tiny_imagenet import TinyImageNet
from driftfold.data.wordnet_mammals import WordNetMammals
from driftfold.data.wrapped_normal import WrappedNormal

__all__ = [
    "R8",
    "R52",
    "BalancedTree",
    "BallPoints",
    "BbcNews",
    "Cifar10",
    "Cifar10C",
    "Cifar10Jpeg",
    "Cifar100",
    "Cifar100C",
    "ClientData",
    "ColonTiles",
    "Connectomes",
    "CorruptedImages",
    "Data",
    "Dataset",
    "Digits",
    "DirichletLabels",
    "Emg",
    "Encoder",
    "FashionMnist",
    "FashionMnistCut",
    "GaussianBlocks",
    "GaussianClasses",
    "HashedWords",
    "Idx",
    "Iid",
    "InOrder",
    "LongTailRatings",
    "LowRankRatings",
    "MiniLm",
    "Mnist",
    "MovieLens1M",
    "MovieLens100K",
    "Natural",
    "Newsgroups",
    "Noisy",
    "Npz",
    "Partition",
    "PathMnist",
    "RatingSource",
    "Ratings",
    "Relation",
    "RelationSource",
    "Resampled",
    "Shards",
    "Shrunk",
    "SpamAssassin",
    "SpdClasses",
    "SubspaceRegression",
    "SyntheticSpd",
    "TinyImageNet",
    "WordLlama",
    "WordNetMammals",
    "WrappedNormal",
    "assemble",
    "hold_out",
    "laplacian_features",
    "laplacian_spectrum",
    "matrices_of",
    "open_corrupted",
    "picture_rows",
    "pictures_of",
    "ratings_of",
    "read_mammal_points",
    "relation_of",
    "rows_of",
    "standardised",
]
