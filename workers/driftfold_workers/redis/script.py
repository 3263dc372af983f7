"""Scripts: texts in Lua that a server runs as one step."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Self


@dataclass(frozen=True)
class Script:
    """A script, and the digest that a server knows it by."""

    source: str
    digest: str

    @classmethod
    def of(cls, source: str) -> Self:
        """Return the script with this text."""
        return cls(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


@cache
def read(*names: str) -> Script:
    """Return the script whose text is that of some of the workers' files, one after the other.

    >>> read("redis/announce").source[:16]
    '-- KEYS: the wor'
    """
    folder = files("driftfold_workers")
    return Script.of(
        "".join((folder / f"{name}.lua").read_text(encoding="utf-8") for name in names)
    )
