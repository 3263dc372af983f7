"""All data sets of the catalogue, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from driftfold.data.catalogue.cifar_sets import CIFAR_SETS
from driftfold.data.catalogue.entry import Entry
from driftfold.data.catalogue.image_sets import IMAGE_SETS
from driftfold.data.catalogue.other_sets import OTHER_SETS
from driftfold.data.catalogue.text_sets import TEXT_SETS
from driftfold.errors import DataError
from driftfold.registry import unknown

SETS: Mapping[str, Entry] = MappingProxyType(
    {entry.name: entry for entry in (*IMAGE_SETS, *CIFAR_SETS, *TEXT_SETS, *OTHER_SETS)}
)


def entry_of(name: str) -> Entry:
    """Return the entry of a set; raises `DataError` that names the nearest when there is none.

    >>> entry_of("mnist").redistribution
    'unclear'
    >>> entry_of("minst")
    Traceback (most recent call last):
    driftfold.errors.DataError: unknown data set 'minst'; did you mean 'mnist'? known: ...
    """
    if name not in SETS:
        raise DataError(unknown("data set", name, SETS))
    return SETS[name]
