"""The jobs of a campaign, as its users order them: many short ones and several long ones."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.workers.experiments import experiment, undisturbed

SHORT, LONG, LONG_EVERY = (20, 60), (400, 700), 8
MODES: Sequence[Mapping[str, Any]] = (
    {},
    {"checkpoint_every": 7},
    {"checkpoint_every": 40},
    {
        "checkpoint_every": 11,
        "latency": {"kind": "lognormal", "per_sample": 0.5, "device_spread": 1.0},
        "cadence": {"kind": "buffered", "concurrency": 5, "buffer": 3},
    },
)
"""How rounds are made, and how often snapshots: the last has results in flight in them."""
NOWHERE = {"kind": "npz", "path": "/nowhere/data.npz"}


@dataclass(frozen=True)
class Order:
    """One job that somebody wants.

    Attributes
    ----------
    key
        Its idempotency key, and its name.
    spec
        What is sent.
    terms
        Further fields of the submission.
    canceled
        How many seconds after its acceptance it is canceled; None if never.
    paused
        How many seconds after its acceptance it is paused, to be resumed; None if never.
    careless
        How often it is sent without waiting for an answer, before somebody waits for one.
    doomed
        Whether it must fail.
    watched
        Whether somebody reads along.
    """

    key: str
    spec: Mapping[str, Any]
    terms: Mapping[str, Any]
    canceled: float | None = None
    paused: float | None = None
    careless: int = 0
    doomed: bool = False
    watched: bool = False

    @property
    def rounds(self) -> int:
        """Rounds that it is to have."""
        return int(self.spec["horizon"]["rounds"])


def orders(seed: int, rounds: int) -> list[Order]:
    """Jobs that make at least `rounds` rounds together, those not counted that may not end."""
    found: list[Order] = []
    while rounds > 0:
        found.append(_order(seed, len(found)))
        if not found[-1].doomed and found[-1].canceled is None:
            rounds -= found[-1].rounds
    return found


def _order(seed: int, number: int) -> Order:
    chance = random.Random(f"{seed}:order:{number}")
    long = number % LONG_EVERY == 0
    wanted = chance.randint(*(LONG if long else SHORT))
    spec = experiment(wanted, seed=chance.randrange(1000), **chance.choice(MODES))
    doomed = not long and chance.random() < 0.05
    if doomed:
        spec["task"]["data"] = NOWHERE
    return Order(
        key=f"order-{seed}-{number}",
        spec=spec,
        terms=_terms(chance),
        canceled=chance.uniform(0.0, 20.0) if not long and chance.random() < 0.1 else None,
        paused=chance.uniform(0.0, 20.0) if chance.random() < 0.15 else None,
        careless=chance.choice([0, 0, 0, 1, 2]),
        doomed=doomed,
        watched=long or chance.random() < 0.1,
    )


def _terms(chance: random.Random) -> Mapping[str, Any]:
    """Terms that change when a job runs, and nothing of what it gives."""
    terms: dict[str, Any] = {}
    if chance.random() < 0.3:
        terms["priority"] = chance.randint(-5, 5)
    if chance.random() < 0.15:
        terms["delay_seconds"] = chance.uniform(0.0, 8.0)
    if chance.random() < 0.1:
        terms["limits"] = {"wall_seconds": 1e6}
    return terms


@cache
def _numbers(spec: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    result, records = undisturbed(json.loads(spec))
    return result.to_json(), records


def expected(order: Order) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Result and records of an undisturbed run."""
    return _numbers(json.dumps(order.spec))
