"""One real server for the tests of a module, an empty store on it for each test."""

from collections.abc import Iterator

import pytest

from tests.workers.experiments import Behaviour
from tests.workers.fixtures import server, store

__all__ = ["server", "store"]  # used by the tests here


@pytest.fixture
def behaviour() -> Iterator[Behaviour]:
    """What the processes of a test do, beside what their specification says."""
    behaviour = Behaviour()
    yield behaviour
    behaviour.forget()
