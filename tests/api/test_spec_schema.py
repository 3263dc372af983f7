"""The JSON schema of a specification takes what the library takes, and nothing else."""

import json
from typing import Any

import pytest

from driftfold import presets
from driftfold.errors import SpecError
from driftfold.spec import load_spec, to_mapping
from driftfold_api.spec_schema import spec_schema
from driftfold_api.submission import accept

jsonschema: Any = pytest.importorskip("jsonschema")

VALIDATOR = jsonschema.Draft202012Validator(spec_schema())


def sound(table: Any) -> bool:
    return bool(VALIDATOR.is_valid(table))


def test_the_schema_is_one_and_takes_every_preset() -> None:
    jsonschema.Draft202012Validator.check_schema(spec_schema())
    for name in presets.names():
        assert sound(to_mapping(load_spec(name)))
        assert sound({"extends": name, "seed": 3})


CHANGES: list[dict[str, Any]] = [
    {"seed": -1},
    {"seed": "1"},
    {"seed": 1.5},
    {"seed": True},
    {"sed": 1},
    {"evaluate_every": 0},
    {"task": {"kind": "pcb"}},
    {"task": "pcb"},
    {"task": 3},
    {"estimator": {"kind": "inclusive", "floo": 1}},
    {"horizon": {"rounds": 0}},
    {"horizon": {"rounds": 5, "minutes": 1}},
    {"horizon": None},
    {"participation": {"kind": "bernoulli", "p": "often"}},
    {"latency": {"kind": "constant", "compute": -1.0}},
    {"name": 3},
    {"name": "x" * 201},
    {"seed": 5},
    {"compute": "loop"},
    {"compute": {"kind": "loop"}},
    {"participation": "always"},
    {"horizon": {"seconds": 5.0}},
    {"faults": {"on_client_error": "fail"}},
    {"faults": {"on_client_error": "hide"}},
]


@pytest.mark.parametrize("change", CHANGES, ids=json.dumps)
def test_the_schema_and_the_library_agree(change: dict[str, Any]) -> None:
    table = {**to_mapping(load_spec("pca-synthetic")), **change}
    try:
        accept(table)
        taken = True
    except SpecError:
        taken = False
    assert sound(table) is taken
