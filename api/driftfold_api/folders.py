"""Run folders: where a run writes, and what may already be there."""

import re
import shutil
from pathlib import Path

from driftfold.errors import SpecError
from driftfold.spec import JobSpec, digest, load_spec

SPEC, LOG, RESULT, SNAPSHOTS = "spec.json", "records.jsonl", "result.json", "checkpoints"
_OURS = (SPEC, LOG, RESULT, SNAPSHOTS, "clients", "plot.png")


def default_folder(spec: JobSpec, source: str) -> Path:
    """Return ``runs/NAME-DIGEST-sSEED``, named after the specification, its file or its preset."""
    name = re.sub(r"[^\w.-]+", "-", spec.name or Path(source).stem).strip("-.") or "run"
    return Path("runs") / f"{name}-{digest(spec)[:8]}-s{spec.seed}"


def holds_run(folder: Path) -> bool:
    """Return whether a run has begun to write in the folder."""
    return (folder / LOG).exists()


def prepare(folder: Path, spec: JobSpec, *, resume: bool, overwrite: bool) -> None:
    """Make the folder ready, or raise `SpecError` when it must not be written to."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder} is a file, wanted a folder; choose another with --folder")
    if holds_run(folder):
        if overwrite:
            _clear(folder)
        elif not resume:
            raise SpecError(
                f"{folder} already holds a run; continue it with --resume, replace it with "
                "--overwrite, or choose another with --folder"
            )
        elif (folder / SPEC).exists() and digest(load_spec(folder / SPEC)) != digest(spec):
            raise SpecError(
                f"{folder} holds a run of another specification, which --resume cannot continue; "
                "give the same specification and settings, or another --folder"
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(
            f"cannot make the folder {folder}: {(error.strerror or str(error)).lower()}; "
            "choose another with --folder"
        ) from None


def _clear(folder: Path) -> None:
    """Remove what a run writes, and nothing else."""
    for name in _OURS:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
