"""Reading the files of a set, each checked against the catalogue."""

import gzip
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

from driftfold.data.catalogue.entry import DataFile, Entry, Form
from driftfold.data.catalogue.folder import VARIABLE, data_folder
from driftfold.data.catalogue.sets import entry_of
from driftfold.errors import DataError

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Found:
    """Files of a set.

    Attributes
    ----------
    form
        Name of the form in which the set was found.
    files
        Content of each file that was read, by file name.
    places
        Where each one that was asked for lies.
    """

    form: str
    files: Mapping[str, bytes]
    places: Mapping[str, Path]


def read_set(
    name: str, folder: str | Path | None = None, only: Iterable[str] | None = None
) -> Found:
    """Read the files of a set after checking each one's size and checksums.

    A file ``a/b`` is looked for as ``NAME/a/b``, ``a/b``, ``NAME/b`` and ``b`` below the folder,
    NAME being the set's; with ``.gz`` where a packed copy will do.

    Parameters
    ----------
    name
        The set.
    folder
        Where to look, or None for what `data_folder` says.
    only
        Names of the files wanted, without endings such as ``.bin``; None for all of a form.

    Raises
    ------
    DataError
        A file is missing (the message says how to obtain the set), unreadable or not sound.

    Examples
    --------
    >>> read_set("mnist", "nowhere")
    Traceback (most recent call last):
    driftfold.errors.DataError: mnist is not in nowhere: no train-images-idx3-ubyte, ...
    """
    form, places = _whole(name, folder, only)
    files = {file.name: read_file(file, place) for file, place in places.items()}
    return Found(form.name, files, {file.name: place for file, place in places.items()})


def find_set(
    name: str, folder: str | Path | None = None, only: Iterable[str] | None = None
) -> Found:
    """Check the files of a set as `read_set` does, and leave them where they are.

    For files too large to be held; none of them may be packed by gzip.
    """
    form, places = _whole(name, folder, only)
    for file, place in places.items():
        check_file(file, place)
    return Found(form.name, {}, {file.name: place for file, place in places.items()})


def _whole(
    name: str, folder: str | Path | None, only: Iterable[str] | None
) -> tuple[Form, dict[DataFile, Path]]:
    """Return the first form of which all files that are wanted are there, and their places."""
    entry, base = entry_of(name), data_folder(folder)
    wanted = None if only is None else set(only)
    for form in entry.forms:
        places = locate(entry, form, base, wanted)
        found = {file: place for file, place in places.items() if place is not None}
        if len(found) == len(places):
            return form, found
    raise DataError(missing(entry, base, wanted))


def locate(
    entry: Entry, form: Form, base: Path, only: Iterable[str] | None = None
) -> dict[DataFile, Path | None]:
    """Say where each file of a form lies, or None."""
    chosen = [f for f in form.files if only is None or f.name.partition(".")[0] in only]
    return {file: _place(entry, file, base) for file in chosen}


def read_file(file: DataFile, path: Path) -> bytes:
    """Return the content of a file, unpacked, if it is what the catalogue says."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    return unpacked(file, content, path)


def check_file(file: DataFile, path: Path) -> None:
    """Raise `DataError` unless a file is what the catalogue says, without holding its content."""
    try:
        with path.open("rb") as opened:
            if not path.stat().st_size:  # nothing cannot be mapped
                file.check(b"", path)
                return
            with mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
                file.check(content, path)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"cannot read {path} ({error.strerror}); make it readable, or name another folder with "
        f"{VARIABLE}"
    )


def unpacked(file: DataFile, content: bytes, where: object) -> bytes:
    """Undo gzip where the file may be packed, and check what is inside."""
    if file.packed and content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            raise DataError(
                f"{where} is gzip-compressed but damaged ({error}); remove it and obtain it again"
            ) from None
    file.check(content, where)
    return content


def missing(entry: Entry, base: Path, only: Iterable[str] | None = None) -> str:
    """Sentence on a set that is not there, and how to obtain it."""
    if entry.included:
        return f"{entry.name} comes with driftfold and is not read from a folder"
    form = min(entry.forms, key=lambda form: _absent(entry, form, base, only))
    lacking = [f.path for f, place in locate(entry, form, base, only).items() if place is None]
    return (
        f"{entry.name} is not in {base}: no {', '.join(lacking)} there; {entry.advice} "
        f"(looked also in its folder {entry.name}; {VARIABLE} names another place)"
    )


def _absent(entry: Entry, form: Form, base: Path, only: Iterable[str] | None) -> int:
    return sum(place is None for place in locate(entry, form, base, only).values())


def _place(entry: Entry, file: DataFile, base: Path) -> Path | None:
    homes = (base / entry.name, base)
    for path in [home / short for short in (file.path, file.name) for home in homes]:
        for candidate in (path, path.with_name(f"{path.name}.gz")) if file.packed else (path,):
            if candidate.is_file():
                return candidate
    return None
