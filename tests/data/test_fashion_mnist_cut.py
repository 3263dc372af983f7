import hashlib
from pathlib import Path

import numpy as np
import pytest

from driftfold.data import FashionMnistCut
from driftfold.data.fashion_mnist import FOLDER, SHA256
from driftfold.data.included import checked
from driftfold.errors import DataError
from driftfold.rng import Seed


def test_the_cut_has_two_hundred_images_of_each_class() -> None:
    data = FashionMnistCut().load(Seed(0))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [200] * 10
    assert data.x.shape == (2000, 784)
    assert (data.x.min(), data.x.max()) == (0, 1)


def test_the_cut_is_what_its_readme_says() -> None:
    data = FashionMnistCut().load(Seed(0))
    # The full training set has mean 0.2860 and standard deviation 0.3530.
    assert round(float(data.x.mean()), 5) == 0.29018
    assert round(float(data.x.std()), 5) == 0.35430
    text = (FOLDER / "README.md").read_text()
    for name, digest in SHA256.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest
        assert digest in text
    assert "0.29018" in text
    assert "0.35430" in text


def test_images_are_all_different_and_classes_look_different() -> None:
    data = FashionMnistCut().load(Seed(0))
    assert data.y is not None
    assert len({row.tobytes() for row in data.x}) == 2000
    means = np.stack([data.x[data.y == c].mean(axis=0) for c in range(10)])
    nearest = np.argmin(((data.x[:, None] - means) ** 2).sum(axis=-1), axis=1)
    # The nearest class mean is right for about two thirds of Fashion-MNIST; chance is a tenth.
    assert (nearest == data.y).mean() > 0.6


def test_the_licence_comes_with_the_images() -> None:
    text = (FOLDER / "LICENSE").read_text()
    assert "MIT" in text
    assert "Zalando SE" in text


def test_changed_or_missing_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "images"
    path.write_bytes(b"something else")
    with pytest.raises(DataError, match="it was changed; install driftfold again"):
        checked(path, SHA256["images-idx3-ubyte.gz"])
    with pytest.raises(DataError, match="part of driftfold; install it again"):
        checked(tmp_path / "nowhere", "")
