import numpy as np
import pytest

from driftfold.data import SpdClasses, SubspaceRegression
from driftfold.rng import Seed


def test_matrices_of_a_class_lie_around_its_centre() -> None:
    data = SpdClasses(classes=2, size=4, samples=4000, freedom=50, separation=1.0).load(Seed(1))
    matrices = data.x.reshape(-1, 4, 4)
    assert data.y is not None
    assert np.linalg.eigvalsh(matrices).min() > 0
    assert np.array_equal(matrices, matrices.swapaxes(-1, -2))
    # A Wishart mean over 2,000 samples of 50 degrees: 1/sqrt(100,000) relative, a few times.
    means = [matrices[data.y == c].mean(axis=0) for c in range(2)]
    halves = [matrices[data.y == c][:1000].mean(axis=0) for c in range(2)]
    for mean, half in zip(means, halves, strict=True):
        assert np.linalg.norm(mean - half) < 0.03 * np.linalg.norm(mean)
    # exp(S_c) with eigenvalues of S_c of order 1: the classes are far apart.
    assert np.linalg.norm(means[0] - means[1]) > 0.5 * np.linalg.norm(means[0])


def test_without_separation_all_classes_have_the_identity_as_centre() -> None:
    data = SpdClasses(classes=3, size=3, samples=3000, freedom=20, separation=0.0).load(Seed(1))
    mean = data.x.reshape(-1, 3, 3).mean(axis=0)
    assert np.abs(mean - np.eye(3)).max() < 0.02  # 1/sqrt(60,000) and a few standard errors


def test_targets_come_from_a_shared_subspace() -> None:
    source = SubspaceRegression(clients=8, samples=30, dimension=10, rank=3, noise=0.0)
    data = source.load(Seed(1))
    assert data.x.shape == (240, 11)
    assert data.owner is not None
    directions = []
    for client in range(8):
        rows = data.x[data.owner == client]
        found, residual, *_ = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)
        assert residual[0] < 1e-24
        directions.append(found)
    values = np.linalg.svd(np.stack(directions))[1]
    assert values[2] > 0.1
    assert values[3] < 1e-12


@pytest.mark.parametrize("data", [SpdClasses(samples=30), SubspaceRegression(clients=3)])
def test_rows_do_not_change_when_more_are_drawn(data: SpdClasses | SubspaceRegression) -> None:
    grown = (
        SpdClasses(samples=50) if isinstance(data, SpdClasses) else SubspaceRegression(clients=5)
    )
    few, many = data.load(Seed(2)).x, grown.load(Seed(2)).x
    assert np.array_equal(few, many[: len(few)])
    assert data.footprint() >= few.nbytes
