from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from driftfold.fleet import Fleet
from driftfold.rng import Seed


def fleet() -> Fleet:
    return Fleet(Seed(1), samples=np.array([3, 4]), importance=np.array([0.5, 0.5]))


def test_the_size_is_the_number_of_clients() -> None:
    assert fleet().size == 2


def test_a_fleet_may_be_a_key() -> None:
    # Compared by identity: by value, arrays have no truth and no hash.
    one, other = fleet(), fleet()
    assert {one: "one", other: "other"}[one] == "one"
    assert one != other


def test_a_fleet_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        fleet().samples = np.zeros(2, dtype=np.int64)  # type: ignore[misc]
