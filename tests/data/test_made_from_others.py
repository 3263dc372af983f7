"""Data made from other data: noisy, or smaller."""

from dataclasses import dataclass

import numpy as np
import pytest

from driftfold.data import Data, Dataset, Digits, FashionMnistCut, Noisy, Shrunk, pictures_of
from driftfold.errors import DataError, SpecError
from driftfold.rng import Seed


@dataclass(frozen=True)
class Colours(Data):
    """One picture of 2 x 4 pixels whose three planes are full of 0, of 1 and of 2."""

    flat: bool = False

    def load(self, seed: Seed) -> Dataset:
        rows = np.repeat([[0.0, 1.0, 2.0]], 8, axis=1)
        return Dataset(x=rows, shape=None if self.flat else (2, 4, 3))


def test_noise_is_a_samples_own_and_normal() -> None:
    clean, noisy = Digits().load(Seed(3)), Noisy(Digits(), sd=0.25).load(Seed(3))
    noise = (noisy.x - clean.x) / 0.25
    # 115,008 numbers: five standard errors of mean and of standard deviation.
    assert abs(noise.mean()) < 5 / np.sqrt(noise.size)
    assert abs(noise.std() - 1) < 5 / np.sqrt(2 * noise.size)
    assert abs(np.corrcoef(noise[0::2][:898].ravel(), noise[1::2][:898].ravel())[0, 1]) < 0.02
    np.testing.assert_array_equal(noisy.x, Noisy(Digits(), sd=0.25).load(Seed(3)).x)
    assert (noisy.x != Noisy(Digits(), sd=0.25).load(Seed(4)).x).all()
    np.testing.assert_array_equal(Noisy(Digits(), sd=0.0).load(Seed(3)).x, clean.x)
    assert noisy.shape == (8, 8)


def test_pixels_are_means_of_blocks() -> None:
    whole, small = FashionMnistCut().load(Seed(1)), Shrunk(FashionMnistCut(), 4).load(Seed(1))
    assert small.shape == (7, 7)
    pictures, made = pictures_of(whole.x, whole.shape), pictures_of(small.x, small.shape)
    np.testing.assert_allclose(made[5, 2, 3], pictures[5, 8:12, 12:16].mean(), rtol=1e-12)
    np.testing.assert_array_equal(Shrunk(FashionMnistCut(), 1).load(Seed(1)).x, whole.x)


def test_colours_stay_apart() -> None:
    small = Shrunk(Colours(), 2).load(Seed(1))
    assert small.shape == (1, 2, 3)
    np.testing.assert_array_equal(pictures_of(small.x, small.shape)[0, 0, :, 2], [2.0, 2.0])


def test_what_has_no_blocks_is_refused() -> None:
    with pytest.raises(SpecError, match="28 x 28 have no whole blocks of 3 x 3"):
        Shrunk(FashionMnistCut(), 3).load(Seed(1))
    with pytest.raises(DataError, match="no pictures"):
        Shrunk(Noisy(Colours(flat=True)), 2).load(Seed(1))
