"""MADD in blocks: the numbers of the formula, in memory that does not grow with the cube."""

import tracemalloc

import numpy as np
import pytest

from driftfold.algorithms.adaptation import madd as module
from driftfold.algorithms.adaptation.madd import cosines, madd
from driftfold.arrays import Floats

S = cosines(np.random.default_rng(0).normal(size=(300, 7)))


def direct(s: Floats) -> Floats:
    """All triples at once, the two left out by a mask."""
    m = len(s)
    apart = np.abs(s[:, None, :] - s[None, :, :])
    z = np.arange(m)
    out = (z[None, None, :] == z[:, None, None]) | (z[None, None, :] == z[None, :, None])
    made: Floats = np.where(out, 0.0, apart).sum(axis=2) / (m - 2)
    return made


def test_it_is_the_mean_over_third_vectors() -> None:
    """To rounding: here the two are left out of the sum, there taken off."""
    expected = direct(S[:60, :60])
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(madd(S[:60, :60]), expected, rtol=0, atol=1e-14)


def test_blocks_of_any_size_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    few, made = S[:40, :40], set()
    for room in (2**20, 4000, 90, 1):
        monkeypatch.setattr(module, "_ROOM", room)
        made.add(madd(few).tobytes())
    assert len(made) == 1


@pytest.mark.slow
def test_300_vectors_need_no_cube(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of any size give the same bits; all triples would be 216 MB."""
    monkeypatch.setattr(module, "_ROOM", 2**27)
    whole = madd(S)
    for room in (2**20, 2**12):
        monkeypatch.setattr(module, "_ROOM", room)
        if room == 2**20:
            tracemalloc.start()
        blocks = madd(S)
        if room == 2**20:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 20e6
        assert blocks.tobytes() == whole.tobytes()
