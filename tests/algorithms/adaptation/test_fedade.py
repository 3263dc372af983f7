"""The paper's statements about Fed-ADE, one by one."""

from dataclasses import replace

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADE
from driftfold.errors import CapabilityError, SpecError
from driftfold.nets import Mlp
from driftfold.nets.losses import entropy
from driftfold.rates import Adaptive, FixedRate
from driftfold.risks import BbseSource, Entropy
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.spec.job import JobSpec
from driftfold.tasks import DriftingClassification, Pca
from driftfold.tasks.streams import Pretraining
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon
from tests.algorithms.adaptation.streams import Rounds, small, standing


def test_the_same_batch_twice_without_an_update_gives_the_smallest_rate() -> None:
    """Statement 1: S = 0 and eta = eta_min to 1e-6."""
    problem = standing(small(clients=2))
    rounds = Rounds(FedADE(rate=Adaptive(0.03, 1.0), shared_steps=0, personal_steps=0), problem)
    for step in (0, 1):
        figures = rounds.round(step)[0].metrics
        np.testing.assert_allclose(figures["signal"], 0, atol=1e-6)
        np.testing.assert_allclose(figures["rate"], 0.03, atol=1e-6)


def test_the_first_step_has_the_smallest_rate_and_later_ones_follow_the_signal() -> None:
    """Statement 5: eta is affine in S."""
    rounds = Rounds(FedADE(rate=Adaptive(0.1, 0.9)), small())
    assert rounds.round(0)[0].metrics["rate"].tolist() == [0.1] * 4
    figures = rounds.round(1)[0].metrics
    assert (figures["signal"] > 0).all()
    np.testing.assert_allclose(figures["rate"], 0.1 + 0.8 * figures["signal"], rtol=1e-15)


def test_equal_bounds_are_a_fixed_rate_bit_for_bit() -> None:
    """Statement 5."""
    task = DriftingClassification(
        clients=3,
        batch=10,
        steps=3,
        net=Mlp((12, 8)),
        pretraining=Pretraining(epochs=8, rate=1e-2),
        keep_trained=False,
    )
    models = []
    for rate in (Adaptive(0.2, 0.2), FixedRate(0.2)):
        algorithm = FedADE(risk=Entropy(), rate=rate)
        spec = JobSpec(
            task=task, algorithm=algorithm, cadence=OnlineSteps(), horizon=Horizon(rounds=3)
        )
        result = run(spec)
        assert result.counts["accepted"] == 18
        models.append(result.model_digest)
    assert models[0] == models[1]


def test_one_client_gets_back_what_it_sent() -> None:
    """Statement 6, C = 1; one rounding of psi + (psi_c - psi)."""
    rounds = Rounds(FedADE(), small(clients=1))
    sent = rounds.work(0, 0).payload
    rounds.take(0, sent)
    received = rounds.phases[1].broadcast(rounds.state, 0)
    np.testing.assert_allclose(received.shared, sent.shared[0], rtol=0, atol=1e-15)


def test_clients_with_equal_data_stay_equal() -> None:
    """Statement 6, bit for bit."""
    rounds = Rounds(FedADE(risk=Entropy()), standing(small(clients=3)))
    for step in range(3):
        rounds.round(step)
    personal = rounds.memory.personal
    assert personal.tobytes() == np.tile(personal[0], (3, 1)).tobytes()


def test_the_mean_reaches_the_clients() -> None:
    """Statement 6: the released scripts look for parameters by names that do not exist."""
    rounds = Rounds(FedADE(risk=Entropy(), rate=FixedRate(0.3)), small())
    own = rounds.problem.model.layout.where(["head"])
    sent = rounds.work(0, 1).payload.shared
    before = rounds.memory.personal
    rounds.take(0, rounds.phases[0].payload_kind(sent))
    mean = rounds.phases[1].broadcast(rounds.state, 0).shared
    np.testing.assert_allclose(mean, sent.mean(axis=0), atol=1e-14)
    assert (np.abs(mean - sent).max(axis=1) > 1e-6).all()
    rounds.work(1, 1)
    after = rounds.memory.personal
    assert (np.abs(after - before).max(axis=1) > 0).all()
    assert len({row.tobytes() for row in after}) == len(after)
    # The steps on phi were taken under the mean: by hand, from phi and the mean, they are the same.
    problem = rounds.problem
    theta = np.empty((4, problem.model.layout.size))
    theta[:, ~own], theta[:, own] = mean, before
    view = problem.view(rounds.everyone, rounds.everyone * 0, problem.period)
    for _ in range(2):
        made = problem.model.forward(theta, view.inputs)
        gradient = made.pullback(entropy(made.logits)[1] / 20)
        theta[:, own] -= 0.3 * gradient[:, own]
    np.testing.assert_allclose(theta[:, own], after, rtol=0, atol=1e-13)


def test_rounds_of_one_step_share_its_rate_and_belief() -> None:
    rounds = Rounds(FedADE(), small())
    rounds.round(0)
    first = rounds.round(1)[0].metrics
    belief = rounds.memory.belief
    again = rounds.round(1)[0].metrics
    assert again["rate"].tolist() == first["rate"].tolist()
    assert again["signal"].tolist() == first["signal"].tolist() != [0.0] * 4
    assert rounds.memory.belief.tobytes() == belief.tobytes()
    assert rounds.memory.ledger.visits.tolist() == [2] * 4
    assert rounds.memory.ledger.seen.tolist() == [40] * 4


@pytest.mark.parametrize("recompute", [False, True])
def test_a_signal_of_every_round_compares_the_batch_with_itself(recompute: bool) -> None:
    """Later rounds see the model's own change, and nothing where the past is embedded anew."""
    rule = FedADE(Entropy(), Adaptive(0.01, 0.05, signal_every="round", recompute=recompute))
    rounds = Rounds(rule, small())
    usual = Rounds(FedADE(Entropy(), Adaptive(0.01, 0.05, recompute=recompute)), rounds.problem)
    rates = []
    for step in range(2):
        usual.state, usual.memory = rounds.state, rounds.memory
        first, same = rounds.round(step)[0].metrics, usual.round(step)[0].metrics
        assert first["signal"].tobytes() == same["signal"].tobytes()
        rates.append(first["rate"])
        for _ in range(2):
            later = rounds.round(step)[0].metrics
            assert (later["signal"] <= (1e-15 if recompute else 0.1)).all()
            assert recompute or (later["signal"] > 1e-9).all()
            np.testing.assert_allclose(later["rate"], 0.01 + 0.04 * later["signal"], rtol=1e-15)
            rates.append(later["rate"])
    ledger = rounds.memory.ledger
    assert (ledger.visits.tolist(), ledger.rounds.tolist()) == ([2] * 4, [6] * 4)
    np.testing.assert_allclose(ledger.rates, np.sum(rates, axis=0), rtol=1e-12)


def test_everything_personal_is_adapting_alone() -> None:
    rounds = Rounds(FedADE(risk=Entropy(), personal=("body", "head")), small())
    rounds.round(0)
    assert rounds.state.theta.tobytes() == rounds.problem.source.start.tobytes()
    assert rounds.phases[0].download_bytes() == rounds.phases[0].upload_bytes() == 0


def test_bytes_are_those_of_the_shared_part() -> None:
    first, second = FedADE().phases(small())
    body = 8 * (12 * 64 + 12 + 8 * 12 + 8)
    assert (first.download_bytes(), first.upload_bytes()) == (body, body)
    assert (second.download_bytes(), second.upload_bytes()) == (body, 0)
    assert first.samples(np.arange(2), 0).tolist() == [2 * 30.0] * 2  # E1 (m K)
    still, _ = FedADE(shared_steps=0).phases(small())
    assert still.samples(np.arange(2), 0).tolist() == [0.0] * 2


def test_weights_that_do_not_sum_to_one_count_ways() -> None:
    """With 1 / (p N) the server's step is unbiased; a plain weighted sum would shrink psi."""
    rounds = Rounds(FedADE(risk=Entropy(), rate=FixedRate(0.3)), small())
    start = rounds.phases[0].broadcast(rounds.state, 0).shared
    sent = rounds.work(0, 0).payload
    rounds.take(0, sent, weights=np.full(4, 0.5))
    moved = rounds.phases[0].broadcast(rounds.state, 0).shared - start
    np.testing.assert_allclose(moved, 2 * (sent.shared - start).mean(axis=0), atol=1e-13)


def test_other_tasks_and_unknown_names_are_refused() -> None:
    with pytest.raises(CapabilityError, match="drifting_classification"):
        FedADE().check(Pca().build(Seed(1)))
    with pytest.raises(SpecError, match="did you mean 'head'"):
        FedADE(personal=("haed",)).check(small())


def test_a_risk_that_cannot_be_had_is_told_before_the_run() -> None:
    lazy = small(pretraining=Pretraining(epochs=1, rate=1e-6))
    with pytest.raises(Exception, match="confusion matrix has no inverse"):
        FedADE(risk=BbseSource()).check(lazy)
    FedADE(risk=Entropy()).check(lazy)


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(SpecError, match="exchange them"):
        FedADE(rate=Adaptive(low=1.0, high=0.1)).memory(small())
    assert replace(FedADE(), personal_steps=0).personal_steps == 0


def test_who_misses_the_second_exchange_is_not_counted_after_it() -> None:
    rounds = Rounds(FedADE(), small())
    rounds.round(0)
    rounds.work(0, 1)
    told = FedADE().evaluate(
        rounds.problem, rounds.state, (rounds.everyone, rounds.memory), rounds.problem.period
    )
    ledger = rounds.memory.ledger
    assert told["accuracy_after"] == ledger.after.sum() / (4 * 20)
    assert told["accuracy_visits"] == ledger.before.sum() / (2 * 4 * 20)
