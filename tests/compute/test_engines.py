"""Engines: the same numbers from one client at a time and from all at once; and work is counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.base import Algorithm, Endpoint, LocalResult, Phase, Tangent
from driftfold.algorithms.rfedags import GradientStreams, RFedAGS
from driftfold.algorithms.rfedavg import LocalDescent, RFedAvg
from driftfold.compute.base import Engine, Stack
from driftfold.compute.debug import Debug
from driftfold.compute.loop import Loop
from driftfold.compute.stacked import Stacked
from driftfold.data.gaussian_blocks import GaussianBlocks
from driftfold.errors import ManifoldError, RunError
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks.base import Problem
from driftfold.tasks.pca import Pca, PcaView
from tests.world.scripted import TABLE, WORK, told
from tests.world.toys import Drill, Quadratic, TwoPhase

CLASSES = {"kind": "gaussian_classes", "classes": 4, "features": 9, "samples": 1000}
UNEQUAL = {"data": CLASSES, "partition": {"kind": "dirichlet", "alpha": 0.4}, "clients": 70}
TASKS: dict[str, tuple[dict[str, Any], float]] = {
    "pca-r5": ({"kind": "pca", "rank": 5, **UNEQUAL}, 1e-10),
    "pca-sphere": ({"kind": "pca", "rank": 1, **UNEQUAL}, 1e-10),
    "softmax": ({"kind": "softmax_regression", **UNEQUAL, "weighting": "samples"}, 1e-10),
    # Rounding at 1e-7, over five rounds of five steps.
    "softmax-float32": ({"kind": "softmax_regression", **UNEQUAL, "precision": "float32"}, 1e-5),
}
ALGORITHMS = ["rfedags", "rfedavg", "rfedsvrg", "fedavg"]
# One algorithm on every task, every algorithm on one; tests/conformance has them all, too.
BY_DEFAULT = {
    *(("rfedags", task) for task in TASKS),
    *(("rfedavg", "pca-r5"), ("rfedsvrg", "pca-sphere"), ("fedavg", "softmax-float32")),
}
PAIRS = [
    pytest.param(a, t, marks=[] if (a, t) in BY_DEFAULT else pytest.mark.slow)
    for a in ALGORITHMS
    for t in TASKS
    if a != "fedavg" or t.startswith("softmax")
]


def table(algorithm: str, task: str, **more: Any) -> dict[str, Any]:
    return {
        "task": TASKS[task][0],
        "algorithm": {"kind": algorithm, "steps": 3, "batch": 5, "step_size": 0.02},
        "participation": {"kind": "bernoulli", "p": 0.95},
        "estimator": {"kind": "inclusive"},
        "horizon": {"rounds": 3},
        **more,
    }


@pytest.mark.parametrize(("algorithm", "task"), PAIRS)
def test_whole_runs_agree(algorithm: str, task: str) -> None:
    """Stacked in any tiles: the same bits. One client at a time: the same to rounding."""
    stacked = run(from_mapping(table(algorithm, task)))
    assert stacked.timing["mean_stack"] > 60
    tolerance = TASKS[task][1]
    scale = np.abs(stacked.model).max()
    for kind in ("loop", "debug"):
        compute = {
            "kind": kind,
            **({"tolerance": 1e-5} if "32" in task and kind == "debug" else {}),
        }
        other = run(from_mapping(table(algorithm, task, compute=compute)))
        np.testing.assert_allclose(
            other.model, stacked.model, rtol=0, atol=tolerance * scale, err_msg=kind
        )
        assert other.event_digest == stacked.event_digest
    for tile in (1, 7, 37, 64):
        compute = {"kind": "stacked", "tile": tile}
        tiled = run(from_mapping(table(algorithm, task, compute=compute)))
        assert tiled.model_digest == stacked.model_digest, tile
        assert tiled.metrics_digest == stacked.metrics_digest, tile


@pytest.mark.parametrize(
    ("tile", "sizes"), [(6, [6]), (100, [6]), (5, [3, 3]), (2, [2, 2, 2]), (1, [1] * 6)]
)
def test_a_tile_is_one_call(tile: int, sizes: list[int]) -> None:
    WORK.clear()
    told(TABLE, compute={"kind": "stacked", "tile": tile}, horizon={"rounds": 1})
    assert [len(clients) for clients, _ in WORK] == sizes
    assert sorted(c for clients, _ in WORK for c in clients) == list(range(6))
    WORK.clear()
    told(TABLE, compute={"kind": "loop"}, horizon={"rounds": 1})
    assert [clients for clients, _ in WORK] == [[c] for c in range(6)]


def test_gradients_of_late_and_lost_clients_are_never_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted where it costs: in the gradients of the task."""
    counted: list[int] = []
    honest = PcaView.gradient

    def gradient(self: PcaView, x: Any, batch: Any) -> Any:
        counted.append(self.clients.size)
        return honest(self, x, batch)

    monkeypatch.setattr(PcaView, "gradient", gradient)
    data = {"kind": "gaussian_blocks", "clients": 6, "samples": 8, "dimension": 4}
    base = {
        "task": {"kind": "pca", "rank": 2, "data": data},
        "algorithm": {"kind": "rfedags", "steps": 4},
        "horizon": {"rounds": 1},
        "latency": {"kind": "test-delays", "work": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]},
        "compute": {"kind": "stacked", "kernels": False},  # which would call no gradient
    }
    told(base)
    assert counted == [6] * 4, "one call a step for everybody"
    counted.clear()
    result, _ = told(base, cadence={"kind": "synchronous", "deadline": 4.5})
    assert result.counts["late"] == 2
    assert counted == [4] * 4
    counted.clear()
    sessions = {"kind": "test-sessions", "on": [[0.0, 0.5], [0.0, 1.5]]}
    result, _ = told(base, participation=sessions)
    assert result.counts["dropped"] == 2
    assert counted == [4] * 4
    counted.clear()
    result, _ = told(base, horizon={"seconds": 3.5})
    assert result.rounds == 0
    assert not counted, "the round never ended, so nothing was needed"


@dataclass(frozen=True)
class Bad:
    """Local work gone wrong in one way; `base` is whose."""

    base: type[Phase[Any, Any, Any]]
    words: str
    error: type[Exception] = RunError

    def spoil(self, result: LocalResult[Any], download: Any) -> LocalResult[Any]:
        return result


class OffManifold(Bad):
    def spoil(self, result: LocalResult[Any], download: Any) -> LocalResult[Any]:
        return LocalResult(Endpoint(result.payload.point * (1 + 1e-6)))


class NotTangent(Bad):
    def spoil(self, result: LocalResult[Any], download: Any) -> LocalResult[Any]:
        return LocalResult(Tangent(result.payload.vector + 1e-6 * download.point))


class OtherKind(Bad):
    def spoil(self, result: LocalResult[Any], download: Any) -> LocalResult[Any]:
        return LocalResult(Endpoint(download.point))


class NeverTheSame(Bad):
    def spoil(self, result: LocalResult[Any], download: Any) -> LocalResult[Any]:
        noise = 1 + 1e-12 * np.random.default_rng().random()
        return LocalResult(Tangent(result.payload.vector * noise))


class InPlace(Bad):
    def spoil(self, result: LocalResult[Any], download: Any) -> LocalResult[Any]:
        np.negative(download.point, out=download.point)
        return result


BAD = {
    "off the manifold": OffManifold(LocalDescent, "not on the manifold", ManifoldError),
    "not tangent": NotTangent(GradientStreams, "outside the tangent space", ManifoldError),
    "another kind": OtherKind(GradientStreams, "sent a Endpoint; it declares Tangent"),
    "never the same": NeverTheSame(GradientStreams, "different bits when run twice"),
    "in place": InPlace(GradientStreams, "read-only", ValueError),
}


def stack_for(algorithm: Algorithm[Any], problem: Problem) -> Stack:
    phase = algorithm.phases(problem)[-1]
    state = algorithm.begin(problem, problem.initial_point())
    everyone = np.arange(problem.fleet.size)
    fresh = algorithm.memory(problem)
    memory: Any = None
    if fresh is not None:
        from driftfold.trees import map_leaves, spread

        memory = map_leaves(np.copy, spread(fresh, len(everyone)))
    download = phase.broadcast(state, 0)
    return Stack(
        phase, phase.steps, everyone, everyone, np.zeros(len(everyone)), [download], True, memory
    )


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("case", BAD)
def test_the_debug_engine_catches(case: str, rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = BAD[case]
    problem = Pca(data=GaussianBlocks(5, 8, 6), rank=rank).build(Seed(2))
    algorithm: Algorithm[Any] = RFedAvg(3) if bad.base is LocalDescent else RFedAGS(3)
    honest = bad.base.local
    debug = Debug().engine(problem)
    debug.run(stack_for(algorithm, problem))

    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> LocalResult[Any]:
        return bad.spoil(honest(self, download, view, memory, steps), download)

    monkeypatch.setattr(bad.base, "local", local)
    with pytest.raises(bad.error, match=bad.words):
        debug.run(stack_for(algorithm, problem))


def test_the_debug_engine_catches_a_memory_changed_in_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = Drill.local

    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> LocalResult[Any]:
        np.add(memory.momentum, 1.0, out=memory.momentum)
        return honest(self, download, view, memory, steps)

    problem = Quadratic().build(Seed(1))
    debug = Debug().engine(problem)
    debug.run(stack_for(TwoPhase(), problem))
    monkeypatch.setattr(Drill, "local", local)
    with pytest.raises(ValueError, match="read-only"):
        debug.run(stack_for(TwoPhase(), problem))


def test_what_the_debug_engine_finds_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the policy on clients' errors: it is no client that is wrong."""
    honest = GradientStreams.local

    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> LocalResult[Any]:
        result = honest(self, download, view, memory, steps)
        return LocalResult(Endpoint(result.payload.vector))

    monkeypatch.setattr(GradientStreams, "local", local)
    with pytest.raises(RunError, match="it declares Tangent"):
        run(from_mapping(table("rfedags", "pca-sphere", compute={"kind": "debug"})))


@pytest.mark.parametrize("compute", [Loop(), Stacked(), Stacked(tile=2)], ids=repr)
def test_each_client_may_have_a_download_of_its_own(compute: Any) -> None:
    """As when they were sent out at different server versions."""
    problem = Pca(data=GaussianBlocks(5, 8, 6), rank=2).build(Seed(2))
    algorithm = RFedAGS(3)
    engine: Engine = compute.engine(problem)
    phase = algorithm.phases(problem)[0]
    points = problem.manifold.random_point(Seed(5).stream("check"), np.arange(5))
    downloads = [phase.broadcast(algorithm.begin(problem, x), 0) for x in points]
    everyone = np.arange(5)
    work = Stack(phase, 3, everyone, everyone, np.zeros(len(everyone)), downloads, False, None)
    vectors = engine.run(work).payload.vector
    for i in range(5):
        alone = Stack(
            phase, 3, everyone[[i]], everyone[[i]], np.zeros(1), [downloads[i]], True, None
        )
        # One client's products may be rounded in another order than a stack's.
        np.testing.assert_allclose(engine.run(alone).payload.vector[0], vectors[i], atol=1e-13)
