"""Bytes in a run's records are those of the arrays that were sent, in every round."""

from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest

from driftfold.algorithms import (
    Adversarial,
    Algorithm,
    Compressed,
    PerStep,
    Private,
    RFedAGS,
    RFedAvg,
    RFedSVRG,
)
from driftfold.algorithms.adaptation import Adaptation
from driftfold.algorithms.base import Phase
from driftfold.attacks import SignFlip
from driftfold.compressors import Quantiser, RankK, TopK
from driftfold.registry import kind_of, register
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import Growing
from driftfold.telemetry.memory import Memory
from driftfold.trees import nbytes
from tests.modules import own_kinds

PAID: Counter[tuple[str, int]] = Counter()
"""Bytes by direction and server version, as they passed the server of the last run."""


@register("test-witnessed")
@dataclass(frozen=True)
class Witnessed(Algorithm[Any]):
    """An algorithm whose arrivals are weighed before the server steps."""

    inner: Algorithm[Any]

    def check(self, problem: Problem) -> None:
        self.inner.check(problem)

    def phases(self, problem: Problem) -> Any:
        return [watched(phase) for phase in self.inner.phases(problem)]

    def begin(self, problem: Problem, x: Any) -> Any:
        return self.inner.begin(problem, x)

    def model(self, state: Any) -> Any:
        return self.inner.model(state)

    def memory(self, problem: Problem) -> Any:
        return self.inner.memory(problem)


def watched(phase: Phase[Any, Any, Any]) -> Any:
    """The phase, and its step writes down what it is given."""
    kind = type(phase)

    def step(self: Any, state: Any, arrivals: Any, weights: Any) -> Any:
        assert not arrivals.stale.any()
        version = int(arrivals.versions[0])
        PAID["down", version] += nbytes(arrivals.download)
        PAID["up", version] += nbytes(arrivals.payload)
        return kind.step(self, state, arrivals, weights)

    made: Any = object.__new__(type(kind.__name__, (kind,), {"step": step}))
    made.__dict__.update(vars(phase))
    return made


def rules() -> list[Algorithm[Any]]:
    """Every kind, wrappers around some, and sizes that change within a round."""
    found = [
        cls(steps=2)
        for cls in own_kinds("algorithm").values()
        if not any("Algorithm" in str(field.type) for field in fields(cls))
        and not issubclass(cls, Adaptation)  # tests/docs/test_adaptation_costs.py counts those
    ]
    inner = RFedAGS(steps=2)
    wrapped = [
        Compressed(inner, Quantiser(), error_feedback=True),
        Compressed(RFedSVRG(steps=2), TopK(2)),
        Compressed(RFedAvg(steps=2), RankK(1)),
        Private(inner, where="client"),
        Adversarial(RFedAvg(steps=2), SignFlip(), attackers=0.5),
    ]
    return [*found, *wrapped, RFedAGS(2, Growing(2), PerStep(0.01, (1.0, 0.5)))]


CASES = [
    (rule, precision)
    for rule in rules()
    for precision in ("float64", "float32")
    if (kind_of(rule), precision) != ("zo_rfedproj", "float32")  # that takes differences
]


@pytest.mark.parametrize(("rule", "precision"), CASES, ids=repr)
def test_records_tell_what_was_sent(rule: Algorithm[Any], precision: str) -> None:
    classes = {"kind": "gaussian_classes", "classes": 3, "features": 4, "samples": 40}
    shared = {"data": classes, "partition": "iid", "clients": 5, "precision": precision}
    task: dict[str, Any] = {"kind": "softmax_regression", **shared}
    if kind_of(rule) != "fedavg":
        task = {"kind": "pca", "rank": 2, **shared}
    table = {
        "task": task,
        "algorithm": {"kind": "rfedags"},
        "participation": {"kind": "bernoulli", "p": 0.4},
        "horizon": {"rounds": 6},
    }
    spec = from_mapping(table)
    memory = Memory()
    PAID.clear()
    run(replace(spec, algorithm=Witnessed(rule)), sinks=[memory])
    rounds = [r.values for r in memory.records if r.kind == "round"]
    assert len(rounds) == 6
    assert sum(values["arrived"] > 0 for values in rounds) >= 3
    for version, values in enumerate(rounds):
        assert values["bytes_down"] == PAID["down", version]
        assert values["bytes_up"] == PAID["up", version]
        assert values["arrived"] == values["accepted"]
