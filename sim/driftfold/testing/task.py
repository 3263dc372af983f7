"""Conformance of a task's problem."""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.tasks.base import Batch, Problem, SampleLosses, View
from driftfold.tasks.batch_size import BatchSize
from driftfold.testing.expect import expect
from driftfold.testing.manifold import of_length

STACKS = (1, 7, 37, 64)
"""Sizes of the sub-stacks whose results must not differ by a bit."""

_SIZES: tuple[BatchSize, ...] = (1, 0.5, "full")
_STEPS = 3
_NOTHING = 1e-9  # of a loss or gradient


def check_task(build: Callable[[], Problem], tolerance: float = 1e-6) -> None:
    """Raise `AssertionError` unless the problem keeps the contract of `Problem` and `View`.

    `build` returns the problem, the same each time. Checked: the initial point; batches (weights,
    no row twice, prefix, size); that results do not depend, bit for bit, on the company in the
    stack; gradients against differences of the loss, to `tolerance` relative to the gradient's
    length; the objective against the clients' losses; the losses of single samples, where the
    views have them; nothing given is changed.

    >>> from driftfold.data import GaussianBlocks
    >>> from driftfold.rng import Seed
    >>> from driftfold.tasks import Pca
    >>> task = Pca(data=GaussianBlocks(clients=5, samples=4, dimension=3), rank=2)
    >>> check_task(lambda: task.build(Seed(1)))
    """
    problem = build()
    _check_start(problem, build())
    for size in _SIZES:
        _check_batches(problem, size)
        _check_company(problem, size)
        _check_gradient(problem, size, tolerance)
        _check_sample_losses(problem, size, tolerance)
    _check_objective(problem, tolerance)


def _check_start(problem: Problem, again: Problem) -> None:
    x = problem.initial_point()
    expect(
        x.shape == problem.manifold.shape,
        f"the initial point has shape {x.shape}; the manifold's points have "
        f"{problem.manifold.shape}",
    )
    off = float(problem.manifold.off_point(x))
    expect(off < 1e-6, f"the initial point is {off} off the manifold")
    expect(_same(x, problem.initial_point()), "a second call gave another initial point")
    expect(_same(x, again.initial_point()), "the same task and seed gave another initial point")
    expect(problem.client_bytes > 0, f"client_bytes is {problem.client_bytes}; wanted above 0")


def _check_batches(problem: Problem, size: BatchSize) -> None:
    everyone = np.arange(problem.fleet.size)
    view = problem.view(everyone, everyone * 3)
    batches = view.batches(size, _STEPS)
    expect(len(batches) == _STEPS, f"asked for {_STEPS} batches, got {len(batches)}")
    promised = problem.batch_samples(size, everyone)
    for batch in [*batches, view.everything()]:
        _check_weights(batch, problem.fleet.samples)
    for batch in batches:
        held = (batch.weights > 0).sum(axis=-1)
        expect(
            np.array_equal(held, promised),
            f"batches of size {size!r} hold {held} samples; batch_samples says {promised}",
        )
    for fewer, more in zip(
        problem.view(everyone, everyone * 3).batches(size, 1), batches[:1], strict=True
    ):
        expect(_same_batch(fewer, more, ...), "the first batch depends on how many are asked for")


def _check_weights(batch: Batch, samples: Ints) -> None:
    total = batch.weights.sum(axis=-1)
    wanted = np.where(samples > 0, 1.0, 0.0)
    expect(
        bool(np.allclose(total, wanted, rtol=1e-12)),
        f"the weights of a batch sum to {total}; wanted 1, and 0 for clients without samples",
    )
    expect(bool((batch.weights >= 0).all()), "a batch has negative weights")
    if batch.indices is None:
        real = np.arange(batch.weights.shape[-1]) < samples[:, None]
        expect(bool((batch.weights[~real] == 0).all()), "padding has weight")
        return
    for client, (rows, weights) in enumerate(zip(batch.indices, batch.weights, strict=True)):
        drawn = rows[weights > 0]
        expect(len(set(drawn.tolist())) == len(drawn), f"client {client} drew a row twice: {drawn}")
        expect(
            bool(((drawn >= 0) & (drawn < samples[client])).all()),
            f"client {client} has {samples[client]} samples and drew {drawn}",
        )


def _check_company(problem: Problem, size: BatchSize) -> None:
    everyone = np.arange(problem.fleet.size)
    rng = np.random.default_rng(0)
    dispatches = rng.integers(0, 1000, len(everyone))
    points = _points(problem, len(everyone))
    whole = _work(problem.view(everyone, dispatches), points, size)
    stacks = [rng.permutation(everyone)[:count] for count in STACKS]
    stacks += [everyone[: count // 2 + 1] for count in STACKS]
    stacks += [everyone[1::2], everyone[::-1], everyone[:0]]
    for some in stacks:
        part = _work(problem.view(some, dispatches[some]), points[some], size)
        for name, values in part.items():
            expect(
                _same(values, whole[name][:, some]),
                f"{name} of clients {some.tolist()} changes with the company in the stack "
                f"(batch size {size!r}): treat each client alone, e.g. no product over a "
                "flattened stack",
            )
    shared = np.broadcast_to(points[0], points.shape)
    view = problem.view(everyone, dispatches)
    batch = view.batches(size, 1)[0]
    expect(
        _same(view.gradient(shared, batch), view.gradient(shared.copy(), batch)),
        "gradients at a point that all clients share without a copy differ from those at copies",
    )
    for i in everyone[: STACKS[1]]:
        alone = _work(problem.view(everyone[i], dispatches[i]), points[i], size)
        for name, values in alone.items():
            expect(
                values.shape == whole[name][:, i].shape,
                f"{name} of one client, clients of shape (), has shape {values.shape[1:]}; "
                f"wanted {whole[name].shape[2:]}",
            )
            expect(
                _same(values, whole[name][:, i]),
                f"{name} of client {i} alone (clients of shape ()) is not what it is in a stack",
            )


def _work(view: View, points: Array, size: BatchSize) -> dict[str, Array]:
    """Gradients and losses of some steps, stacked along a new first axis."""
    before = points.copy()
    batches = [*view.batches(size, _STEPS), view.everything()]
    done = {
        "gradient": np.stack([view.gradient(points, batch) for batch in batches]),
        "loss": np.stack([view.loss(points, batch) for batch in batches]),
    }
    expect(_same(points, before), "the point that was given was changed in place")
    return done


def _check_gradient(problem: Problem, size: BatchSize, tolerance: float) -> None:
    everyone = np.arange(min(problem.fleet.size, STACKS[1]))
    view = problem.view(everyone, everyone)
    batch = view.batches(size, 1)[0]
    x = _points(problem, len(everyone)).astype(np.float64)
    m = problem.manifold
    # For u in T_x M of length h, (f(R_x(u)) - f(R_x(-u))) / 2 = <gradient, u> + O(h^3).
    h = 1e-4 if problem.initial_point().dtype == np.float64 else 1e-2
    u = m.project(x, np.random.default_rng(2).standard_normal(x.shape))
    u = of_length(m, x, u, h)
    g = view.gradient(x, batch)
    loss = np.abs(view.loss(x, batch))
    # Where neither loss nor gradient is more than rounding, its direction means nothing.
    scale = np.maximum(m.norm(x, g) + loss, _NOTHING)
    off = m.off_tangent(x, g) / scale
    expect(
        float(off.max(initial=0)) < tolerance,
        f"the gradient is {off} of its size off the tangent space; end with "
        "manifold.gradient(x, g) where g is the Euclidean one",
    )
    rise = (view.loss(m.retract(x, u), batch) - view.loss(m.retract(x, -u), batch)) / 2
    slope = m.inner(x, g, u)
    worst = float((np.abs(rise - slope) / (h * scale)).max(initial=0))
    expect(
        worst < tolerance,
        f"along a random direction the loss rises by {rise}, the gradient says {slope} "
        f"(batch size {size!r}, relative error {worst}, tolerance {tolerance})",
    )


def _check_sample_losses(problem: Problem, size: BatchSize, tolerance: float) -> None:
    everyone = np.arange(min(problem.fleet.size, STACKS[1]))
    view = problem.view(everyone, everyone)
    if not isinstance(view, SampleLosses):
        return
    batch = view.batches(size, 1)[0]
    real, lead = batch.weights > 0, batch.weights.shape
    shape = problem.manifold.shape
    points = _points(problem, real.size).reshape(*lead, *shape)
    kept = points.copy()
    apart, one = view.sample_losses(points, batch), view.sample_losses(points[:, :1], batch)
    expect(_same(points, kept), "sample_losses changed the points that were given in place")
    expect(
        apart.shape == one.shape == lead,
        f"sample_losses has shape {apart.shape} with points for each sample and {one.shape} with "
        f"one for all; wanted {lead}, that of the weights",
    )
    for values in (apart, one):
        expect(bool(np.isfinite(values).all()), "sample_losses gave values that are not finite")
    rows = np.broadcast_to(np.arange(lead[-1]), lead) if batch.indices is None else batch.indices
    for b in range(lead[-1]):
        alone = Batch(rows[:, b : b + 1], real[:, b : b + 1].astype(np.float64))
        for points_b, got in ((points[:, b], apart[:, b]), (points[:, 0], one[:, b])):
            wanted = view.loss(points_b, alone)
            off = float(np.abs((got - wanted) * real[:, b] / (1 + np.abs(wanted))).max(initial=0))
            expect(
                off <= tolerance, f"sample_losses is off by {off} from the loss of one-row batches"
            )
    mean, wanted = (batch.weights * one).sum(axis=-1), view.loss(points[:, 0], batch)
    off = float((np.abs(mean - wanted) * real.any(axis=-1) / (1 + np.abs(wanted))).max(initial=0))
    expect(
        off <= tolerance,
        f"the loss is off by {off} from the weighted mean of sample_losses; such a view is no "
        "SampleLosses",
    )
    some = everyone[::-2]
    part = problem.view(some, some)
    expect(
        _same(part.sample_losses(points[some], part.batches(size, 1)[0]), apart[some]),  # type: ignore[attr-defined]
        "sample_losses changes with the company in the stack",
    )


def _check_objective(problem: Problem, tolerance: float) -> None:
    everyone = np.arange(problem.fleet.size)
    x = problem.initial_point()
    view = problem.view(everyone, everyone)
    losses = view.loss(np.broadcast_to(x, (len(everyone), *x.shape)), view.everything())
    wanted = float(np.vdot(problem.fleet.importance, losses))
    metrics = problem.evaluate(x, time=0.0)
    name, got = next(iter(metrics.items()))
    expect(
        abs(got - wanted) <= tolerance * max(1.0, abs(wanted)),
        f"the first metric, {name}, is {got}; the clients' losses give {wanted}",
    )
    expect(
        all(isinstance(value, float) for value in metrics.values()),
        f"metrics are {metrics}; wanted a float each",
    )
    best = problem.optimum()
    expect(
        best is None or best <= got + tolerance,
        f"the objective is {got} at the initial point, below its optimum {best}",
    )


def _points(problem: Problem, count: int) -> Array:
    """Random points of the manifold, one a client, in the type of the initial point."""
    stream = problem.fleet.seed.stream("check")
    points = problem.manifold.random_point(stream, np.arange(count))
    return points.astype(problem.initial_point().dtype)


def _same(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal bit for bit."""
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())


def _same_batch(a: Batch, b: Batch, rows: Any) -> bool:
    if (a.indices is None) != (b.indices is None):
        return False
    drawn = a.indices is None or b.indices is None or _same(a.indices[rows], b.indices[rows])
    return drawn and _same(a.weights[rows], b.weights[rows])
