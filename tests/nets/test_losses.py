"""Losses on logits: values by definition, gradients, and bits that are each row's own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.nets.losses import cross_entropy, entropy
from driftfold.softmax import log_softmax, softmax

RNG = np.random.default_rng(1)
LOGITS = 3 * RNG.standard_normal((64, 7, 10))
LABELS = RNG.integers(0, 10, (64, 7))

Made = Callable[[Any], list[Array]]
EACH: dict[str, Made] = {
    "softmax": lambda rows: [softmax(LOGITS[rows])],
    "log_softmax": lambda rows: [log_softmax(LOGITS[rows])],
    "cross_entropy": lambda rows: list(cross_entropy(LOGITS[rows], LABELS[rows])),
    "entropy": lambda rows: list(entropy(LOGITS[rows])),
}


def test_values_are_those_of_the_definitions() -> None:
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)
    np.testing.assert_allclose(softmax(LOGITS), p, rtol=1e-13)
    np.testing.assert_allclose(log_softmax(LOGITS), np.log(p), atol=1e-13)
    loss, _ = cross_entropy(LOGITS, LABELS)
    chosen = np.take_along_axis(p, LABELS[..., None], -1)[..., 0]
    np.testing.assert_allclose(loss, -np.log(chosen), atol=1e-13)
    value, _ = entropy(LOGITS)
    np.testing.assert_allclose(value, -(p * np.log(p + 1e-10)).sum(-1), atol=1e-13)


@pytest.mark.parametrize(
    "loss", [lambda z: cross_entropy(z, LABELS), entropy], ids=["cross_entropy", "entropy"]
)
def test_gradients_are_slopes(loss: Callable[[Array], tuple[Array, Array]]) -> None:
    u, h = RNG.standard_normal(LOGITS.shape), 1e-6
    slope = (loss(LOGITS + h * u)[0] - loss(LOGITS - h * u)[0]) / (2 * h)
    _, gradient = loss(LOGITS)
    np.testing.assert_allclose(slope, (gradient * u).sum(-1), atol=1e-8)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("rows", [5, slice(63, 64), slice(3, 40), (2, 6), (slice(1), slice(1))])
def test_bits_of_a_row_are_its_own(name: str, rows: Any) -> None:
    for whole, part in zip(EACH[name](slice(None)), EACH[name](rows), strict=True):
        np.testing.assert_array_equal(part, whole[rows])


def test_a_row_that_is_no_number_spoils_no_other() -> None:
    broken = LOGITS[0].copy()
    broken[2, 3] = np.nan
    broken[4] = np.inf
    with np.errstate(invalid="ignore"):
        values = [softmax(broken), *cross_entropy(broken, LABELS[0]), *entropy(broken)]
    names = ("softmax", "cross_entropy", "entropy")
    sound = [array[0] for name in names for array in EACH[name](slice(1))]
    for got, wanted in zip(values, sound, strict=True):
        for row in range(7):
            if row in (2, 4):
                assert np.isnan(got[row]).any()
            else:
                np.testing.assert_array_equal(got[row], wanted[row])


@pytest.mark.parametrize("shape", [(0, 4), (3, 0, 4)])
def test_no_rows_at_all(shape: tuple[int, ...]) -> None:
    nothing = np.empty(shape, np.float32)
    assert softmax(nothing).shape == shape
    value, gradient = entropy(nothing)
    assert (value.shape, gradient.shape, gradient.dtype) == (shape[:-1], shape, np.float32)
