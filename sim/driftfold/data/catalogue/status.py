"""Which data sets are at hand."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from driftfold.data.catalogue.entry import DataFile, Entry
from driftfold.data.catalogue.folder import data_folder
from driftfold.data.catalogue.reading import check_file, locate, read_file
from driftfold.data.catalogue.sets import SETS
from driftfold.errors import DataError


@dataclass(frozen=True)
class Status:
    """A set, and whether it is at hand.

    Attributes
    ----------
    entry
        The set.
    state
        ``included`` in driftfold, ``present``, ``damaged``, or ``missing``.
    about
        What is wrong with a damaged set, else "".
    places
        Where its files lie.
    """

    entry: Entry
    state: Literal["included", "present", "damaged", "missing"]
    about: str = ""
    places: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the status as plain values."""
        entry, package = self.entry, self.entry.package
        return {
            "name": entry.name,
            "state": self.state,
            "title": entry.title,
            "purpose": entry.purpose,
            "licence": entry.licence,
            "redistribution": entry.redistribution,
            "obtain": entry.advice,
            "package": None if package is None else f"{package.client} {package.name}",
            "about": self.about,
            "places": [str(place) for place in self.places],
            "forms": {
                form.name: [
                    {"path": f.path, "size": f.size, "sha256": f.sha256, "md5": f.md5}
                    for f in form.files
                ]
                for form in entry.forms
            },
        }


def survey(folder: str | Path | None = None, *, check: bool = False) -> list[Status]:
    """Status of every set of the catalogue.

    Parameters
    ----------
    folder
        Where to look, or None for what `data_folder` says.
    check
        Whether to read the files and verify their checksums, which takes seconds; else only sizes
        are compared.

    Examples
    --------
    >>> [status.entry.name for status in survey("nowhere") if status.state == "included"]
    ['fashion_mnist_cut', 'digits', 'wordnet_mammals', 'colon_tiles']
    """
    base = data_folder(folder)
    return [status_of(entry, base, check=check) for entry in SETS.values()]


def status_of(entry: Entry, base: Path, *, check: bool) -> Status:
    """Status of one set in one folder."""
    if entry.included:
        return Status(entry, "included")
    for form in entry.forms:
        places = locate(entry, form, base)
        found = {file: place for file, place in places.items() if place is not None}
        if len(found) < len(form.files):
            continue
        where = tuple(found.values())
        try:
            for file, place in found.items():
                size = place.stat().st_size
                if check:
                    _check(file, place)
                elif file.size not in (None, size) and place.name == file.name:
                    raise DataError(f"{place} holds {size:,} bytes, wanted {file.size:,}")
        except (DataError, OSError) as error:
            return Status(entry, "damaged", str(error), where)
        return Status(entry, "present", "", where)
    return Status(entry, "missing")


def _check(file: DataFile, place: Path) -> None:
    if file.packed:
        read_file(file, place)
    else:
        check_file(file, place)
