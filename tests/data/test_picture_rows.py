from pathlib import Path

import numpy as np
import pytest

from driftfold.data import Dataset, FashionMnistCut, Npz, picture_rows, pictures_of
from driftfold.errors import DataError
from driftfold.rng import Seed

COLOUR = np.random.default_rng(3).integers(0, 256, (5, 2, 4, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", [(2, 4), (2, 4, 3), (2, 4, 1)])
def test_rows_become_pictures_and_rows_again(shape: tuple[int, ...]) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 5, np.prod(shape)))
    pictures = pictures_of(rows, shape)
    assert pictures.shape == (6, 5, *shape)
    assert np.may_share_memory(pictures, rows)
    assert np.array_equal(picture_rows(pictures, shape), rows)
    assert np.array_equal(pictures_of(rows[2, 3], shape), pictures[2, 3])


def test_a_row_of_colours_holds_planes_for_convolutions() -> None:
    rows = picture_rows(COLOUR, (2, 4, 3))
    assert np.array_equal(rows.reshape(5, 3, 2, 4), COLOUR.transpose(0, 3, 1, 2))


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(DataError, match="are no pictures; use a set of images"):
        pictures_of(np.zeros((2, 6)), Dataset(x=np.zeros((2, 6))).shape)
    for shape in ((2, 4), (6,), (2, 1, 3, 1)):
        with pytest.raises(DataError, match="rows of 6 numbers are no pictures of shape"):
            pictures_of(np.zeros((2, 6)), shape)
    with pytest.raises(DataError, match=r"have shape \(5, 2, 4, 3\); wanted \(\.\.\., 4, 2, 3\)"):
        picture_rows(COLOUR, (4, 2, 3))


def test_a_set_of_images_knows_their_shape() -> None:
    data = FashionMnistCut().load(Seed(0))
    assert data.shape == (28, 28)
    assert pictures_of(data.x, data.shape).shape == (2000, 28, 28)


def test_an_archive_of_bytes_holds_pictures(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    domain = np.array([0, 1, 1, 0, 2])
    np.savez(path, x=COLOUR, domain=domain)
    data = Npz(str(path), limit=4).load(Seed(0))
    assert data.shape == (2, 4, 3)
    assert np.array_equal(pictures_of(data.x, data.shape), COLOUR[:4] / 255)
    assert data.domain is not None
    assert data.domain.tolist() == [0, 1, 1, 0]
    for x, shape in ((COLOUR[..., 0], (2, 4)), (COLOUR[:, 0, :, 0], None), (COLOUR / 255, None)):
        np.savez(path, x=x)
        data = Npz(str(path)).load(Seed(0))
        assert data.shape == shape
        assert data.domain is None
    np.savez(path, x=COLOUR, domain=domain[:3])
    with pytest.raises(DataError, match=r"domain in .* shape \(5,\) were wanted"):
        Npz(str(path)).load(Seed(0))
