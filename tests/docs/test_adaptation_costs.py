"""docs/adaptation.md says what a round costs: its formulas are held against counts."""

import re
from collections.abc import Mapping
from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import (
    ATLAS,
    UOGD,
    Adaptation,
    AdaptiveFedAvg,
    BnAdapt,
    DriftDetection,
    FedADE,
    FedADERelease,
    FedCCFA,
    FedDrift,
    FedPOE,
    Flash,
    Frozen,
    Hedge,
    PriorReweighting,
    SimilarPeers,
    Tent,
    UdaStandIn,
)
from driftfold.arrays import Array, Bools, Floats
from driftfold.label_shift import Inverse
from driftfold.nets import Mlp
from driftfold.nets.base import Mode, Model, Pass
from driftfold.nets.masks import Masks
from driftfold.rates import DoG, FixedRate, Hypergradient
from driftfold.risks import Entropy
from driftfold.rng import Stream
from driftfold.tasks.streams import StreamProblem
from driftfold.trees import nbytes
from tests.algorithms.adaptation.streams import Rounds, small
from tests.modules import ROOT, own_kinds

PAGE = (ROOT / "docs" / "adaptation.md").read_text(encoding="utf-8")


def table(title: str) -> list[list[str]]:
    """Cells of the table under a title, without its head."""
    text = PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


COSTS, SOURCES = table("Costs"), table("Sources")


def words(row: list[str]) -> tuple[str, ...]:
    return tuple(re.findall(r"`(\w+)`", row[0]))


def rules(e: int, f: int, n: int) -> Mapping[tuple[str, ...], Adaptation]:
    """The systems, with E, F and N."""
    steps: dict[str, Any] = {"shared_steps": e, "personal_steps": f}
    return {
        ("frozen",): Frozen(),
        ("prior_reweighting",): PriorReweighting(),
        ("prior_reweighting", "inverse"): PriorReweighting(Inverse()),
        ("uogd",): UOGD(),
        ("atlas",): ATLAS(rates="code"),
        ("fedade",): FedADE(**steps),
        ("fedade", "entropy"): FedADE(Entropy(), **steps),
        ("fedade", "fixed_rate"): FedADE(rate=FixedRate(), **steps),
        ("fedade", "dog"): FedADE(rate=DoG(), **steps),
        ("fedade", "hypergradient"): FedADE(rate=Hypergradient(), **steps),
        ("fedade", "federated"): FedADE(federated=False, **steps),
        ("fedade_release",): FedADERelease(local_steps=e, mode="eval"),
        ("hedge",): Hedge(rates=n, **steps),
        ("hedge", "federated"): Hedge(rates=n, federated=False, **steps),
        ("similar_peers",): SimilarPeers(FedADE(**steps)),
        ("drift_detection",): DriftDetection(steps=e),
        ("feddrift",): FedDrift(steps=e),
        ("flash",): Flash(steps=e),
        ("adaptive_fedavg",): AdaptiveFedAvg(steps=e),
        ("fed_poe",): FedPOE(every=e),
        ("fedccfa",): FedCCFA(head_steps=f, body_steps=e),
        ("uda_stand_in",): UdaStandIn(local_steps=e),
        ("tent",): Tent(entropy_steps=e),
        ("tent", "federated"): Tent(entropy_steps=e, federated=True),
        ("bn_adapt",): BnAdapt(),
    }


class Counted(Model):
    """A model that adds to `spent` the examples whose gradients are taken."""

    def __init__(self, model: Model, spent: list[int]) -> None:
        self.inputs, self.classes, self.features = model.inputs, model.classes, model.features
        self.dtype, self.layout, self.head, self.norms = (
            model.dtype,
            model.layout,
            model.head,
            model.norms,
        )
        self.model, self.spent = model, spent

    @property
    def head_model(self) -> Model:
        return Counted(self.model.head_model, self.spent)

    def initial(self, stream: Stream) -> Floats:
        return self.model.initial(stream)

    def pass_bytes(self, n: int) -> int:
        return self.model.pass_bytes(n)

    def forward(
        self, theta: Array, x: Array, mode: Mode = "eval", masks: Masks | None = None
    ) -> Pass:
        return CountedPass(self.model.forward(theta, x, mode, masks), self.spent)


class CountedPass(Pass):
    def __init__(self, made: Pass, spent: list[int]) -> None:
        self.made, self.spent = made, spent
        self.logits, self.features = made.logits, made.features

    @property
    def moved(self) -> Array:
        return self.made.moved

    def pullback(
        self, of_logits: Array | None, of_features: Array | None = None, only: Bools | None = None
    ) -> Array:
        if only is None or only.any():
            self.spent.append(prod(self.logits.shape[:-1]))
        return self.made.pullback(of_logits, of_features, only)


SIZES = [(2, 1, 2), (1, 3, 4)]  # E, F, N


@cache
def place(e: int, normed: bool) -> StreamProblem:
    """Streams of other sizes for each E."""
    net = Mlp((9, 6) if e == 1 else (7, 5, 4), batch_norm=normed)
    precision = "float32" if e == 1 else "float64"
    return small(clients=1 + e, batch=6 + e, steps=4, reference=e, net=net, precision=precision)


@pytest.mark.parametrize("row", COSTS, ids=lambda row: row[0].replace("`", ""))
def test_costs_are_counted(row: list[str]) -> None:
    for e, f, n in SIZES:
        problem = place(e, words(row)[0] in ("tent", "bn_adapt"))
        rule = rules(e, f, n)[words(row)]
        got, said = measured(rule, problem)
        model, k = problem.model, problem.fleet.size
        a, size = problem.itemsize, model.layout.size
        head = int(model.layout.where(model.head).sum())
        norms = model.layout.where(model.norms) & ~model.layout.buffers
        known = {
            "C": k,
            "K": model.classes,
            "d": model.features,
            "n": problem.stream.size,
            "m": len(problem.source.reference_labels),
            "P": size * a,
            "B": (size - head) * a,
            "H": head * a,
            "W": model.classes * model.features * a,
            "S": int(norms.sum()) * a,
            "a": a,
            "E": e,
            "F": f,
            "N": len(rule.memory(problem).logs) if isinstance(rule, ATLAS) else n,
            "V": rule.room(problem) if isinstance(rule, FedPOE) else 0,
            "L": 80,
        }
        wanted = [eval(cell.strip("`"), {"__builtins__": {}}, known) for cell in row[1:]]
        assert got == wanted
        assert said == wanted[-1]  # what the model of latency is told is what is evaluated


def measured(rule: Adaptation, problem: StreamProblem) -> tuple[list[int], float]:
    """Bytes down, up, kept by client and server; examples' gradients, and what phases say of them.

    Of a client's second round.
    """
    plain, spent, k = problem.model, list[int](), problem.fleet.size
    problem.model = Counted(plain, spent)
    try:
        rounds = Rounds(rule, problem)
        rounds.round(0)
        spent.clear()
        down = up = 0
        for number, phase in enumerate(rounds.phases):
            down += nbytes(phase.received(phase.broadcast(rounds.state, 1)))
            payload = rounds.work(number, 1).payload
            up += nbytes(payload) // k
            rounds.take(number, payload)
    finally:
        problem.model = plain
    said = sum(float(phase.samples(np.arange(k), 1)[0]) for phase in rounds.phases)
    kept, state = nbytes(rule.memory(problem)), nbytes(rounds.state)
    return [down, up, kept, state, sum(spent) // k], said


def test_every_system_is_on_the_page() -> None:
    kinds = {kind for kind, cls in own_kinds("algorithm").items() if issubclass(cls, Adaptation)}
    assert {words(row)[0] for row in COSTS} == kinds
    assert [words(row)[0] for row in SOURCES] == list(dict.fromkeys(words(r)[0] for r in COSTS))
    assert set(own_kinds("rate")) <= set(re.findall(r"`(\w+)`", PAGE))
