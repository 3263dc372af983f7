"""Run folders: where a run writes, and what may already be there."""

import re
import shutil
from pathlib import Path

from driftfold.assembly import build
from driftfold.folder import CHECKPOINTS, LOCK, MODEL, RESULT, SPEC, holds_run, only_writer
from driftfold.spec import JobSpec, digest, load_spec
from driftfold.telemetry.detail import FOLDER as DETAILS
from driftfold.telemetry.reader import LOG
from driftfold_api.errors import RequestError

PLOT = "plot.png"
_OURS = (SPEC, LOG, PLOT, RESULT, MODEL, CHECKPOINTS, DETAILS)


def default_folder(spec: JobSpec, source: str) -> Path:
    """Return ``runs/NAME-DIGEST-sSEED``, named after the specification, its file or its preset."""
    name = re.sub(r"[^\w.-]+", "-", spec.name or Path(source).stem).strip("-.") or "run"
    return Path("runs") / f"{name}-{digest(spec)[:8]}-s{spec.seed}"


def prepare(folder: Path, spec: JobSpec, *, resume: bool, overwrite: bool) -> bool:
    """Make the folder ready and return whether it is new.

    Raises `RequestError` when it must not be written to, and `RunError` when what is to be
    overwritten is still being written. Nothing is overwritten for a specification that cannot run.
    """
    if resume and overwrite:
        raise RequestError("--resume goes on with a run and --overwrite drops it; give one of them")
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"{folder} is a file, wanted a folder; choose another with --folder")
    if holds_run(folder):
        if overwrite:
            build(spec)  # parts that do not fit shall not cost the run that is there
            with only_writer(folder):
                _clear(folder)
        elif not resume:
            raise RequestError(
                f"{folder} already holds a run; continue it with --resume, replace it with "
                "--overwrite, or choose another with --folder"
            )
        elif (folder / SPEC).exists() and digest(load_spec(folder / SPEC)) != digest(spec):
            raise RequestError(
                f"{folder} holds a run of another specification, which --resume cannot continue; "
                "give the same specification and settings, or another --folder"
            )
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(
            f"cannot make the folder {folder}: {(error.strerror or str(error)).lower()}; "
            "choose another with --folder"
        ) from None
    return new


def abandon(folder: Path, new: bool) -> None:
    """Leave nothing behind of a run that could not begin; one that has begun is kept."""
    if holds_run(folder):
        return
    _clear(folder)
    (folder / LOCK).unlink(missing_ok=True)
    if new and not any(folder.iterdir()):
        folder.rmdir()


def _clear(folder: Path) -> None:
    """Remove what a run writes, and nothing else."""
    for name in _OURS:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
