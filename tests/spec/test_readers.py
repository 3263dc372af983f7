"""Files in three formats with one meaning."""

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftfold.errors import SpecError
from driftfold.spec.readers import parse, read_table

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]))
)  # fmt: skip
tables = st.dictionaries(
    st.text("abcxyz", min_size=1),
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=6),
    max_size=4,
)


@settings(max_examples=50, deadline=None)
@given(tables)
def test_yaml_and_json_mean_the_same(table: dict[str, object]) -> None:
    text = json.dumps(table, ensure_ascii=False)
    read = parse(text, ".yaml", "x.yaml")
    assert read == parse(text, ".json", "x.json") == table
    assert repr(read) == repr(table)


@settings(max_examples=50, deadline=None)
@given(tables)
def test_what_pyyaml_writes_is_read(table: dict[str, object]) -> None:
    # It follows version 1.1, in which "1e5" is a text that needs no quotes.
    assume(not re.search(r'"[-+]?[0-9.]+[eE][-+]?[0-9]+"', json.dumps(table)))
    assert parse(yaml.safe_dump(table), ".yaml", "x.yaml") == table


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6e-3", 0.006),
        ("off", "off"),
        ("010", 10),
        ("1:30", "1:30"),
        ("2020-01-02", "2020-01-02"),
        ("0x10", 16),
        ("1_000", "1_000"),
        (".inf", float("inf")),
        ("-.5", -0.5),
        ("", None),
        ("'5'", "5"),
    ],
)
def test_yaml_scalars_follow_version_1_2(text: str, value: object) -> None:
    assert parse(f"a: {text}", ".yaml", "x.yaml") == {"a": value}


def test_yaml_nan() -> None:
    assert parse("a: .nan", ".yml", "x.yml")["a"] != parse("a: .nan", ".yml", "x.yml")["a"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.toml", "a = [", "not valid TOML"),
        ("x.toml", "a = 1\na = 2", "not valid TOML"),
        ("x.json", "{", "not valid JSON"),
        ("x.json", '{"a": 1, "a": 2}', "the key 'a' is given twice"),
        ("x.json", "[1]", "got a list, wanted a table"),
        ("x.json", "[" * 100_000, "nested too deeply"),
        ("x.json", '{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ("x.yaml", "a: 1\na: 2", "the key 'a' is given twice, line 2"),
        ("x.yaml", "a: &x [1]\nb: *x", r"aliases \(\*name\) are not supported, line 2"),
        ("x.yaml", "a: !!python/object:os.system {}", "not valid YAML"),
        ("x.yaml", "a: {", "not valid YAML"),
        ("x.yaml", "", "got a NoneType, wanted a table"),
        ("x.yaml", "just text", "got a str, wanted a table"),
        ("x.txt", "a = 1", "wanted a file that ends in .toml, .yaml"),
    ],
)
def test_broken_files_are_named_with_the_reason(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SpecError, match=message) as caught:
        read_table(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot read it: no such file or directory"):
        read_table(tmp_path / "none.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(SpecError, match="cannot read it: is a directory"):
        read_table(tmp_path / "folder.toml")
    (tmp_path / "latin.toml").write_bytes(b'a = "\xe9"')
    with pytest.raises(SpecError, match="not UTF-8 text"):
        read_table(tmp_path / "latin.toml")


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbfseed = 4")
    assert read_table(path) == {"seed": 4}
