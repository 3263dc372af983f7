"""The pictures of Tiny ImageNet, from its zip or its folder, decoded once and kept.

Training pictures lie in ``train/CLASS/images``, validation pictures in ``val/images``, and
``val/val_annotations.txt`` names the class of each.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.catalogue import find_set
from driftfold.data.catalogue.writing import write_whole
from driftfold.data.pictures import decode
from driftfold.errors import DataError

SHAPE = (64, 64, 3)
_RECORD = np.dtype([("label", "<u2"), ("picture", "u1", SHAPE)])
_ANNOTATIONS = "val/val_annotations.txt"
_TRAIN = re.compile(r"train/[^/]+/images/[^/]+\.JPEG")


@dataclass(frozen=True)
class _Source:
    """Files below ``tiny-imagenet-200``: their sizes, by path, and how to read one."""

    home: Path
    sizes: Mapping[str, int]
    read: Callable[[str], bytes]


def open_pictures(split: Literal["train", "val"], folder: str | None) -> tuple[Array, Ints]:
    """Return bytes (n, 64, 64, 3) and classes (n,).

    The first time pictures are decoded, and kept where the folder can be written; after that they
    are left on disk until they are asked for. Raises `DataError` when the set is missing or not
    sound.
    """
    found = find_set("tiny_imagenet", folder)
    (first, *_) = found.places.values()
    with ExitStack() as stack:
        source = _zipped(first, stack) if found.form == "zip" else _unpacked(first.parent)
        names = _pictures(source, split)
        told = "".join(f"{name} {source.sizes[name]} {label}\n" for name, label in names.items())
        digest = hashlib.sha256(told.encode()).hexdigest()[:16]
        kept = source.home / f"tiny_imagenet-{split}-{digest}.npy"
        records = _kept(kept, len(names))
        if records is None:
            records = _decoded(source, names)
            _keep(kept, records)
    return records["picture"], records["label"].astype(np.int64)


def _zipped(path: Path, stack: ExitStack) -> _Source:
    try:
        archive = stack.enter_context(zipfile.ZipFile(path))
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is no sound zip file ({error}); obtain it again") from None
    top = "tiny-imagenet-200/"
    sizes = {
        entry.filename.removeprefix(top): entry.file_size
        for entry in archive.infolist()
        if entry.filename.startswith(top) and not entry.is_dir()
    }
    return _Source(path.parent, sizes, lambda name: archive.read(top + name))


def _unpacked(root: Path) -> _Source:
    paths = [*root.glob("train/*/images/*.JPEG"), *root.glob("val/images/*.JPEG")]
    paths += root.glob(_ANNOTATIONS)
    sizes = {path.relative_to(root).as_posix(): path.stat().st_size for path in paths}
    return _Source(root.parent, sizes, lambda name: (root / name).read_bytes())


def _pictures(source: _Source, split: str) -> dict[str, int]:
    """Return the class of each picture of a split, by path, in the order of the paths."""
    train = [name for name in source.sizes if _TRAIN.fullmatch(name)]
    classes = sorted({name.split("/")[1] for name in train})
    number = {name: place for place, name in enumerate(classes)}
    pictures: dict[str, int] = {}
    if split == "train":
        pictures = {name: number[name.split("/")[1]] for name in sorted(train)}
    elif _ANNOTATIONS in source.sizes:
        pictures = _annotated(source.read(_ANNOTATIONS), number)
    lacking = [name for name in pictures if name not in source.sizes]
    if lacking or not pictures:
        raise DataError(
            f"tiny-imagenet-200 in {source.home} lacks {len(lacking) or 'all'} pictures of its "
            f"{split} part ({lacking[0] if lacking else split}); unpack the published zip again"
        )
    return pictures


def _annotated(content: bytes, number: Mapping[str, int]) -> dict[str, int]:
    lines = [line.split("\t") for line in content.decode("ascii", "replace").splitlines() if line]
    if any(len(line) < 2 or line[1] not in number for line in lines):
        raise DataError(
            f"{_ANNOTATIONS} has lines that name no picture and class; unpack the published zip "
            "again"
        )
    return {f"val/images/{line[0]}": number[line[1]] for line in sorted(lines)}


def _kept(path: Path, count: int) -> Any:
    """Decoded pictures that were kept, not read in, or None where there are none as wanted."""
    try:
        records = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return records if records.dtype == _RECORD and records.shape == (count,) else None


def _decoded(source: _Source, names: Mapping[str, int]) -> Array:
    records = np.empty(len(names), _RECORD)
    for record, (name, label) in zip(records, names.items(), strict=True):
        picture = decode(source.read(name), name)
        if picture.shape != SHAPE:
            raise DataError(f"{name} is a picture of shape {picture.shape}; wanted {SHAPE}")
        record["label"], record["picture"] = label, picture
    return records


def _keep(path: Path, records: Array) -> None:
    # Where the folder is looked after by others, pictures are decoded again next time.
    with suppress(DataError):
        write_whole(path, lambda file: np.lib.format.write_array(file, records, allow_pickle=False))
