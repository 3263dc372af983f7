"""Specifications: an experiment as data, read, checked, written and named by a digest."""

from driftfold.spec.builtins import load_builtins
from driftfold.spec.inventory import catalogue
from driftfold.spec.job import JobSpec, canonical, digest, from_mapping, to_mapping, validate
from driftfold.spec.packages import packages_of
from driftfold.spec.plugins import load_entry_points, load_plugins, loaded_plugins
from driftfold.spec.sources import Source, load_spec

__all__ = [
    "JobSpec",
    "Source",
    "canonical",
    "catalogue",
    "digest",
    "from_mapping",
    "load_builtins",
    "load_entry_points",
    "load_plugins",
    "load_spec",
    "loaded_plugins",
    "packages_of",
    "to_mapping",
    "validate",
]
