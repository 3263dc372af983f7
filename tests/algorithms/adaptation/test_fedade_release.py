"""What the released scripts do instead of the paper's algorithm, point by point."""

from dataclasses import replace

import numpy as np
import pytest

from driftfold.algorithms.adaptation import FedADERelease
from driftfold.errors import CapabilityError, SpecError
from driftfold.fleet import Fleet
from driftfold.nets import Mlp
from driftfold.nets.losses import entropy
from driftfold.rng import Seed
from driftfold.run import run
from driftfold.selection import Repeated, UniformSelection
from driftfold.spec import load_spec
from driftfold.spec.job import JobSpec
from driftfold.tasks import DriftingClassification
from driftfold.tasks.streams import Pretraining, StreamProblem
from driftfold.telemetry.memory import Memory
from driftfold.world.cadences import OnlineSteps
from driftfold.world.policy import Horizon
from tests.algorithms.adaptation.streams import Rounds, small

RULE = FedADERelease(low=0.1, high=0.9)


@pytest.fixture(scope="module")
def problem() -> StreamProblem:
    return small(net=Mlp((12, 8), batch_norm=True, dropout=0.3))


def test_steps_go_down_the_entropy_on_the_personal_part_first(problem: StreamProblem) -> None:
    """By hand, in mode "train", which moves the statistics with each pass; to 1e-12."""
    rounds = Rounds(RULE, problem)
    rounds.round(0)
    model, own = problem.model, problem.model.layout.where(["head"])
    view = problem.view(np.arange(4), np.zeros(4, int))
    theta = np.repeat(problem.source.start[None], 4, axis=0)
    theta = model.forward(theta, view.inputs, "train", view.masks(0)).moved
    for turn, which in enumerate((own, own, ~own | own, ~own | own)):
        made = model.forward(theta, view.inputs, "train", view.masks(1 + turn))
        gradient = made.pullback(entropy(made.logits)[1] / 20)
        theta = made.moved - 0.1 * np.where(which, gradient, 0)
    np.testing.assert_allclose(rounds.memory.theta, theta, rtol=0, atol=1e-12)


def test_the_first_signal_is_of_named_classes_in_training_mode(problem: StreamProblem) -> None:
    """S_unc = 1 - cos of two histograms, each of a pass with dropout and the batch's statistics."""
    rounds = Rounds(RULE, problem)
    histograms, told = [], None
    for step in (0, 1):
        view = problem.view(np.arange(4), np.full(4, rounds.rounds), step * problem.period)
        theta = rounds.memory.theta
        named = problem.model.forward(theta, view.inputs, "train", view.masks(0)).logits.argmax(-1)
        histograms.append(np.stack([np.bincount(row, minlength=10) for row in named]))
        told = rounds.round(step)[0].metrics
        assert step or told["signal_0"].tolist() == [0.0] * 4
    a, b = histograms
    cos = (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
    assert told is not None
    np.testing.assert_allclose(told["signal_0"], 1 - cos, rtol=0, atol=1e-12)


def test_the_second_signal_is_against_a_reference_that_follows(problem: StreamProblem) -> None:
    """Three steps by hand: mean features c, S = (1 - cos(r, c)) / 2, then r <- 0.9 r + 0.1 c."""
    rounds = Rounds(RULE, problem)
    reference = np.zeros((4, 8))
    for step in range(3):
        view = problem.view(np.arange(4), np.full(4, rounds.rounds), step * problem.period)
        theta = rounds.memory.theta
        theta = problem.model.forward(theta, view.inputs, "train", view.masks(0)).moved
        mean = problem.model.forward(theta, view.inputs).features.mean(axis=1)
        now = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        told = rounds.round(step)[0].metrics
        if step:
            expected = (1 - (reference * now).sum(1) / np.linalg.norm(reference, axis=1)) / 2
            np.testing.assert_allclose(told["signal_1"], expected, rtol=0, atol=1e-12)
        reference = 0.9 * reference + 0.1 * now if step else now
        reference /= np.linalg.norm(reference, axis=1, keepdims=True)
    rate = 0.1 + 0.8 * (told["signal_0"] + told["signal_1"]) / 2
    np.testing.assert_allclose(told["rate"], rate, rtol=0, atol=1e-15)


def test_later_rounds_of_a_step_compare_the_batch_with_itself() -> None:
    """Without dropout and steps that matter nothing moves, so S = 0 and the rate is the lowest."""
    rounds = Rounds(replace(RULE, low=1e-12, high=1e-12), small())
    for _ in range(3):
        assert rounds.round(0)[0].metrics["signal_0"].tolist() == [0.0] * 4
    assert (rounds.round(1)[0].metrics["signal_0"] > 0).all()
    np.testing.assert_allclose(rounds.round(1)[0].metrics["signal_0"], 0, atol=1e-12)
    assert rounds.memory.ledger.visits.tolist() == [2] * 4


def test_the_mean_never_comes_back() -> None:
    """Clients are as if alone, bit for bit, whatever the server has made of what they sent."""
    rounds, alone = Rounds(RULE, small()), Rounds(RULE, small())
    for step in range(3):
        rounds.round(step)
        alone.work(0, step)
        alone.rounds += 1
    assert rounds.memory.theta.tobytes() == alone.memory.theta.tobytes()
    assert np.abs(rounds.state.theta - alone.state.theta).max() > 1e-4
    assert rounds.phases[0].download_bytes() == 0
    assert rounds.phases[0].upload_bytes() == 8 * (12 * 64 + 12 + 8 * 12 + 8)


def test_the_mean_comes_back_where_that_is_mended() -> None:
    """With rates of 0 a client has what came down: the mean of what all sent before."""
    rounds = Rounds(replace(RULE, returns=True), small())
    sent = rounds.round(0)[0].payload.shared
    own = rounds.problem.model.layout.where(["head"])
    heads = rounds.memory.theta[:, own]
    still = Rounds(FedADERelease(low=0.0, high=1e-300, returns=True), rounds.problem)
    still.state, still.memory, still.rounds = rounds.state, rounds.memory, 1
    still.round(1)
    mean = np.broadcast_to(sent.mean(axis=0), sent.shape)
    np.testing.assert_allclose(still.memory.theta[:, ~own], mean, rtol=0, atol=1e-14)
    assert still.memory.theta[:, own].tobytes() == heads.tobytes()
    assert still.phases[0].download_bytes() == still.phases[0].upload_bytes() > 0


def test_accuracy_of_everyone_is_that_after_the_update(problem: StreamProblem) -> None:
    rounds = Rounds(RULE, problem)
    rounds.round(0)
    after = rounds.round(1)[0].metrics["accuracy_after"]
    told = RULE.evaluate(problem, rounds.state, (rounds.everyone, rounds.memory), problem.period)
    assert told["accuracy_everyone"] == pytest.approx(after.mean(), abs=1e-15)


@pytest.mark.parametrize(
    ("rounds", "least", "most"),
    [
        (10, 60, 71),
        pytest.param(30, 93, 99, marks=pytest.mark.slow),
        pytest.param(50, 97, 100, marks=pytest.mark.slow),
    ],
)
def test_with_the_same_lists_at_every_step_some_are_never_there(
    rounds: int, least: int, most: int
) -> None:
    """A tenth of 100 clients, by nine seeds; the ranges are those of nine other generators."""
    everyone = np.arange(100)
    met = []
    for seed in range(9):
        fleet, rule = (
            Fleet(Seed(seed), np.ones(100, int), np.full(100, 0.01)),
            Repeated(UniformSelection(), rounds),
        )
        state, seen = rule.begin(fleet), []
        for dispatch in range(2 * rounds):
            chosen, state = rule.choose(state, fleet, everyone, 10, dispatch)
            seen.append(chosen.tolist())
        assert seen[:rounds] == seen[rounds:]
        met.append(len(np.unique(seen)))
    # 100 (1 - 0.9^R) on average; four standard deviations of one seed, sqrt of 100 p (1 - p).
    p = 1 - 0.9**rounds
    assert abs(np.mean(met) - 100 * p) < 4 * np.sqrt(100 * p * (1 - p) / 9)
    assert least - 5 <= min(met) <= max(met) <= min(most + 5, 100)


def test_a_run_invites_the_same_cohorts_at_every_step() -> None:
    task = DriftingClassification(
        clients=20,
        batch=10,
        steps=3,
        net=Mlp((12, 8)),
        pretraining=Pretraining(epochs=1),
        keep_trained=False,
    )
    spec = JobSpec(
        task=task,
        algorithm=FedADERelease(),
        cadence=OnlineSteps(rounds=4, cohort=2, selection=Repeated(UniformSelection(), 4)),
        horizon=Horizon(rounds=12),
    )
    log = Memory()
    run(spec, sinks=(log,))
    cohorts = [r.detail["client"].tolist() for r in log.records if r.kind == "round" and r.detail]
    assert len(cohorts) == 12
    assert cohorts[:4] == cohorts[4:8] == cohorts[8:]
    assert len({tuple(cohort) for cohort in cohorts}) > 1


def test_the_preset_says_who_takes_part() -> None:
    cadence = load_spec("fedade-digits-label-release").cadence
    assert isinstance(cadence, OnlineSteps)
    assert (cadence.rounds, cadence.cohort, cadence.selection) == (
        10,
        2,
        Repeated(UniformSelection(), 10),
    )


def test_a_batch_without_statistics_is_refused() -> None:
    with pytest.raises(CapabilityError, match=r"raise task\.batch"):
        RULE.check(small(batch=1, net=Mlp((12, 8), batch_norm=True)))


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(SpecError, match="exchange them"):
        FedADERelease(low=1.0, high=0.1).check(small())
