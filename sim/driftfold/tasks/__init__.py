"""Tasks: what the federation minimises."""

from driftfold.tasks.base import Batch, BatchSize, Problem, Task, View
from driftfold.tasks.embedding import Embedding, NamedPoints, ball_to_hyperboloid
from driftfold.tasks.frechet import FrechetProblem, FrechetView
from driftfold.tasks.hyperbolic_frechet_mean import HyperbolicFrechetMean, HyperbolicMeanProblem
from driftfold.tasks.hyperbolic_graph_embedding import (
    GraphEmbeddingProblem,
    HyperbolicGraphEmbedding,
)
from driftfold.tasks.hyperbolic_prediction import (
    HyperbolicPrediction,
    HyperbolicPredictionProblem,
)
from driftfold.tasks.link_ranking import mean_rank_and_precision
from driftfold.tasks.metric import GradientNorm, Metric, OffManifold
from driftfold.tasks.pca import Pca, PcaProblem
from driftfold.tasks.poincare_embedding import PoincareEmbedding
from driftfold.tasks.sampled import SampledProblem, SampledView
from driftfold.tasks.softmax_regression import SoftmaxProblem, SoftmaxRegression
from driftfold.tasks.spd_frechet_mean import SpdFrechetMean, SpdFrechetProblem

__all__ = [
    "Batch",
    "BatchSize",
    "Embedding",
    "FrechetProblem",
    "FrechetView",
    "GradientNorm",
    "GraphEmbeddingProblem",
    "HyperbolicFrechetMean",
    "HyperbolicGraphEmbedding",
    "HyperbolicMeanProblem",
    "HyperbolicPrediction",
    "HyperbolicPredictionProblem",
    "Metric",
    "NamedPoints",
    "OffManifold",
    "Pca",
    "PcaProblem",
    "PoincareEmbedding",
    "Problem",
    "SampledProblem",
    "SampledView",
    "SoftmaxProblem",
    "SoftmaxRegression",
    "SpdFrechetMean",
    "SpdFrechetProblem",
    "Task",
    "View",
    "ball_to_hyperboloid",
    "mean_rank_and_precision",
]
