"""Addressed randomness: distributions, addresses, independence of company, and refusals.

The statistical tests are of fixed seeds, so they cannot flicker; each would have passed for all but
one seed in 10^4 (p >= 1e-4) if the generator is sound.
"""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from driftfold.errors import SpecError
from driftfold.philox import philox
from driftfold.rng import Seed, Stream

STREAM = Seed(20261129).stream("test")
SOUND = 1e-4

DRAWS = {
    "words": lambda s, c, v: s.words(c, v, 7),
    "uniform": lambda s, c, v: s.uniform(c, v, 5),
    "normal": lambda s, c, v: s.normal(c, v, 5),
    "normal32": lambda s, c, v: s.normal32(c, v, 5),
    "integers": lambda s, c, v: s.integers(c, v, 5, 1000),
    "dense subsets": lambda s, c, v: s.subsets(c, v, 20, 7),
    "sparse subsets": lambda s, c, v: s.subsets(c, v, 1000, 7),
}


@pytest.fixture(params=DRAWS)
def draw(request: pytest.FixtureRequest) -> Any:
    return DRAWS[request.param]


def test_address_is_the_counter_and_the_seed_is_the_key() -> None:
    seed = 0x299F31D0A4093822
    stream = Seed(seed).stream("batches")
    purpose = 0x603A5EA5  # `printf batches | b2sum -l 32`, read as little-endian
    client, visit = np.array([5], np.uint64), np.array([9], np.uint64)
    expected = philox(seed, client, visit, purpose, 2)[0]
    assert stream.words(5, 9, 8).tolist() == expected.tolist()


def test_every_part_of_the_address_matters(draw: Any) -> None:
    drawn = [
        draw(Seed(seed).stream(purpose), client, visit).tobytes()
        for seed in (1, 1 + 2**32, 1 + 2**63)
        for purpose in ("a", "b")
        for client in (0, 1, 2**32 - 1)
        for visit in (0, 1, 2**32 - 1)
    ]
    assert len(set(drawn)) == len(drawn) == 54


def test_company_and_order_do_not_matter(draw: Any) -> None:
    clients = np.random.default_rng(3).permutation(1000)[:300]
    visits = np.arange(300) % 17
    whole = draw(STREAM, clients, visits)
    for size in (1, 7, 37, 64):
        for start in (0, 3, 300 - size):
            rows = slice(start, start + size)
            part = draw(STREAM, clients[rows], visits[rows])
            assert part.tobytes() == whole[rows].tobytes()
    assert draw(STREAM, clients[::-1], visits[::-1])[::-1].tobytes() == whole.tobytes()


def test_batch_shapes_broadcast(draw: Any) -> None:
    grid = draw(STREAM, np.arange(3)[:, None], np.arange(4))
    assert grid.shape[:2] == (3, 4)
    assert draw(STREAM, 2, 3).tobytes() == grid[2, 3].tobytes()
    assert draw(STREAM, 2, 3).ndim == 1
    assert draw(STREAM, np.arange(3), 1).tobytes() == grid[:, 1].tobytes()
    assert draw(STREAM, np.arange(0), 1).shape[0] == 0


@given(st.integers(0, 40), st.integers(0, 40))
def test_fewer_are_a_prefix(some: int, more: int) -> None:
    few, many = sorted((some, more))
    clients = np.arange(3)
    for ask in (
        STREAM.words,
        STREAM.uniform,
        STREAM.normal,
        STREAM.normal32,
        lambda c, v, n: STREAM.integers(c, v, n, 77),
    ):
        assert np.array_equal(ask(clients, 5, few), ask(clients, 5, many)[:, :few])


def test_uniform_has_53_bits_and_the_right_law() -> None:
    drawn = STREAM.uniform(np.arange(200), 1, 1000)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    scaled = np.ldexp(drawn, 53).astype(np.uint64)
    assert np.array_equal(scaled, np.ldexp(drawn, 53))
    ones = [(scaled >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(53)]
    # 2e5 fair bits: standard deviation 0.0011, 53 of them within 5 of it.
    assert np.abs(np.array(ones) - 0.5).max() < 0.0056
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > SOUND
    # neighbours: clients, visits and positions are independent of each other
    table = STREAM.uniform(np.arange(300), np.arange(300), 300)
    for shifted in (np.roll(table, 1, 0), np.roll(table, 1, 1)):
        assert abs(np.corrcoef(table.ravel(), shifted.ravel())[0, 1]) < 5 / 300


@pytest.mark.parametrize("ask", [STREAM.normal, STREAM.normal32])
def test_normal_has_the_right_law(ask: Any) -> None:
    drawn = ask(np.arange(100), 2, 2000)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > SOUND
    assert (
        stats.kstest((drawn[:, ::2] ** 2 + drawn[:, 1::2] ** 2).ravel(), "chi2", (2,)).pvalue
        > SOUND
    )
    tail = int((np.abs(drawn) > 4).sum())
    assert stats.binomtest(tail, drawn.size, 2 * stats.norm.sf(4)).pvalue > SOUND


def test_normal_is_box_muller_of_the_uniforms() -> None:
    uniform = STREAM.uniform(np.arange(50), 3, 20)
    radius, angle = np.sqrt(-2 * np.log1p(-uniform[:, ::2])), 2 * np.pi * uniform[:, 1::2]
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).reshape(50, 20)
    # log1p against log(1 - u), where 1 - u is exact: a few units in the last place
    np.testing.assert_allclose(
        STREAM.normal(np.arange(50), 3, 20), expected, rtol=1e-14, atol=1e-15
    )


def test_normal32_is_box_muller_of_the_raw_words_of_a_generator() -> None:
    """In single precision: rounding of angles up to 2 pi and of radii up to 5.8."""
    key = STREAM.words(6, 3, 4).astype("<u4").tobytes()
    raw = np.random.Philox(key=int.from_bytes(key, "little")).random_raw(500)
    first, second = (raw >> np.uint64(40)) / 2**24, raw % np.uint64(2**24) / 2**24
    radius, angle = np.sqrt(-2 * np.log1p(-first)), 2 * np.pi * second
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).ravel()
    drawn = STREAM.normal32(6, 3, 1000)
    assert drawn.dtype == np.float32
    np.testing.assert_allclose(drawn, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("high", [1, 2, 6, 1000])
def test_integers_are_uniform(high: int) -> None:
    drawn = STREAM.integers(np.arange(100), 4, 1000, high)
    assert drawn.dtype == np.int64
    counts = np.bincount(drawn.ravel(), minlength=high)
    assert len(counts) == high
    if high > 1:
        assert stats.chisquare(counts).pvalue > SOUND


def test_integers_of_large_bounds_follow_the_uniforms() -> None:
    highs = np.array([2**32, 2**32 - 1, 3])
    drawn = STREAM.integers(np.arange(3), 0, 500, highs)
    uniform = STREAM.uniform(np.arange(3), 0, 500)
    assert np.array_equal(drawn, np.floor(uniform * highs[:, None]))


@pytest.mark.parametrize(("population", "size"), [(5, 2), (5, 5), (4, 0), (9, 2), (13, 3), (6, 1)])
def test_small_subsets_are_uniform_in_every_order(population: int, size: int) -> None:
    drawn = STREAM.subsets(np.arange(60_000), 1, population, size)
    counts = Counter(map(tuple, drawn.tolist()))
    ordered = int(np.prod(np.arange(population, population - size, -1)))
    assert len(counts) == ordered
    sets = Counter(tuple(sorted(row)) for row in counts.elements())
    assert set(sets) == set(combinations(range(population), size))
    if ordered > 1:
        assert stats.chisquare(list(counts.values())).pvalue > SOUND
        assert len(sets) == 1 or stats.chisquare(list(sets.values())).pvalue > SOUND


@settings(max_examples=50)
@given(st.integers(1, 60), st.data())
def test_subsets_are_distinct_and_in_range(size: int, data: st.DataObject) -> None:
    population = np.array(data.draw(st.lists(st.integers(size, 400), min_size=1, max_size=9)))
    clients = np.arange(len(population))
    drawn = STREAM.subsets(clients, 2, population, size)
    assert drawn.shape == (len(population), size)
    assert (drawn >= 0).all()
    assert (drawn < population[:, None]).all()
    assert all(len(set(row)) == size for row in drawn.tolist())
    for client, own in enumerate(population.tolist()):
        assert np.array_equal(STREAM.subsets(client, 2, own, size), drawn[client])


def test_subsets_of_a_large_population_include_each_equally() -> None:
    drawn = STREAM.subsets(np.arange(4000), 0, 500, 50)
    # Counts within a subset are a little negatively correlated, so chi-square is conservative by
    # the factor 1 - 50/500, which is divided out.
    counts = np.bincount(drawn.ravel(), minlength=500)
    statistic = ((counts - 400) ** 2 / 400).sum() / (1 - 50 / 500)
    assert SOUND < stats.chi2.sf(statistic, 499) < 1 - SOUND


@pytest.mark.parametrize("value", [-1, 2**64, 1.0, "7", None, True])
def test_refuses_a_seed_outside_64_bits(value: Any) -> None:
    with pytest.raises(SpecError, match=r"whole number from 0 to 2\^64 - 1, got"):
        Seed(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0, 1), "client must be from 0 to 4294967295, got -1"),
        ((np.array([3, 2**32]), 0, 1), "client must be from 0 to 4294967295, got 4294967296"),
        ((0, -5, 1), "visit must be from 0"),
        ((0, 2**32, 1), "visit must be from 0"),
        ((0.0, 0, 1), "client must be integers, got float64"),
        ((True, 0, 1), "client must be integers, got bool"),
        ((0, 0, -1), "count must be from 0"),
    ],
)
def test_refuses_addresses_outside_32_bits(arguments: tuple[Any, ...], message: str) -> None:
    for ask in (STREAM.words, STREAM.uniform, STREAM.normal, STREAM.integers):
        rest = (10,) if ask == STREAM.integers else ()
        with pytest.raises(ValueError, match=message):
            ask(*arguments, *rest)


def test_refuses_impossible_bounds() -> None:
    with pytest.raises(ValueError, match="population must be from 4 to 4294967296, got 3"):
        STREAM.subsets(0, 0, population=3, size=4)
    with pytest.raises(ValueError, match="size must be from 0"):
        STREAM.subsets(0, 0, population=3, size=-1)
    with pytest.raises(ValueError, match="high must be from 1 to 4294967296, got 0"):
        STREAM.integers(0, 0, 1, high=0)


def test_is_a_value() -> None:
    assert Seed(5).stream("x") == Stream(5, "x")
    whole: Any = np.int64(5)
    assert Seed(whole).stream("x") == Stream(5, "x")
    before: npt.NDArray[np.int64] = np.arange(4)
    STREAM.subsets(before, before, before + 10, 3)
    assert np.array_equal(before, np.arange(4))
