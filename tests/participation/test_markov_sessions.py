import numpy as np
import pytest

from driftfold.participation import MarkovSessions
from driftfold.participation.blocks import InBlocks
from tests.participation.fleets import fleet_of
from tests.participation.intervals import from_blocks


def test_who_is_always_or_never_on() -> None:
    attendance = MarkovSessions(p=(0.0, 1.0)).attend(fleet_of(2))
    both = np.arange(2)
    for t in (0.0, 1e6):
        assert attendance.available(both, t).tolist() == [False, True]
        assert attendance.session_end(both, t).tolist() == [t, np.inf]
        assert attendance.next_on(both, t).tolist() == [np.inf, t]


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_lengths_are_exponential_and_shares_stationary(p: float) -> None:
    size, mean = 3000, 100.0
    attendance = MarkovSessions(p=p, session=mean, spread=0.0).attend(fleet_of(size))
    everyone = np.arange(size)
    for t in (0.0, 30.0, 1e6):
        # Five standard errors of a share of 3000 independent clients.
        share = attendance.available(everyone, t).mean()
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / size)
    assert isinstance(attendance, InBlocks)
    on: list[float] = []
    off: list[float] = []
    for life in from_blocks(attendance, 60, 100 * mean / (p * (1 - p))):
        for n, length in enumerate(np.diff(life.times).tolist()):
            (off if life.on ^ bool(n % 2) else on).append(length)
    for lengths, expected in ((on, mean), (off, mean * (1 - p) / p)):
        # Kolmogorov's statistic exceeds 2 / sqrt(n) with probability 7e-4. Observation ends after
        # about a hundred lengths, which shortens them by about a hundredth.
        ranks = (np.arange(len(lengths)) + 0.5) / len(lengths)
        law = 1 - np.exp(-np.sort(lengths) / expected)
        assert np.abs(law - ranks).max() < 2 / np.sqrt(len(lengths)) + 0.02


@pytest.mark.slow
def test_rates_differ_between_clients() -> None:
    attendance = MarkovSessions(p=0.5, session=100.0, spread=1.0).attend(fleet_of(2000))
    assert isinstance(attendance, InBlocks)
    # length = mean / bound = 2 m (1 - p) = m.
    lengths = attendance.process.length(np.arange(2000))
    assert abs(np.log(lengths).std() - 1.0) < 0.1
    assert abs(np.median(lengths) - 100.0) < 15.0
