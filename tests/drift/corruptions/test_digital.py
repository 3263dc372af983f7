"""JPEG, coarse pixels, rubber and shifts against Pillow and SciPy."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from driftfold.arrays import Floats
from driftfold.drift.corruptions import (
    ElasticTransform,
    JpegCompression,
    Pixelate,
    Translation,
)
from driftfold.drift.corruptions.elastic_transform import STRETCHES
from driftfold.rng import Seed
from tests.drift.corruptions.pictures import by_severity, clothes, coloured, numbers

SEVERE = range(1, 6)
BOTH = pytest.mark.parametrize("x", [clothes(3), coloured(3)], ids=["grey", "colour"])


@BOTH
@pytest.mark.parametrize(("severity", "quality"), by_severity((80, 65, 58, 50, 40)))
def test_jpeg_is_pillows(x: Floats, severity: int, quality: int) -> None:
    made = JpegCompression().corrupt(x, severity, numbers(x))
    for picture, got in zip(x, made, strict=True):
        file = BytesIO()
        Image.fromarray(np.uint8(np.rint(255 * picture)).squeeze()).save(
            file, "JPEG", quality=quality
        )
        wanted = np.asarray(Image.open(file)).reshape(picture.shape)
        np.testing.assert_array_equal(255 * got, wanted)


@pytest.mark.parametrize(("severity", "scale"), by_severity((0.95, 0.9, 0.85, 0.75, 0.65)))
@pytest.mark.parametrize(("height", "width"), [(32, 32), (28, 28), (8, 11)])
def test_pixelate_is_pillows(severity: int, scale: float, height: int, width: int) -> None:
    x = coloured(2, height, width)[..., :1]
    made = Pixelate().corrupt(x, severity, numbers(x))
    for picture, got in zip(x[..., 0], made[..., 0], strict=True):
        small = Image.fromarray(picture.astype(np.float32)).resize(
            (int(width * scale), int(height * scale)), Image.Resampling.BOX
        )
        wanted = np.asarray(small.resize((width, height), Image.Resampling.BOX))
        np.testing.assert_allclose(got, wanted, atol=1e-6)  # Pillow's floats have 24 bits


def source_places(moves: Floats, side: int) -> Floats:
    """Rows and columns of each pixel's origin: three pairs of points solved as linear equations."""
    reach, middle = side // 3, side // 2
    corners = middle + reach * np.array([[1, 1], [1, -1], [-1, -1]])  # (column, row)
    ends = corners + moves.reshape(3, 2)
    back = np.linalg.solve(np.column_stack([ends, np.ones(3)]), corners)  # (3, 2)
    row, column = np.mgrid[:side, :side]
    there = np.stack([column, row, np.ones_like(row)], axis=-1) @ back
    return there[..., ::-1].transpose(2, 0, 1)


@pytest.mark.parametrize("severity", SEVERE)
@pytest.mark.parametrize("side", [28, 32])
def test_rubber_is_an_affine_map_and_a_blurred_displacement(severity: int, side: int) -> None:
    amount, deviation, moved = (side * part for part in STRETCHES[severity - 1])
    x = coloured(3, side, side)[..., :1]
    stream = Seed(0).stream(f"corruption elastic_transform {severity}")
    made = ElasticTransform().corrupt(x, severity, numbers(x))
    for row, picture in enumerate(x[..., 0]):
        places = source_places(moved * (2 * stream.uniform(row, 0, 6) - 1), side)
        wanted = ndimage.map_coordinates(picture, places, order=1, mode="mirror")
        if amount:
            noise = 2 * stream.uniform(row, 1, 2 * side**2).reshape(2, side, side) - 1
            shift = [
                amount * ndimage.gaussian_filter(one, deviation, mode="reflect", truncate=3)
                for one in noise
            ]
            places = np.mgrid[:side, :side] + shift
            wanted = ndimage.map_coordinates(wanted, places, order=1, mode="reflect")
        np.testing.assert_allclose(made[row, ..., 0], wanted, atol=1e-9)


@pytest.mark.parametrize("severity", SEVERE)
def test_translation_is_a_shift_by_as_many_pixels(severity: int) -> None:
    point = np.zeros((60, 21, 21, 1))
    point[:, 10, 10] = 1.0
    made = Translation().corrupt(point, severity, numbers(point))
    moved = np.argwhere(made[..., 0] == 1.0)
    assert moved[:, 0].tolist() == list(range(60))
    assert made.sum() == 60
    lengths = np.hypot(*(moved[:, 1:] - 10).T)
    assert (np.abs(lengths - severity) <= 0.5**0.5).all()  # both coordinates rounded
    assert len(set(map(tuple, moved[:, 1:].tolist()))) >= 8, "in all directions"
