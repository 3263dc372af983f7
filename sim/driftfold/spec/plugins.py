"""Kinds of other people: loaded when asked for by name, never because a specification says so."""

import hashlib
import sys
from collections.abc import Iterable
from importlib import import_module, util
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from driftfold.errors import SpecError
from driftfold.registry import provisional
from driftfold.spec.builtins import load_builtins

GROUP = "driftfold.plugins"
"""Entry points of installed distributions that offer plug-ins."""

_loaded: dict[str, str] = {}


def load_plugins(names: Iterable[str]) -> None:
    """Import plug-ins, which register kinds as they are imported.

    Parameters
    ----------
    names
        For each the name of a module, or the path of a ``.py`` file.

    Raises
    ------
    SpecError
        A plug-in is not there, or raised as it was imported; it leaves no kinds behind.
    """
    load_builtins()
    for name in names:
        with provisional():
            module = _import(name)
        _loaded[module.__name__] = _fingerprint(module)


def load_entry_points() -> list[str]:
    """Import the plug-ins that installed distributions offer, and return their names."""
    offered = sorted({point.module for point in entry_points(group=GROUP)})
    load_plugins(offered)
    return offered


def loaded_plugins() -> dict[str, str]:
    """Name of each loaded plug-in with a hash of its source: a part of a run's fingerprint."""
    return dict(sorted(_loaded.items()))


def _import(name: str) -> ModuleType:
    by_path = name.endswith(".py") or "/" in name or "\\" in name
    try:
        return _from_file(Path(name)) if by_path else import_module(name)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name == name:
            raise SpecError(
                f"plug-in {name!r}: no such module; install it, or give the path of its .py file"
            ) from None
        raise SpecError(_failed(name, error)) from error
    except BaseException as error:  # a plug-in may even call sys.exit
        raise SpecError(_failed(name, error)) from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    name = f"driftfold_plugin_{path.stem}"
    home = str(path.resolve())
    before = sys.modules.get(name)
    if before is not None:
        if before.__file__ == home:
            return before
        raise ImportError(f"{before.__file__} is loaded under the same name; rename one of them")
    spec = util.spec_from_file_location(name, home)
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {path}")
    module = util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is executed
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _failed(name: str, error: BaseException) -> str:
    cause = " ".join(f"{type(error).__name__}: {error}".split())
    return f"plug-in {name!r} failed as it was imported: {cause}"


def _fingerprint(module: ModuleType) -> str:
    source = Path(module.__file__) if module.__file__ else None
    text = source.read_bytes() if source and source.is_file() else module.__name__.encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()
