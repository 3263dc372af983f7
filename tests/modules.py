"""Which modules there are."""

import importlib
import importlib.util
import pkgutil
from functools import cache
from pathlib import Path

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
