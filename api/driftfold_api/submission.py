"""From a specification off the network to one that a worker may run."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from driftfold import presets
from driftfold.errors import SpecError
from driftfold.spec import load_spec
from driftfold.spec.capabilities import check_capabilities
from driftfold.spec.codec import encode
from driftfold_api.archive.base import Wanted
from driftfold_api.terms import TermsAsked
from driftfold_workers.jobs.needs import needs_of

USUAL = TermsAsked()


def accept(table: Mapping[str, Any], name: str | None = None, asked: TermsAsked = USUAL) -> Wanted:
    """Check a specification, and complete it.

    It may extend a preset. It may not extend a file, nor load code: the paths and modules of the
    server are none of its business.

    Raises
    ------
    SpecError
        With a line for every problem.

    Examples
    --------
    >>> accepted = accept({"extends": "pca-synthetic", "seed": 4, "horizon": {"rounds": 5}})
    >>> accepted.horizon_rounds, accepted.spec["seed"]
    (5, 4)
    >>> accept({"extends": "../secret.toml"})
    Traceback (most recent call last):
    driftfold.errors.SpecError: extends: got '../secret.toml', wanted the name of a preset: ...
    """
    parent = table.get("extends")
    if isinstance(parent, str) and parent not in presets.names():
        near = get_close_matches(parent, presets.names(), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise SpecError(
            f"extends: got {parent[:60]!r}, wanted the name of a preset: {hint}the service reads "
            f"no files for a specification; presets: {', '.join(presets.names())}"
        )
    spec = load_spec(table)
    check_capabilities(spec)
    complete = encode(spec)  # load_spec has just checked it
    if not spec.name.isprintable():
        raise SpecError(f"name: got {spec.name[:60]!r}, wanted one line of printable text")
    title = spec.name if name is None else name
    return Wanted(
        spec=complete,
        needs=needs_of(spec),
        name=title,
        horizon_rounds=spec.horizon.rounds,
        terms=asked.terms(),
        delay=asked.delay_seconds,
    )
