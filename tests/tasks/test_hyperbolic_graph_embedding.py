from dataclasses import replace
from typing import Any

import numpy as np
import torch

from driftfold.data import BalancedTree
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.solvers import Lrbfgs, Objective
from driftfold.spec import from_mapping
from driftfold.tasks import HyperbolicGraphEmbedding

TASK = HyperbolicGraphEmbedding(BalancedTree(2, 3), clients=4, negatives=5, pull=0.3)


def test_loss_and_gradient_are_those_of_autograd() -> None:
    """Of one client, pair by pair from the textbook's distance, with its penalty."""
    problem = TASK.build(Seed(1))
    x = problem.manifold.random_point(Seed(2).stream("points"), np.arange(4))
    everyone = np.arange(4)
    view = problem.view(everyone, everyone)
    (batch,) = view.batches(3, 1)
    assert batch.indices is not None
    for i in everyone:
        at = torch.tensor(x[i], requires_grad=True)
        time = torch.sqrt(1 + (at**2).sum(-1))
        loss = 0.15 * (torch.arcsinh(at.norm(dim=-1)) ** 2).mean()
        for row in problem.data.x[i][batch.indices[i]]:
            u, *others = [node for node in row if node >= 0]
            d = torch.arccosh(time[u] * time[others] - at[others] @ at[u])
            loss = loss - torch.log_softmax(-d, dim=0)[0] / 3
        assert abs(view.loss(x, batch)[i] - float(loss.detach())) < 1e-12
        (slope,) = torch.autograd.grad(loss, at)
        wanted = problem.space.gradient(x[i], slope.numpy())
        assert np.abs(view.gradient(x, batch)[i] - wanted).max() < 1e-12


def test_all_pairs_are_dealt_once_and_their_negatives_stay() -> None:
    problem, again = TASK.build(Seed(1)), replace(TASK, clients=7).build(Seed(1))
    rows = [
        {tuple(row) for own, n in zip(p.data.x, p.data.samples, strict=True) for row in own[:n]}
        for p in (problem, again)
    ]
    assert rows[0] == rows[1]
    assert {row[:2] for row in rows[0]} == {tuple(p) for p in TASK.relation.load(Seed(1)).pairs}


def test_rounds_embed_the_tree() -> None:
    spec = from_mapping(
        {
            "task": {
                "kind": "hyperbolic_graph_embedding",
                "relation": {"kind": "balanced_tree", "branching": 2, "depth": 2},
                "clients": 3,
            },
            "algorithm": {"kind": "rfedags", "steps": 3, "step_size": 0.5},
            "participation": {"kind": "bernoulli", "p": 0.7},
            "horizon": {"rounds": 60},
            "evaluate_every": 60,
        }
    )
    metrics = run(spec).metrics
    # By chance a related node has rank 3 among the 4 others and itself.
    assert metrics["mean_rank"] < 1.7
    assert metrics["map"] > 0.7


def test_a_pulled_embedding_has_a_minimum() -> None:
    task = replace(TASK, relation=BalancedTree(2, 1), clients=2, negatives=8)
    problem: Any = task.build(Seed(3))
    objective = Objective(problem.manifold, problem.objective, problem.gradient)
    found = Lrbfgs(tolerance=1e-10).minimise(objective, problem.initial_point())
    assert found.converged
    assert found.value < problem.objective(problem.initial_point()) - 0.01
