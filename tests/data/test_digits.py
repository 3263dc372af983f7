import hashlib

import numpy as np

from driftfold.data import Digits
from driftfold.data.digits import FOLDER, SHA256
from driftfold.rng import Seed


def test_the_digits_are_what_their_readme_says() -> None:
    data = Digits().load(Seed(0))
    text = (FOLDER / "README.md").read_text()
    for name, digest in SHA256.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest
        assert digest in text
    assert f"{data.x.mean():.5f}, standard deviation {data.x.std():.5f}" in text
    assert data.y is not None
    assert ", ".join(map(str, np.bincount(data.y))) in text
    assert (data.x.min(), data.x.max(), data.shape) == (0, 1, (8, 8))


def test_the_first_digit_is_the_published_one() -> None:
    data = Digits().load(Seed(0))
    assert (data.x[0] * 16).reshape(8, 8)[0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert data.y is not None
    assert data.y[:11].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]


def test_digits_are_all_different_and_classes_look_different() -> None:
    data = Digits().load(Seed(0))
    assert data.y is not None
    assert len({row.tobytes() for row in data.x}) == 1797
    means = np.stack([data.x[data.y == c].mean(axis=0) for c in range(10)])
    nearest = np.argmin(((data.x[:, None] - means) ** 2).sum(axis=-1), axis=1)
    # The nearest class mean is right for nine tenths of them; chance is a tenth.
    assert (nearest == data.y).mean() > 0.88


def test_scaling() -> None:
    assert np.abs(Digits(pixels="centred").load(Seed(0)).x.mean(axis=0)).max() < 1e-15
    assert abs(Digits(pixels="standardised").load(Seed(0)).x.std() - 1) < 1e-14


def test_the_notice_comes_with_the_images() -> None:
    text = (FOLDER / "LICENSE").read_text()
    for part in ("CC BY 4.0", "Alpaydin", "BSD 3-Clause", "scikit-learn developers"):
        assert part in text
