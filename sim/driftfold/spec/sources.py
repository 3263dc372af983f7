"""Where a specification comes from: a file, a preset or a table, with what it extends."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from driftfold import presets
from driftfold.errors import SpecError
from driftfold.spec.job import JobSpec, from_mapping
from driftfold.spec.merge import merge
from driftfold.spec.overrides import parse_overrides
from driftfold.spec.problems import shown
from driftfold.spec.readers import SUFFIXES, parse, read_table

Source: TypeAlias = str | Path | Mapping[str, Any]


def load_spec(source: Source, *, overrides: Iterable[str] = ()) -> JobSpec:
    """Return the specification in a file, of a preset or in a table.

    Parameters
    ----------
    source
        Path to a .toml, .yaml, .yml or .json file, or the name of a preset, or a table.
    overrides
        Settings such as ``"algorithm.steps=10"``, laid over it last.

    Raises
    ------
    SpecError
        Something cannot be read, or is not as it must be; the message names file and field.

    Examples
    --------
    >>> load_spec("pca-synthetic", overrides=["seed=4"]).seed
    4
    """
    try:
        table = merge(_expand(source, Path(), ()), parse_overrides(overrides))
    except RecursionError:
        raise _too_deep(source) from None
    try:
        return from_mapping(table)
    except RecursionError:
        raise _too_deep(source) from None
    except SpecError as error:
        if isinstance(source, Mapping):
            raise
        lines = str(error).split("\n")
        raise type(error)("\n".join(f"{source}: {line}" for line in lines)) from None


def _too_deep(source: Source) -> SpecError:
    title = "the given table" if isinstance(source, Mapping) else source
    return SpecError(
        f"{title}: not a specification: nested too deeply; wrap components in fewer others, and "
        "look for a table that contains itself"
    )


def _expand(source: Source, folder: Path, chain: tuple[str, ...]) -> dict[str, Any]:
    """Return the table at `source` laid over all that it extends."""
    if isinstance(source, Mapping):
        title, table, home = "the given table", dict(source), folder
    elif _is_file(source, folder):
        path = folder / source
        title, table, home = str(path.resolve()), read_table(path), path.parent
    else:
        title, home = str(source), folder
        if title in chain:
            _refuse_cycle(chain, title)
        table = parse(_preset(title), ".toml", f"preset {title}")
    if title in chain:
        _refuse_cycle(chain, title)
    parent = table.pop("extends", None)
    if parent is None:
        return table
    if not isinstance(parent, str):
        raise SpecError(f"extends: got {shown(parent)}, wanted the name of a preset or file")
    return merge(_expand(parent, home, (*chain, title)), table)


def _is_file(source: str | Path, folder: Path) -> bool:
    if isinstance(source, Path):
        return True
    looks = source.lower().endswith(SUFFIXES) or "/" in source or "\\" in source
    return looks or (source not in presets.names() and (folder / source).is_file())


def _preset(name: str) -> str:
    known = presets.names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"presets: {', '.join(known)}"
        raise SpecError(
            f"{name}: neither a file nor a preset; {hint}; files end in {', '.join(SUFFIXES)}"
        )
    return presets.read(name)


def _refuse_cycle(chain: tuple[str, ...], title: str) -> None:
    circle = " -> ".join([*chain[chain.index(title) :], title])
    raise SpecError(f"extends: goes round in a circle: {circle}; let one of them extend nothing")
