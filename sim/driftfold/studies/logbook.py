"""What a study notes beside a cell's run: on which software, how long it took, who ran it.

The run folder tells everything else; it is written by the run itself, or fetched from a service.
"""

import json
import shutil
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from driftfold.checkpoint.fingerprint import take_fingerprint
from driftfold.errors import RunError, SpecError
from driftfold.folder import RESULT, SPEC, write_table
from driftfold.spec import JobSpec, digest, from_mapping, loaded_plugins, packages_of, to_mapping

FILE = "cell.json"


class State(Enum):
    """What the folder of a cell holds."""

    NEW = "nothing that is of use"
    BEGUN = "part of its run"
    DONE = "its whole run"


@dataclass(frozen=True)
class Note:
    """What is noted of a cell.

    Attributes
    ----------
    spec
        Digest of the specification.
    software
        Digest of the software's fingerprint; "" for a run that a service's worker has made.
    seconds
        Seconds of a processor core of all attempts so far.
    job, key
        The job's id at the service, if one ran it; the idempotency key that it was submitted with.
    """

    spec: str
    software: str
    seconds: float = 0.0
    job: str = ""
    key: str = ""

    def write(self, folder: Path) -> None:
        """Write it so that whoever is killed meanwhile leaves it whole, or as it was."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f"{FILE}.part"
            part.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")
            part.replace(folder / FILE)
        except OSError as error:
            raise RunError(
                f"cannot write in {folder}: {error.strerror}; give a folder that can be written"
            ) from None


def software_of(spec: JobSpec) -> str:
    """Return the digest of the software that a specification runs on here."""
    return take_fingerprint(loaded_plugins(), packages_of(spec)).digest


def read_note(folder: Path) -> Note | None:
    """Return what is noted in a folder, or None."""
    try:
        return Note(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def state_of(folder: Path, spec: str, software: str) -> State:
    """Say how far the run of a specification, on the present software, has come in a folder.

    What a service has computed is taken as it is: its software is its own.
    """
    note = read_note(folder)
    if note is None or note.spec != spec or note.software not in ("", software):
        return State.NEW
    try:
        ended = json.loads((folder / RESULT).read_text(encoding="utf-8"))["ended"]
    except (OSError, ValueError, KeyError, TypeError):
        return State.BEGUN
    return State.BEGUN if ended == "stopped" else State.DONE


def renew(folder: Path, spec: JobSpec) -> None:
    """Let a whole run count whose specification lacks only what can be said since.

    What it does not say has the default, and a default does what was done before there was a
    choice. A run that has stopped on its way is left alone: it would have to go on.
    """
    identity, note = digest(spec), read_note(folder)
    if note is None or note.spec == identity:
        return
    try:
        if (
            digest(from_mapping(json.loads((folder / SPEC).read_text(encoding="utf-8"))))
            != identity
        ):
            return
        result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError, SpecError):
        return
    if result.get("ended") == "stopped":
        return
    # The note at last: until it is there, all of this is done again.
    write_table(folder / SPEC, to_mapping(spec))
    write_table(folder / RESULT, {**result, "spec_digest": identity})
    replace(note, spec=identity).write(folder)


def clear(folder: Path) -> None:
    """Remove a cell's run, which is of another specification or other software."""
    if (folder / FILE).exists():
        shutil.rmtree(folder)
