"""Places in the queue, as numbers that are exact in a double: lower ones come first."""

from driftfold_workers.jobs.new_id import number_of
from driftfold_workers.jobs.terms import HIGHEST


def place_of(job: str, priority: int) -> int:
    """Return the place of a job: higher priorities first, then by number.

    Jobs of one place stand in the order of their ids, which is that of their numbers.

    >>> early, late = "01900000-0000-7000-8000-000000000000", "01900000-0001-7000-8000-000000000000"
    >>> place_of(late, 1) < place_of(early, 0) < place_of(late, 0) < first_place(-1)
    True
    """
    return first_place(priority) + (number_of(job) >> 8)


def first_place(priority: int) -> int:
    """Return a place that no job of that priority stands before, and all of lower ones behind."""
    return (HIGHEST - priority) << 45
