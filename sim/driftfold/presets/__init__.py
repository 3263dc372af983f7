"""Presets: experiments of the papers, as specifications to run or to extend."""

import re
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


def describe(name: str) -> str:
    """Return what a preset is: the first sentence of the comment that it begins with.

    >>> describe("pca-synthetic")
    'Principal subspace of synthetic data by RFedAGS (arXiv 2409.07223).'
    """
    comment = re.match(r"(?:#.*\n)*", read(name))
    assert comment is not None
    text = " ".join(line.lstrip("# ") for line in comment[0].splitlines())
    return re.split(r"(?<=[.?])\s", text, maxsplit=1)[0]
