"""TOML has no null: whatever a field may be, a file can say."""

from dataclasses import MISSING
from types import NoneType
from typing import Any

import pytest

from driftfold.registry import families, kinds
from driftfold.spec import JobSpec, digest, from_mapping, load_builtins, to_mapping
from driftfold.spec.codec import annotations, decode, default_of, parameters
from driftfold.spec.hints import bare, is_group, members
from driftfold.spec.readers import parse
from tests.modules import own_kinds

load_builtins()


def owners() -> dict[str, type[Any]]:
    """Every kind, and every table without a kind that they or a specification hold."""
    found: dict[str, type[Any]] = {"specification": JobSpec}
    for family in families():
        found |= {f"{family} {kind}": owner for kind, owner in own_kinds(family).items()}
    waiting = list(found.values())
    while waiting:
        for hint in annotations(waiting.pop()).values():
            for part in members(bare(hint)[0]):
                if is_group(bare(part)[0]) and bare(part)[0] not in found.values():
                    found[bare(part)[0].__name__] = bare(part)[0]
                    waiting.append(bare(part)[0])
    return found


def test_what_only_null_can_say_is_the_default() -> None:
    """Left out, such a field is None; where it would be something else it has a word instead."""
    found = owners()
    assert {"Horizon", "FaultPolicy"} <= found.keys()
    wordless = [
        f"{name}: {field.name}"
        for name, owner in found.items()
        for field in parameters(owner)
        if NoneType in (bare(part)[0] for part in members(bare(annotations(owner)[field.name])[0]))
        and default_of(field) not in (None, MISSING)
    ]
    assert not wordless


@pytest.mark.parametrize(
    ("family", "text", "field"),
    [
        ("participation", 'kind = "diurnal"\nslot = "dispatch"', "slot"),
        ("participation", 'kind = "sine"\nslot = "dispatch"', "slot"),
        ("estimator", 'kind = "fedau"\ncutoff = "none"', "cutoff"),
        ("algorithm", 'kind = "private"\nalgorithm = "rfedags"\ndelta = "none"', "delta"),
        ("task", 'kind = "softmax_regression"\ndata = "digits"\nclients = "natural"', "clients"),
        ("data", 'kind = "pathmnist"\nsamples = "all"', "samples"),
    ],
)
def test_the_words(family: str, text: str, field: str) -> None:
    table = parse(text, ".toml", "x.toml")
    part: Any = decode(families()[family], table)
    assert type(part) is kinds(family)[table["kind"]]
    assert getattr(part, field) == table[field]


def test_who_never_drops_out_is_said_in_a_file() -> None:
    text = """
        [task]
        kind = "pca"
        rank = 1
        data = { kind = "gaussian_blocks", clients = 2, samples = 3, dimension = 4 }
        [algorithm]
        kind = "rfedags"
        [participation]
        kind = "dropout"
        of = "always"
        times = [7.0, "never"]
        [horizon]
        rounds = 1
    """
    spec = from_mapping(parse(text, ".toml", "x.toml"))
    assert spec.participation.times == (7.0, "never")  # type: ignore[attr-defined]
    assert digest(from_mapping(to_mapping(spec))) == digest(spec)
