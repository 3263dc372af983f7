"""Every registered task keeps the contract of problems and views."""

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import (
    BalancedTree,
    DirichletLabels,
    GaussianBlocks,
    GaussianClasses,
    Iid,
    LowRankRatings,
    Natural,
    SubspaceRegression,
    SyntheticSpd,
    WrappedNormal,
)
from driftfold.drift import LabelMixture
from driftfold.nets import Mlp
from driftfold.registry import kinds
from driftfold.rng import Seed
from driftfold.tasks import (
    Batch,
    DriftingClassification,
    HyperbolicFrechetMean,
    HyperbolicGraphEmbedding,
    HyperbolicPrediction,
    ManifoldNetwork,
    MatrixCompletion,
    MultitaskFeatureLearning,
    Pca,
    PcaProblem,
    PoincareEmbedding,
    SoftmaxRegression,
    SpdFrechetMean,
    Task,
)
from driftfold.tasks.pca import PcaView
from driftfold.tasks.streams import Pretraining
from driftfold.testing.task import check_task

BLOCKS = GaussianBlocks(clients=66, samples=9, dimension=7)
CLASSES = GaussianClasses(classes=5, features=6, samples=700)
MATRICES = SyntheticSpd(clients=66, samples=3, size=3, freedom=5)
POINTS = WrappedNormal(clients=66, samples=4, weighted=True)
TREE = BalancedTree(3, 3)
RATINGS = LowRankRatings(items=20, users=140, rank=2, oversampling=4.5, noise=0.1)
REGRESSIONS = SubspaceRegression(clients=66, samples=9, dimension=7, rank=2)

# More than 64 clients each, so that all sizes of sub-stacks are checked.
EXAMPLES: dict[str, list[tuple[Task, float]]] = {
    "pca": [
        (Pca(data=BLOCKS, partition=Natural(), rank=3), 1e-6),
        (Pca(data=BLOCKS, partition=Natural(), rank=1), 1e-6),
        (Pca(data=GaussianBlocks(9, 3, 2), rank=2), 1e-6),  # constant: all gradients are rounding
        (Pca(data=GaussianBlocks(66, 9, 40), rank=5), 1e-6),  # no moments, as d >= 2n
        (Pca(data=CLASSES, partition=DirichletLabels(0.3), clients=66, rank=2), 1e-6),
        (
            Pca(
                data=CLASSES,
                partition=DirichletLabels(0.1, minimum=0),
                clients=66,
                rank=2,
                weighting="samples",
            ),
            1e-6,
        ),
    ],
    "matrix_completion": [
        (MatrixCompletion(ratings=RATINGS, clients=66, rank=2), 1e-6),
        (MatrixCompletion(ratings=RATINGS, clients=66, rank=3, ridge=0.05, partition=Iid()), 1e-6),
        (MatrixCompletion(ratings=RATINGS, clients=66, rank=2, precision="float32"), 1e-3),
    ],
    "multitask_feature_learning": [
        (MultitaskFeatureLearning(data=REGRESSIONS, rank=2), 1e-6),
        (MultitaskFeatureLearning(data=REGRESSIONS, rank=2, ridge=1, precision="float32"), 1e-3),
    ],
    "manifold_network": [
        (ManifoldNetwork(data=CLASSES, clients=66, width=2, l2=0.1), 1e-6),
    ],
    "spd_frechet_mean": [
        (SpdFrechetMean(data=MATRICES, partition=Iid(), clients=65, weighting="samples"), 1e-6),
        (SpdFrechetMean(data=MATRICES, precision="float32"), 1e-4),
    ],
    "hyperbolic_frechet_mean": [
        (HyperbolicFrechetMean(data=POINTS, weighted=True), 1e-6),
        (HyperbolicFrechetMean(data=POINTS, weighted=True, precision="float32"), 1e-4),
    ],
    "hyperbolic_prediction": [
        (
            HyperbolicPrediction(
                PoincareEmbedding(BalancedTree(4, 3), epochs=2),
                query="r.0.1",
                clients=66,
                bandwidth=0.1,
            ),
            1e-6,
        ),
    ],
    "hyperbolic_graph_embedding": [
        (HyperbolicGraphEmbedding(TREE, clients=66, negatives=3, pull=0.3, dimension=5), 1e-6),
        (HyperbolicGraphEmbedding(TREE, clients=66, negatives=3, precision="float32"), 1e-4),
    ],
    "drifting_classification": [
        (
            DriftingClassification(
                clients=66,
                batch=5,
                steps=3,
                reference=1,
                drift=(LabelMixture(),),
                net=Mlp((6,)),
                pretraining=Pretraining(epochs=1),
                precision="float64",
                keep_trained=False,
            ),
            1e-6,
        ),
    ],
    "softmax_regression": [
        (SoftmaxRegression(data=CLASSES, partition=Iid(), clients=66), 1e-6),
        (SoftmaxRegression(data=CLASSES, partition=DirichletLabels(0.3), clients=66, l2=0.1), 1e-6),
        (SoftmaxRegression(data=CLASSES, clients=66, precision="float32"), 1e-5),
        (
            SoftmaxRegression(
                data=CLASSES,
                partition=DirichletLabels(0.1, minimum=0),
                clients=66,
                weighting="samples",
                precision="float32",
            ),
            1e-5,
        ),
    ],
}


def test_each_kind_has_an_example() -> None:
    built_in = {k for k, c in kinds("task").items() if c.__module__.startswith("driftfold.")}
    assert built_in == set(EXAMPLES)


@pytest.mark.parametrize(
    ("task", "tolerance"), [pair for pairs in EXAMPLES.values() for pair in pairs], ids=repr
)
def test_task(task: Task, tolerance: float) -> None:
    check_task(lambda: task.build(Seed(3)), tolerance)


class Faulty(PcaProblem):
    """PCA whose views are wrong in one way."""

    fault: type[PcaView]

    def view(self, clients: Array, dispatches: Array, times: Array = 0.0) -> PcaView:
        return self.fault(self, clients, dispatches)


class WrongGradient(PcaView):
    def gradient(self, x: Array, batch: Batch) -> Array:
        return 1.001 * super().gradient(x, batch)


class Flattened(PcaView):
    """Treats the stack as a whole: each client's bits depend on the company."""

    def gradient(self, x: Array, batch: Batch) -> Array:
        g = super().gradient(x, batch)
        return g + 1e-16 * g.sum()


class InPlace(PcaView):
    def loss(self, x: Array, batch: Batch) -> Array:
        x *= 1.0 + 1e-15
        return super().loss(x, batch)


class Repeats(PcaView):
    def batches(self, size: object, steps: int, versions: object = None) -> list[Batch]:
        made = super().batches(size, steps)  # type: ignore[arg-type]
        return [b if b.indices is None else Batch(b.indices * 0, b.weights) for b in made]


class WrongSamples(PcaView):
    """Its losses of samples are right at points of their own, and wrong at one for all."""

    def sample_losses(self, x: Array, batch: Batch) -> Array:
        return super().sample_losses(x, batch) * (1.001 if x.shape[1] == 1 else 1.0)


class Impatient(PcaView):
    """Hands out the last batch first."""

    def batches(self, size: object, steps: int, versions: object = None) -> list[Batch]:
        return list(super().batches(size, steps)[::-1])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (WrongGradient, "along a random direction the loss rises"),
        (Flattened, "changes with the company in the stack"),
        (InPlace, "changed in place"),
        (Repeats, "drew a row twice"),
        (WrongSamples, "from the loss of one-row batches"),
        (Impatient, "the first batch depends on how many"),
    ],
)
def test_the_check_finds_what_is_wrong(fault: type[PcaView], message: str) -> None:
    good = Pca(data=BLOCKS, rank=2).build(Seed(1))

    def build() -> PcaProblem:
        problem = Faulty(good.data, good.fleet, good.manifold)
        problem.fault = fault
        return problem

    with pytest.raises(AssertionError, match=message):
        check_task(build)


def test_one_short_example_covers_an_odd_batch() -> None:
    task = Pca(data=GaussianBlocks(clients=3, samples=2, dimension=2), rank=1)
    check_task(lambda: task.build(Seed(1)))
    assert np.isfinite(task.build(Seed(1)).optimum())
