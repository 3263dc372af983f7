"""Output: where what the processes of a job print is gathered, and goes when they have ended."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from driftfold_workers.artefacts.runs import OUTPUT, Runs


def output_file(runs: Runs, job: str, epoch: int) -> Path:
    """Return the file that an attempt's process prints to: the job's own where that is a file here.

    >>> output_file(Runs.at("/data/runs"), "0192", 3)
    PosixPath('/data/runs/0192/output.txt')
    """
    return _scratch() / f"{job}.{epoch}.txt" if runs.folder is None else runs.folder / job / OUTPUT


def hand_over(runs: Runs, job: str, epoch: int) -> None:
    """Store what an attempt printed as `output.<epoch>.txt`, where it is not there already.

    Nothing can be added to a file of an object store. Raises `OSError`.
    """
    if runs.folder is not None:
        return
    printed = output_file(runs, job, epoch)
    try:
        with printed.open("rb") as file:
            if file.read(1):
                file.seek(0)
                name = f"{Path(OUTPUT).stem}.{epoch}.txt"
                runs.of(job).put(name, lambda there: shutil.copyfileobj(file, there))
    except FileNotFoundError:  # it never began
        return
    printed.unlink(missing_ok=True)


@cache
def _scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="driftfold-output-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
