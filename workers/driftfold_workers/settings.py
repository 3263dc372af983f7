"""What a worker is told when it starts."""

from dataclasses import dataclass

from driftfold_workers.artefacts.runs import Runs


@dataclass(frozen=True)
class Settings:
    """Settings of one worker.

    Attributes
    ----------
    name
        Its name, different from that of every other worker.
    runs
        Where artefacts and snapshots go; all workers and the API reach it.
    slots
        Attempts that run at the same time.
    lease
        Seconds without a sign after which a job is taken from its worker.
    attempts
        Attempts that a job has before it fails.
    plugins
        Modules or ``.py`` files that define further kinds.
    memory
        Bytes of address space that an attempt may use, or None.
    data
        Folders in which specifications may name files; none may anywhere else.
    """

    name: str
    runs: Runs
    slots: int = 1
    lease: float = 15.0
    attempts: int = 5
    plugins: tuple[str, ...] = ()
    memory: int | None = None
    data: tuple[str, ...] = ()
