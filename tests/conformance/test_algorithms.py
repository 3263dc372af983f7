"""Every registered algorithm keeps its contract, and the check finds those that do not."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.adaptation import Adaptation
from driftfold.algorithms.adversarial import Adversarial
from driftfold.algorithms.base import Algorithm, Arrivals, Endpoint, LocalResult, Tangent
from driftfold.algorithms.compressed import Compressed
from driftfold.algorithms.fedat import FedAT
from driftfold.algorithms.fedavg import FedAvg, LocalSGD
from driftfold.algorithms.fedawe import FedAWE
from driftfold.algorithms.fedvarp import FedVARP
from driftfold.algorithms.mifa import MIFA
from driftfold.algorithms.private import Private
from driftfold.algorithms.rfed_frechet import RFedFrechet
from driftfold.algorithms.rfedags import RFedAGS
from driftfold.algorithms.rfedavg import RFedAvg
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.rfedprox import RFedProx
from driftfold.algorithms.rfedsvrg import RFedSVRG
from driftfold.algorithms.step_size import PerStep as StepSizes
from driftfold.algorithms.wrapped import Wrapper
from driftfold.algorithms.zo_rfedproj import ZoRFedProj
from driftfold.attacks.sign_flip import SignFlip
from driftfold.combinations.geometric_median import GeometricMedian
from driftfold.compressors.quantiser import Quantiser
from driftfold.data import DirichletLabels, GaussianBlocks, GaussianClasses
from driftfold.errors import DriftfoldError
from driftfold.optimizers.adam import Adam
from driftfold.optimizers.descend import Descend
from driftfold.optimizers.momentum import Momentum
from driftfold.registry import kind_of, kinds, register
from driftfold.rng import Seed
from driftfold.tasks import Pca, SoftmaxRegression, Task
from driftfold.tasks.base import Problem
from driftfold.tasks.batch_size import PerStep
from driftfold.testing.algorithm import check_algorithm
from tests.world.toys import Drill, Habit, Quadratic, TwoPhase

# More clients than the largest tile, of unequal sizes where the data allow it.
CLASSES = GaussianClasses(classes=4, features=6, samples=900)
UNEQUAL = DirichletLabels(0.4)
PROBLEMS: dict[str, tuple[Task, float]] = {
    "pca-r5": (Pca(data=GaussianBlocks(clients=66, samples=9, dimension=12), rank=5), 1e-10),
    "pca-sphere": (Pca(data=CLASSES, partition=UNEQUAL, clients=66, rank=1), 1e-10),
    "softmax": (SoftmaxRegression(data=CLASSES, partition=UNEQUAL, clients=66), 1e-10),
    # Eps of float32 is 1e-7; a few steps on gradients that are sums of tens of terms.
    "softmax-float32": (
        SoftmaxRegression(data=CLASSES, partition=UNEQUAL, clients=66, precision="float32"),
        1e-5,
    ),
    "quadratic": (Quadratic(clients=66), 1e-10),
}
FLAT = {"softmax", "softmax-float32", "quadratic"}
EXAMPLES: list[Algorithm[Any]] = [
    FedAvg(steps=3, batch=0.5),
    RFedAvg(steps=3, batch=4),
    RFedAvg(server_map="retraction"),
    RFedAGS(steps=3, batch=4),
    RFedAGS(steps=1, server=Descend(2.0)),
    RFedAGS(3, PerStep((2, 0.5)), StepSizes(0.02, (1.0, 0.5)), variance_reduced=True),
    RFedSVRG(steps=3, batch=4),
    RFedSVRG(steps=2, published_bug=True),
    RFedProj(steps=3, batch=4, server=Descend(0.5)),
    ZoRFedProj(steps=2, batch=2),
    RFedProx(steps=2, batch=4, mu=2.0),
    RFedFrechet(steps=3, batch=4, server=Momentum(0.5)),
    RFedAGS(steps=1, batch=4, combine=GeometricMedian(), server=Adam(amsgrad=True)),
    Compressed(RFedAGS(steps=2, batch=4), Quantiser(), error_feedback=True),
    Private(RFedAvg(steps=2, batch=4), clip=0.1, delta="none"),
    Adversarial(RFedProj(steps=2, batch=4), SignFlip(), attackers=0.3),
    FedAWE(steps=2, batch=4),
    FedAT(RFedProx(steps=2, batch=4, mu=2.0), tiers=3),
    FedVARP(RFedAGS(steps=2, batch=4)),
    MIFA(RFedAvg(steps=2, batch=4), start="wait"),
    TwoPhase(),
]


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    return {name: task.build(Seed(3)) for name, (task, _) in PROBLEMS.items()}


def test_every_kind_of_the_library_is_covered() -> None:
    shipped = {
        kind
        for kind, cls in kinds("algorithm").items()
        if cls.__module__.startswith("driftfold.") and not issubclass(cls, Adaptation)
    }
    assert shipped <= {kind_of(rule) for rule in EXAMPLES}


# On every problem by default; the others share their code and go to one of them.
BROAD = EXAMPLES[0], EXAMPLES[1], EXAMPLES[3]


def by_default(algorithm: Algorithm[Any], name: str) -> bool:
    if algorithm in BROAD or name == "quadratic":
        return True
    if isinstance(algorithm, Wrapper):
        return name == "pca-sphere"
    return name == ("pca-r5" if EXAMPLES.index(algorithm) % 2 else "softmax")


PAIRS = [
    pytest.param(algorithm, name, marks=[] if by_default(algorithm, name) else pytest.mark.slow)
    for algorithm in EXAMPLES
    for name in PROBLEMS
    if (name == "quadratic") == isinstance(algorithm, TwoPhase)
    and (name in FLAT or not isinstance(algorithm, FedAvg))
    and (name != "softmax-float32" or not isinstance(algorithm, ZoRFedProj))
    and (name == "pca-sphere" or not isinstance(algorithm, Wrapper))  # more in test_wrappers.py
]


@pytest.mark.parametrize(("algorithm", "name"), PAIRS, ids=repr)
def test_contract(algorithm: Algorithm[Any], name: str, problems: dict[str, Problem]) -> None:
    check_algorithm(algorithm, problems[name], PROBLEMS[name][1])


class Impatient(LocalSGD):
    """Takes smaller steps when it has more to do."""

    def local(self, download: Any, view: Any, memory: Any, steps: int) -> LocalResult[Any]:
        slower = replace(download, step_size=download.step_size / self.steps)
        return super().local(slower, view, memory, steps)


@register("test-impatient")
@dataclass(frozen=True)
class Fickle(FedAvg):
    def phases(self, problem: Problem) -> Any:
        return (Impatient(self, problem),)


def test_the_check_finds_that_truncation_is_not_a_prefix(problems: dict[str, Problem]) -> None:
    with pytest.raises(AssertionError, match="truncated to 1 steps is not what 1 steps give"):
        check_algorithm(Fickle(steps=3), problems["softmax"])


@dataclass(frozen=True)
class Mutant(Algorithm[Any]):
    """An algorithm whose phases were changed by `change`."""

    inner: Algorithm[Any]
    change: Callable[[Any], Any]

    def phases(self, problem: Problem) -> Any:
        return [self.change(phase) for phase in self.inner.phases(problem)]

    def begin(self, problem: Problem, x: Any) -> Any:
        return self.inner.begin(problem, x)

    def model(self, state: Any) -> Any:
        return self.inner.model(state)

    def memory(self, problem: Problem) -> Any:
        return self.inner.memory(problem)


def mutated(base: type[Any], **methods: Any) -> Callable[[Any], Any]:
    """A change of phases of class `base` into a subclass with these methods."""
    changed = type(base.__name__, (base,), methods)

    def change(phase: Any) -> Any:
        if type(phase) is not base:
            return phase
        made: Any = object.__new__(changed)
        made.__dict__.update(vars(phase))
        return made

    return change


def after(work: Callable[[Any, Any, LocalResult[Any]], LocalResult[Any]], base: Any) -> Any:
    """Honest local work of `base`, and then `work` on view, memory and result."""

    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> LocalResult[Any]:
        return work(view, memory, base.local(self, download, view, memory, steps))

    return mutated(base, local=local)


def flattened(view: Any, memory: Any, result: LocalResult[Any]) -> LocalResult[Any]:
    point = result.payload.point
    return LocalResult(Endpoint(point + 1e-9 * abs(point).sum()))


def off_the_loop(view: Any, memory: Any, result: LocalResult[Any]) -> LocalResult[Any]:
    if np.ndim(view.clients):
        return result
    return LocalResult(Endpoint(result.payload.point + 1e-6))


def without_axis(view: Any, memory: Any, result: LocalResult[Any]) -> LocalResult[Any]:
    return LocalResult(Endpoint(result.payload.point.mean(axis=0, keepdims=True)))


def random(view: Any, memory: Any, result: LocalResult[Any]) -> LocalResult[Any]:
    noise = np.random.default_rng().standard_normal(result.payload.point.shape)
    return LocalResult(Endpoint(result.payload.point + 1e-3 * noise))


def wrong_kind(view: Any, memory: Any, result: LocalResult[Any]) -> LocalResult[Any]:
    return LocalResult(Tangent(result.payload.point))


def forgets(view: Any, memory: Any, result: LocalResult[Any]) -> LocalResult[Any]:
    return replace(result, memory=None)


def floats(view: Any, memory: Habit, result: LocalResult[Any]) -> LocalResult[Any]:
    kept = Habit(result.memory.momentum, result.memory.visits + 0.5)
    return replace(result, memory=kept)


def in_place(self: Any, download: Any, view: Any, memory: Any, steps: int) -> LocalResult[Any]:
    np.add(memory.momentum, 1.0, out=memory.momentum)
    return Drill.local(self, download, view, memory, steps)


def greedy(self: Any, state: Any, arrivals: Arrivals[Any, Any], weights: Any) -> Any:
    new, metrics = LocalSGD.step(self, state, arrivals, weights)
    state.point[...] = new.point
    return new, metrics


FED, TWO = FedAvg(steps=3, batch=2), TwoPhase()
BROKEN: dict[str, tuple[Algorithm[Any], Callable[[Any], Any], str]] = {
    "company": (FED, after(flattened, LocalSGD), "other bits in tiles of"),
    "loop": (FED, after(off_the_loop, LocalSGD), "one client at a time the result differs"),
    "axis": (FED, after(without_axis, LocalSGD), "the first axis is the clients'"),
    "random": (FED, after(random, LocalSGD), "other bits"),
    "kind": (FED, after(wrong_kind, LocalSGD), "sent a Tangent; it declares Endpoint"),
    "upload": (FED, mutated(LocalSGD, upload_bytes=lambda self: 8), "upload_bytes says 8"),
    "download": (FED, mutated(LocalSGD, download_bytes=lambda self: 8), "download_bytes says 8"),
    "samples": (
        FED,
        mutated(LocalSGD, samples=lambda self, clients, version: np.arange(len(clients)) * 1.0),
        "depend on who else is asked",
    ),
    "state": (FED, mutated(LocalSGD, step=greedy), "changed the state passed to it"),
    "memory": (TWO, after(forgets, Drill), "returned no memory"),
    "dtype": (TWO, after(floats, Drill), "returned memories of float64"),
    "in place": (TWO, mutated(Drill, local=in_place), "read-only|in place"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_the_check_finds_what_is_wrong(case: str, problems: dict[str, Problem]) -> None:
    inner, change, words = BROKEN[case]
    problem = problems["quadratic" if inner is TWO else "softmax"]
    with pytest.raises((AssertionError, DriftfoldError, ValueError), match=words):
        check_algorithm(Mutant(inner, change), problem)


@pytest.mark.parametrize("inner", [FED, TWO], ids=["fedavg", "two-phase"])
def test_a_mutant_without_a_change_is_sound(
    inner: Algorithm[Any], problems: dict[str, Problem]
) -> None:
    """So what was found above was the change's doing."""
    problem = problems["quadratic" if inner is TWO else "softmax"]
    check_algorithm(Mutant(inner, lambda phase: phase), problem)
