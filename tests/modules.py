"""Which modules there are, and which kinds they define."""

import importlib
import importlib.util
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

from driftfold.registry import families, kinds

ROOT = Path(__file__).parents[1]
PACKAGES = [
    name
    for name in ("driftfold", "driftfold_api", "driftfold_workers")
    if importlib.util.find_spec(name) is not None
]


@cache
def module_names(package: str | None = None) -> tuple[str, ...]:
    """Return the dotted names of all modules of a package, or of all of ours."""
    if package is None:
        return tuple(name for own in PACKAGES for name in module_names(own))
    path = importlib.import_module(package).__path__
    found = pkgutil.walk_packages(path, f"{package}.")
    return (package, *sorted(info.name for info in found))


def own_kinds(family: str) -> dict[str, type[Any]]:
    """Return the kinds of a family that come with it: not those that other tests add to it."""
    home = families()[family].__module__.partition(".")[0]
    return {
        kind: owner
        for kind, owner in kinds(family).items()
        if owner.__module__.partition(".")[0] == home
    }
