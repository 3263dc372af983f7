"""A value's bits do not depend on where it stands in an array."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from driftfold.arrays import Array
from driftfold.lanes import in_whole_vectors

VALUES = np.random.default_rng(5).uniform(0.001, 3.0, 200)


@pytest.mark.parametrize("function", [np.sin, np.cos, np.exp, np.log, torch.sin, torch.log])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_position_does_not_matter(function: Callable[[Array], Array], dtype: type) -> None:
    values: Array = VALUES.astype(dtype)
    array = torch.asarray(values) if function in (torch.sin, torch.log) else values
    whole = np.asarray(in_whole_vectors(function, array))
    for start in (0, 1, 3, 50):
        for size in (1, 7, 37, 64):
            part = np.asarray(in_whole_vectors(function, array[start : start + size]))
            assert part.tobytes() == whole[start : start + size].tobytes()


def test_values_and_shapes() -> None:
    a, b = VALUES.reshape(10, 4, 5), VALUES[::-1].reshape(10, 4, 5)
    np.testing.assert_allclose(in_whole_vectors(np.arctan2, a, b), np.arctan2(a, b), rtol=1e-15)
    assert in_whole_vectors(np.sin, np.zeros((0, 3))).shape == (0, 3)
    assert in_whole_vectors(np.cos, np.float64(0.0)) == 1.0
