"""Clients that keep their own bodies: the same steps on the same parts, without the averaging."""

from dataclasses import replace

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE, Hedge, SimilarPeers
from driftfold.errors import SpecError
from driftfold.nets.losses import entropy
from driftfold.rates import FixedRate
from driftfold.risks import Entropy
from driftfold.trees import leaves
from tests.algorithms.adaptation.streams import Rounds, small

RULES = [FedADE(risk=Entropy(), rate=FixedRate(0.3)), Hedge(Entropy(), rates=2)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_the_first_exchange_is_that_of_the_federation(rule: FedADE | Hedge) -> None:
    """All start from theta_0, so what a client then keeps is what it would have sent, bit for bit,
    and so are its predictions and its head; with the second exchange the ways part."""
    together, alone = Rounds(rule, small()), Rounds(replace(rule, federated=False), small())
    sent, kept = together.work(0, 0), alone.work(0, 0)
    assert alone.memory.shared.tobytes() == sent.payload.shared.tobytes()
    for name, figure in sent.metrics.items():
        assert kept.metrics[name].tobytes() == figure.tobytes(), name
    together.take(0, sent.payload)
    alone.take(0, kept.payload)
    together.work(1, 0)
    body = alone.memory.shared.copy()
    alone.work(1, 0)
    assert alone.memory.shared.tobytes() == body.tobytes()
    heads = [leaves(rounds.memory) for rounds in (together, alone)]
    assert any(np.abs(a - b).max() > 1e-6 for a, b in zip(*heads, strict=True) if a.size == b.size)


def test_steps_alone_by_hand() -> None:
    """E1 = 2 steps on everything, E2 = 3 on the head alone, from each client's own parameters."""
    rule = FedADE(Entropy(), FixedRate(0.3), personal_steps=3, federated=False)
    rounds = Rounds(rule, small())
    problem, own = rounds.problem, rounds.problem.model.layout.where(["head"])
    theta = np.repeat(problem.source.start[None], 4, axis=0)
    for step in range(2):
        view = problem.view(rounds.everyone, rounds.everyone * 0, step * problem.period)
        rounds.round(step)
        for turn in range(5):
            made = problem.model.forward(theta, view.inputs)
            gradient = made.pullback(entropy(made.logits)[1] / 20)
            theta = theta - 0.3 * np.where((turn < 2) | own, gradient, 0)
    np.testing.assert_allclose(rounds.memory.shared, theta[:, ~own], rtol=0, atol=1e-13)
    np.testing.assert_allclose(rounds.memory.personal, theta[:, own], rtol=0, atol=1e-13)
    view = problem.view(rounds.everyone, rounds.everyone * 0, problem.period)
    said = rule.scores(problem, rounds.state, rounds.memory, view)
    np.testing.assert_allclose(said, problem.model.forward(theta, view.inputs).logits, atol=1e-11)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_nothing_is_sent_and_as_many_gradients_are_counted(rule: FedADE | Hedge) -> None:
    rounds = Rounds(replace(rule, federated=False), small())
    rounds.round(0)
    assert rounds.state.theta.tobytes() == rounds.problem.source.start.tobytes()
    for alone, usual in zip(rounds.phases, rule.phases(rounds.problem), strict=True):
        assert alone.download_bytes() == alone.upload_bytes() == 0 < usual.download_bytes()
        assert (
            alone.samples(rounds.everyone, 0).tolist() == usual.samples(rounds.everyone, 0).tolist()
        )


def test_one_client_is_alone_in_a_federation_too() -> None:
    """To the rounding of psi + (psi_c - psi)."""
    rule = RULES[0]
    assert isinstance(rule, FedADE)
    together, alone = (Rounds(r, small(clients=1)) for r in (rule, replace(rule, federated=False)))
    for step in range(3):
        together.round(step)
        alone.round(step)
    np.testing.assert_allclose(alone.memory.personal, together.memory.personal, rtol=0, atol=1e-12)


def test_peers_without_a_federation_are_refused() -> None:
    with pytest.raises(SpecError, match=r"algorithm\.federated = true"):
        SimilarPeers(FedADE(federated=False)).check(small())
