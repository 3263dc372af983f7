"""Files, presets and tables, and what they extend."""

import json
from pathlib import Path

import pytest
import yaml

from driftfold.errors import SpecError, UnknownKind
from driftfold.spec import digest, load_spec, to_mapping


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_three_formats_mean_the_same_experiment(tmp_path: Path) -> None:
    spec = load_spec("pca-synthetic")
    table = to_mapping(spec)
    as_json = write(tmp_path / "a.json", json.dumps(table))
    as_yaml = write(tmp_path / "a.yaml", yaml.safe_dump(table))
    as_toml = write(tmp_path / "a.toml", 'extends = "pca-synthetic"')
    assert load_spec(as_json) == load_spec(str(as_yaml)) == load_spec(as_toml) == spec
    assert load_spec(table) == spec


def test_a_preset_is_extended_field_by_field_and_kind_by_kind(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.yaml",
        "extends: pca-synthetic\nseed: 7\nalgorithm: {steps: 2}\nestimator: none\n",
    )
    spec, parent = load_spec(path), load_spec("pca-synthetic")
    assert spec.seed == 7
    assert to_mapping(spec)["algorithm"] == {**to_mapping(parent)["algorithm"], "steps": 2}
    assert to_mapping(spec)["estimator"]["kind"] == "none"
    assert spec.participation == parent.participation


def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    write(tmp_path / "base" / "root.toml", 'extends = "pca-synthetic"\nseed = 1')
    write(tmp_path / "base" / "mid.toml", 'extends = "root.toml"\nevaluate_every = 2')
    leaf = write(tmp_path / "runs" / "leaf.toml", 'extends = "../base/mid.toml"')
    spec = load_spec(leaf)
    assert (spec.seed, spec.evaluate_every) == (1, 2)


def test_circles_are_refused(tmp_path: Path) -> None:
    a = write(tmp_path / "a.toml", 'extends = "b.toml"')
    write(tmp_path / "b.toml", 'extends = "./a.toml"')
    with pytest.raises(SpecError, match=r"goes round in a circle: .*a\.toml -> .*b\.toml -> .*a"):
        load_spec(a)
    own = write(tmp_path / "own.toml", 'extends = "own.toml"')
    with pytest.raises(SpecError, match="circle"):
        load_spec(own)


def test_a_file_may_have_the_name_of_the_preset_it_extends(tmp_path: Path) -> None:
    path = write(tmp_path / "pca-synthetic.toml", 'extends = "pca-synthetic"\nseed = 2')
    assert load_spec(path).seed == 2


@pytest.mark.parametrize("value", ["3", "[]", '{kind = "x"}'])
def test_extends_is_a_name(tmp_path: Path, value: str) -> None:
    path = write(tmp_path / "a.toml", f"extends = {value}")
    with pytest.raises(SpecError, match=r"extends: got .*, wanted the name of a preset or file"):
        load_spec(path)


def test_overrides_come_last() -> None:
    spec = load_spec(
        {"extends": "pca-synthetic", "seed": 1},
        overrides=["seed=2", "algorithm.steps=3", "participation=always", "horizon.seconds=60"],
    )
    table = to_mapping(spec)
    assert (spec.seed, table["algorithm"]["steps"]) == (2, 3)
    assert table["participation"]["kind"] == "always"
    assert (spec.horizon.rounds, spec.horizon.seconds) == (1000, 60.0)
    without = load_spec("pca-synthetic", overrides=["horizon.rounds=null", "horizon.seconds=1"])
    assert without.horizon.rounds is None


def test_an_override_can_reach_a_part_that_was_left_at_its_default() -> None:
    spec = load_spec("pca-synthetic", overrides=["faults.on_bad_update=fail", "compute.tile=7"])
    assert spec.faults.on_bad_update == "fail"
    assert to_mapping(spec)["compute"]["tile"] == 7


def test_the_name_of_the_file_stands_before_each_problem(tmp_path: Path) -> None:
    path = write(
        tmp_path / "bad.toml", 'extends = "pca-synthetic"\nseed = -1\n[horizon]\nrounds = -1'
    )
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    first, second = str(caught.value).split("\n")
    assert first.startswith(f"{path}: horizon.rounds: got -1, wanted")
    assert second.startswith(f"{path}: seed: got -1, wanted")
    with pytest.raises(UnknownKind, match=r"^pca-synthetic: unknown field of JobSpec 'sed'"):
        load_spec("pca-synthetic", overrides=["sed=1"])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("pca-syntetic", "neither a file nor a preset; did you mean 'pca-synthetic'"),
        ("", "neither a file nor a preset"),
        ("missing.toml", "missing.toml: cannot read it: no such file"),
        ("missing/spec", "wanted a file that ends in .toml"),
        (Path("nowhere.json"), "nowhere.json: cannot read it"),
    ],
)
def test_what_is_not_there_is_named(source: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load_spec(source)


def test_loading_twice_gives_one_digest() -> None:
    assert digest(load_spec("pca-synthetic")) == digest(load_spec("pca-synthetic"))


@pytest.mark.parametrize("field", ["algorithm", "name"])
def test_a_table_nested_too_deeply_is_refused(field: str) -> None:
    table: dict[str, object] = {}
    for _ in range(3000):
        table = {"kind": "compressed", "algorithm": table}
    with pytest.raises(SpecError, match="the given table: not a specification: nested too deeply"):
        load_spec({"extends": "pca-synthetic-small", field: table})
