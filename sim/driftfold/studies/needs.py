"""Which data sets experiments read, and which of them are not at hand."""

from collections.abc import Iterable

from driftfold.data.catalogue import data_folder, entry_of
from driftfold.data.catalogue.status import Status, status_of
from driftfold.studies.base import Experiment


def missing(experiments: Iterable[Experiment]) -> dict[str, tuple[Status, ...]]:
    """Return by experiment the data sets that it needs and that are missing or damaged."""
    folder = data_folder()
    found = {}
    for experiment in experiments:
        states = [status_of(entry_of(name), folder, check=False) for name in experiment.needs]
        absent = tuple(s for s in states if s.state in ("missing", "damaged"))
        if absent:
            found[experiment.name] = absent
    return found
