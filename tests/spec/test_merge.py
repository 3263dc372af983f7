"""Laying tables over each other."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.errors import SpecError
from driftfold.spec.merge import merge
from driftfold.spec.overrides import parse_overrides

values = st.recursive(
    st.integers() | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def test_another_kind_replaces_the_table() -> None:
    parent = {"a": {"kind": "x", "n": 1, "deep": {"kind": "p", "m": 2}}}
    assert merge(parent, {"a": {"kind": "y"}}) == {"a": {"kind": "y"}}
    assert merge(parent, {"a": {"deep": {"kind": "q"}}})["a"]["deep"] == {"kind": "q"}


@pytest.mark.parametrize("child", [{"a": {"n": 3}}, {"a": {"kind": "x", "n": 3}}])
def test_the_same_kind_merges_field_by_field(child: dict[str, Any]) -> None:
    parent = {"a": {"kind": "x", "n": 1, "m": 2}, "seed": 1}
    assert merge(parent, child) == {"a": {"kind": "x", "n": 3, "m": 2}, "seed": 1}


def test_lists_and_single_values_are_replaced() -> None:
    assert merge({"a": [1, 2], "b": 1}, {"a": [3], "b": None}) == {"a": [3], "b": None}


def test_a_kind_written_as_text_counts_as_a_table() -> None:
    assert merge({"a": "x"}, {"a": {"n": 1}}) == {"a": {"kind": "x", "n": 1}}
    assert merge({"a": "x"}, {"a": {"kind": "y"}}) == {"a": {"kind": "y"}}


@settings(max_examples=50, deadline=None)
@given(tables, tables)
def test_merging_twice_is_merging_once_and_leaves_its_arguments(
    parent: dict[str, Any], child: dict[str, Any]
) -> None:
    before = repr((parent, child))
    once = merge(parent, child)
    assert merge(once, child) == once
    assert merge({}, child) == merge(child, {}) == child
    assert set(once) == {*parent, *child}
    assert repr((parent, child)) == before


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("6e-3", 6e-3),
        ("true", True),
        ("full", "full"),
        ('"5"', "5"),
        ("[1, 2.5]", [1, 2.5]),
        ('{kind = "x", n = 1}', {"kind": "x", "n": 1}),
        ("null", None),
        ("fashion mnist", "fashion mnist"),
        ("data/x.npz", "data/x.npz"),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_values_of_settings(text: str, value: object) -> None:
    got = parse_overrides([f"a.b = {text}"])["a"]["b"]
    assert got == value
    assert type(got) is type(value)


def test_settings_of_one_table_come_together_in_any_order() -> None:
    one = ["a.n=1", "a.kind=y"]
    assert parse_overrides(one) == {"a": {"n": 1, "kind": "y"}}
    assert merge({"a": {"kind": "x", "m": 1}}, parse_overrides(one)) == {"a": {"kind": "y", "n": 1}}


@pytest.mark.parametrize(
    "settings",
    [["seed"], ["=4"], ["a..b=1"], ["a=1", "a.b=2"], ["a=[1"], ["a=1\nb=2"], ["a="], ['a="x']],
)
def test_broken_settings_are_shown(settings: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        parse_overrides(settings)
    assert repr(settings[-1]) in str(caught.value)
