"""Sets as published, where they are there: `driftfold data get NAME`, then pytest -m realdata."""

import numpy as np
import pytest

from driftfold.data import (
    Cifar10,
    Cifar10C,
    Cifar10Jpeg,
    Cifar100,
    Cifar100C,
    Connectomes,
    Emg,
    FashionMnist,
    Mnist,
    MovieLens1M,
    MovieLens100K,
    PathMnist,
    Shards,
    TinyImageNet,
    WordNetMammals,
    laplacian_features,
    matrices_of,
    read_mammal_points,
)
from driftfold.data.catalogue import read_set, survey
from driftfold.data.catalogue.status import Status
from driftfold.rng import Seed

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def states() -> dict[str, Status]:
    return {status.entry.name: status for status in survey()}


@pytest.fixture(autouse=True)
def wanted(request: pytest.FixtureRequest, states: dict[str, Status]) -> None:
    """Skip a test, named after its set, where the set is missing; a damaged one fails."""
    name = request.node.name.removeprefix("test_")
    if states[name].state == "missing":
        pytest.skip(f"{name} is not there: {states[name].entry.advice}")


def test_mnist() -> None:
    data = Mnist().load(Seed(0))
    assert (round(float(data.x.mean()), 4), round(float(data.x.std()), 4)) == (0.1307, 0.3081)
    assert data.y is not None
    assert np.bincount(data.y).tolist()[:3] == [5923, 6742, 5958]
    centred = data.x - data.x.mean(axis=0)
    shares = np.linalg.eigvalsh(centred.T @ centred)[::-1]
    assert np.allclose((shares / shares.sum())[:3], [0.09705, 0.07096, 0.06169], atol=5e-6)
    parts = Shards(per_client=8).split(data, 60, Seed(2025))
    assert {len(part) for part in parts} == {1000}
    assert len(Mnist(split="test").load(Seed(0)).x) == 10_000


def test_fashion_mnist() -> None:
    data = FashionMnist().load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [6000] * 10
    assert (round(float(data.x.mean()), 5), round(float(data.x.std()), 5)) == (0.28604, 0.35302)


def test_cifar10() -> None:
    data = Cifar10(pixels="unit").load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [5000] * 10
    channels = data.x.reshape(-1, 3, 1024)
    assert np.allclose(channels.mean(axis=(0, 2)), [0.4914, 0.4822, 0.4465], atol=5e-5)


def test_cifar10_jpeg() -> None:
    data = Cifar10Jpeg(split="test", pixels="unit").load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [1000] * 10
    # Of the test images; the training images' published ones are .4914, .4822, .4465.
    means = data.x.reshape(-1, 3, 1024).mean(axis=(0, 2))
    assert np.allclose(means, [0.494, 0.485, 0.450], atol=2e-3)


def test_cifar100() -> None:
    data = Cifar100(labels="coarse").load(Seed(0))
    assert data.y is not None
    assert data.domain is not None
    assert np.bincount(data.y).tolist() == [2500] * 20
    assert np.bincount(data.domain).tolist() == [500] * 100
    channels = data.x.reshape(-1, 3, 1024)
    assert np.allclose(channels.mean(axis=(0, 2)), [0.5071, 0.4865, 0.4409], atol=5e-4)


def test_cifar10_c() -> None:
    mild, strong = (Cifar10C(severity=severity).load(Seed(0)) for severity in (1, 5))
    assert mild.y is not None
    assert np.bincount(mild.y).tolist() == [1000] * 10
    assert mild.x.shape == (10_000, 3072)
    # Noise of standard deviation .04 and .10: .094 between them, less what is cut off at 0 and 1.
    assert 0.08 < (strong.x - mild.x).std() < 0.12


def test_cifar100_c() -> None:
    data = Cifar100C("brightness", severity=5).load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [100] * 100


def test_tiny_imagenet() -> None:
    data = TinyImageNet("val").load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [50] * 200
    assert data.x.shape == (10_000, 64 * 64 * 3)


def test_pathmnist() -> None:
    data = PathMnist(samples=500).load(Seed(0))
    assert data.x.shape == (500, 81)


def test_movielens_100k() -> None:
    ratings = MovieLens100K(standardise=False).load(Seed(0))
    counts = np.bincount(ratings.value.astype(int), minlength=6)[1:]
    assert counts.tolist() == [6110, 11370, 27145, 34174, 21201]
    assert len(np.unique(ratings.user)) == 943
    assert len(np.unique(ratings.item)) == 1682
    per_user = np.diff(ratings.starts)
    assert int((~ratings.test).sum()) == int(np.ceil(per_user * 8 / 10).sum())


def test_movielens_1m() -> None:
    ratings = MovieLens1M().load(Seed(0))
    assert len(np.unique(ratings.user)) == 6040
    assert len(np.unique(ratings.item)) == 3706
    assert round(ratings.scale, 3) == 1.117


def test_mammal_points() -> None:
    embedding = read_mammal_points()
    mammals = WordNetMammals().load(Seed(0)).ordered(embedding.names)
    radii = np.linalg.norm(embedding.points, axis=1)
    assert round(float(radii[mammals.number("mammal.n.01")]), 3) == 0.122
    assert round(float(radii.max()), 5) == 0.99962
    # Where the authors' features are in the same file, ours are they, up to sign.
    found = read_set("mammal_points")
    with np.load(found.places["hsp_mammals.npz"]) as archive:
        published = archive["features"]
    ours = laplacian_features(mammals)
    signs = np.sign((ours * published).sum(axis=0))
    assert np.abs(ours * signs - published).max() < 1e-12


def test_emg() -> None:
    data = Emg().load(Seed(0))
    values = np.linalg.eigvalsh(matrices_of(data.x))
    assert data.x.shape == (1454, 64)
    assert data.clients == 4
    assert round(float(values.min()), 2) == 0.26
    assert round(float(np.median(values[:, -1] / values[:, 0]))) == 28


def test_connectomes() -> None:
    data = Connectomes().load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [46, 40]
    assert round(float(np.linalg.eigvalsh(matrices_of(data.x)).min()), 4) == 0.0023
