"""The kinds that come with driftfold: importing a family's modules registers them."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

FAMILY_PACKAGES = (
    "data",
    "manifolds",
    "nets",
    "label_shift",
    "signals",
    "participation",
    "latency",
    "drift",
    "drift.schedules",
    "drift.clocks",
    "drift.targets",
    "drift.corruptions",
    "estimators",
    "solvers",
    "tasks",
    "combinations",
    "optimizers",
    "compressors",
    "attacks",
    "risks",
    "rates",
    "detectors",
    "algorithms",
    "algorithms.adaptation",
    "compute",
    "selection",
    "staleness",
    "world",
    "world.cadences",
)


@cache
def load_builtins() -> None:
    """Import every module of every family, once. None of them imports torch."""
    for package in FAMILY_PACKAGES:
        home = import_module(f"driftfold.{package}")
        for module in iter_modules(home.__path__):
            import_module(f"{home.__name__}.{module.name}")
