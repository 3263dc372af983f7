"""Points of a sweep: which, in what order, and what a sweep refuses."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from driftfold_api.sweeping.draw import Choice, Range
from driftfold_api.sweeping.sweep import Sweep, in_short, table_of

RANDOM: dict[str, Any] = {
    "a": {"low": 1e-4, "high": 1.0, "log": True},
    "b.c": {"low": 1, "high": 3},
    "d": {"choice": ["x", {"kind": "y"}]},
}
WHOLE = st.integers(-1000, 1000)


def refusal(**sweep: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Sweep.model_validate(sweep)
    return str(caught.value)


def test_a_grid_has_all_combinations_the_last_path_first_and_seeds_before_it() -> None:
    sweep = Sweep(grid={"a": [1, 2], "b.c": ["x", None]}, seeds=[7, 8])
    assert len(sweep) == 8
    assert [tuple(point.values()) for point in sweep.points()] == [
        (1, "x", 7), (1, "x", 8), (1, None, 7), (1, None, 8),
        (2, "x", 7), (2, "x", 8), (2, None, 7), (2, None, 8),
    ]  # fmt: skip
    assert list(Sweep(seeds=[3]).points()) == [{"seed": 3}]


def test_random_points_are_addressed() -> None:
    sweep = Sweep.model_validate({"random": RANDOM, "samples": 40, "seed": 5})
    points = list(sweep.points())
    assert (len(points), len(sweep)) == (40, 40)
    fewer = Sweep.model_validate({"random": RANDOM, "samples": 3, "seed": 5})
    assert list(fewer.points()) == points[:3]
    alone = {"random": {"b.c": RANDOM["b.c"]}, "samples": 40, "seed": 5}
    assert [point["b.c"] for point in Sweep.model_validate(alone).points()] == [
        point["b.c"] for point in points
    ]
    other = Sweep.model_validate({"random": RANDOM, "samples": 40, "seed": 6})
    assert all(one != another for one, another in zip(other.points(), points, strict=True))
    assert {point["b.c"] for point in points} == {1, 2, 3}
    assert {str(point["d"]) for point in points} == {"x", "{'kind': 'y'}"}
    decades = {math.floor(math.log10(point["a"])) for point in points}
    assert decades == {-4, -3, -2, -1}
    # Pinned: the same seed is to give the same points in every version.
    assert points[0] == {"a": pytest.approx(0.00041975740157682804, rel=1e-12), "b.c": 3, "d": "x"}


@given(WHOLE, st.integers(1, 1000), st.floats(0, 1, exclude_max=True), st.booleans())
def test_a_range_is_not_left(low: int, width: int, share: float, log: bool) -> None:
    start = abs(low) + 1 if log else low
    whole = Range(low=start, high=start + width, log=log)
    assert isinstance(whole.at(share), int)
    assert whole.low <= whole.at(share) <= whole.high
    assert whole.at(0.0) == whole.low
    assert whole.at(math.nextafter(1, 0)) == whole.high
    real = Range(low=float(start), high=float(start + width), log=log)
    assert isinstance(real.at(share), float)
    assert real.low <= real.at(share) <= real.high


def test_a_choice_has_all_values_with_equal_chances() -> None:
    shares = [(k + 0.5) / 300 for k in range(300)]
    drawn = [Choice(choice=["a", "b", "c"]).at(share) for share in shares]
    assert {value: drawn.count(value) for value in "abc"} == {"a": 100, "b": 100, "c": 100}


@pytest.mark.parametrize(
    ("sweep", "says"),
    [
        ({}, "got nothing to vary"),
        ({"grid": {"a": [1]}, "random": RANDOM, "samples": 2}, "both grid and random"),
        ({"random": RANDOM}, "belong together"),
        ({"grid": {"a": [1]}, "samples": 2}, "belong together"),
        ({"grid": {"a": []}}, "at least 1 item"),
        ({"grid": {"a..b": [1]}}, "wanted the path of a field"),
        ({"grid": {"seed": [1]}, "seeds": [1]}, "seeds and values of the field seed"),
        ({"grid": {"a": [*range(200)], "b": [*range(51)]}}, "got 10200 points, wanted at most"),
        ({"random": {"a": {"low": 2, "high": 1}}, "samples": 1}, "wanted low < high"),
        ({"random": {"a": {"low": 0, "high": 1, "log": True}}, "samples": 1}, "wanted 0 < low"),
        ({"random": {"a": {"low": 0}}, "samples": 1}, "high"),
        ({"seeds": [-1]}, "greater than or equal to 0"),
        ({"seeds": ["1"]}, "valid integer"),
    ],
)
def test_what_a_sweep_refuses(sweep: dict[str, Any], says: str) -> None:
    assert says in refusal(**sweep)


def test_points_in_tables_and_in_short() -> None:
    point = {"optimizer": "sgd", "optimizer.rate": 0.123456, "task": {"kind": "pca"}, "seed": 3}
    assert table_of(point)[1] == {"optimizer": {"rate": 0.123456}}
    assert in_short(point) == "optimizer=sgd rate=0.1235 task=pca seed=3"
