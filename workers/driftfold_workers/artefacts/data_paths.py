"""Data paths: which files of a worker's machine a specification may name."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path

from driftfold.errors import SpecError
from driftfold.registry import family_of, kind_of
from driftfold.spec import JobSpec

VARIABLE = "DRIFTFOLD_DATA"
NAMES = ("path", "folder")
"""Fields that name files or folders, whatever component has them."""
MORE_NAMES: Mapping[tuple[str, str], Sequence[str]] = {("data", "idx"): ("images", "labels")}
"""Further ones, by family and kind."""


def data_folders(
    given: Iterable[str | Path], environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return the folders that a worker lets specifications read: those given, and DRIFTFOLD_DATA.

    >>> data_folders(["/sets"], {"DRIFTFOLD_DATA": "/data"})
    ('/sets', '/data')
    """
    named = [*given, *([environ[VARIABLE]] if environ.get(VARIABLE) else [])]
    return tuple(str(Path(folder).expanduser().absolute()) for folder in named)


def refuse_foreign_paths(spec: JobSpec, folders: Sequence[str]) -> None:
    """Raise `SpecError` when a specification names a file that is below none of these folders.

    Links are followed, so none leads out of them. Data that come with a kind, or that it finds by
    itself, need no path and are always allowed.
    """
    allowed = [os.path.realpath(folder) for folder in folders]
    for field, path in _paths_in(spec, ""):
        for place in _places(field, path):
            if not any(os.path.commonpath((place, folder)) == folder for folder in allowed):
                where = f"files below {' or '.join(folders)} only" if folders else "no files"
                raise SpecError(
                    f"{field}: got {path}, but specifications may name {where} of a worker's "
                    "machine; put the data into a folder that all workers are started with: --data "
                    f"FOLDER, or {VARIABLE}=FOLDER"
                )


def _places(field: str, path: str) -> set[str]:
    """Return where a path may lead: some kinds take ~ for a home, some for a name."""
    try:
        return {os.path.realpath(path), os.path.realpath(Path(path).expanduser())}
    except (ValueError, RuntimeError) as error:  # a zero byte, the home of nobody
        raise SpecError(f"{field}: got {path!r}, wanted the path of a file: {error}") from None


def _paths_in(value: object, place: str) -> Iterator[tuple[str, str]]:
    if is_dataclass(value):
        family = family_of(value)
        names = () if family is None else (*NAMES, *MORE_NAMES.get((family, kind_of(value)), ()))
        for field in fields(value):
            inner, there = getattr(value, field.name), f"{place}.{field.name}".lstrip(".")
            if field.name in names and isinstance(inner, str | Path):
                yield there, str(inner)
            else:
                yield from _paths_in(inner, there)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _paths_in(inner, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            yield from _paths_in(inner, f"{place}.{at}")
