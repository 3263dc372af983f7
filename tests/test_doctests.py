"""The example in every docstring runs, in every module, and gives what it shows."""

import doctest
import importlib
from contextlib import suppress

import pytest

from driftfold import registry
from tests.modules import module_names


@pytest.fixture(scope="module", autouse=True)
def everything_is_imported() -> None:
    """Import all modules: what they register must not go with an example's own kinds."""
    for name in module_names():
        with suppress(Exception):  # the module's own test shows it
            importlib.import_module(name)


@pytest.mark.parametrize("name", module_names())
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(name)
    monkeypatch.setattr(registry, "_families", dict(registry._families))
    monkeypatch.setattr(registry, "_kinds", {k: dict(v) for k, v in registry._kinds.items()})
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testmod(module, optionflags=flags)
    assert failed == 0
