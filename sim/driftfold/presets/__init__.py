"""Presets: experiments of the papers, as specifications to run or to extend."""

from functools import cache
from importlib.resources import files

_HOME = files(__name__)


@cache
def names() -> tuple[str, ...]:
    """Names of all presets, in alphabetical order.

    >>> "pca-synthetic" in names()
    True
    """
    found = (entry.name for entry in _HOME.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def read(name: str) -> str:
    """Return the TOML text of a preset."""
    return (_HOME / f"{name}.toml").read_text(encoding="utf-8")
