"""FedVARP and MIFA: against plain loops, without bias over all cohorts, around other algorithms."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from driftfold.algorithms import (
    MIFA,
    Adversarial,
    Arrivals,
    Compressed,
    FedVARP,
    Private,
    RFedAGS,
    RFedAvg,
    RFedSVRG,
    Tangent,
)
from driftfold.algorithms.base import Algorithm
from driftfold.attacks import SignFlip
from driftfold.combinations import Median
from driftfold.compressors import Quantiser
from driftfold.errors import CapabilityError
from driftfold.estimators import Estimator, Oracle, Unweighted
from driftfold.manifolds import Euclidean, Manifold, Sphere
from driftfold.participation import Always, Bernoulli
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec import JobSpec
from driftfold.trees import spread
from driftfold.world.policy import Horizon
from tests.algorithms import textbook
from tests.algorithms.scattered import Scattered, ScatteredProblem

N = 5
PLACES: list[Manifold] = [Euclidean(4), Sphere(4)]
COHORTS = [[1, 3], [0], [3], [0, 1, 4], [2, 3], [1, 2, 4], [0, 1, 2, 3, 4], [4]]
P = np.array([0.2, 0.9, 0.5, 0.7, 0.4])


def place(manifold: Manifold) -> ScatteredProblem:
    problem = Scattered(manifold, N).build(Seed(4))
    problem.fleet.importance[:] = [0.1, 0.3, 0.2, 0.25, 0.15]
    return problem


def go(manifold: Manifold, x: Any, u: Any) -> Any:
    return textbook.sphere_exp(x, u) if isinstance(manifold, Sphere) else x + u


def carry(manifold: Manifold, x: Any, y: Any, u: Any) -> Any:
    """Parallel transport along the geodesic from x to y."""
    if isinstance(manifold, Euclidean):
        return u
    way = textbook.sphere_log(x, y)
    angle = np.linalg.norm(way)
    e = way / angle
    return u + (e @ u) * ((np.cos(angle) - 1) * e - np.sin(angle) * x)


def stepped(algorithm: Algorithm[Any], problem: Any, state: Any, came: Any, w: Any, u: Any) -> Any:
    (phase,) = algorithm.phases(problem)
    count = len(came)
    download = spread(phase.broadcast(state, 0), count)
    still = np.zeros(count, dtype=bool)
    arrivals = Arrivals(np.array(came), Tangent(u), download, np.zeros(count, np.int64), still)
    return phase.step(state, arrivals, np.array(w))[0]


@pytest.mark.parametrize("manifold", PLACES, ids=repr)
@pytest.mark.parametrize("kind", ["fedvarp", "ipw", "mifa", "mifa-wait"])
def test_steps_are_those_of_a_plain_loop(kind: str, manifold: Manifold) -> None:
    """Eight rounds of random vectors; rounding grows with each."""
    problem, rng = place(manifold), np.random.default_rng(6)
    a, inner = problem.fleet.importance, RFedAGS(steps=1)
    rule = FedVARP(inner) if kind in ("fedvarp", "ipw") else MIFA(inner)
    if kind == "mifa-wait":
        rule = MIFA(inner, start="wait")
    state = rule.begin(problem, problem.initial_point())
    x = problem.initial_point()
    known: dict[int, Any] = {}
    for came in COHORTS:
        now = rule.model(state)
        np.testing.assert_allclose(now, x, rtol=0, atol=1e-12)
        u = manifold.project(now, 0.3 * rng.standard_normal((len(came), 4)))
        weights = a[came] / P[came] if kind == "ipw" else a[came] / a[came].sum()
        state = stepped(rule, problem, state, came, weights, u)

        v = sum((a[j] * y for j, y in known.items()), np.zeros(4))
        for i, w, zeta in zip(came, weights, u, strict=True):
            v = v + w * (zeta - known.get(i, 0.0))
            known[i] = zeta
        if "mifa" in kind:
            v = sum((a[j] * y for j, y in known.items()), np.zeros(4))
        if kind == "mifa-wait" and len(known) < N:
            continue  # it stays, and so do all vectors
        y = go(manifold, x, -v)
        known = {j: carry(manifold, x, y, kept) for j, kept in known.items()}
        x = y
    np.testing.assert_allclose(rule.model(state), x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.vectors, [known[j] for j in range(N)], rtol=0, atol=1e-12)
    assert np.linalg.norm(x - problem.initial_point()) > 0.1


@pytest.mark.parametrize("manifold", PLACES, ids=repr)
def test_with_known_probabilities_it_has_no_bias_and_the_variance_of_what_is_new(
    manifold: Manifold,
) -> None:
    """The mean and the variance over all cohorts, where three of five clients are remembered."""
    problem, rng = place(manifold), np.random.default_rng(7)
    a, x, rule = problem.fleet.importance, problem.initial_point(), FedVARP(RFedAGS(steps=1))
    zeta, old = manifold.project(x, rng.standard_normal((2, N, 4)))
    old[[1, 4]] = 0
    state = rule.begin(problem, x).learning(np.array([0, 2, 3]), old[[0, 2, 3]])
    (phase,) = rule.phases(problem)
    found: dict[str, tuple[Any, float]] = {}
    for name in ("oracle", "none"):
        mean, square = np.zeros(4), 0.0
        for answers in product((False, True), repeat=N):
            came = np.flatnonzero(answers)
            weights = a[came] / (P[came] if name == "oracle" else a[came].sum() or 1.0)
            v, _ = phase.direct(state, came, weights, zeta[came])  # type: ignore[attr-defined]
            chance = np.prod(np.where(answers, P, 1 - P))
            mean, square = mean + chance * v, square + chance * float(v @ v)
        found[name] = mean, square - float(mean @ mean)
    np.testing.assert_allclose(found["oracle"][0], a @ zeta, rtol=0, atol=1e-14)
    law = (a**2 * (1 - P) / P * ((zeta - old) ** 2).sum(axis=1)).sum()
    assert found["oracle"][1] == pytest.approx(law, rel=1e-12)
    assert np.abs(found["none"][0] - a @ zeta).max() > 0.01


@pytest.mark.parametrize("inner", [RFedAGS(steps=2), RFedAvg(steps=2)], ids=repr)
def test_where_all_respond_nothing_is_added(inner: Algorithm[Any]) -> None:
    """Then v is the plain sum, to rounding, whatever is remembered."""
    plain = model(inner, Always(), Unweighted(), 4)
    for rule in (FedVARP(inner), MIFA(inner), MIFA(inner, start="wait")):
        np.testing.assert_allclose(
            model(rule, Always(), Unweighted(), 4), plain, rtol=0, atol=1e-13
        )


def model(algorithm: Algorithm[Any], who: Any, rule: Estimator[Any], rounds: int) -> Any:
    spec = JobSpec(
        task=Scattered(Sphere(4), N, away=1.0),
        algorithm=algorithm,
        participation=who,
        estimator=rule,
        horizon=Horizon(rounds=rounds),
        evaluate_every=rounds,
        seed=4,
    )
    return run(spec).model


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["fedvarp", "mifa"])
def test_memory_takes_out_what_sampling_adds(rule: str) -> None:
    """Where clients differ, inverse probabilities alone hover around the optimum.

    With memory the distance after 300 rounds is the rest of the way: less than a tenth of it.
    """
    optimum = Scattered(Sphere(4), N, away=1.0).build(Seed(4)).minimise()
    inner, who = RFedAGS(steps=1, step_size=0.1), Bernoulli(p=tuple(P))
    wrapped = FedVARP(inner) if rule == "fedvarp" else MIFA(inner)
    plain = np.linalg.norm(model(inner, who, Oracle(), 300) - optimum)
    assert np.linalg.norm(model(wrapped, who, Oracle(), 300) - optimum) < 0.1 * plain


def test_what_does_not_fit_is_refused() -> None:
    problem = place(Sphere(4))
    for inner, words in (
        (RFedSVRG(), "one exchange a round, and rfedsvrg has 2"),
        (RFedAGS(combine=Median()), "does not take their sum"),
        (Compressed(RFedAGS(), Quantiser()), "compressed around all else"),
        (Private(RFedAGS(), where="client", delta="none"), "put private around mifa, not inside"),
        (Private(RFedAGS(), delta="none"), "put private around mifa, not inside"),
        (
            Adversarial(Private(RFedAGS(), where="client", delta="none"), SignFlip()),
            "put private around mifa, not inside",
        ),
        (MIFA(RFedAGS()), "does not take their sum"),
    ):
        with pytest.raises(CapabilityError, match=words):
            MIFA(inner).check(problem)
    with pytest.raises(CapabilityError, match="meant for a weighted sum"):
        Private(MIFA(RFedAGS()), delta="none").check(problem)
    inside = Private(FedVARP(RFedAGS()), where="client", delta="none")
    for fits in (inside, Compressed(inside, Quantiser()), MIFA(Adversarial(RFedAGS(), SignFlip()))):
        fits.check(problem)
