"""Sums and factors of the library have the bits of the NumPy form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Floats
from driftfold.combinations import aggregation
from driftfold.manifolds import small_matrices
from driftfold.native import Exact, exact

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def fast() -> Exact:
    found = exact()
    if found is None:
        pytest.skip("there are no kernels here")
    return found


def same_bits(one: Floats, other: Floats) -> bool:
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


@settings(deadline=None)
@given(SEEDS, st.integers(1, 60), st.integers(1, 7), st.integers(1, 70), st.floats(-12, 12))
def test_weighted_sums(fast: Exact, seed: int, count: int, r: int, d: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(count) * 10 ** rng.uniform(-9, 9, count)
    vectors = rng.standard_normal((count, r, d)) * 10.0**scale
    vectors[rng.random(vectors.shape) < 0.1] = -0.0
    if r * d == 1:  # which NumPy sums in pairs
        vectors = np.concatenate([vectors, vectors], axis=1)
    plain = aggregation.weighted_sum(weights, np.asfortranarray(vectors))
    assert same_bits(fast.weighted_sum(weights, vectors), plain)
    assert same_bits(aggregation.weighted_sum(weights, vectors), plain)


def test_infinite_and_missing_numbers_are_summed_as_numpy_does(fast: Exact) -> None:
    vectors = np.array([[np.inf, 1.0, np.nan, 1e308], [-np.inf, 2.0, 3.0, 1e308]])
    weights = np.array([2.0, 3.0])
    with np.errstate(all="ignore"):
        plain = (weights[:, None] * vectors).sum(axis=0)
    assert np.array_equal(fast.weighted_sum(weights, vectors), plain, equal_nan=True)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 12), st.floats(0, 12))
def test_factors_alone_are_those_of_a_batch(fast: Exact, seed: int, r: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((r, r)) * 10.0 ** rng.uniform(-spread / 2, spread / 2, r)
    gram = root @ root.T
    batch = small_matrices._eliminate(np.stack([np.eye(r), gram, 2 * gram]))[1]
    alone = fast.inverse_cholesky(gram)
    if alone is None:
        assert not np.isfinite(batch).all()
    else:
        assert same_bits(np.tril(alone), np.tril(batch))
        assert np.array_equal(alone, batch)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_there_is_no_factor_of_what_is_not_positive(fast: Exact, bad: float) -> None:
    gram = np.diag([1.0, bad, 2.0])
    assert fast.inverse_cholesky(gram) is None
    assert not np.isfinite(small_matrices.inverse_cholesky(gram)).all()
