"""What all corruptions share: refusals, addresses of chance, severities, sizes."""

import numpy as np
import pytest

from driftfold.drift.corruptions import (
    PUBLISHED,
    PUBLISHED_NAMES,
    Contrast,
    Corruption,
    Enlarged,
    GaussianNoise,
    MotionBlur,
    published,
)
from driftfold.errors import DataError, SpecError
from driftfold.registry import kind_of
from driftfold.rng import Seed
from driftfold.spec.codec import decode
from tests.drift.corruptions.pictures import clothes, coloured, numbers

UNEVEN = {"glass_blur", "motion_blur", "frost", "elastic_transform"}
"""Where pixels need not change more from each severity to the next.

Glass blurs more at 3 and 5 what it has moved; motion's severities 3 and 4 differ in a part of the
line that weighs nothing; frost weakens the picture, and the ice is brighter than most; elastic's
affine map weakens.
"""


@pytest.mark.parametrize("corruption", PUBLISHED, ids=kind_of)
def test_pixels_change_more_and_more(corruption: Corruption) -> None:
    x = clothes()
    change = [
        float(np.square(corruption.corrupt(x, severity, numbers(x)) - x).mean())
        for severity in range(1, 6)
    ]
    if kind_of(corruption) not in UNEVEN:
        assert change == sorted(change)
    elif kind_of(corruption) != "elastic_transform":
        assert change[0] < change[4]


@pytest.mark.parametrize("severity", [0, 6, -1, 2.0, True, None, "3"])
def test_severity_is_one_to_five(severity: object) -> None:
    x = clothes(1)
    with pytest.raises(SpecError, match=r"from 1 to 5, got .*take the picture itself"):
        Contrast().corrupt(x, severity, numbers(x))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "complaint"),
    [
        (np.zeros((1, 28, 28)), r"got ndarray of shape \(1, 28, 28\)"),
        (np.zeros((1, 28, 28, 4)), "ch 1 .grey. or 3"),
        (np.zeros((1, 28, 7, 1)), "28 x 7; enlarge"),
        (np.zeros((1, 28, 28, 1), np.uint8), "uint8; divide bytes by 255"),
        (np.full((1, 28, 28, 1), 1.01), r"values in \[0, 1\]"),
        (np.full((1, 28, 28, 1), np.nan), r"values in \[0, 1\]"),
        ([[0.5]], "got list"),
    ],
)
def test_what_is_no_picture_is_refused(x: object, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        Contrast().corrupt(x, 1, np.array([0]))


@pytest.mark.parametrize("rows", [np.array([0]), np.array([0.0, 1.0]), np.array([[0, 1]])])
def test_rows_are_one_number_a_picture(rows: object) -> None:
    with pytest.raises(DataError, match="one whole number for each of 2 pictures"):
        Contrast().corrupt(clothes(2), 1, rows)  # type: ignore[arg-type]


def test_chance_is_addressed_by_kind_severity_row_and_seed() -> None:
    x = clothes(2)
    wanted = x[1, ..., 0] + 0.08 * Seed(0).stream("corruption gaussian_noise 3").normal(
        9, 0, 784
    ).reshape(28, 28)
    made = GaussianNoise().corrupt(x, 3, np.array([4, 9]))
    np.testing.assert_allclose(made[1, ..., 0], np.clip(wanted, 0, 1), atol=1e-15)
    assert not np.array_equal(made, GaussianNoise().corrupt(x, 3, np.array([4, 9]), Seed(1)))
    assert not np.array_equal(made[1], GaussianNoise().corrupt(x, 3, np.array([4, 8]))[1])


def test_great_batches_have_the_bits_of_small_ones() -> None:
    x = clothes(75)  # more than are corrupted at a time
    for corruption in (GaussianNoise(), *PUBLISHED[4:8], *PUBLISHED[12:14]):
        whole = corruption.corrupt(x, 4, numbers(x))
        for some in (slice(60, 70), slice(74, 75)):
            assert np.array_equal(corruption.corrupt(x[some], 4, numbers(x)[some]), whole[some])


def test_single_precision_is_read_exactly() -> None:
    x = clothes(2).astype(np.float32)
    assert np.array_equal(
        Contrast().corrupt(x, 2, numbers(x)),
        Contrast().corrupt(x.astype(np.float64), 2, numbers(x)),
    )


def test_the_published_order() -> None:
    assert PUBLISHED_NAMES == (
        "gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur",
        "motion_blur", "zoom_blur", "snow", "frost", "fog", "brightness", "contrast",
        "elastic_transform", "pixelate", "jpeg_compression",
    )  # fmt: skip
    assert published() == PUBLISHED
    assert published(enlarge=4) == tuple(Enlarged(one, 4) for one in PUBLISHED)


def test_enlarged_corrupts_what_it_enlarged_and_averages_back() -> None:
    small = coloured(2, 8, 8)
    blocks = small.repeat(4, axis=1).repeat(4, axis=2)
    flat = np.full((1, 8, 8, 1), 0.25)
    for corruption in (GaussianNoise(), MotionBlur()):
        made = Enlarged(corruption, 4).corrupt(flat, 3, np.array([7]))
        large = corruption.corrupt(np.full((1, 32, 32, 1), 0.25), 3, np.array([7]))
        wanted = large.reshape(1, 8, 4, 8, 4, 1).mean(axis=(2, 4))
        np.testing.assert_allclose(made, wanted, atol=1e-14)
    assert np.array_equal(
        Enlarged(Contrast(), 1).corrupt(blocks, 2, np.arange(2)),
        Contrast().corrupt(blocks, 2, np.arange(2)),
    )


def test_a_specification_can_name_them() -> None:
    table = {"kind": "enlarged", "corruption": "fog", "factor": 2}
    assert decode(Corruption, table) == Enlarged(PUBLISHED[9], 2)
