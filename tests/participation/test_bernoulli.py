import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.participation import Bernoulli, KnownProbability
from driftfold.participation.independent import IndependentResponses
from tests.participation.fleets import PUBLISHED, fleet_of


def drawn(model: Bernoulli, size: int, seed: int = 1) -> np.ndarray:
    attendance = model.attend(fleet_of(size, seed))
    assert isinstance(attendance, KnownProbability)
    return attendance.probability(np.arange(size))


def test_one_number_holds_for_all() -> None:
    assert drawn(Bernoulli(p=0.25), 5).tolist() == [0.25] * 5


def test_a_list_gives_each_client_its_own() -> None:
    assert drawn(Bernoulli(p=(0.1, 0.9)), 2).tolist() == [0.1, 0.9]


def test_a_list_read_from_a_file_does_as_well() -> None:
    assert drawn(Bernoulli(p=[0.1, 0.9]), 2).tolist() == [0.1, 0.9]  # type: ignore[arg-type]


def test_drawn_probabilities_are_uniform_between_the_bounds() -> None:
    p = drawn(Bernoulli(low=0.2, high=0.6), 4000)
    assert p.min() >= 0.2
    assert p.max() < 0.6
    # Kolmogorov's statistic of 4000 uniform draws exceeds 2 / sqrt(4000) with probability 7e-4.
    ranks = (np.arange(4000) + 0.5) / 4000
    assert np.abs((np.sort(p) - 0.2) / 0.4 - ranks).max() < 2 / np.sqrt(4000)


def test_a_client_keeps_its_probability_when_others_join() -> None:
    assert np.array_equal(drawn(Bernoulli(), 10), drawn(Bernoulli(), 1000)[:10])


def test_another_seed_draws_other_probabilities() -> None:
    assert not np.any(drawn(Bernoulli(), 50, seed=1) == drawn(Bernoulli(), 50, seed=2))


def test_certain_and_impossible_answers() -> None:
    attendance = Bernoulli(p=(1.0, 0.0)).attend(fleet_of(2))
    answers = np.array([attendance.responds(np.arange(2), t) for t in range(1000)])
    assert answers[:, 0].all()
    assert not answers[:, 1].any()


def test_answers_are_independent_between_clients_and_rounds() -> None:
    clients, rounds = np.arange(40), 4000
    attendance = Bernoulli(p=tuple(PUBLISHED)).attend(fleet_of(40))
    answers = np.array([attendance.responds(clients, t) for t in range(rounds)])
    z = (answers - PUBLISHED) / np.sqrt(PUBLISHED * (1 - PUBLISHED))
    between = (z.T @ z / rounds)[np.triu_indices(40, 1)]
    within = (z[1:] * z[:-1]).mean(axis=0)
    # Each is near Normal(0, 1 / rounds); 820 of them, so five standard deviations for the largest.
    assert np.abs(between).max() < 5 / np.sqrt(rounds)
    assert np.abs(within).max() < 5 / np.sqrt(rounds)
    # And together: the squares of 780 standard normal numbers add to 780 +- 4 sqrt(2 * 780).
    assert abs(rounds * np.sum(between**2) - 780) < 4 * np.sqrt(2 * 780)


def test_published_probabilities() -> None:
    assert PUBLISHED[:5].round(4).tolist() == [0.8147, 0.9058, 0.1270, 0.9134, 0.6324]
    assert round(PUBLISHED.mean(), 3) == 0.567
    assert round(PUBLISHED.min(), 4) == 0.0318
    assert round((1 / PUBLISHED).mean(), 2) == 5.13
    assert (PUBLISHED < 0.1).sum() == 6


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (Bernoulli(p=(0.5, 0.5)), "2 probabilities p for 3 clients"),
        (Bernoulli(p=1.5), "between 0 and 1"),
        (Bernoulli(p=(0.5, -0.1, 0.5)), r"-0.1 \(entry 1\)"),
        (Bernoulli(p=float("nan")), "between 0 and 1"),
        (Bernoulli(low=0.6, high=0.5), "set 0 <= low <= high <= 1"),
    ],
)
def test_what_does_not_fit_is_refused(model: Bernoulli, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        model.attend(fleet_of(3))


def test_the_attendance_reveals_its_probabilities() -> None:
    attendance = Bernoulli(p=0.5).attend(fleet_of(3))
    assert isinstance(attendance, IndependentResponses)
    assert attendance.probability(np.array([2, 2])).tolist() == [0.5, 0.5]
