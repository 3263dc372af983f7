"""The studies that come along, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from driftfold.errors import SpecError
from driftfold.registry import unknown
from driftfold.studies.base import Study
from driftfold.studies.estimators import ESTIMATORS
from driftfold.studies.fedade import FEDADE
from driftfold.studies.rfedags import RFEDAGS

_ALL: Mapping[str, Study] = MappingProxyType(
    {study.name: study for study in (RFEDAGS, ESTIMATORS, FEDADE)}
)


def studies() -> tuple[Study, ...]:
    """Return all studies."""
    return tuple(_ALL.values())


def get_study(name: str) -> Study:
    """Return a study; raises `SpecError` that names the nearest when there is none.

    >>> get_study("rfedags").title
    'RFedAGS and what it is compared with'
    """
    if name not in _ALL:
        raise SpecError(unknown("study", name, _ALL))
    return _ALL[name]
