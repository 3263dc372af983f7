"""Tasks: what the federation minimises."""

from driftfold.tasks.base import Batch, BatchSize, Problem, Task, View
from driftfold.tasks.metric import GradientNorm, Metric, OffManifold
from driftfold.tasks.pca import Pca, PcaProblem
from driftfold.tasks.sampled import SampledProblem, SampledView
from driftfold.tasks.softmax_regression import SoftmaxProblem, SoftmaxRegression

__all__ = [
    "Batch",
    "BatchSize",
    "GradientNorm",
    "Metric",
    "OffManifold",
    "Pca",
    "PcaProblem",
    "Problem",
    "SampledProblem",
    "SampledView",
    "SoftmaxProblem",
    "SoftmaxRegression",
    "Task",
    "View",
]
