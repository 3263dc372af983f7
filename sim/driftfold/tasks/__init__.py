"""Tasks: what the federation minimises."""

from driftfold.tasks.autograd import LossProblem, LossView
from driftfold.tasks.base import Batch, Problem, SampleLosses, Task, View
from driftfold.tasks.batch_size import Batching, BatchRule, BatchSize, Growing, PerStep
from driftfold.tasks.centralised import objective_of, solve
from driftfold.tasks.cohort_gap import CohortGap
from driftfold.tasks.column_fits import ColumnFits
from driftfold.tasks.drifting_classification import DriftingClassification
from driftfold.tasks.embedding import Embedding, NamedPoints
from driftfold.tasks.frechet import FrechetProblem, FrechetView
from driftfold.tasks.gradient_norm import GradientNorm
from driftfold.tasks.hyperbolic_frechet_mean import HyperbolicFrechetMean, HyperbolicMeanProblem
from driftfold.tasks.hyperbolic_graph_embedding import (
    GraphEmbeddingProblem,
    HyperbolicGraphEmbedding,
)
from driftfold.tasks.hyperbolic_prediction import (
    HyperbolicPrediction,
    HyperbolicPredictionProblem,
)
from driftfold.tasks.known_entries import Columns, Entries
from driftfold.tasks.link_ranking import mean_rank_and_precision
from driftfold.tasks.mammal_points import MammalPoints
from driftfold.tasks.manifold_network import ManifoldNetwork
from driftfold.tasks.matrix_completion import CompletionProblem, MatrixCompletion
from driftfold.tasks.metric import Metric, WeightMetric
from driftfold.tasks.multitask_feature_learning import FeatureProblem, MultitaskFeatureLearning
from driftfold.tasks.network import NetworkProblem
from driftfold.tasks.off_manifold import OffManifold
from driftfold.tasks.pca import Pca, PcaProblem
from driftfold.tasks.poincare_embedding import PoincareEmbedding
from driftfold.tasks.sampled import SampledProblem, SampledView, SeparableView
from driftfold.tasks.softmax_regression import SoftmaxProblem, SoftmaxRegression
from driftfold.tasks.spd_frechet_mean import SpdFrechetMean, SpdFrechetProblem
from driftfold.tasks.spd_network import SpdNetwork
from driftfold.tasks.stiefel_network import StiefelNetwork
from driftfold.tasks.weight_bias import WeightBias

__all__ = [
    "Batch",
    "BatchRule",
    "BatchSize",
    "Batching",
    "CohortGap",
    "ColumnFits",
    "Columns",
    "CompletionProblem",
    "DriftingClassification",
    "Embedding",
    "Entries",
    "FeatureProblem",
    "FrechetProblem",
    "FrechetView",
    "GradientNorm",
    "GraphEmbeddingProblem",
    "Growing",
    "HyperbolicFrechetMean",
    "HyperbolicGraphEmbedding",
    "HyperbolicMeanProblem",
    "HyperbolicPrediction",
    "HyperbolicPredictionProblem",
    "LossProblem",
    "LossView",
    "MammalPoints",
    "ManifoldNetwork",
    "MatrixCompletion",
    "Metric",
    "MultitaskFeatureLearning",
    "NamedPoints",
    "NetworkProblem",
    "OffManifold",
    "Pca",
    "PcaProblem",
    "PerStep",
    "PoincareEmbedding",
    "Problem",
    "SampleLosses",
    "SampledProblem",
    "SampledView",
    "SeparableView",
    "SoftmaxProblem",
    "SoftmaxRegression",
    "SpdFrechetMean",
    "SpdFrechetProblem",
    "SpdNetwork",
    "StiefelNetwork",
    "Task",
    "View",
    "WeightBias",
    "WeightMetric",
    "mean_rank_and_precision",
    "objective_of",
    "solve",
]
