import pickle
from pathlib import Path

import numpy as np
import pytest

from driftfold.data import Cifar100, pictures_of
from driftfold.errors import DataError
from driftfold.rng import Seed
from tests.data.tiny import tiny_set

RNG = np.random.default_rng(5)
COLOUR = RNG.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
FINE, COARSE = [70, 3, 99, 70], [2, 0, 19, 2]


def binary(rows: slice) -> bytes:
    planes = COLOUR[rows].transpose(0, 3, 1, 2).reshape(-1, 3072)
    heads = np.array([COARSE[rows], FINE[rows]], np.uint8).T
    return np.concatenate([heads, planes], axis=1).tobytes()


def pickled(rows: slice) -> bytes:
    planes = COLOUR[rows].transpose(0, 3, 1, 2).reshape(-1, 3072)
    batch = {b"data": planes, b"fine_labels": FINE[rows], b"coarse_labels": COARSE[rows]}
    return pickle.dumps(batch, protocol=2)


@pytest.mark.parametrize("form", [0, 1], ids=["binary", "pickle"])
def test_both_versions(form: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack, ending = ((binary, ".bin"), (pickled, ""))[form]
    contents = {f"train{ending}": pack(slice(0, 3)), f"test{ending}": pack(slice(3, 4))}
    folder = tiny_set(monkeypatch, tmp_path, "cifar100", contents, form)
    data = Cifar100(folder=folder).load(Seed(0))
    assert data.y is not None
    assert (data.y.tolist(), data.domain) == (FINE[:3], None)
    assert np.array_equal(pictures_of(data.x, data.shape), COLOUR[:3] / 255)
    few = Cifar100(labels="coarse", limit=2, folder=folder).load(Seed(0))
    assert few.y is not None
    assert few.domain is not None
    assert (few.y.tolist(), few.domain.tolist()) == (COARSE[:2], FINE[:2])
    test = Cifar100(split="test", pixels="standardised", folder=folder).load(Seed(0))
    assert test.y is not None
    assert test.y.tolist() == FINE[3:]
    assert abs(test.x.std() - 1) < 1e-14
    with pytest.raises(DataError, match="the train part of cifar100 holds 3 samples"):
        Cifar100(limit=4, folder=folder).load(Seed(0))


def test_one_split_alone_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"train.bin": binary(slice(0, 3)), "test.bin": binary(slice(3, 4))}
    folder = tiny_set(monkeypatch, tmp_path, "cifar100", contents)
    (tmp_path / "cifar100" / "cifar-100-binary" / "train.bin").unlink()
    assert len(Cifar100(split="test", folder=folder).load(Seed(0)).x) == 1
    with pytest.raises(DataError, match=r"no cifar-100-binary/train\.bin there; unpack .*MD5"):
        Cifar100(folder=folder).load(Seed(0))
