"""Components from plain data and back: what is taken, what is refused, and how it is said."""

# ruff: noqa: E501 - a case is one line

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.errors import SpecError, UnknownKind
from driftfold.spec.codec import decode, encode
from tests.spec.bakery import Cake, Flat, Fruit, Layered, Oven, Share, Sugar, Topping

toppings = st.one_of(
    st.builds(Sugar, grams=st.floats(min_value=1e-9, max_value=1e9)),
    st.builds(Fruit, name=st.text(), shares=st.lists(st.floats(0, 1), max_size=4).map(tuple)),
)
cakes = st.builds(
    Layered,
    size=st.one_of(st.integers(1, 2**70), st.floats(0.25, 99.75), st.just("full")),
    layers=st.lists(toppings, max_size=3).map(tuple),
    oven=st.builds(Oven, minutes=st.integers(1, 600), fan=st.booleans(), top=st.none() | toppings),
    main=toppings,
    glaze=st.floats(0, 10) | toppings,
    notes=st.none() | st.dictionaries(st.text(), st.integers()),
    pair=st.tuples(st.integers(), st.text()),
    sides=st.none() | st.dictionaries(st.text(), toppings, max_size=2),
    dates=st.lists(st.integers(), min_size=1, max_size=3).map(tuple),
)


@settings(max_examples=50, deadline=None)
@given(cakes)
def test_every_component_comes_back_as_it_was(cake: Layered) -> None:
    back = decode(Cake, encode(cake))
    assert back == cake
    assert type(back.size) is type(cake.size)
    assert encode(back) == encode(cake)


def test_defaults_and_kinds_are_written_out() -> None:
    assert encode(Layered(3)) == {
        "kind": "layered",
        "size": 3,
        "layers": [],
        "oven": {"minutes": 30, "fan": False, "top": None},
        "main": {"kind": "fruit", "name": "plum", "shares": [0.5, 0.5]},
        "glaze": 0.0,
        "notes": None,
        "pair": [1, "a"],
        "sides": None,
        "dates": [1],
    }


def test_a_whole_number_serves_as_a_number_and_a_kind_as_a_component() -> None:
    cake = decode(Cake, {"kind": "layered", "size": 1, "glaze": 2, "layers": ["sugar"]})
    assert type(cake.size) is int
    assert type(cake.glaze) is float
    assert cake.layers == (Sugar(),)
    assert decode(Cake, {"kind": "layered", "size": 1, "glaze": "sugar"}).glaze == Sugar()


def test_a_table_without_kind_changes_fields_of_the_default() -> None:
    cake = decode(Cake, {"kind": "layered", "size": 1, "main": {"shares": [1]}})
    assert cake.main == Fruit("plum", shares=(1.0,))


def test_numpy_values_become_plain_ones() -> None:
    cake = Layered(size=np.int64(3), glaze=np.float64(0.5), dates=np.array([1, 2]))  # type: ignore[arg-type]
    back = decode(Cake, encode(cake))
    assert (back.size, back.glaze, back.dates) == (3, 0.5, (1, 2))
    assert type(back.size) is int


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"size": "5"}, "size: got '5', wanted a whole number, or a finite number above 0, or 'full'"),
        ({"size": True}, "size: got True, wanted a whole number"),
        ({"size": -0.5}, "size: got -0.5, wanted"),
        ({"size": float("nan")}, "size: got nan, wanted"),
        ({"size": 1, "oven": {"minutes": 0}}, "oven.minutes: got 0, wanted a whole number above 0 and of at most 600"),
        ({"size": 1, "oven": {"minutes": 30.0}}, "oven.minutes: got 30.0, wanted a whole number"),
        ({"size": 1, "oven": {"fan": 1}}, "oven.fan: got 1, wanted true or false"),
        ({"size": 1, "oven": [1]}, "oven: got [1], wanted a table (Oven)"),
        ({"size": 1, "oven": None}, "oven: got None, wanted a table (Oven)"),
        ({"size": 1, "pair": [1]}, "pair: got 1 entries, wanted a list of exactly: a whole number; text"),
        ({"size": 1, "pair": [1, 2]}, "pair[1]: got 2, wanted text"),
        ({"size": 1, "notes": {"a": 0.5}}, "notes: got {'a': 0.5}, wanted"),
        ({"size": 1, "dates": []}, "dates: got [], wanted a list"),
        ({"size": 1, "layers": {"kind": "sugar"}}, "layers: got {'kind': 'sugar'}, wanted a list"),
        ({"size": 1, "layers": ["sugar", 3]}, "layers[1]: got 3, wanted a test-topping (a table with a kind); known kinds: fruit, sugar"),
        ({"size": 1, "layers": [{"grams": 3}]}, 'layers[0]: no kind given; write kind = "...", one of: fruit, sugar'),
        ({"size": 1, "layers": [{"kind": 3}]}, "layers[0]: got the kind 3; write"),
        ({"size": 1, "layers": ["fruit"]}, "layers[0].name: missing; wanted text"),
        ({"size": 1, "sides": {"x": {"kind": "sugar", "grams": -1}}}, "sides.x.grams: got -1, wanted a finite number above 0"),
        ({"size": 1, "main": {"shares": [0, 1, 2]}}, "main.shares[2]: got 2, wanted a finite number of at least 0 and of at most 1"),
        ({}, "size: missing; wanted a whole number, or"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_with_path_and_wish(value: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        decode(Cake, {"kind": "layered", **value})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert type(caught.value) is SpecError


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"kind": "layerd"}, "unknown test-cake kind 'layerd'; did you mean 'layered'?"),
        ({"kind": "flat", "hihg": 1}, "unknown field of test-cake 'flat' 'hihg'; did you mean 'high'?"),
        ({"kind": "layered", "size": 1, "oven": {"minute": 3}}, "oven: unknown field of Oven 'minute'; did you mean 'minutes'?"),
    ],
)  # fmt: skip
def test_unknown_names_suggest_the_nearest(value: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownKind) as caught:
        decode(Cake, value)
    assert str(caught.value).startswith(message)
    assert "known:" in str(caught.value)


def test_all_problems_are_told_at_once_one_line_each() -> None:
    with pytest.raises(UnknownKind) as caught:
        decode(Cake, {"kind": "layered", "size": "x", "oven": {"minutes": 0}, "color": 1})
    lines = str(caught.value).split("\n")
    assert [line.partition(":")[0] for line in lines] == [
        "unknown field of test-cake 'layered' 'color'; did you mean 'oven'? known"
        if "did you mean" in lines[0]
        else "unknown field of test-cake 'layered' 'color'; known",
        "size",
        "oven.minutes",
    ]


def test_many_problems_are_counted_not_listed() -> None:
    with pytest.raises(SpecError) as caught:
        decode(tuple[Topping, ...], [3] * 20)
    lines = str(caught.value).split("\n")
    assert len(lines) == 9
    assert lines[-1] == "... and 12 more problems"


def test_long_values_are_cut() -> None:
    with pytest.raises(SpecError) as caught:
        decode(int, "x" * 10_000, "seed")
    assert len(str(caught.value)) < 120


def test_a_list_or_one_number_points_at_the_entry() -> None:
    with pytest.raises(SpecError, match=r"^p\[1\]: got 1\.4, wanted a finite number"):
        decode(Share | tuple[Share, ...] | None, [0.5, 1.4], "p")


def test_what_a_constructor_refuses_gets_a_path() -> None:
    with pytest.raises(SpecError, match=r"^part: got low = 2\.0 above high = 1\.0; swap them$"):
        decode(Cake, {"kind": "flat", "low": 2}, "part")
    assert decode(Cake, {"kind": "flat", "low": 1}) == Flat(low=1.0)


def test_what_no_specification_can_hold_is_refused() -> None:
    with pytest.raises(SpecError, match=r"^size: got .*, a complex; wanted numbers, text"):
        encode(Layered(size=3j))  # type: ignore[arg-type]
