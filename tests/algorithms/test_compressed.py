"""Compressed uploads: error feedback adds up, moves along, and survives; kernels do the descent."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import (
    Adversarial,
    Algorithm,
    Arrivals,
    Compressed,
    Private,
    RFedAGS,
    RFedAvg,
    RFedProj,
)
from driftfold.algorithms.compressed import CodedUploads, Residual
from driftfold.algorithms.wrapped import WrapperMemory
from driftfold.attacks import SignFlip
from driftfold.compressors import Quantiser, TopK
from driftfold.compute.base import Stack
from driftfold.compute.fused import fused
from driftfold.compute.stacked import StackedEngine
from driftfold.data import GaussianBlocks
from driftfold.errors import CapabilityError
from driftfold.native import Library, library
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import Pca
from driftfold.tasks.base import Problem
from driftfold.trees import leaves, rows, spread
from tests.world.test_resume import SYNCHRONOUS, Bomb, outcome
from tests.world.toys import Quadratic

INNER: list[Algorithm[Any]] = [RFedAGS(steps=3), RFedAvg(steps=3), RFedProj(steps=3)]


@pytest.fixture(scope="module")
def pca() -> Problem:
    return Pca(data=GaussianBlocks(clients=9, samples=6, dimension=12), rank=5).build(Seed(3))


def work_of(algorithm: Algorithm[Any], problem: Problem, version: int = 0) -> Stack:
    """The first phase's work of all clients."""
    phase, everyone = algorithm.phases(problem)[0], np.arange(problem.fleet.size)
    download = phase.broadcast(algorithm.begin(problem, problem.initial_point()), version)
    fresh = algorithm.memory(problem)
    memory = None if fresh is None else spread(fresh, len(everyone))
    return Stack(
        phase, phase.steps, everyone, everyone, np.zeros(len(everyone)), [download], True, memory
    )


@pytest.mark.parametrize("rule", [TopK(1), Quantiser(levels=2)], ids=repr)
@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_on_a_flat_space_what_is_sent_and_kept_adds_up(inner: Algorithm[Any], rule: Any) -> None:
    """Exactly but for the rounding of nine sums: 1e-14 of numbers of size 1."""
    problem = Quadratic(clients=4).build(Seed(2))
    algorithm = Compressed(inner, rule, error_feedback=True)
    (phase,), x = algorithm.phases(problem), problem.initial_point()
    assert isinstance(phase, CodedUploads)
    state, everyone = algorithm.begin(problem, x), np.arange(4)
    memory = spread(algorithm.memory(problem), 4)
    wanted = sent = np.zeros((4, 3))
    for version in range(9):
        download = spread(phase.broadcast(state, version), 4)
        view = problem.view(everyone, np.full(4, version))
        plain = phase.inner.local(download, view, memory.inner, phase.steps)
        wanted = wanted + phase.vector(plain.payload, phase.base(download))
        result = phase.local(download, view, memory, phase.steps)
        sent = sent + rule.decode(phase.space, phase.base(download), result.payload)
        memory = result.memory
        never = np.zeros(4, dtype=bool)
        arrivals = Arrivals(everyone, result.payload, download, np.full(4, version), never)
        state, _ = phase.step(state, arrivals, np.full(4, 0.25))
    left = memory.own[0].vector
    assert abs(left).max() > 1e-3  # or there was nothing to feed back
    np.testing.assert_allclose(sent + left, wanted, rtol=0, atol=1e-14)


def test_what_is_left_moves_with_the_client(pca: Problem) -> None:
    """It is sent along at x_t as the transport from the point of its last visit brings it there."""
    algorithm = Compressed(RFedAGS(), TopK(1.0), error_feedback=True)  # codes all there is
    (phase,), manifold = algorithm.phases(pca), pca.manifold
    assert isinstance(phase, CodedUploads)
    old = manifold.random_point(Seed(1).stream("old"), np.arange(1))
    kept = manifold.project(old, np.ones((1, *manifold.shape)))
    memory = WrapperMemory(None, [Residual(old, kept)])
    download = spread(phase.broadcast(algorithm.begin(pca, pca.initial_point()), 0), 1)
    view = pca.view(np.array([2]), np.array([0]))
    x = pca.initial_point()
    zeta = phase.inner.local(download, view, None, phase.steps).payload.vector
    result = phase.local(download, view, memory, phase.steps)
    sent = TopK(1.0).decode(manifold, x, result.payload)
    np.testing.assert_allclose(sent, zeta + manifold.transport(old, x, kept), atol=1e-14)
    (left,) = result.memory.own
    np.testing.assert_array_equal(left.point[0], x)
    np.testing.assert_allclose(left.vector, 0, atol=1e-14)


WRAPPED: list[Any] = [
    lambda inner: Compressed(inner, Quantiser(levels=100), error_feedback=True),
    lambda inner: Private(inner, clip=0.01, where="client", noise=0.1, delta="none"),
    lambda inner: Adversarial(inner, SignFlip(), attackers=(1, 4)),
]


@pytest.mark.parametrize("wrap", WRAPPED, ids=["compressed", "private", "adversarial"])
@pytest.mark.parametrize("inner", INNER[:2], ids=repr)
def test_kernels_do_the_inner_descent(inner: Algorithm[Any], wrap: Any, pca: Problem) -> None:
    """The same to rounding with and without; levels of messages are whole numbers."""
    work = work_of(wrap(inner), pca)
    if isinstance(library(), Library):
        assert fused(pca, work.phase) is not None
    by_kernel = StackedEngine(pca, 4).run(work)
    plain = StackedEngine(pca, 4, kernels=False).run(work)
    for a, b in zip(
        leaves([by_kernel.payload, by_kernel.memory, dict(by_kernel.metrics)]),
        leaves([plain.payload, plain.memory, dict(plain.metrics)]),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)


class Reluctant:
    """A kernel that leaves some clients to the plain form."""

    def __init__(self, kernel: Any, refuses: list[int]) -> None:
        self.kernel, self.refuses = kernel, refuses

    def run(self, work: Stack) -> Any:
        result, refused = self.kernel.run(work)
        refused[self.refuses] = True
        for leaf in leaves(result.payload):
            leaf[self.refuses] = np.nan  # what a kernel left undone is not to be looked at
        return result, refused


@pytest.mark.skipif(not isinstance(library(), Library), reason="there is no library of kernels")
@pytest.mark.parametrize("refuses", [[0], [2, 5, 8], list(range(9))], ids=str)
def test_clients_that_a_kernel_refuses_are_coded_once(refuses: list[int], pca: Problem) -> None:
    work = work_of(WRAPPED[0](RFedAGS(steps=3)), pca)
    whole = StackedEngine(pca, 4).run(work)
    engine = StackedEngine(pca, 4)
    engine._fused.append((work.phase, Reluctant(fused(pca, work.phase), refuses)))  # type: ignore[arg-type]
    got = engine.run(work)
    for a, b in zip(
        leaves([got.payload, got.memory]), leaves([whole.payload, whole.memory]), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)


SPEC: dict[str, Any] = {
    **SYNCHRONOUS,
    "algorithm": {
        "kind": "compressed",
        "compressor": {"kind": "top_k", "k": 1},
        "error_feedback": True,
        "algorithm": {
            "kind": "private",
            "delta": "none",
            "noise": 0.01,
            "algorithm": {"kind": "rfedproj"},  # which has a memory, too
        },
    },
    "horizon": {"rounds": 7},
    "checkpoint_every": 2,
}


def test_what_clients_keep_survives_a_resume(tmp_path: Path) -> None:
    spec = from_mapping(SPEC)
    whole = run(spec, folder=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(spec, folder=tmp_path / "cut", sinks=[Bomb(6)])
    assert outcome(run(spec, folder=tmp_path / "cut", resume=True)) == outcome(whole)


def test_bytes_up_are_those_of_the_messages() -> None:
    spec = from_mapping({**SPEC, "horizon": {"rounds": 3}})
    result = run(spec)
    one = 1 * (8 + 1)  # one coordinate of three: its number takes a byte
    assert result.counts["bytes_up"] == one * result.counts["arrived"]
    assert result.counts["arrived"] > 0


def test_only_what_stands_for_a_vector_is_coded(pca: Problem) -> None:
    twice = Compressed(Compressed(RFedAGS(), Quantiser()), Quantiser())
    with pytest.raises(CapabilityError, match="Levels, which compressed sends, stands for none"):
        twice.check(pca)


def test_stale_messages_are_decoded_where_they_were_coded(pca: Problem) -> None:
    """All coordinates kept: what the server makes of it is what it makes of plain vectors."""
    plain, coded = RFedAGS(), Compressed(RFedAGS(), TopK(1.0))
    new = pca.manifold.random_point(Seed(8).stream("new"), np.arange(1))[0]
    moved = []
    for algorithm in (plain, coded):
        work = work_of(algorithm, pca)
        result = StackedEngine(pca, 9).run(work)
        state = replace(algorithm.begin(pca, pca.initial_point()), point=new)
        download = spread(work.downloads[0], 9)
        stale = np.ones(9, dtype=bool)
        arrivals = Arrivals(work.clients, result.payload, download, np.zeros(9, int), stale)
        moved.append(work.phase.step(state, arrivals, np.full(9, 1 / 9))[0].point)
    np.testing.assert_allclose(moved[1], moved[0], rtol=0, atol=1e-14)
    assert rows(download, 0).point is not new
