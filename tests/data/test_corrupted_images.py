import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import Cifar10C, Cifar100C, open_corrupted, pictures_of
from driftfold.data.catalogue import SETS
from driftfold.data.corrupted_images import Corruption
from driftfold.errors import DataError
from driftfold.rng import Seed
from tests.data.tiny import tiny_set

N = 3
LABELS = np.array([7, 0, 9], np.uint8)
PICTURES = {
    name: np.random.default_rng(k).integers(0, 256, (5 * N, 2, 4, 3), dtype=np.uint8)
    for k, name in enumerate(get_args(Corruption))
}


def npy(values: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def made(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, **others: Any
) -> Mapping[str, bytes]:
    arrays = {**PICTURES, "labels": np.tile(LABELS, 5), **others}
    contents = {f"{key}.npy": npy(np.asarray(value)) for key, value in arrays.items()}
    tiny_set(monkeypatch, folder, name, contents)
    return contents


def test_every_published_file_is_a_corruption_or_the_labels() -> None:
    for name in ("cifar10_c", "cifar100_c"):
        files = [file.name for file in SETS[name].forms[0].files]
        assert files == [f"{key}.npy" for key in (*get_args(Corruption), "labels")]


@pytest.mark.parametrize("kind", [Cifar10C, Cifar100C])
def test_a_severity_is_a_fifth_of_the_rows(
    kind: type[Cifar10C | Cifar100C], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {Cifar10C: "cifar10_c", Cifar100C: "cifar100_c"}[kind]
    made(monkeypatch, tmp_path, name)
    for severity in (1, 4, 5):
        data = kind("fog", severity=severity, folder=str(tmp_path)).load(Seed(0))
        rows = PICTURES["fog"][(severity - 1) * N : severity * N]
        assert np.array_equal(pictures_of(data.x, data.shape), rows / 255)
        assert data.y is not None
        assert data.y.tolist() == LABELS.tolist()
    few = kind("snow", limit=2, folder=str(tmp_path)).load(Seed(0))
    assert few.y is not None
    assert few.y.tolist() == [7, 0]
    with pytest.raises(DataError, match=f"{name} at one severity holds 3 samples"):
        kind(limit=4, folder=str(tmp_path)).load(Seed(0))


def test_several_are_opened_and_not_read_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(monkeypatch, tmp_path, "cifar10_c")
    opened = open_corrupted("cifar10_c", iter(["snow", "contrast"]), tmp_path)
    assert set(opened.arrays) == {"snow", "contrast"}
    assert all(isinstance(array, np.memmap) for array in opened.arrays.values())
    assert np.array_equal(opened.pictures("snow", 2), PICTURES["snow"][N : 2 * N])
    assert not opened.pictures("snow", 2).flags.writeable
    assert opened.labels.tolist() == LABELS.tolist()
    for corruption, severity in (("fog", 1), ("snow", 0), ("snow", 6)):
        with pytest.raises(DataError, match=f"no images under '{corruption}' at severity"):
            opened.pictures(corruption, severity)
    with pytest.raises(DataError, match="unknown corruption 'frogs'; did you mean 'frost'"):
        open_corrupted("cifar10_c", ["frogs"], tmp_path)


def test_files_that_are_missing_changed_or_of_another_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {"fog": PICTURES["fog"][:-1], "snow": PICTURES["snow"] / 255, "frost": np.arange(3)}
    contents = made(monkeypatch, tmp_path, "cifar10_c", **others)
    home = tmp_path / "cifar10_c" / "CIFAR-10-C"
    for name in others:
        with pytest.raises(DataError, match=rf"{name}\.npy holds .*; wanted bytes \(15, H, W, 3\)"):
            open_corrupted("cifar10_c", [name], tmp_path)
    (home / "zoom_blur.npy").unlink()
    with pytest.raises(DataError, match=r"no CIFAR-10-C/zoom_blur\.npy there; unpack .*MD5 56bf"):
        open_corrupted("cifar10_c", ["zoom_blur"], tmp_path)
    for damaged in (b"", contents["spatter.npy"][:-1] + b"!"):
        (home / "spatter.npy").write_bytes(damaged)
        with pytest.raises(DataError, match=r"spatter\.npy h(as SHA256|olds 0 bytes)"):
            open_corrupted("cifar10_c", ["spatter"], tmp_path)
    assert open_corrupted("cifar10_c", ["contrast"], tmp_path).labels.tolist() == [7, 0, 9]


@pytest.mark.parametrize("labels", [np.zeros(14, np.uint8), np.zeros(15), np.zeros((5, 3))])
def test_labels_of_another_kind(
    labels: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(monkeypatch, tmp_path, "cifar100_c", labels=labels)
    with pytest.raises(DataError, match=r"labels\.npy of cifar100_c holds"):
        open_corrupted("cifar100_c", ["fog"], tmp_path)


def test_what_is_no_array_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {f"{key}.npy": b"no array" for key in (*get_args(Corruption), "labels")}
    tiny_set(monkeypatch, tmp_path, "cifar10_c", contents)
    with pytest.raises(DataError, match=r"labels\.npy is no sound \.npy file"):
        open_corrupted("cifar10_c", ["fog"], tmp_path)
