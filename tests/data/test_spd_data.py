import hashlib
from pathlib import Path

import numpy as np
import pytest

from driftfold.data import ColonTiles, SyntheticSpd, matrices_of, rows_of
from driftfold.data.colon_tiles import FILE, SHA256, read_slide
from driftfold.data.descriptors import covariances, tiles_of
from driftfold.errors import DataError, SpecError
from driftfold.rng import Seed


def test_synthetic_matrices_are_wishart_around_their_centre() -> None:
    spec = SyntheticSpd(clients=2, samples=4000, size=3, freedom=6, condition=16.0)
    data = spec.load(Seed(2))
    m = matrices_of(data.x)
    assert np.array_equal(m, m.swapaxes(-1, -2))
    centre = m.mean(axis=0)
    values = np.linalg.eigvalsh(centre)
    # Eigenvalues 1/4, 1, 4; the mean of 8,000 samples of 6 degrees is good to 2% at five errors.
    assert np.allclose(values, [0.25, 1, 4], rtol=0.04)
    half = np.linalg.inv(np.linalg.cholesky(centre))
    white = half @ m @ half.T
    # A Wishart entry w_ij / freedom has variance (1 + [i = j]) / freedom.
    assert np.allclose(white.var(axis=0), (1 + np.eye(3)) / 6, rtol=0.1)


def test_clients_differ_as_they_are_told_to() -> None:
    spec = SyntheticSpd(clients=60, samples=1, size=4, freedom=4, condition=1.0)
    same, apart = spec.load(Seed(1)), SyntheticSpd(60, 1, 4, 4, 1.0, 0.5).load(Seed(1))
    shifts = np.linalg.slogdet(matrices_of(apart.x))[1] - np.linalg.slogdet(matrices_of(same.x))[1]
    # log det of exp(h S) is h tr S, of variance h^2 d / d: 0.25 within 60 draws' five errors.
    assert 0.1 < shifts.var() < 0.5
    assert SyntheticSpd(60, 1, 4, 4, 1.0, 0.0).load(Seed(1)).x.tolist() == same.x.tolist()


def test_ill_conditioned_matrices_can_be_asked_for() -> None:
    m = matrices_of(SyntheticSpd(clients=3, samples=5, condition=1e8).load(Seed(1)).x)
    conditions = np.linalg.cond(m)
    assert 1e7 < np.median(conditions) < 1e10
    assert (np.linalg.eigvalsh(m)[:, 0] > 0).all()


def test_singular_matrices_cannot_be_asked_for() -> None:
    with pytest.raises(SpecError, match="8 degrees of freedom are singular; set 'freedom' to 9"):
        SyntheticSpd(freedom=8).load(Seed(0))


def test_roots_are_roots_and_ridges_are_added_first() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(5, 4, 4))
    spd = a @ a.swapaxes(-1, -2)
    root = matrices_of(rows_of(spd, root=True, ridge=0.5, source="here"))
    assert np.allclose(root @ root, spd + 0.5 * np.eye(4), atol=1e-12)
    assert np.array_equal(root, root.swapaxes(-1, -2))


@pytest.mark.parametrize(
    "bad", [np.diag([1.0, 0.0]), np.diag([1.0, -1.0]), np.full((2, 2), np.nan)]
)
def test_matrices_that_are_not_positive_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(DataError, match=r"1 of 2 matrices of here .* \(number 1 .*set a ridge"):
        rows_of(np.stack([np.eye(2), bad]), root=False, ridge=0.0, source="here")


def test_other_rows_are_no_matrices() -> None:
    with pytest.raises(DataError, match="rows of 8 numbers are no square matrices"):
        matrices_of(np.zeros((2, 8)))


@pytest.mark.parametrize(
    ("spec", "count", "condition"),
    [
        (ColonTiles(), 324, 1860),
        (ColonTiles(stride=56, descriptor="grey"), 81, None),
        (ColonTiles(tile=14, stride=100, root=True), 25, None),
        (ColonTiles(stride=56, samples=7), 7, None),
    ],
)
def test_tiles_of_the_slide(spec: ColonTiles, count: int, condition: float | None) -> None:
    data = spec.load(Seed(0))
    m = matrices_of(data.x)
    assert m.shape == (count, 9, 9)
    assert (np.linalg.eigvalsh(m)[:, 0] > 0).all()
    if condition is not None:  # the median that was published with the recipe, three digits
        assert abs(np.median(np.linalg.cond(m)) - condition) < 5


def test_a_sample_of_the_tiles_has_no_tile_twice() -> None:
    everything = ColonTiles(stride=56).load(Seed(0)).x
    some = ColonTiles(stride=56, samples=40).load(Seed(0)).x
    found = [int(np.flatnonzero((everything == row).all(axis=1))[0]) for row in some]
    assert len(set(found)) == 40
    assert found != sorted(found)
    with pytest.raises(DataError, match="holds 81 samples, fewer than the limit of 82"):
        ColonTiles(stride=56, samples=82).load(Seed(0))


def test_the_slide_is_what_its_readme_says(tmp_path: Path) -> None:
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == SHA256
    assert SHA256 in (FILE.parent / "README.md").read_text()
    other = tmp_path / "ihc.png"
    with pytest.raises(DataError, match="part of driftfold"):
        read_slide(other)
    other.write_bytes(FILE.read_bytes()[:-1])
    with pytest.raises(DataError, match="it was changed"):
        read_slide(other)


def test_tiles_are_cut_where_they_lie() -> None:
    image = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)
    cut = tiles_of(image, size=2, stride=3)
    assert cut.shape == (4, 2, 2, 3)
    assert np.array_equal(cut[1], image[0:2, 3:5])
    assert np.array_equal(cut[2], image[3:5, 0:2])
    with pytest.raises(DataError, match="6 x 6 pixels or more"):
        covariances(cut, "grey")


def slow_grey(tile: np.ndarray) -> np.ndarray:
    """One tile, pixel by pixel, from the masks as they are printed in books."""
    sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    second = np.outer([1, 4, 6, 4, 1], [1, 0, -2, 0, 1])
    tail = np.exp(-12.5)
    blur = np.outer([tail, 1, tail], [tail, 1, tail]) / (1 + 2 * tail) ** 2
    h, w = tile.shape[:2]

    def correlate(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
        reach = len(mask) // 2
        wide = np.pad(image, reach, mode="reflect")
        out = np.zeros_like(image)
        for i in range(h):
            for j in range(w):
                out[i, j] = (wide[i : i + len(mask), j : j + len(mask)] * mask).sum()
        return out

    grey = correlate((tile / 255.0) @ [0.299, 0.587, 0.114], blur)
    ix, iy = correlate(grey, sobel) / 4, correlate(grey, sobel.T) / 4
    ixx, iyy = correlate(grey, second) / 32, correlate(grey, second.T) / 32
    rows = []
    for i in range(2, h - 2):
        for j in range(2, w - 2):
            ax, ay = abs(ix[i, j]), abs(iy[i, j])
            rows.append(
                [
                    *(j / h, i / h, grey[i, j], ax, ay, abs(ixx[i, j]), abs(iyy[i, j])),
                    *((ax**2 + ay**2) ** 0.5, np.arctan2(ax, ay)),
                ]
            )
    return np.cov(np.array(rows).T, bias=True)


def slow_colour(tile: np.ndarray) -> np.ndarray:
    """One tile with NumPy's own gradient and covariance."""
    h, w = tile.shape[:2]
    pixels = tile / 255.0
    grey = pixels @ [0.299, 0.587, 0.114]
    iy, ix = np.gradient(grey)
    iyy, ixx = np.gradient(iy)[0], np.gradient(ix)[1]
    y, x = np.mgrid[:h, :w]
    parts = [x / (w - 1), y / (h - 1), *np.moveaxis(pixels, -1, 0)]
    return np.cov(np.stack([*parts, *np.abs([ix, iy, ixx, iyy])]).reshape(9, -1))


def test_descriptors_are_what_their_recipes_say() -> None:
    tiles = np.random.default_rng(1).integers(0, 256, (3, 9, 11, 3), dtype=np.uint8)
    for made, tile in zip(covariances(tiles, "grey"), tiles, strict=True):
        assert np.allclose(made, slow_grey(tile), atol=1e-14)
    for made, tile in zip(covariances(tiles, "colour"), tiles, strict=True):
        assert np.allclose(made, slow_colour(tile), atol=1e-14)
