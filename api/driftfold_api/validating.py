"""`driftfold validate`: check a specification and show its digest."""

import json
from collections.abc import Iterable

import typer

from driftfold.errors import DataError, SpecError
from driftfold.spec import JobSpec, digest, load_plugins, load_spec, to_mapping
from driftfold.spec.capabilities import check_capabilities


def validate_spec(
    source: str, settings: Iterable[str], build: bool, as_json: bool, plugins: Iterable[str]
) -> None:
    """Print the digest of a sound specification, or raise `SpecError` with what is wrong.

    With `build` the data are loaded as well, and what depends on them is checked. As JSON the
    answer is printed in both cases, and the complete specification with it.
    """
    try:
        load_plugins(plugins)
        spec = load_spec(source, overrides=settings)
        check_capabilities(spec)
        if build:
            _build(spec)
    except (SpecError, DataError) as error:
        if as_json:
            problems = str(error).splitlines()
            typer.echo(json.dumps({"valid": False, "problems": problems}, indent=2))
        raise
    if as_json:
        answer = {"valid": True, "spec_digest": digest(spec), "spec": to_mapping(spec)}
        typer.echo(json.dumps(answer, indent=2))
    else:
        typer.echo(f"{source}: valid, digest {digest(spec)}")


def _build(spec: JobSpec) -> None:
    from driftfold.assembly import build

    build(spec)
