"""RFedProj and its form without gradients, against references written out by hand."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from driftfold.algorithms.rfedproj import RFedProj
from driftfold.algorithms.zo_rfedproj import ZoRFedProj
from driftfold.assembly import build
from driftfold.data import GaussianBlocks, GaussianClasses, SubspaceRegression, SyntheticSpd
from driftfold.errors import CapabilityError
from driftfold.manifolds import Stiefel
from driftfold.participation.cohort import cohort_weights
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.tasks import (
    MultitaskFeatureLearning,
    Pca,
    SoftmaxRegression,
    SpdFrechetMean,
    Task,
)
from driftfold.trees import spread
from tests.algorithms.reference import riemannian_gradient

N, D, R, K, B, ROUNDS, MU = 5, 7, 2, 3, 6, 8, 1e-5
P = [0.9, 0.5, 0.7, 0.4, 0.8]
ALPHA, ETA = 0.05, 0.7
SERVER = {"kind": "descend", "size": ETA}
Slope = Callable[[Any, int, int, int, Any], Any]


def table(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "task": {
            "kind": "pca",
            "rank": R,
            "data": {"kind": "gaussian_blocks", "clients": N, "samples": 12, "dimension": D},
        },
        "algorithm": {"kind": kind, "steps": K, "batch": B, "step_size": ALPHA, **more},
        "participation": {"kind": "bernoulli", "p": P},
        "horizon": {"rounds": ROUNDS},
        "seed": 11,
    }


def nearest(y: Any) -> Any:
    return scipy.linalg.polar(y, "left")[0]


def drawn(problem: Any, client: int, dispatch: int) -> list[Any]:
    """Rows of each of a client's K mini-batches."""
    view = problem.view(np.array(client), np.array(dispatch))
    data = problem.data.x[client]
    return [data[batch.indices] for batch in view.batches(B, K)]


def rfedproj(
    spec: Any, slope: Slope, alpha: Callable[[int, int], float]
) -> tuple[Any, list[set[int]]]:
    """The pseudo-code, one client after the other; means over steps are by their sizes."""
    problem: Any = build(spec).problem
    attendance = spec.participation.attend(problem.fleet)
    z = z_old = problem.initial_point()
    mean: dict[int, Any] = {}
    before: set[int] = set()
    history = []
    for t in range(ROUNDS):
        here = set(np.flatnonzero(attendance.responds(np.arange(N), t)).tolist())
        ends, start = [], nearest(z)
        for i in sorted(here):
            c = np.zeros((R, D))
            if i in before:
                reach = ETA * sum(alpha(t - 1, k) for k in range(K))
                c = (nearest(z_old) - z) / reach - mean[i]
            walk = w = start
            slopes = []
            for k, rows in enumerate(drawn(problem, i, t)):
                slopes.append(slope(rows, i, t, k, w))
                walk = walk - alpha(t, k) * (slopes[-1] + c)
                w = nearest(walk)
            sizes = [alpha(t, k) for k in range(K)]
            mean[i] = np.average(slopes, axis=0, weights=sizes)
            ends.append(walk)
        if here:
            z_old, z = z, (1 - ETA) * start + ETA / len(here) * sum(ends)
        before = here
        history.append(here)
    return nearest(z), history


def gradient(rows: Any, i: int, t: int, k: int, w: Any) -> Any:
    return riemannian_gradient(w, rows.T @ rows / len(rows))


def difference(rows: Any, i: int, t: int, k: int, w: Any) -> Any:
    normal = Seed(11).stream(f"direction {k} 0").normal32(i, t, B * R * D)
    g = np.zeros((R, D))
    for row, u in zip(rows, normal.astype(float).reshape(B, R, D), strict=True):
        u = u / np.linalg.norm(u)
        loss = [-np.sum((x @ row) ** 2) for x in (w, nearest(w + MU * u))]
        g += D * R / B * (loss[1] - loss[0]) / MU * u
    return g


def test_rfedproj_is_the_published_algorithm() -> None:
    """With absences, so that corrections come and go, and a server step that is not 1."""
    spec = from_mapping(table("rfedproj", server=SERVER))
    x, history = rfedproj(spec, gradient, lambda t, k: ALPHA)
    stayed = [now & before for before, now in pairwise(history)]
    assert any(stayed)
    assert any(now - kept for now, kept in zip(history[1:], stayed, strict=True))
    # Rounding of a few thousand operations near 1; the formulas are the same.
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-12)


def test_the_correction_knows_the_step_sizes_of_the_round_before() -> None:
    decay = {"kind": "decay", "alpha": 0.2, "shift": 1.0}
    rule = {"kind": "per_step", "rule": decay, "factors": [1.0, 0.5]}
    spec = from_mapping(table("rfedproj", server=SERVER, step_size=rule))
    x, _ = rfedproj(spec, gradient, lambda t, k: 0.2 / (2 + t) * (1.0 if k == 0 else 0.5))
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-12)


def test_zo_rfedproj_is_the_published_algorithm() -> None:
    """Losses near 10 are known to 1e-15, differences of them by mu to 1e-9 of n = 14."""
    spec = from_mapping(table("zo_rfedproj", server=SERVER))
    x, _ = rfedproj(spec, difference, lambda t, k: ALPHA)
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-7)


def test_in_flat_space_one_full_step_of_all_is_gradient_descent() -> None:
    """Corrections sum to zero over the clients, so the mean step is the mean gradient."""
    task = {
        "kind": "softmax_regression",
        "data": {"kind": "gaussian_classes", "classes": 3, "features": 4, "samples": 120},
        "clients": 6,
    }
    algorithm = {"kind": "rfedproj", "steps": 1, "step_size": 0.3}
    spec = from_mapping({"task": task, "algorithm": algorithm, "horizon": {"rounds": 5}})
    problem = build(spec).problem
    x = problem.initial_point()
    for _ in range(5):
        x = x - 0.3 * problem.gradient(x)
    np.testing.assert_allclose(run(spec).model, x, rtol=0, atol=1e-13)


def test_corrected_steps_reach_the_optimum_of_unlike_clients() -> None:
    """All take part, K = 5 full steps of fixed size: tangent means stop short, RFedProj does not.

    Blocks are scaled by i/N, so local optima are far apart.
    """
    gaps = {}
    for kind in ("rfedproj", "rfedavg"):
        spec = table(kind, steps=5, batch="full", step_size=0.2)
        del spec["participation"]
        more = {"horizon": {"rounds": 60}, "evaluate_every": 60}
        gaps[kind] = run(from_mapping({**spec, **more})).metrics["gap"]
    assert gaps["rfedproj"] < 1e-8 < 1e-3 < gaps["rfedavg"]


def test_only_who_responded_in_the_round_before_is_corrected() -> None:
    problem = Pca(data=GaussianBlocks(N, 12, D), rank=R).build(Seed(3))
    algorithm = RFedProj(steps=K, batch=B)
    phase: Any = algorithm.phases(problem)[0]
    state = algorithm.begin(problem, problem.initial_point())
    everyone = np.arange(N)
    view = problem.view(everyone, everyone)
    fresh = spread(algorithm.memory(problem), N)
    first = phase.local(spread(phase.broadcast(state, 4), N), view, fresh, K)
    for version, corrected in ((5, True), (6, False)):
        moved = replace(state, ambient=0.9 * state.ambient)
        download = spread(phase.broadcast(moved, version), N)
        known = phase.local(download, view, first.memory, K).payload.ambient
        unknown = phase.local(download, view, fresh, K).payload.ambient
        assert np.array_equal(known, unknown) != corrected


def test_the_estimate_tends_to_the_gradient() -> None:
    """The mean of 1,000 estimates is off by its standard error (times 2 at most, for n = 10).

    That error is below a fifth of the gradient, so a wrong factor would be seen.
    """
    count = 1000
    problem = Pca(data=GaussianBlocks(3, 20, 5), rank=2).build(Seed(5))
    algorithm = ZoRFedProj(steps=1)
    phase: Any = algorithm.phases(problem)[0]
    view = problem.view(np.full(count, 2), np.arange(count))
    x = np.broadcast_to(problem.initial_point(), (count, 2, 5))
    batch = view.everything()
    estimates = phase.slope(view, x, batch, 0)
    wanted = view.gradient(x, batch)[0]
    off = np.linalg.norm(estimates.mean(axis=0) - wanted)
    error = np.sqrt(estimates.var(axis=0).sum() / count)
    assert off < 2 * error
    assert error < 0.2 * np.linalg.norm(wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "minimised"),
    [("none", lambda p: p * (1 - p)), ("oracle", lambda p: 1 - p)],
)
def test_absences_change_what_is_minimised(estimator: str, minimised: Callable[[Any], Any]) -> None:
    """Over 3,000 rounds of decreasing steps; the derivation holds to order 1/N, N = 30.

    The gap of the objective that is said to be minimised is far below that of F, and below that
    of the objective of a plain mean.
    """
    p = np.tile([0.9, 0.5, 0.1, 0.7, 0.3, 0.95], 5)
    clients = len(p)
    spec = table("rfedproj", steps=1, batch="full")
    spec["algorithm"]["step_size"] = {"kind": "decay", "alpha": 20.0, "shift": 50.0}
    spec["task"]["data"] |= {"clients": clients, "samples": 20, "dimension": 8}
    spec |= {"participation": {"kind": "bernoulli", "p": p.tolist()}, "estimator": estimator}
    spec |= {"horizon": {"rounds": 3000}, "evaluate_every": 3000, "seed": 3}
    problem: Any = build(from_mapping(spec)).problem
    x = run(from_mapping(spec)).model

    def gap(weights: Any) -> Any:
        return problem.reweighted(weights / weights.sum()).evaluate(x, 0.0)["gap"]

    assert gap(minimised(p)) < 0.03 * min(gap(np.ones(clients)), gap(cohort_weights(p)))


@pytest.mark.parametrize(
    ("kind", "algorithm"), [("rfedproj", RFedProj()), ("zo_rfedproj", ZoRFedProj())]
)
@pytest.mark.parametrize(
    ("task", "message"),
    [
        (SpdFrechetMean(data=SyntheticSpd(3, 2, 2)), "needs one with nearest points; Spd has none"),
        (
            Pca(
                data=GaussianBlocks(3, 4, 5),
                rank=2,
                manifold=Stiefel(2, 5, metric="canonical"),
            ),
            "needs the metric of the surrounding space",
        ),
    ],
)
def test_other_manifolds_are_refused(kind: str, algorithm: Any, task: Task, message: str) -> None:
    with pytest.raises(CapabilityError, match=f"{kind} .*{message}"):
        algorithm.check(task.build(Seed(1)))


def test_differences_need_losses_of_samples_in_double_precision() -> None:
    classes = GaussianClasses(classes=3, features=4, samples=60)
    single = SoftmaxRegression(data=classes, clients=3, precision="float32").build(Seed(1))
    with pytest.raises(CapabilityError, match="set the task's precision to 'float64'"):
        ZoRFedProj().check(single)
    fitted = MultitaskFeatureLearning(data=SubspaceRegression(3, 5, 4, 2), rank=2).build(Seed(1))
    fitted.manifold = Stiefel(2, 4)
    with pytest.raises(CapabilityError, match="a mini-batch has a loss only as a whole"):
        ZoRFedProj().check(fitted)


@pytest.mark.parametrize(("kind", "losses"), [("rfedproj", 1), ("zo_rfedproj", 2)])
def test_one_array_each_way_is_sent_and_paid_for(kind: str, losses: int) -> None:
    spec = from_mapping(table(kind))
    counts = run(spec).counts
    point = D * R * 8
    assert counts["accepted"] == counts["arrived"]
    assert counts["bytes_up"] == counts["accepted"] * point
    assert counts["bytes_down"] == counts["accepted"] * (point + 24)
    (phase,) = spec.algorithm.phases(build(spec).problem)
    assert phase.samples(np.arange(N), 0).tolist() == [losses * K * B] * N
