"""Messages of compressed vectors: their bytes, what they decode to, and that rounding is fair."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Array
from driftfold.compressors import Compressor, Quantiser, RankK, TopK
from driftfold.compressors.bit_packing import pack, packed_size, unpack
from driftfold.errors import CapabilityError
from driftfold.manifolds import (
    Euclidean,
    Framed,
    GeooptSphere,
    Grassmann,
    Lorentz,
    Manifold,
    Power,
    Product,
    Spd,
    Sphere,
    Stiefel,
)
from driftfold.rng import Seed
from driftfold.trees import leaves, nbytes, rows
from tests.manifolds.points import points, tangents

SPACES: list[Manifold] = [
    Euclidean(3, 4),
    Sphere(7),
    Stiefel(3, 8),
    Stiefel(2, 5, metric="canonical"),
    Grassmann(2, 6),
    Spd(4),
    Lorentz(5),
    Power(Lorentz(3), 6),
    Product({"a": Sphere(3), "b": Spd(2)}),
]
RULES: list[Compressor] = [
    Quantiser(),
    Quantiser(levels=1, scale="max"),
    Quantiser(levels=300),
    TopK(2),
    TopK(0.3),
    TopK(1.0),
    RankK(1),
]
FITTING = [
    (rule, space)
    for rule in RULES
    for space in SPACES
    if not isinstance(rule, RankK)
    or (len(space.shape) == 2 and sum(space.shape) < prod(space.shape))
]


def draw_for(shape: tuple[int, ...]) -> Any:
    return lambda count: Seed(5).stream("draw").uniform(np.arange(prod(shape)), 0, count)


@settings(max_examples=25)
@given(st.integers(1, 17), st.lists(st.integers(0, 2**17 - 1), max_size=20))
def test_packing_is_undone_and_as_small_as_can_be(bits: int, numbers: list[int]) -> None:
    small = np.array(numbers, dtype=np.int64) % 2**bits
    packed = pack(small, bits)
    assert packed.nbytes == packed_size(len(small), bits) == -(-len(small) * bits // 8)
    np.testing.assert_array_equal(unpack(packed, bits, len(small)), small)


@pytest.mark.parametrize(("rule", "space"), FITTING, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_messages_have_the_declared_size_and_decode_to_tangent_vectors(
    rule: Compressor, space: Manifold, dtype: Any
) -> None:
    x = points(space, 9).astype(dtype)
    u = tangents(space, x, 0.4).astype(dtype)
    rule.check(space)
    message = rule.encode(space, x, u, draw_for((9,)))
    assert type(message) is rule.code
    assert nbytes(message) == 9 * rule.message_bytes(space, np.dtype(dtype).itemsize)
    decoded = rule.decode(space, x, message)
    assert decoded.shape == u.shape
    assert decoded.dtype == dtype
    assert space.off_tangent(x, decoded).max() < (1e-13 if dtype is np.float64 else 1e-5)
    for i in (0, 8):  # nobody's message depends on who else sends one
        one = rows(message, i)
        np.testing.assert_array_equal(rule.decode(space, x[i], one), decoded[i])


def test_the_formulas_of_the_sizes() -> None:
    stiefel = Stiefel(5, 100)  # 500 numbers, 485 dimensions
    assert Quantiser(levels=7).message_bytes(stiefel, 8) == 8 + 243  # 485 half bytes
    assert Quantiser(levels=127).message_bytes(stiefel, 4) == 4 + 485
    assert TopK(10).message_bytes(stiefel, 8) == 10 * (8 + 2)  # numbers up to 485 take two bytes
    assert TopK(0.1).message_bytes(Sphere(257), 4) == 26 * (4 + 1)
    assert TopK(0.07).message_bytes(Sphere(101), 8) == 7 * (8 + 1)  # 0.07 * 100 is 7 and a bit
    assert TopK(1e-12).message_bytes(Sphere(101), 8) == 8 + 1
    assert RankK(2).message_bytes(stiefel, 8) == 2 * 105 * 8


@pytest.mark.parametrize("scale", ["euclidean", "max"])
@pytest.mark.parametrize("space", [Stiefel(2, 4), Spd(2), Lorentz(3)], ids=repr)
def test_the_quantiser_is_fair(space: Framed, scale: Any) -> None:
    """The mean of many messages is u to 4 standard errors; the paper's bound on their variance."""
    many, rule = 4_000, Quantiser(levels=2, scale=scale)
    x = points(space, 1)
    u = tangents(space, x, 0.7)
    wide = np.broadcast_to(u, (many, *space.shape))
    decoded = rule.decode(space, x, rule.encode(space, x, wide, draw_for((many,))))
    off = space.coordinates(x, decoded) - space.coordinates(x, u)
    errors = np.sqrt(off.var(axis=0) / many)
    assert (abs(off.mean(axis=0)) <= 4 * errors + 1e-15).all()
    n, length = space.dimension, float(space.norm(x, u)[0])
    bound = min(n / rule.levels**2, n**0.5 / rule.levels) * length**2
    assert 0 < (off**2).sum(axis=-1).mean() <= bound


def test_the_largest_are_kept() -> None:
    space, x = Spd(3), points(Spd(3), 5)
    u = tangents(space, x, 1.0)
    c = space.coordinates(x, u)
    got = space.coordinates(
        x, TopK(2).decode(space, x, TopK(2).encode(space, x, u, draw_for((5,))))
    )
    for wanted, kept in zip(c, got, strict=True):
        order = np.argsort(-abs(wanted))
        np.testing.assert_allclose(kept[order[:2]], wanted[order[:2]], rtol=1e-14)
        np.testing.assert_allclose(kept[order[2:]], 0, atol=1e-15)


def test_rank_k_is_the_nearest_matrix_of_its_rank() -> None:
    space = Euclidean(6, 8)
    u = tangents(space, points(space, 3), 1.0)
    off = u - RankK(2).decode(space, 0 * u, RankK(2).encode(space, 0 * u, u, draw_for((3,))))
    wanted = np.sqrt((np.linalg.svd(u)[1][:, 2:] ** 2).sum(-1))  # Eckart and Young
    np.testing.assert_allclose(space.norm(u, off), wanted, rtol=1e-12)


@pytest.mark.parametrize("rule", [Quantiser(), Quantiser(scale="max"), TopK(1), RankK(1)], ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_broken_vector_gives_a_message_that_shows_it(rule: Compressor, bad: float) -> None:
    space = Euclidean(3, 4)
    u: Array = np.ones((2, 3, 4))
    u[0, 1, 2] = bad
    message = rule.encode(space, np.zeros_like(u), u, draw_for((2,)))
    floats = [leaf for leaf in leaves(message) if leaf.dtype.kind == "f"]
    assert not all(np.isfinite(leaf[0]).all() for leaf in floats)
    assert all(np.isfinite(leaf[1]).all() for leaf in floats)


def test_zero_stays_zero() -> None:
    space = Euclidean(3, 4)
    u = np.zeros((2, 3, 4))
    for rule in RULES:
        decoded = rule.decode(space, u, rule.encode(space, u, u, draw_for((2,))))
        np.testing.assert_array_equal(decoded, 0)


@pytest.mark.parametrize(
    ("rule", "space", "words"),
    [
        (Quantiser(), GeooptSphere(4), "orthonormal frame, which GeooptSphere has not"),
        (TopK(), GeooptSphere(4), "orthonormal frame"),
        (RankK(1), Sphere(4), r"a point of Sphere has shape \(4,\)"),
        (RankK(2), Stiefel(2, 9), "factors of rank 2 have 22 numbers"),
    ],
)
def test_what_cannot_be_coded_is_refused(rule: Compressor, space: Manifold, words: str) -> None:
    with pytest.raises(CapabilityError, match=words):
        rule.check(space)
