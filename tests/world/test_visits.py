"""Visits that take no time are over in one go, as if each had been a coroutine."""

import math

import pytest

from driftfold.compute.order import Order
from driftfold.kernel import launch
from driftfold.run import run
from driftfold.spec import load_spec
from driftfold.world import visits
from driftfold.world.client import Errand, deliver

EXPERIMENTS = {
    "one phase": ("pca-synthetic", ()),
    "some respond": ("pca-synthetic", ('participation={kind="bernoulli", p=0.3}',)),
    "two phases": ("pca-synthetic", ('algorithm={kind="rfedsvrg", steps=3, step_size=0.05}',)),
    "memory": (
        "pca-synthetic",
        ('algorithm={kind="mifa", algorithm={kind="rfedags", steps=3, step_size=0.05}}',),
    ),
    "a stream": ("fedade-digits-label", ("horizon.rounds=6",)),
}


def one_by_one(server: visits.Sender, order: Order, *columns: list[object]) -> None:
    """What `begin` does where visits take time."""
    clients, keys = columns
    for client, key in zip(clients, keys, strict=True):
        errand = Errand(client, order, 0.0, 0.0, 0.0, math.inf, key)  # type: ignore[arg-type]
        server.in_flight[errand.client] = errand
    for errand in list(server.in_flight.values()):
        if errand.order is order:
            assert launch(server.loop, deliver(server, errand)) is None


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_at_once_is_as_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    preset, settings = EXPERIMENTS[name]
    spec = load_spec(preset, overrides=["horizon.rounds=8", *settings])
    at_once = run(spec)
    monkeypatch.setattr(visits, "_at_once", one_by_one)
    told = run(spec)
    assert told.events == at_once.events > 0
    assert told.event_digest == at_once.event_digest
    assert told.metrics_digest == at_once.metrics_digest
