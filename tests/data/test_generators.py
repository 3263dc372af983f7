import numpy as np
import pytest

from driftfold.data import GaussianBlocks, GaussianClasses
from driftfold.errors import SpecError
from driftfold.rng import Seed


def test_block_i_is_scaled_by_i_over_n() -> None:
    data = GaussianBlocks(clients=4, samples=500, dimension=10).load(Seed(3))
    assert (data.each, data.clients) == (500, 4)
    for i in range(4):
        rows = data.x[500 * i : 500 * (i + 1)] * 4 / (i + 1)
        # 5,000 standard normals: five standard errors of their mean and of their variance.
        assert abs(rows.mean()) < 5 / np.sqrt(rows.size)
        assert abs(rows.var() - 1) < 5 * np.sqrt(2 / rows.size)


def test_second_moments_of_blocks_are_isotropic() -> None:
    x = GaussianBlocks(clients=1, samples=4000, dimension=5).load(Seed(4)).x
    # Entries of the sample covariance have a standard error of at most sqrt(2 / 4000) = 0.022.
    assert np.abs(x.T @ x / len(x) - np.eye(5)).max() < 5 * np.sqrt(2 / 4000)


def test_a_client_keeps_its_rows_when_others_join() -> None:
    few = GaussianBlocks(clients=2, samples=3, dimension=4).load(Seed(1)).x
    many = GaussianBlocks(clients=8, samples=3, dimension=4).load(Seed(1)).x
    # Only the scale i/N changes, by a power of two here: exactly.
    assert np.array_equal(few, 4 * many[: len(few)])


def test_a_client_keeps_its_scale_too_where_blocks_are_fixed() -> None:
    few = GaussianBlocks(clients=2, samples=3, dimension=4, blocks=8).load(Seed(1)).x
    many = GaussianBlocks(clients=8, samples=3, dimension=4).load(Seed(1)).x
    assert np.array_equal(few, many[: len(few)])


def test_scales_can_be_given() -> None:
    plain = GaussianBlocks(clients=2, samples=3, dimension=4, scales=(1.0, 1.0)).load(Seed(1)).x
    scaled = GaussianBlocks(clients=2, samples=3, dimension=4, scales=(0.5, 400.0)).load(Seed(1)).x
    assert np.array_equal(scaled, plain * np.repeat([[0.5], [400.0]], 3, axis=0))
    for wrong in (
        GaussianBlocks(clients=3, scales=(1.0, 2.0)),
        GaussianBlocks(clients=2, scales=(1.0, 2.0), blocks=4),
    ):
        with pytest.raises(SpecError, match=r"got 2 scales for . clients and blocks = "):
            wrong.load(Seed(1))


def test_generated_data_depend_on_the_seed_and_on_nothing_else() -> None:
    for kind in (GaussianBlocks(3, 2, 2), GaussianClasses(3, 2, 6)):
        again = kind.load(Seed(1)).x
        assert np.array_equal(kind.load(Seed(1)).x, again)
        assert not np.array_equal(kind.load(Seed(2)).x, again)


def test_class_centres_are_as_far_apart_as_asked() -> None:
    kind = GaussianClasses(classes=40, features=50, samples=40 * 100, separation=3.0)
    data = kind.load(Seed(5))
    assert data.y is not None
    centres = np.stack([data.x[data.y == c].mean(axis=0) for c in range(40)])
    # The mean over all pairs of |m_a - m_b|^2 / features is twice the variance over the classes;
    # each mean of 100 rows adds 1/100 to that variance. 2,000 entries: standard error 3 %.
    spread = 2 * (centres.var(axis=0, ddof=1).mean() - 1 / 100)
    assert abs(spread / 3.0**2 - 1) < 0.15


def test_rows_around_a_class_centre_are_standard_normal() -> None:
    data = GaussianClasses(classes=2, features=10, samples=1000, separation=5.0).load(Seed(6))
    assert data.y is not None
    for c in range(2):
        rows = data.x[data.y == c]
        spread = rows.var(axis=0, ddof=1).mean()
        assert abs(spread - 1) < 5 * np.sqrt(2 / rows.size)


def test_classes_differ_by_one_row_at_most() -> None:
    data = GaussianClasses(classes=7, features=1, samples=100).load(Seed(1))
    assert data.y is not None
    assert set(np.bincount(data.y).tolist()) == {14, 15}
