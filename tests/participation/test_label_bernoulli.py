import numpy as np
import pytest
from scipy import stats

from driftfold.arrays import Floats
from driftfold.errors import CapabilityError
from driftfold.participation import KnownProbability, LabelBernoulli
from driftfold.participation.dirichlet import dirichlet
from driftfold.rng import Seed
from tests.participation.fleets import fleet_of


def probabilities(model: LabelBernoulli, shares: Floats, seed: int = 1) -> Floats:
    attendance = model.attend(fleet_of(len(shares), seed, shares))
    assert isinstance(attendance, KnownProbability)
    return attendance.probability(np.arange(len(shares)))


def test_p_is_linear_in_the_shares() -> None:
    pure = np.eye(4)
    mixed = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    model = LabelBernoulli(alpha=5.0, mean=0.2, floor=0.0)
    u = probabilities(model, pure)
    np.testing.assert_allclose(u.mean(), 0.2, rtol=1e-12)
    np.testing.assert_allclose(probabilities(model, mixed), mixed @ u, rtol=1e-12)


def test_floor_and_one_bound_it() -> None:
    p = np.concatenate(
        [probabilities(LabelBernoulli(mean=0.5, floor=0.05), np.eye(10), s) for s in range(50)]
    )
    assert p.min() == 0.05
    assert p.max() == 1.0


def test_data_without_labels_are_refused() -> None:
    with pytest.raises(CapabilityError, match="these data have none; use labelled data"):
        LabelBernoulli().attend(fleet_of(3))


def test_a_client_keeps_its_probability_when_others_join() -> None:
    shares = np.random.default_rng(0).dirichlet(np.ones(10), 300)
    model = LabelBernoulli(alpha=1.0)
    assert np.array_equal(probabilities(model, shares)[:7], probabilities(model, shares[:7]))


@pytest.mark.parametrize("alpha", [0.1, 4.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_entries_of_a_dirichlet_vector_follow_their_beta_law(alpha: float) -> None:
    size = 5
    first = np.array([dirichlet(Seed(s), "test", size, alpha)[0] for s in range(1500)])
    # A marginal of Dirichlet(alpha, ..., alpha) is Beta(alpha, (size - 1) alpha).
    law = stats.beta(alpha, (size - 1) * alpha)
    assert stats.kstest(first, law.cdf).pvalue > 1e-4


def test_a_tiny_concentration_leaves_one_class() -> None:
    u = dirichlet(Seed(5), "test", 10, 1e-4)
    assert np.isfinite(u).all()
    np.testing.assert_allclose([u.max(), u.sum()], 1.0, rtol=1e-12)
