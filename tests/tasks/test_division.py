import numpy as np
import pytest

from driftfold.data import DirichletLabels, GaussianBlocks, GaussianClasses, Iid, Natural
from driftfold.errors import SpecError
from driftfold.rng import Seed
from driftfold.tasks.division import divide

CLASSES = GaussianClasses(classes=4, features=3, samples=50)


def test_natural_owners_give_the_number_of_clients() -> None:
    blocks, fleet = divide(GaussianBlocks(6, 5, 2), Natural(), "natural", "clients", Seed(1))
    assert blocks.x.shape == (6, 5, 2)
    assert fleet.size == 6
    assert fleet.label_shares is None
    assert fleet.seed == Seed(1)


def test_clients_count_alike_or_by_their_samples() -> None:
    partition = DirichletLabels(alpha=0.5)
    _, alike = divide(CLASSES, partition, 5, "clients", Seed(1))
    assert alike.importance.tolist() == [0.2] * 5
    _, sized = divide(CLASSES, partition, 5, "samples", Seed(1))
    assert np.array_equal(sized.importance, sized.samples / 50)
    assert len(set(sized.samples.tolist())) > 1
    assert sized.label_shares is not None
    assert sized.label_shares.shape == (5, 4)


def test_an_unknown_number_of_clients_is_refused() -> None:
    with pytest.raises(SpecError, match="set `clients` of the task"):
        divide(CLASSES, Iid(), "natural", "clients", Seed(1))


def test_a_client_without_samples_may_only_count_by_its_samples() -> None:
    partition = DirichletLabels(alpha=0.01, minimum=0)
    with pytest.raises(SpecError, match=r"of 30 clients have no sample .*weighting = 'samples'"):
        divide(CLASSES, partition, 30, "clients", Seed(1))
    _, fleet = divide(CLASSES, partition, 30, "samples", Seed(1))
    assert (fleet.importance[fleet.samples == 0] == 0).all()
    assert np.isclose(fleet.importance.sum(), 1)
