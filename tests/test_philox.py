"""Philox4x32-10 against published vectors and against the definition, one word at a time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold import philox as module
from driftfold.native import drawer
from driftfold.philox import fractions, philox

HALF = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module", params=["library", "arrays"], autouse=True)
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both forms, where there is a library of kernels."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "arrays":
            patch.setattr(module, "drawer", lambda: None)
        elif drawer() is None:
            pytest.skip("there is no library of kernels here")
        yield request.param


def definition(counter: list[int], key: list[int]) -> list[int]:
    """One block by the paper's description, in Python's own integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 % 2**32, (p0 >> 32) ^ c3 ^ k1, p0 % 2**32
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return [c0, c1, c2, c3]


def one(counter: list[int], key: list[int]) -> list[int]:
    block, client, visit, purpose = counter
    few, many = (
        philox(
            key[0] | key[1] << 32,
            np.full(rows, client, np.uint64),
            np.full(rows, visit, np.uint64),
            purpose,
            blocks=1,
            first=block,
        )
        for rows in (1, 20)  # one by one in Python's integers, and as arrays
    )
    assert (many == few).all()
    return [int(word) for word in few[0]]


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 " * 4, "00000000 " * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff " * 4, "ffffffff " * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_known_answers_of_random123(counter: str, key: str, words: str) -> None:
    def parse(text: str) -> list[int]:
        return [int(word, 16) for word in text.split()]

    assert one(parse(counter), parse(key)) == parse(words)


@given(st.lists(HALF, min_size=4, max_size=4), st.lists(HALF, min_size=2, max_size=2))
def test_is_the_definition(counter: list[int], key: list[int]) -> None:
    assert one(counter, key) == definition(counter, key)


@pytest.mark.parametrize(("rows", "blocks"), [(3, 20_000), (20_000, 1), (700, 13), (5, 0), (0, 5)])
def test_tiles_leave_no_seam(rows: int, blocks: int) -> None:
    clients = np.arange(rows, dtype=np.uint64) * np.uint64(7)
    visits = np.arange(rows, dtype=np.uint64) + np.uint64(1)
    words = philox(5, clients, visits, 3, blocks)
    assert words.shape == (rows, 4 * blocks)
    pick = np.random.default_rng(0)
    if words.size:
        corners = [(0, 0), (rows - 1, blocks - 1)]
        inner = zip(pick.integers(rows, size=50), pick.integers(blocks, size=50), strict=True)
        for row, block in [*corners, *inner]:
            expected = definition([int(block), 7 * int(row), int(row) + 1, 3], [5, 0])
            assert words[row, 4 * block : 4 * block + 4].tolist() == expected


@pytest.mark.parametrize(("rows", "count"), [(1, 1), (3, 7), (40, 2), (0, 3), (4, 0)])
def test_fractions_are_the_upper_53_bits_of_pairs(rows: int, count: int) -> None:
    clients, visits = np.arange(rows, dtype=np.uint64), np.full(rows, 9, np.uint64)
    got = fractions(5, clients, visits, 3, count)
    assert got.shape == (rows, count)
    for row in range(rows):
        words = [w for block in range(count) for w in definition([block, row, 9, 3], [5, 0])]
        exact = [
            (low | high << 32) >> 11 for low, high in zip(words[::2], words[1::2], strict=True)
        ]
        assert got[row].tolist() == [number / 2**53 for number in exact[:count]]


def test_threads_do_not_share_scratch() -> None:
    def draw(client: int) -> bytes:
        clients = np.full(50, client, np.uint64)
        return philox(1, clients, clients, 2, blocks=100).tobytes()

    alone = [draw(client) for client in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(draw, [*range(8)] * 20)) == alone * 20
