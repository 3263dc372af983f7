import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from driftfold.data import (
    Cifar10,
    Cifar10Jpeg,
    FashionMnist,
    Mnist,
    PathMnist,
    cifar10_jpeg,
    matrices_of,
    pictures_of,
)
from driftfold.data.catalogue import SETS, DataFile, sets
from driftfold.data.catalogue.hub import cifar_bytes, idx_bytes
from driftfold.data.cifar10_jpeg_pack import pack
from driftfold.data.cifar_format import (
    parse_binary,
    parse_binary_100,
    parse_pickle,
    parse_pickle_100,
)
from driftfold.data.pictures import decode
from driftfold.errors import DataError
from driftfold.npz import write_npz
from driftfold.rng import Seed
from tests.data.tiny import tiny_set

RNG = np.random.default_rng(3)
GREY = RNG.integers(0, 256, (4, 2, 3), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
CLASSES = np.array([3, 0, 9, 3], np.uint8)


@pytest.mark.parametrize("kind", [Mnist, FashionMnist])
def test_idx_sets(
    kind: type[Mnist | FashionMnist], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {
        "train-images-idx3-ubyte": idx_bytes(GREY),
        "train-labels-idx1-ubyte": idx_bytes(CLASSES),
        "t10k-images-idx3-ubyte": idx_bytes(GREY[::-1]),
        "t10k-labels-idx1-ubyte": idx_bytes(CLASSES[::-1]),
    }
    name = {Mnist: "mnist", FashionMnist: "fashion_mnist"}[kind]
    folder = tiny_set(monkeypatch, tmp_path, name, contents)
    data = kind(folder=folder).load(Seed(0))
    assert np.array_equal(data.x, GREY.reshape(4, 6) / 255)
    assert data.shape == (2, 3)
    assert data.y is not None
    assert data.y.tolist() == CLASSES.tolist()
    few = kind(folder=folder, split="test", limit=2, pixels="standardised").load(Seed(0))
    assert few.y is not None
    assert few.y.tolist() == [3, 9]
    assert abs(few.x.std() - 1) < 1e-15
    with pytest.raises(DataError, match=f"the train part of {name} holds 4 samples"):
        kind(folder=folder, limit=5).load(Seed(0))


def pickled(rows: slice) -> bytes:
    planes = COLOUR[rows].transpose(0, 3, 1, 2).reshape(-1, 3072)
    return pickle.dumps({b"data": planes, b"labels": CLASSES[rows].tolist()}, protocol=2)


@pytest.mark.parametrize("form", [0, 1], ids=["binary", "pickle"])
def test_both_versions_of_cifar10(
    form: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {}
    for k, file in enumerate(SETS["cifar10"].forms[form].files):
        rows = slice(k % 4, k % 4 + 1)
        contents[file.name] = pickled(rows) if form else cifar_bytes(COLOUR[rows], CLASSES[rows])
    folder = tiny_set(monkeypatch, tmp_path, "cifar10", contents, form)
    data = Cifar10(folder=folder, pixels="unit").load(Seed(0))
    assert data.y is not None
    assert data.y.tolist() == [3, 0, 9, 3, 3]
    red = data.x[1].reshape(3, 32, 32)[0]
    assert np.array_equal(red, COLOUR[1, :, :, 0] / 255)
    assert np.array_equal(pictures_of(data.x, data.shape)[:4], COLOUR / 255)
    test = Cifar10(folder=folder, split="test").load(Seed(0))
    unit = COLOUR[1].transpose(2, 0, 1) / 255
    mean, deviation = np.array([0.4914, 0.4822, 0.4465]), np.array([0.2023, 0.1994, 0.2010])
    expected = (unit - mean[:, None, None]) / deviation[:, None, None]
    assert np.allclose(test.x[0], expected.reshape(-1), atol=1e-14)


@pytest.mark.parametrize(
    ("parse", "content", "message"),
    [
        (parse_binary, b"", "holds 0 bytes, which are no records"),
        (parse_binary, bytes(3072), "no records of 3,073"),
        (parse_binary, bytes([10]) + bytes(3072), "n numbers 0 .. 9"),
        (parse_pickle, pickle.dumps([1]), "has no 'data' and 'labels'"),
        (parse_pickle, pickle.dumps({b"data": 1, b"labels": 2}, 2), "classes of int64"),
        (parse_pickle, pickle.dumps({b"data": [[1]], b"labels": [2]}, 2), "images of int64"),
        (parse_pickle, pickle.dumps(print), "is refused"),
        (parse_binary_100, bytes(3073), "no records of 3,074"),
        (parse_binary_100, bytes([20, 0]) + bytes(3072), "n numbers 0 .. 19"),
        (parse_binary_100, bytes([0, 100]) + bytes(3072), "n numbers 0 .. 99"),
        (parse_pickle_100, pickle.dumps({b"data": 1, b"labels": 2}, 2), "'fine_labels' and 'coa"),
        (parse_pickle_100, pickle.dumps(print), "is refused"),
    ],
)
def test_other_batches_are_refused(parse: object, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"here.*{message}"):
        parse(content, "here")  # type: ignore[operator]


def jpegs(folder: Path) -> Path:
    """Two classes; one test and two training images each, of one colour each."""
    for k, name in enumerate(
        f"{s}/{c}/{i}.jpg" for s in ("train", "test") for c in "ba" for i in "12"
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 32), (20 * k, 255 - 20 * k, 7)).save(path, quality=95)
    return folder


def test_jpeg_copies_are_packed_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = pack(jpegs(tmp_path / "images"))
    assert arrays["names"].tolist() == ["a", "b"]
    assert arrays["label"].tolist() == [0, 0, 1, 1] * 2
    assert arrays["is_test"].tolist() == [True] * 4 + [False] * 4
    with (tmp_path / "cifar10_jpeg.npz").open("wb") as file:
        write_npz(file, arrays)
    with pytest.raises(DataError, match="these are other copies"):
        Cifar10Jpeg(folder=str(tmp_path)).load(Seed(0))
    digest = cifar10_jpeg.digest_of(arrays)
    monkeypatch.setattr(cifar10_jpeg.unpack, "__defaults__", (digest,))
    data = Cifar10Jpeg(folder=str(tmp_path), pixels="unit").load(Seed(0))
    assert data.y is not None
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.shape == (32, 32, 3)
    # Training images a/1, b/1, a/2, b/2 are number 2, 0, 3, 1; JPEG keeps one colour to 3 of 255.
    red = data.x.reshape(4, 3, 1024)[:, 0].mean(axis=1) * 255
    assert np.abs(red - 20 * np.array([2, 0, 3, 1])).max() < 3
    few = Cifar10Jpeg(folder=str(tmp_path), split="test", limit=2).load(Seed(0))
    assert few.y is not None
    assert few.y.tolist() == [0, 1]
    (tmp_path / "cifar10_jpeg.npz").write_bytes(b"PK no archive")
    with pytest.raises(DataError, match="no sound file of these copies"):
        Cifar10Jpeg(folder=str(tmp_path)).load(Seed(0))
    with pytest.raises(DataError, match=r"holds no train/CLASS/\*\.jpg"):
        pack(tmp_path)


def test_damaged_pictures_are_refused() -> None:
    file = io.BytesIO()
    Image.fromarray(COLOUR[0]).save(file, "PNG")
    assert np.array_equal(decode(file.getvalue(), "here"), COLOUR[0])
    for content in (b"", b"GIF89a", file.getvalue()[:100], file.getvalue()[:-60]):
        with pytest.raises(DataError, match="here is no sound picture"):
            decode(content, "here")


def test_pathmnist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = RNG.integers(0, 256, (12, 28, 28, 3), dtype=np.uint8)
    labels = np.arange(12, dtype=np.uint8)[:, None] % 9
    file = io.BytesIO()
    np.savez_compressed(file, train_images=tiles, train_labels=labels)
    folder = tiny_set(monkeypatch, tmp_path, "pathmnist", {"pathmnist.npz": file.getvalue()})
    whole = PathMnist(samples="all", root=False, folder=folder).load(Seed(0))
    assert whole.y is not None
    assert whole.y.tolist() == labels[:, 0].tolist()
    drawn = PathMnist(samples=5, folder=folder).load(Seed(0))
    assert len(np.unique(drawn.x, axis=0)) == 5
    assert drawn.y is not None
    for row, label in zip(matrices_of(drawn.x), drawn.y.tolist(), strict=True):
        same = matrices_of(whole.x[whole.y == label])
        assert np.abs(same - row @ row).max(axis=(1, 2)).min() < 1e-12
    assert PathMnist(samples=5, folder=folder).load(Seed(1)).x.tolist() != drawn.x.tolist()
    with pytest.raises(DataError, match="the train part of pathmnist holds 12 samples"):
        PathMnist(folder=folder).load(Seed(0))
    with pytest.raises(DataError, match="no sound file of PathMNIST"):
        PathMnist(split="val", samples="all", folder=folder).load(Seed(0))


def test_files_of_the_default_entry_are_told_apart_by_content(tmp_path: Path) -> None:
    assert isinstance(sets.SETS["pathmnist"].forms[0].files[0], DataFile)
    (tmp_path / "pathmnist.npz").write_bytes(b"not it")
    with pytest.raises(DataError, match="holds 6 bytes, wanted 205,615,438"):
        PathMnist(folder=str(tmp_path)).load(Seed(0))
