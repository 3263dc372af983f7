"""Covariate shift: corruptions by severity, noise, affine maps."""

import numpy as np
import pytest

from driftfold.drift import AffineShift, Corrupted, FeatureNoise, InputDrift, Schedule
from driftfold.drift.corruptions import Brightness, Contrast, GaussianNoise
from driftfold.drift.schedules import Bernoulli, Constant, Linear, Sine, Square, Step
from driftfold.errors import CapabilityError
from tests.drift.timelines import pool, timeline

EVERYONE = np.arange(20)


@pytest.mark.parametrize(
    ("schedule", "counts"),
    [
        (Linear(), [0, 1, 24, 25, 25, 25]),
        (Square(), [0, 52, 0, 0, 0, 48]),
        (Step(at=(25, 50, 75), levels=(0.0, 0.2, 0.5, 1.0)), [0, 25, 25, 25, 0, 25]),
    ],
)
def test_severities_follow_the_weight(schedule: Schedule, counts: list[int]) -> None:
    course = Corrupted(schedule).bind(timeline(), pool(shape=(8, 8)))
    _, severities = course.numbers(np.zeros(100, int), np.arange(100))
    assert np.bincount(severities, minlength=6).tolist() == counts
    clean = Corrupted(schedule, clean=True).bind(timeline(), pool(shape=(8, 8)))
    _, severities = clean.numbers(np.zeros(100, int), np.arange(100))
    assert np.bincount(severities, minlength=6).tolist() == [counts[1], 0, *counts[2:]]


def test_clients_have_the_fifteen_in_turn_or_a_drawn_one() -> None:
    course = Corrupted().bind(timeline(), pool(shape=(8, 8)))
    assert course.numbers(EVERYONE, EVERYONE)[0].tolist() == [i % 15 for i in range(20)]
    drawn = Corrupted(assigned="drawn").bind(timeline(clients=1000), pool(shape=(8, 8)))
    counts = np.bincount(drawn.which, minlength=15)
    assert counts == pytest.approx(1000 / 15, abs=5 * np.sqrt(1000 / 15))


def test_true_changes_are_those_of_the_severity() -> None:
    course = Corrupted(Linear()).bind(timeline(), pool(shape=(8, 8)))
    assert course.changes(0).tolist() == [1, 25, 50, 75]


@pytest.mark.parametrize("shape", [(8, 8), (8, 10, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pictures_of_a_pool_are_spoilt_as_any_others_are(
    shape: tuple[int, ...], dtype: type[np.floating]
) -> None:
    inputs = np.random.default_rng(0).random((30, int(np.prod(shape)))).astype(dtype)
    drift = Corrupted(Step(levels=(0.0, 0.7)), (GaussianNoise(), Contrast()), clean=True)
    rows = np.random.default_rng(1).integers(0, 30, (4, 6))
    clients, steps = np.array([0, 1, 2, 3]), np.array([60, 60, 99, 10])
    kept = drift.bind(timeline(), pool(shape=shape, inputs=inputs))
    made = drift.bind(timeline(), pool(shape=shape))
    met = kept.apply(inputs[rows], rows, clients, steps)
    assert met.dtype == dtype
    assert np.array_equal(met, made.apply(inputs[rows], rows, clients, steps))
    assert np.array_equal(met[3], inputs[rows[3]])  # not yet: clean, and not rounded
    assert np.array_equal(met[:3], (np.rint(met[:3] * 255.0) / 255.0).astype(dtype))
    square = made.apply(inputs[rows].reshape(4, 6, *shape), rows, clients, steps)
    assert np.array_equal(square.reshape(met.shape), met)


def test_the_corruption_is_the_familys_own() -> None:
    shape = (8, 8, 3)
    inputs = np.rint(np.random.default_rng(0).random((5, 192)) * 255) / 255
    course = Corrupted(Constant(1.0), (Brightness(),)).bind(timeline(), pool(shape=shape))
    met = course.apply(inputs[None], np.arange(5)[None], np.array([3]), np.array([7]))
    wanted = Brightness().corrupt(inputs.reshape(5, *shape), 5, np.arange(5))
    assert met[0].reshape(5, *shape) == pytest.approx(wanted, abs=0.5 / 255 + 1e-12)


def test_a_picture_is_the_same_at_every_step() -> None:
    inputs = np.random.default_rng(0).random((2, 64))
    course = Corrupted(Constant(0.5), (GaussianNoise(),)).bind(timeline(), pool(shape=(8, 8)))
    x, rows = np.tile(inputs, (2, 1, 1)), np.array([[3, 4], [4, 3]])
    one, other = course.apply(x, rows, np.array([0, 5]), np.array([10, 20]))
    again = course.apply(x[:1, ::-1], rows[1:], np.array([9]), np.array([0]))[0]
    assert np.array_equal(one, again[::-1])
    assert not np.array_equal(one, other)  # other rows, other noise


def test_what_is_no_picture_is_not_corrupted() -> None:
    with pytest.raises(CapabilityError, match="choose drift 'feature_noise' or 'affine_shift'"):
        Corrupted().bind(timeline(), pool())


def test_noise_grows_with_the_weight() -> None:
    course = FeatureNoise(Linear(), sd=3.0).bind(timeline(), pool())
    x, rows = np.zeros((3, 1000, 4), np.float32), np.zeros((3, 1000), int)
    met = course.apply(x, rows, np.array([0, 1, 2]), np.array([0, 33, 99]))
    assert met.dtype == np.float32
    assert not met[0].any()
    # Five standard errors of a standard deviation of 4,000 numbers: 1 / sqrt(2 n) each.
    assert met[1].std() == pytest.approx(1.0, rel=5 / np.sqrt(8000))
    assert met[2].std() == pytest.approx(3.0, rel=5 / np.sqrt(8000))
    assert abs(np.corrcoef(met[1].ravel(), met[2].ravel())[0, 1]) < 5 / np.sqrt(4000)


def test_an_affine_shift_is_a_clients_own_map() -> None:
    course = AffineShift(Linear(), shift=0.5, spread=0.3).bind(timeline(), pool())
    rng = np.random.default_rng(0)
    x, rows = rng.normal(size=(2, 6, 4)), np.zeros((2, 6), int)
    clients = np.array([7, 8])
    at_end = course.apply(x, rows, clients, np.array([99, 99]))
    scale = (at_end[:, 1] - at_end[:, 0]) / (x[:, 1] - x[:, 0])
    offset = at_end[:, 0] - scale * x[:, 0]
    assert at_end == pytest.approx(scale[:, None] * x + offset[:, None], abs=1e-12)
    assert not np.isclose(scale[0], scale[1]).any()
    third = course.apply(x, rows, clients, np.array([33, 33]))
    assert third == pytest.approx(x + (at_end - x) / 3, abs=1e-12)
    assert np.array_equal(course.apply(x, rows, clients, np.array([0, 0])), x)


def test_a_common_affine_shift_is_that_of_everybody() -> None:
    course = AffineShift(Constant(1.0), spread=0.2, common=True).bind(timeline(), pool())
    x, rows = np.ones((20, 2, 3)), np.zeros((20, 2), int)
    met = course.apply(x, rows, EVERYONE, EVERYONE)
    assert (met == met[0, 0]).all()
    assert not np.array_equal(met[0, 0], x[0, 0])


def test_maps_have_the_moments_they_are_told() -> None:
    course = AffineShift(Constant(1.0), shift=0.5, spread=0.3).bind(timeline(500), pool())
    x = np.stack([np.zeros((500, 20)), np.ones((500, 20))], axis=1)
    met = course.apply(x, np.zeros((500, 2), int), np.arange(500), np.zeros(500, int))
    shift, log_scale = met[:, 0], np.log(met[:, 1] - met[:, 0])
    for values, sd in ((shift, 0.5), (log_scale, 0.3)):  # five standard errors of 10,000
        assert abs(values.mean()) < 5 * sd / 100
        assert values.std() == pytest.approx(sd, rel=5 / np.sqrt(20000))


DRIFTS: list[InputDrift] = [
    FeatureNoise(Sine()),
    AffineShift(Bernoulli(), spread=0.3),
    Corrupted(Sine(), (GaussianNoise(), Contrast())),
]


@pytest.mark.parametrize("drift", DRIFTS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_do_not_depend_on_who_else_is_there(
    drift: InputDrift, dtype: type[np.floating]
) -> None:
    course = drift.bind(timeline(), pool(shape=(8, 8)))
    rng = np.random.default_rng(0)
    x, rows = rng.random((20, 3, 64)).astype(dtype), rng.integers(0, 99, (20, 3))
    steps = rng.integers(0, 100, 20)
    together = course.apply(x, rows, EVERYONE, steps)
    for some in (np.array([13]), np.array([4, 2, 19]), np.arange(1, 20, 3)):
        alone = course.apply(x[some], rows[some], some, steps[some])
        assert np.array_equal(alone, together[some])
