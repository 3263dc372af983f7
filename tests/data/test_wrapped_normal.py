import numpy as np

from driftfold.data import WrappedNormal
from driftfold.manifolds import Lorentz
from driftfold.rng import Seed


def test_logarithms_at_the_centre_are_normal_and_centres_have_the_radius() -> None:
    data = WrappedNormal(clients=5, samples=2000, dimension=3, radius=2.0, spread=0.3)
    x = data.load(Seed(1)).x.reshape(5, 2000, 3)
    space = Lorentz(3)
    direction = Seed(1).stream("centres").normal(np.arange(5), 0, 3)
    centres = np.sinh(2.0) * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    assert np.allclose(np.arcsinh(np.linalg.norm(centres, axis=1)), 2.0)
    logs = space.log(centres[:, None], x) / 0.3
    # 2,000 standard normals: five standard errors of mean and second moments.
    assert np.abs(logs.mean(axis=1)).max() < 5 / np.sqrt(2000)
    moments = logs.swapaxes(1, 2) @ logs / 2000
    assert np.abs(moments - np.eye(3)).max() < 5 * np.sqrt(2 / 2000)


def test_a_client_keeps_its_points_when_others_join() -> None:
    few = WrappedNormal(clients=2, samples=3, weighted=True).load(Seed(1)).x
    many = WrappedNormal(clients=8, samples=3, weighted=True).load(Seed(1)).x
    assert np.array_equal(few, many[:6])


def test_weights_are_the_last_column() -> None:
    plain = WrappedNormal(clients=3, samples=400).load(Seed(2))
    weighted = WrappedNormal(clients=3, samples=400, weighted=True).load(Seed(2))
    assert np.array_equal(weighted.x[:, :-1], plain.x)
    weights = weighted.x[:, -1]
    assert ((weights >= 0.5) & (weights < 1.5)).all()
    assert abs(weights.mean() - 1) < 5 / np.sqrt(12 * 1200)
