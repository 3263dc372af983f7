"""What is typed of a sweep is what the API takes."""

from typing import Any

import pytest

from driftfold_api.errors import RequestError
from driftfold_api.sweeping.submitting import SweepRequest, points_of, stop_of
from driftfold_api.sweeping.sweep import Sweep
from driftfold_api.sweeping.typed import parse_grid, parse_random


def request(**typed: Any) -> SweepRequest:
    nothing: dict[str, Any] = {
        "source": "x", "settings": (), "grid": (), "random": (), "samples": None,
        "samples_seed": 0, "seeds": None, "stop_by": None, "target": None, "goal": "min",
        "name": None, "priority": 0, "watch": False, "url": None, "as_json": False, "plugins": (),
    }  # fmt: skip
    return SweepRequest(**{**nothing, **typed})


@pytest.mark.parametrize(
    ("text", "draw"),
    [
        ("1..20", {"low": 1, "high": 20}),
        ("-3..+3", {"low": -3, "high": 3}),
        ("0.5..1", {"low": 0.5, "high": 1}),
        (".5 .. 1.5", {"low": 0.5, "high": 1.5}),
        ("1e-4..1.0,log", {"low": 1e-4, "high": 1.0, "log": True}),
        ("1..64, log", {"low": 1, "high": 64, "log": True}),
        ("1,5,10", {"choice": [1, 5, 10]}),
        ("sgd,{kind='adam', rate=0.1}", {"choice": ["sgd", {"kind": "adam", "rate": 0.1}]}),
        ("../data,x..y", {"choice": ["../data", "x..y"]}),
        ("7", {"choice": [7]}),
    ],
)
def test_ranges_and_choices(text: str, draw: dict[str, Any]) -> None:
    found = parse_random([f"a.b={text}"])
    assert found == {"a.b": draw}
    for name, value in draw.items():
        assert type(found["a.b"][name]) is type(value)
    Sweep.model_validate({"random": found, "samples": 3})


@pytest.mark.parametrize("parse", [parse_grid, parse_random])
@pytest.mark.parametrize("text", ["a", "=1", "a=", ""])
def test_what_is_no_field_with_values_is_refused(parse: Any, text: str) -> None:
    with pytest.raises(RequestError, match=r"--(grid|random): got .* wanted FIELD="):
        parse([text])


@pytest.mark.parametrize("parse", [parse_grid, parse_random])
def test_a_field_is_given_once(parse: Any) -> None:
    with pytest.raises(RequestError, match="got a twice, 1 and 2; give all of its values once"):
        parse(["a=1", "b=1", "a=2"])


def test_points_are_those_of_the_api() -> None:
    random = request(random=("a=1..3",), samples=4, samples_seed=9, seeds=2)
    points = points_of(random)
    assert points == {
        "random": {"a": {"low": 1, "high": 3}}, "samples": 4, "seed": 9, "seeds": [0, 1],
    }  # fmt: skip
    assert len(Sweep.model_validate(points)) == 8
    assert points_of(request(grid=("a=1,2",))) == {"grid": {"a": [1, 2]}}


def test_random_points_are_counted() -> None:
    with pytest.raises(RequestError, match="got --random without --samples; give both"):
        points_of(request(random=("a=1..3",)))
    with pytest.raises(RequestError, match="got --samples without --random; give both"):
        points_of(request(samples=3))


def test_rules() -> None:
    assert stop_of(request()) is None
    median = stop_of(request(stop_by="gap"))
    assert median == {"kind": "median", "metric": "gap", "goal": "min"}
    target = stop_of(request(stop_by="accuracy", target=0.9, goal="max"))
    assert target == {"kind": "target", "metric": "accuracy", "goal": "max", "value": 0.9}
    with pytest.raises(RequestError, match=r"got --target 0\.9 without --stop-by; name the metric"):
        stop_of(request(target=0.9))
    with pytest.raises(RequestError, match="got --target nan, wanted a finite number"):
        stop_of(request(stop_by="gap", target=float("nan")))
