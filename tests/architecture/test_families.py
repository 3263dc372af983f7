"""Members of a family know its base and its helpers, never each other."""

import importlib
import inspect

import grimp
import pytest

from driftfold.checkpoint import CheckpointStore
from driftfold.registry import family_of
from driftfold.telemetry import RecordSink
from tests.modules import module_names

UNNAMED = {"store": CheckpointStore, "sink": RecordSink}  # not called for by a specification
WRAPPERS = {
    # To vary a member one wraps it, and a wrapper knows what it wraps.
    "driftfold.compute.debug": {"driftfold.compute.loop"},
    "driftfold.algorithms.adaptation.similar_peers": {"driftfold.algorithms.adaptation.fedade"},
    "driftfold.risks.guarded": {"driftfold.risks.bbse_source", "driftfold.risks.entropy"},
}


def families_in(module: str) -> set[str]:
    """Return the families of which a module defines a member."""
    found = set()
    for value in vars(importlib.import_module(module)).values():
        if inspect.isclass(value) and value.__module__ == module and not inspect.isabstract(value):
            if "__kind__" in vars(value):
                found.add(str(family_of(value)))
            found |= {name for name, base in UNNAMED.items() if issubclass(value, base)}
    return found


MEMBERS = {
    name: families_in(name)
    for name in module_names("driftfold")
    if not name.startswith("driftfold.testing") and families_in(name)
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("driftfold", cache_dir=None)


def test_members_are_found() -> None:
    assert set().union(*MEMBERS.values()) >= {
        *UNNAMED, "algorithm", "cadence", "compute", "data", "estimator", "latency", "manifold",
        "participation", "partition", "task",
    }  # fmt: skip
    assert len(MEMBERS) >= 25


@pytest.mark.parametrize("member", MEMBERS)
def test_members_do_not_import_each_other(member: str, graph: grimp.ImportGraph) -> None:
    siblings = {other for other, families in MEMBERS.items() if families & MEMBERS[member]}
    known = graph.find_modules_directly_imported_by(member) - WRAPPERS.get(member, set())
    assert not known & siblings, "move what they share into a file named after the concept"
    assert member.rpartition(".")[0] not in known, "import from the modules of one's own package"
