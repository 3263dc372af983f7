"""The parts of a specification, found at any depth."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from driftfold.spec.problems import join


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a component and all that it is made of, each with its dotted path.

    >>> from driftfold.spec import load_spec
    >>> dict(parts(load_spec("pca-synthetic")))["task.data"]
    GaussianBlocks(...)
    """
    if is_dataclass(value) and not isinstance(value, type):
        yield path, value
        for field in fields(value):
            yield from parts(getattr(value, field.name), join(path, field.name))
    elif isinstance(value, tuple | list):
        for i, entry in enumerate(value):
            yield from parts(entry, f"{path}[{i}]")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from parts(entry, join(path, str(key)))
