import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from driftfold.data import TinyImageNet, pictures_of, tiny_imagenet_files
from driftfold.data.catalogue import SETS, DataFile, Form
from driftfold.errors import DataError
from driftfold.rng import Seed
from tests.data.tiny import install

TOP = "tiny-imagenet-200"


def jpeg(red: int, mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (64, 64), (red, 40, 200) if mode == "RGB" else red).save(file, "JPEG")
    return file.getvalue()


def members() -> dict[str, bytes]:
    """Two classes with two training pictures each; three for validation, one of them grey."""
    files = {
        f"train/{wnid}/images/{wnid}_{k}.JPEG": jpeg(100 * c + 20 * k)
        for c, wnid in enumerate(("n01", "n02"))
        for k in (0, 1)
    }
    files |= {f"val/images/val_{k}.JPEG": jpeg(90 * k) for k in (0, 1)}
    files["val/images/val_2.JPEG"] = jpeg(77, "L")
    files["val/val_annotations.txt"] = b"val_2.JPEG\tn01\t0\t0\t9\t9\nval_0.JPEG\tn02\t0\t0\t9\t9\n"
    files["val/val_annotations.txt"] += b"val_1.JPEG\tn02\t0\t0\t9\t9\n"
    files["wnids.txt"] = b"n02\nn01\n"
    files["test/images/test_0.JPEG"] = jpeg(1)
    return files


def zipped(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> None:
    path = folder / "tiny-imagenet-200.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{TOP}/", b"")
        for name, content in files.items():
            archive.writestr(f"{TOP}/{name}", content)
    content = path.read_bytes()
    file = DataFile(path.name, len(content), sha256=hashlib.sha256(content).hexdigest())
    entry = SETS["tiny_imagenet"]
    install(monkeypatch, replace(entry, forms=(Form("zip", (file,)), entry.forms[1])))


def unpacked(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / TOP / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_the_zip_and_the_folder_hold_the_same(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "zip":
        zipped(tmp_path, monkeypatch, members())
    else:
        unpacked(tmp_path, members())
    train = TinyImageNet(folder=str(tmp_path)).load(Seed(0))
    assert train.y is not None
    assert train.y.tolist() == [0, 1, 0, 1]  # classes take turns
    # JPEG keeps a plain colour to 3 of 255.
    reds = pictures_of(train.x, train.shape)[..., 0].mean(axis=(1, 2)) * 255
    assert np.abs(reds - [0, 100, 20, 120]).max() < 3
    few = TinyImageNet("val", limit=2, folder=str(tmp_path)).load(Seed(0))
    assert few.y is not None
    assert few.y.tolist() == [0, 1]
    grey = pictures_of(few.x, few.shape)[0] * 255
    assert np.abs(grey - 77).max() < 3
    assert few.shape == (64, 64, 3)
    with pytest.raises(DataError, match="the val part of tiny_imagenet holds 3 samples"):
        TinyImageNet("val", limit=4, folder=str(tmp_path)).load(Seed(0))


def test_pictures_are_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked(tmp_path, members())
    first = TinyImageNet(folder=str(tmp_path)).load(Seed(0))
    (kept,) = tmp_path.glob("tiny_imagenet-train-*.npy")
    monkeypatch.setattr(tiny_imagenet_files, "decode", None)
    again = TinyImageNet(folder=str(tmp_path)).load(Seed(0))
    assert np.array_equal(first.x, again.x)
    monkeypatch.undo()
    kept.write_bytes(kept.read_bytes()[:-9])  # a damaged one is made anew
    assert np.array_equal(TinyImageNet(folder=str(tmp_path)).load(Seed(0)).x, first.x)
    kept.unlink()
    kept.mkdir()  # nothing can be written there
    assert np.array_equal(TinyImageNet(folder=str(tmp_path)).load(Seed(0)).x, first.x)
    # Other pictures are not taken for the ones that were kept.
    unpacked(tmp_path, {"train/n02/images/n02_9.JPEG": jpeg(9)})
    assert len(TinyImageNet(folder=str(tmp_path)).load(Seed(0)).x) == 5


def test_what_is_incomplete_or_of_another_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, bytes | None] = {**members()}
    cases: dict[str, tuple[str, dict[str, bytes | None], str]] = {
        "no pictures": ("train", {"wnids.txt": b""}, "lacks all pictures of its train part"),
        "one lost": ("val", {**files, "val/images/val_1.JPEG": None}, r"lacks 1 .*val_1\.JPEG"),
        "no note": ("val", {**files, "val/val_annotations.txt": None}, "lacks all pictures of its"),
        "bad note": ("val", {**files, "val/val_annotations.txt": b"x\n"}, "has lines that name no"),
        "small": ("train", {**files, "train/n01/images/n01_0.JPEG": small()}, r"of shape \(8, 8"),
        "broken": ("train", {**files, "train/n01/images/n01_0.JPEG": b"x"}, "no sound picture"),
    }
    for name, (split, given, message) in cases.items():
        folder = tmp_path / name
        folder.mkdir()
        zipped(folder, monkeypatch, {key: c for key, c in given.items() if c is not None})
        with pytest.raises(DataError, match=message):
            TinyImageNet(split, folder=str(folder)).load(Seed(0))  # type: ignore[arg-type]


def small() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG")
    return file.getvalue()


def test_a_zip_of_another_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tiny-imagenet-200.zip").write_bytes(b"PK")
    with pytest.raises(DataError, match="holds 2 bytes, wanted 248,100,043"):
        TinyImageNet(folder=str(tmp_path)).load(Seed(0))
