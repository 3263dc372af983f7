"""Onto the simplex."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftfold.label_shift import clip_renormalise, simplex_projection
from driftfold.label_shift.simplex import fixed

VECTORS = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 8)),
                 elements=st.floats(-5, 5, allow_subnormal=False))  # fmt: skip


def test_published_numbers() -> None:
    x = np.array([0.6, 0.5, -0.1])
    assert np.allclose(simplex_projection(x), [0.55, 0.45, 0], atol=1e-15)
    assert np.allclose(clip_renormalise(x), [6 / 11, 5 / 11, 0], atol=1e-15)
    assert fixed(x, "none") is x


@settings(max_examples=25)
@given(VECTORS)
def test_the_projection_is_the_nearest_point(x: np.ndarray) -> None:
    p = simplex_projection(x)
    assert (p >= 0).all()
    assert np.abs(p.sum(axis=-1) - 1).max() < 1e-12
    # The variational inequality (x - p).(q - p) <= 0 for every q: its vertices suffice.
    away = x - p
    assert (away - (away * p).sum(axis=-1, keepdims=True)).max() < 1e-12


@settings(max_examples=25)
@given(VECTORS)
def test_points_of_the_simplex_stay(x: np.ndarray) -> None:
    p = clip_renormalise(x)
    assert np.abs(p.sum(axis=-1) - 1).max() < 1e-12
    assert np.abs(simplex_projection(p) - p).max() < 1e-15 * 8
    assert np.abs(clip_renormalise(p) - p).max() < 1e-15 * 8


def test_nothing_left_is_uniform() -> None:
    assert clip_renormalise(np.array([-1.0, 0.0])).tolist() == [0.5, 0.5]
