"""docs/algorithms.md says what a round costs: its formulas are held against counts."""

import math
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

import driftfold.manifolds
from driftfold.algorithms import (
    MIFA,
    Adversarial,
    Algorithm,
    Compressed,
    FedAT,
    FedVARP,
    PerStep,
    Private,
    RFedAGS,
    RFedAvg,
)
from driftfold.algorithms.adaptation import Adaptation
from driftfold.attacks import SignFlip
from driftfold.compressors import Quantiser, RankK, TopK
from driftfold.data import GaussianBlocks, GaussianClasses, SyntheticSpd
from driftfold.errors import CapabilityError
from driftfold.manifolds import Euclidean, Grassmann, Lorentz, Manifold, Product, Spd, Sphere
from driftfold.manifolds import Stiefel as St
from driftfold.optimizers import Adam, Descend, Momentum
from driftfold.registry import kind_of, lookup
from driftfold.rng import Seed
from driftfold.tasks import Pca, SoftmaxRegression, SpdFrechetMean
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import Growing
from driftfold.testing.cost import RoundCost, cost_of_round
from tests.algorithms.scattered import MANIFOLDS, Scattered
from tests.modules import ROOT, own_kinds

PAGE = ROOT / "docs" / "algorithms.md"
MAPS = {
    "steps": ("retract", "exp"),
    "inverses": ("inverse_retract", "log"),
    "transports": ("transport",),
    "projections": ("nearest", "project"),
}
SIZES = [(1, 2), (2, 5), (5, 3)]  # K, N
SAMPLES, BATCH = 7, 3
CODES = {"d": 2 * 6 - 3, "b": 4, "k": 1, "i": 1, "r": 2, "m": 6}  # of what is sent on St(2, 6)


def table(title: str) -> list[list[str]]:
    """Cells of the table under a title of the page, its head first."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n", 1)[1].split("\n## ")[0]
    lines = text.strip().split("\n\n")  # the last block of lines with cells is the table
    rows = next(block for block in reversed(lines) if block.startswith("|")).splitlines()
    return [
        [cell.strip() for cell in row.strip("|").split("|")] for row in rows if "---" not in row
    ]


BYTES, WORK, NEEDS, SERVER, WRAPPERS = (
    table(title)
    for title in (
        "Bytes",
        "Work",
        "What each needs of a manifold",
        "The server's optimiser",
        "Wrappers",
    )
)


def kind_in(row: Sequence[str]) -> str:
    """The name that a row begins with."""
    return str(re.findall(r"`(\w+)`", row[0])[0])


@cache
def problem(name: str) -> Problem:
    made = {
        "stiefel": Pca(data=GaussianBlocks(6, SAMPLES, 6), rank=2),
        "sphere": Pca(data=GaussianBlocks(6, SAMPLES, 6), rank=1, precision="float32"),
        "spd": SpdFrechetMean(data=SyntheticSpd(6, SAMPLES, 2)),
        "flat": SoftmaxRegression(data=GaussianClasses(3, 4, 6 * SAMPLES), clients=6),
    }
    return made[name].build(Seed(1))


def places(kind: str) -> Sequence[str]:
    if kind == "fedavg":
        return ("flat",)
    if kind == "zo_rfedproj":
        return ("stiefel",)
    return ("stiefel", "sphere") if kind == "rfedproj" else ("stiefel", "sphere", "spd")


@cache
def measured(first: str, where: str, steps: int, clients: int) -> RoundCost:
    """Cost of the algorithm that a row's first cell names, with the field it may name beside it."""
    kind, *more = re.findall(r"`(\w+)`", first)
    rule = lookup("algorithm", kind)(steps=steps, batch=BATCH, **dict.fromkeys(more, True))
    return cost_of_round(rule, problem(where), np.arange(clients))


def value(cell: str, cost: RoundCost, where: str, steps: int, clients: int) -> float:
    """What the formula in a cell gives."""
    (formula,) = re.findall(r"^`([^`]+)`$", cell)
    known = {
        "N": clients,
        "K": steps,
        "B": BATCH,
        "n": SAMPLES,
        "P": problem(where).point_bytes,
        "a": problem(where).itemsize,
        "I": int(cost.metrics.get("iterations", 0)),
        "F": 6,
        **CODES,
    }
    found: float = eval(formula, {"__builtins__": {}, "ceil": math.ceil}, known)
    return found


def cases(rows: Sequence[Sequence[str]]) -> pytest.MarkDecorator:
    pairs = [(row, where) for row in rows[1:] for where in places(kind_in(row))]
    ids = [f"{row[0]}-{where}".replace("`", "") for row, where in pairs]
    return pytest.mark.parametrize(("row", "where"), pairs, ids=ids)


@cases(BYTES)
def test_bytes_are_those_of_what_is_sent_and_kept(row: Sequence[str], where: str) -> None:
    for steps, clients in SIZES:
        cost = measured(row[0], where, steps, clients)
        got = [cost.download, cost.upload, cost.memory, cost.state]
        assert got == [value(cell, cost, where, steps, clients) for cell in row[1:]]


@cases(WORK)
def test_maps_and_gradients_are_counted(row: Sequence[str], where: str) -> None:
    for steps, clients in SIZES:
        cost = measured(row[0], where, steps, clients)
        if "frechet" in row[0]:
            assert cost.metrics["iterations"] >= 2
        wanted = [value(cell, cost, where, steps, clients) for cell in row[1:]]
        assert cost.gradients.tolist() == [wanted[0]] * clients
        columns = [(cost.client, name) for name in MAPS]
        columns += [(cost.server, name) for name in ("steps", "inverses", "projections")]
        got = [sum(own.get(name, 0) for name in MAPS[of]) for own, of in columns]
        assert got == wanted[1:]
        assert "transport" not in cost.server


@cases(WORK)
def test_gradients_are_what_the_phases_say(row: Sequence[str], where: str) -> None:
    """What the model of latency is told is what is evaluated."""
    kind, *more = re.findall(r"`(\w+)`", row[0])
    rule = lookup("algorithm", kind)(steps=3, batch=BATCH, **dict.fromkeys(more, True))
    said = sum(phase.samples(np.arange(4), 1) for phase in rule.phases(problem(where)))
    assert cost_of_round(rule, problem(where), np.arange(4)).gradients.tolist() == said.tolist()


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_each_manifold_has_the_papers_counts(manifold: Manifold) -> None:
    """K - 1 transports at clients and one retraction at the server, against N inverses and Exp."""
    place, who = Scattered(manifold).build(Seed(1)), np.arange(3)
    streams = cost_of_round(RFedAGS(steps=4, batch=2), place, who)
    assert streams.client == {"retract": 3, "transport": 3}
    assert streams.server == {"retract": 1}
    means = cost_of_round(RFedAvg(steps=4, batch=2), place, who)
    assert means.client == {"retract": 4}
    assert means.server == {"exp": 1, "inverse_retract": 3}


def test_sizes_that_change_are_sent_along() -> None:
    stiefel = problem("stiefel")
    plain = RFedAGS(steps=4, batch=2)
    sizes = RFedAGS(steps=4, batch=2, step_size=PerStep(0.1, (1.0, 0.5)))
    batches = RFedAGS(steps=4, batch=Growing(2))
    down = [cost_of_round(rule, stiefel, np.arange(3)).download for rule in (plain, sizes, batches)]
    assert [size - down[0] for size in down] == [0, 3 * stiefel.itemsize, 8]


@pytest.mark.parametrize("row", SERVER[1:], ids=lambda row: row[0].strip("`"))
def test_the_servers_optimiser_is_counted(row: Sequence[str]) -> None:
    rule = {"descend": Descend(), "momentum": Momentum(), "adam": Adam()}[kind_in(row)]
    costs = [
        cost_of_round(RFedAGS(steps=2, server=server), problem("stiefel"), np.arange(3))
        for server in (Descend(), rule)
    ]
    wanted = [value(cell, costs[1], "stiefel", 2, 3) for cell in row[1:]]
    assert [costs[1].server.get("transport", 0), costs[1].state - costs[0].state] == wanted


def wrapped(words: str, inner: Algorithm[Any]) -> Algorithm[Any]:
    """The wrapper that a row names."""
    return {
        "quantiser": Compressed(inner, Quantiser(7)),
        "top_k": Compressed(inner, TopK(1)),
        "rank_k": Compressed(inner, RankK(1)),
        "error_feedback": Compressed(inner, Quantiser(7), error_feedback=True),
        "server": Private(inner, where="server"),
        "client": Private(inner, where="client"),
        "sign_flip": Adversarial(inner, SignFlip(), attackers=0.5),
        "tiers": FedAT(inner, tiers=3),
        "memory": MIFA(inner) if isinstance(inner, RFedAvg) else FedVARP(inner),
    }[words]


@pytest.mark.parametrize("row", WRAPPERS[1:], ids=lambda row: f"{row[0]}-{row[1]}".replace("`", ""))
def test_wrappers_are_counted(row: Sequence[str]) -> None:
    kind, word = re.findall(r"`(\w+)`", row[0])
    for steps, clients in SIZES:
        inner = lookup("algorithm", row[1].strip("`"))(steps=steps, batch=BATCH)
        rule = wrapped(word, inner)
        assert kind_of(rule) == kind
        who, place = np.arange(clients), problem("stiefel")
        plain, cost = cost_of_round(inner, place, who), cost_of_round(rule, place, who)
        assert (cost.download, *cost.gradients) == (plain.download, *plain.gradients)
        columns = [(cost.client, name) for name in ("steps", "inverses", "transports")]
        columns += [(cost.server, name) for name in ("steps", "inverses")]
        maps = [sum(own.get(name, 0) for name in MAPS[of]) for own, of in columns]
        got = [cost.upload, cost.memory, cost.state, *maps]
        assert got == [value(cell, cost, "stiefel", steps, clients) for cell in row[2:]]


class Plain(Manifold):
    """Flat space that only has what all manifolds have."""


for _name in Manifold.__abstractmethods__:
    setattr(Plain, _name, getattr(Euclidean, _name))
Plain.__abstractmethods__ = frozenset()


@pytest.mark.parametrize("row", NEEDS[1:], ids=lambda row: row[0].strip("`"))
def test_what_each_needs(row: Sequence[str]) -> None:
    """A problem on each manifold is accepted if it has the capability, and refused if not."""
    rule: Algorithm[Any] = lookup("algorithm", kind_in(row))()
    needed = getattr(driftfold.manifolds, row[1].strip("`"))
    bare: Manifold = object.__new__(Plain)  # type: ignore[type-abstract]
    bare.__dict__.update(vars(Euclidean(3)))
    examples: list[Manifold] = [bare, Euclidean(3), Sphere(4), St(2, 6), Grassmann(2, 6), Spd(2)]
    examples += [Lorentz(2), Product({"a": Sphere(3), "b": Spd(2)})]
    accepted = []
    for manifold in examples:
        there = copy(problem("stiefel"))
        there.manifold = manifold
        try:
            rule.check(there)
        except CapabilityError:
            continue
        accepted.append(manifold)
    assert accepted == [manifold for manifold in examples if isinstance(manifold, needed)]


def test_every_algorithm_is_on_the_page() -> None:
    """All but wrappers, which cost what they wrap and say, and adaptations, which need streams."""
    known = {k: c for k, c in own_kinds("algorithm").items() if not issubclass(c, Adaptation)}
    kinds = {
        kind
        for kind, cls in known.items()
        if not any("Algorithm" in str(field.type) for field in fields(cls))
    }
    for rows in (BYTES, WORK, NEEDS):
        assert {kind_in(row) for row in rows[1:]} == kinds
    assert {kind_in(row) for row in SERVER[1:]} == set(own_kinds("server_optimizer"))
    wrappers = {kind_in(row) for row in WRAPPERS[1:]}
    assert wrappers == set(known) - kinds
    named = {re.findall(r"`(\w+)`", row[0])[1] for row in WRAPPERS[1:]}
    assert set(own_kinds("compressor")) <= named
