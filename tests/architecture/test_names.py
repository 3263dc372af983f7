"""Names that people type: kinds as fields are written, presets as files are."""

import importlib
import re
from typing import Any

import pytest

from driftfold import presets
from driftfold.registry import families, lookup
from driftfold.spec import load_builtins
from tests.modules import own_kinds

load_builtins()

FAMILIES = {
    name: base for name, base in families().items() if base.__module__.startswith("driftfold.")
}
KINDS = [(family, kind) for family in FAMILIES for kind in own_kinds(family)]


@pytest.mark.parametrize(("family", "kind"), KINDS)
def test_words_of_a_kind_are_joined_by_underscores(family: str, kind: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", kind)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", family)


@pytest.mark.parametrize("name", presets.names())
def test_words_of_a_preset_are_joined_by_hyphens(name: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)


def test_kinds_are_found() -> None:
    assert ("participation", "label_bernoulli") in KINDS


@pytest.mark.parametrize("owner", [*(lookup(*name) for name in KINDS), *FAMILIES.values()])
def test_kinds_and_bases_are_exported_by_their_package(owner: type[Any]) -> None:
    package = importlib.import_module(owner.__module__.rpartition(".")[0])
    assert owner.__name__ in package.__all__
    assert getattr(package, owner.__name__) is owner
