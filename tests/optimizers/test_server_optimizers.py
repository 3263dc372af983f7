"""Server momentum and Adam against torch and geoopt, and on what the two do not have."""

from typing import Any

import numpy as np
import pytest

from driftfold.algorithms.base import Arrivals
from driftfold.algorithms.rfedproj import RFedProj
from driftfold.assembly import build
from driftfold.errors import CapabilityError
from driftfold.manifolds import Euclidean, Lorentz, Manifold, Power, Product, Spd, Sphere, Stiefel
from driftfold.optimizers.adam import Adam
from driftfold.optimizers.base import ServerOptimizer
from driftfold.optimizers.momentum import Momentum
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.trees import decode, encode, spread
from tests.world.toys import Quadratic

ROUNDS, SIZE, BETA = 12, 0.05, 0.8
MATRIX = np.diag([1.0, 4.0, 0.3, 9.0]) + 0.2
LATE = pytest.mark.slow  # optimisers on torch import its compiler, which takes 5 s and more
RULES: list[ServerOptimizer] = [Momentum(BETA, SIZE), Adam(SIZE), Adam(SIZE, amsgrad=True)]


def walk(rule: Any, manifold: Manifold, x: Any, gradient: Any, rounds: int = ROUNDS) -> Any:
    """Centralised descent by the rule: what a server does if all take part and K = 1."""
    moments = rule.begin(manifold, x)
    for t in range(rounds):
        step, moments = rule.direct(manifold, x, gradient(x, t), moments)
        y = manifold.retract(x, -step)
        x, moments = y, rule.carry(manifold, x, y, moments)
    return x


def euclidean_slope(x: Any, t: int) -> Any:
    """Of a quadratic form; three times as steep in every third round, so that AMSGrad differs."""
    return (3.0 if t % 3 == 0 else 1.0) * (MATRIX @ x)


@LATE
@pytest.mark.parametrize(
    ("rule", "name", "settings"),
    [
        (Momentum(BETA, SIZE), "SGD", {"momentum": BETA}),
        (Adam(SIZE, 0.9, 0.95, 1e-3), "Adam", {"betas": (0.9, 0.95), "eps": 1e-3}),
        (
            Adam(SIZE, 0.7, 0.9, 1e-8, amsgrad=True),
            "Adam",
            {"betas": (0.7, 0.9), "amsgrad": True},
        ),
    ],
)
def test_in_flat_space_they_are_torchs(rule: Any, name: str, settings: dict[str, Any]) -> None:
    import torch

    start = np.array([1.0, -2.0, 0.5, 3.0])
    x = torch.tensor(start, requires_grad=True)
    optimiser = getattr(torch.optim, name)([x], lr=SIZE, **settings)
    for t in range(ROUNDS):
        x.grad = torch.tensor(euclidean_slope(x.detach().numpy(), t))
        optimiser.step()
    got = walk(rule, Euclidean(4), start, euclidean_slope)
    np.testing.assert_allclose(got, x.detach().numpy(), rtol=0, atol=1e-10)
    assert np.abs(got - start).max() > 0.1


def test_in_flat_space_momentum_is_the_heavy_ball() -> None:
    """Polyak: x_{t+1} = x_t - size g_t + beta (x_t - x_{t-1})."""
    start = before = x = np.array([1.0, -2.0, 0.5, 3.0])
    for t in range(ROUNDS):
        x, before = x - SIZE * euclidean_slope(x, t) + BETA * (x - before), x
    got = walk(Momentum(BETA, SIZE), Euclidean(4), start, euclidean_slope)
    np.testing.assert_allclose(got, x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("manifold", [Euclidean(4), Sphere(4, "normalise", "projection")], ids=repr)
def test_adam_is_the_papers(manifold: Manifold, amsgrad: bool) -> None:
    """By numbers in flat space (Kingma and Ba), by the length on the sphere (Becigneul, Ganea)."""
    start, curved = np.array([0.5, -0.5, 0.5, 0.5]), isinstance(manifold, Sphere)

    def slope(x: Any, t: int) -> Any:
        g = euclidean_slope(x, t)
        return g - (g @ x) * x if curved else g

    x, m, s, top = start, np.zeros(4), np.zeros(4), np.zeros(4)
    for t in range(ROUNDS):
        g = slope(x, t)
        m = 0.9 * m + 0.1 * g
        s = 0.95 * s + 0.05 * (g @ g if curved else g**2)
        top = np.maximum(top, s)
        root = np.sqrt((top if amsgrad else s) / (1 - 0.95 ** (t + 1)))
        x = x - SIZE * m / (1 - 0.9 ** (t + 1)) / (root + 1e-3)
        if curved:
            x = x / np.linalg.norm(x)
            m = m - (m @ x) * x
    got = walk(Adam(SIZE, 0.9, 0.95, 1e-3, amsgrad=amsgrad), manifold, start, slope)
    np.testing.assert_allclose(got, x, rtol=0, atol=1e-13)


@LATE
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("which", ["euclidean", "sphere", "stiefel"])
def test_adam_is_geoopts(which: str, amsgrad: bool) -> None:
    """Its sphere retracts by normalising, its Stiefel manifold by QR; both transport by projection.

    The squared length is one number a point, and the first moment goes along.
    """
    import geoopt
    import torch

    rule = Adam(SIZE, 0.9, 0.95, 1e-3, amsgrad=amsgrad)
    pairs: dict[str, tuple[Manifold, Any]] = {
        "euclidean": (Euclidean(4), geoopt.Euclidean(0)),
        "sphere": (Sphere(4, "normalise", "projection"), geoopt.Sphere()),
        "stiefel": (Stiefel(2, 4), geoopt.EuclideanStiefel()),
    }
    manifold, theirs = pairs[which]
    start = manifold.random_point(Seed(3).stream("start"), np.arange(1))[0]

    def slope(x: Any, t: int) -> Any:
        return manifold.gradient(x, euclidean_slope(x.T, t).T)

    x = geoopt.ManifoldParameter(torch.tensor(start.T.copy()), manifold=theirs)
    settings = {"betas": (0.9, 0.95), "eps": 1e-3, "amsgrad": amsgrad}
    optimiser = geoopt.optim.RiemannianAdam([x], lr=SIZE, **settings)
    for t in range(ROUNDS):
        x.grad = torch.tensor(euclidean_slope(x.detach().numpy(), t))
        optimiser.step()
    got = walk(rule, manifold, start, slope)
    np.testing.assert_allclose(got, x.detach().numpy().T, rtol=0, atol=1e-10)
    assert np.abs(got - start).max() > 0.1


@LATE
def test_momentum_on_the_sphere_is_geoopts() -> None:
    """Its velocity starts as a gradient that is not yet projected; here, as there is, from 0."""
    import geoopt
    import torch

    manifold = Sphere(4, "normalise", "projection")
    start = np.array([0.5, -0.5, 0.5, 0.5])
    x = geoopt.ManifoldParameter(torch.tensor(start), manifold=geoopt.Sphere())
    optimiser = geoopt.optim.RiemannianSGD([x], lr=SIZE, momentum=BETA)
    optimiser.state[x]["momentum_buffer"] = torch.zeros(4, dtype=torch.float64)
    for t in range(ROUNDS):
        x.grad = torch.tensor(euclidean_slope(x.detach().numpy(), t))
        optimiser.step()

    def slope(x: Any, t: int) -> Any:
        return manifold.gradient(x, euclidean_slope(x, t))

    got = walk(Momentum(BETA, SIZE), manifold, start, slope)
    np.testing.assert_allclose(got, x.detach().numpy(), rtol=0, atol=1e-10)


def test_adam_treats_each_factor_of_a_product_and_each_point_of_a_power_alone() -> None:
    factors: dict[str, Manifold] = {"a": Sphere(3), "b": Euclidean(2), "c": Power(Lorentz(2), 2)}
    product, stream = Product(factors), Seed(4).stream("points")
    x = product.random_point(stream, np.arange(1))[0]
    drawn = stream.normal(np.arange(ROUNDS), 1, x.size)

    def slope(manifold: Manifold, name: str = "") -> Any:
        def of(y: Any, t: int) -> Any:
            given = product.split(drawn[t])[name] if name else drawn[t]
            return manifold.project(y, given)

        return of

    rule = Adam(SIZE, beta2=0.8, eps=1e-4, amsgrad=True)
    parts = product.split(walk(rule, product, x, slope(product)))
    for name, factor in factors.items():
        alone = walk(rule, factor, product.split(x)[name], slope(factor, name))
        np.testing.assert_allclose(parts[name], alone, rtol=0, atol=1e-14)
    points = product.split(x)["c"]
    for i in range(2):
        alone = walk(rule, Lorentz(2), points[i], lambda y, t, i=i: product.split(drawn[t])["c"][i])
        np.testing.assert_allclose(parts["c"][i], alone, rtol=0, atol=1e-14)


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_adams_step_is_as_long_as_its_size_whatever_the_vectors(factor: float) -> None:
    spd, stream = Spd(3), Seed(5).stream("points")
    x = spd.random_point(stream, np.arange(1))[0]
    v = spd.project(x, stream.normal(np.arange(1), 1, 9).reshape(3, 3))
    rule = Adam(0.02, eps=1e-15)
    step, _ = rule.direct(spd, x, factor * v, rule.begin(spd, x))
    np.testing.assert_allclose(spd.norm(x, step), 0.02, rtol=1e-6)
    late = Adam(0.02, beta1=0.9, beta2=0.99, eps=1e-15, bias_correction=False)
    step, _ = late.direct(spd, x, factor * v, late.begin(spd, x))
    np.testing.assert_allclose(spd.norm(x, step), 0.02 * 0.1 / 0.01**0.5, rtol=1e-6)


def table(kind: str, server: Any) -> dict[str, Any]:
    task: dict[str, Any] = {
        "kind": "pca",
        "rank": 2,
        "data": {"kind": "gaussian_blocks", "clients": 5, "samples": 9, "dimension": 6},
    }
    if kind == "fedavg":
        task = {
            "kind": "softmax_regression",
            "data": {"kind": "gaussian_classes", "classes": 3, "features": 4, "samples": 60},
            "clients": 5,
        }
    return {
        "task": task,
        "algorithm": {"kind": kind, "steps": 2, "batch": 4, "step_size": 0.1, "server": server},
        "participation": {"kind": "bernoulli", "p": 0.7},
        "horizon": {"rounds": 6},
    }


@pytest.mark.parametrize(
    "server", [{"kind": "momentum", "beta": 0.5}, {"kind": "adam", "amsgrad": True}]
)
@pytest.mark.parametrize(
    "kind", ["rfedags", "rfedavg", "rfedprox", "rfedsvrg", "rfed_frechet", "fedavg"]
)
def test_every_algorithm_of_local_steps_has_them(kind: str, server: Any) -> None:
    """They descend, on the manifold, with moments tangent where they are now; the count is kept."""
    spec = from_mapping(table(kind, server))
    problem, result = build(spec).problem, run(spec)
    assert result.metrics["loss"] < problem.objective(problem.initial_point())
    assert problem.manifold.off_point(result.model) < 1e-12
    phases = spec.algorithm.phases(problem)
    state = spec.algorithm.begin(problem, problem.initial_point())
    for version in range(2):
        for phase in phases:
            state = stepped(problem, phase, state, version)
    first = getattr(state.moments, "first", state.moments)
    assert problem.manifold.off_tangent(state.point, first) < 1e-12
    assert np.abs(first).max() > 0
    arrays: dict[str, Any] = {}
    again = decode(encode(state, arrays), arrays)
    assert getattr(again.moments, "count", 2) == getattr(state.moments, "count", 2) == 2
    for phase in phases:
        state, again = (stepped(problem, phase, s, 2) for s in (state, again))
    assert np.array_equal(state.point, again.point)


def stepped(problem: Any, phase: Any, state: Any, version: int) -> Any:
    """A phase of all clients."""
    everyone = np.arange(problem.fleet.size)
    download = spread(phase.broadcast(state, version), len(everyone))
    sent = phase.local(download, problem.view(everyone, everyone), None, phase.steps)
    arrivals = Arrivals(everyone, sent.payload, download, 0 * everyone, everyone < 0)
    return phase.step(state, arrivals, problem.fleet.importance)[0]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rfedproj_refuses_a_server_whose_way_its_clients_cannot_read(rule: ServerOptimizer) -> None:
    with pytest.raises(CapabilityError, match="choose server 'descend'"):
        RFedProj(server=rule).check(Quadratic(clients=3).build(Seed(1)))
