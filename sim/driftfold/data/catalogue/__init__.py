"""Public data sets: what they are, where they lie, how to obtain them."""

from driftfold.data.catalogue.entry import DataFile, Entry, Form, Hub, Package
from driftfold.data.catalogue.folder import data_folder
from driftfold.data.catalogue.getting import Fetched, get
from driftfold.data.catalogue.reading import Found, find_set, read_set
from driftfold.data.catalogue.sets import SETS, entry_of
from driftfold.data.catalogue.status import Status, survey

__all__ = [
    "SETS",
    "DataFile",
    "Entry",
    "Fetched",
    "Form",
    "Found",
    "Hub",
    "Package",
    "Status",
    "data_folder",
    "entry_of",
    "find_set",
    "get",
    "read_set",
    "survey",
]
