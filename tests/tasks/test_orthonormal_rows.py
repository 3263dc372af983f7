from typing import Any

import pytest

from driftfold.data import GaussianBlocks, LowRankRatings, SubspaceRegression
from driftfold.errors import SpecError
from driftfold.manifolds import Euclidean, Grassmann, Manifold, Power, Sphere, Stiefel
from driftfold.rng import Seed
from driftfold.tasks import MatrixCompletion, MultitaskFeatureLearning, Pca, Task
from driftfold.tasks.orthonormal_rows import with_orthonormal_rows


def _tasks(manifold: Manifold) -> dict[str, Task]:
    ratings = LowRankRatings(items=8, users=10, rank=2, oversampling=1.5)
    rows = SubspaceRegression(clients=4, samples=6, dimension=8, rank=2)
    return {
        "pca": Pca(data=GaussianBlocks(3, 5, 8), rank=2, manifold=manifold),
        "completion": MatrixCompletion(
            ratings=ratings, clients=5, rank=2, ridge=0.3, manifold=manifold
        ),
        "features": MultitaskFeatureLearning(data=rows, rank=2, manifold=manifold),
    }


@pytest.mark.parametrize("name", ["pca", "completion", "features"])
def test_only_manifolds_of_orthonormal_rows_are_taken(name: str) -> None:
    for right in (Stiefel(2, 8), Grassmann(2, 8), Stiefel(2, 8, metric="canonical")):
        built: Any = _tasks(right)[name].build(Seed(1))
        assert built.manifold is right
    for wrong in (Euclidean(2, 8), Power(Sphere(8), 2)):
        with pytest.raises(SpecError, match="do not have orthonormal rows: x x"):
            _tasks(wrong)[name].build(Seed(1))


def test_one_row() -> None:
    for right in (Sphere(5), Stiefel(1, 5), Grassmann(1, 5), Power(Sphere(5), 1)):
        assert with_orthonormal_rows(right, "rank 1", (1, 5), (5,)) is right
    with pytest.raises(SpecError, match="orthonormal"):
        with_orthonormal_rows(Euclidean(5), "rank 1", (5,))


def test_a_square() -> None:
    square = Stiefel(4, 4)
    assert with_orthonormal_rows(square, "rank 4", (4, 4)) is square
