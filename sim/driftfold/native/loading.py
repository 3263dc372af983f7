"""The library of kernels: found, checked and opened, or the reason why not.

A missing or stale library is no error: the plain NumPy form gives the same results to rounding.
``driftfold doctor`` prints what is found here.
"""

import ctypes
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from driftfold.native import building

SWITCH = "DRIFTFOLD_NATIVE"
"""Environment variable that turns the kernels off when it is 0, and leaves them on when it is 1."""


@dataclass(frozen=True)
class Library:
    """An open library, made from the sources beside it.

    Attributes
    ----------
    path
        The file.
    source
        Digest of the sources it was made from.
    level
        Which of its variants this processor runs, such as "v3".
    """

    path: Path
    source: str
    level: str
    handle: ctypes.CDLL = field(repr=False, compare=False)

    @property
    def identity(self) -> str:
        """What the bits of its results depend on."""
        return f"{self.source} {self.level}"

    def kernel(self, stem: str, size: int, bits: int) -> Callable[..., Any] | None:
        """Return a kernel's entry, or None when there is none of that size."""
        name = f"{stem}_{size}_f{bits}_{self.level}"
        return getattr(self.handle, name, None)

    def function(self, stem: str) -> Callable[..., Any]:
        """Return the entry of what has no size."""
        found: Callable[..., Any] = getattr(self.handle, f"{stem}_{self.level}")
        return found


@dataclass(frozen=True)
class Missing:
    """Why there is no library, and what to do about it."""

    reason: str
    remedy: str

    @property
    def identity(self) -> None:
        """Nothing that bits could depend on."""
        return None


_REBUILD = (
    f"with a C compiler at hand run `{shlex.quote(sys.executable)} -m driftfold.native`; "
    "until then the plain NumPy form is used"
)


@cache
def library() -> Library | Missing:
    """Return the library of this process: opened once, or missing for good."""
    return open_library(building.LIBRARY)


def open_library(path: Path) -> Library | Missing:
    """Open the library at `path` if it fits this package and this processor."""
    switch = os.environ.get(SWITCH, "").strip()
    if switch == "0":
        return Missing(f"{SWITCH}=0 turns the kernels off", f"unset {SWITCH}")
    if switch not in ("", "1"):
        return Missing(f"{SWITCH}={switch} is neither 0 nor 1", f"set it to 1, or unset {SWITCH}")
    if not path.is_file():
        return Missing(f"there is no {path.name} in {path.parent}", _REBUILD)
    try:
        handle = ctypes.CDLL(str(path))
        source = _text(handle, "driftfold_source")
        levels = _text(handle, "driftfold_levels").split()
        able = int(handle.driftfold_processor())
    except (OSError, ValueError, AttributeError) as error:
        return Missing(f"{path} cannot be loaded: {error}", _REBUILD)
    if source != building.source_digest():
        return Missing(f"{path} was made from other sources than those beside it", _REBUILD)
    order = building.levels()
    fitting = [level for level in order[:able] if level in levels]
    if not fitting:
        made = ", ".join(levels) or "none"
        return Missing(f"{path} has variants for {made}, and this processor runs none", _REBUILD)
    return Library(path, source, fitting[-1], handle)


def _text(handle: ctypes.CDLL, name: str) -> str:
    return ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(handle, name))).decode()
