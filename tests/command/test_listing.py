"""`driftfold kinds`, `presets`, `validate`, `--version` and help."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftfold import __version__, presets
from driftfold.spec import catalogue, digest, from_mapping, load_spec
from driftfold_api.command import app
from tests.command.cli import call


def test_kinds_lists_all_families_kinds_and_fields() -> None:
    shown = CliRunner().invoke(app, ["kinds"]).output
    for family, kinds in catalogue().items():
        assert f"{family}\n" in shown
        for kind, about in kinds.items():
            assert f"  {kind}  {about['doc']}\n" in shown
            for field in about["fields"]:
                assert f"      {field['name']}: {field['type']}" in shown


def test_kinds_of_one_family() -> None:
    shown = CliRunner().invoke(app, ["kinds", "estimator"]).output
    assert shown.startswith("estimator\n")
    assert "inclusive" in shown
    assert "rfedags" not in shown


def test_kinds_as_json_is_the_catalogue() -> None:
    assert json.loads(CliRunner().invoke(app, ["kinds", "--json"]).output) == catalogue()


def test_presets_are_listed() -> None:
    shown = CliRunner().invoke(app, ["presets"]).output
    assert [line.split()[0] for line in shown.splitlines()] == list(presets.names())
    rows = json.loads(CliRunner().invoke(app, ["presets", "--json"]).output)
    extends = {row["name"]: row["extends"] for row in rows}
    assert extends["pca-synthetic"] is None
    assert extends["pca-synthetic-rs"] == "pca-synthetic"


def test_a_preset_is_described_by_a_whole_sentence() -> None:
    told = {name: presets.describe(name) for name in presets.names()}
    assert not [name for name, text in told.items() if text[-1] not in ".?"]
    assert told["orthonormal-network"].endswith("whose clients hold two kinds of clothes each.")
    assert "cannot be fetched" in told["hyperbolic-prediction"]


def test_one_preset_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("presets", "pca-synthetic") == 0
    assert capsys.readouterr().out == presets.read("pca-synthetic")
    assert call("presets", "pca-syntetic") == 2
    assert "did you mean 'pca-synthetic'?" in capsys.readouterr().err


def test_validate_tells_the_digest_and_the_whole_specification() -> None:
    spec = load_spec("pca-synthetic", overrides=["seed=3"])
    shown = CliRunner().invoke(app, ["validate", "pca-synthetic", "--set", "seed=3"]).output
    assert shown == f"pca-synthetic: valid, digest {digest(spec)}\n"
    arguments = ["validate", "pca-synthetic", "--set", "seed=3", "--json", "--build"]
    answer = json.loads(CliRunner().invoke(app, arguments).output)
    assert answer["valid"] is True
    assert from_mapping(answer["spec"]) == spec


def test_validate_as_json_lists_the_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("validate", "pca-synthetic", "--set", "seed=-1", "--json") == 2
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["valid"] is False
    assert [f"error: {line}" for line in answer["problems"]] == err.splitlines()


def test_kinds_of_a_plugin_are_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "listed_extra.py").write_text(
        "from dataclasses import dataclass\n"
        "from driftfold.compute.loop import Loop\n"
        "from driftfold.registry import register\n"
        '@register("listed-extra")\n@dataclass(frozen=True)\nclass Extra(Loop):\n    "Extra."\n'
    )
    from driftfold import registry

    before = dict(registry._kinds["compute"])
    try:
        assert call("kinds", "compute", "--plugin", "listed_extra.py") == 0
        assert "listed-extra  Extra." in capsys.readouterr().out
    finally:
        registry._kinds["compute"].clear()
        registry._kinds["compute"].update(before)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--debug"]])
def test_help_is_shown_when_nothing_is_asked(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert call(*arguments) == 0
    out = capsys.readouterr().out
    for word in ("run", "kinds", "presets", "validate", "plot"):
        assert f"  {word} " in out


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--version") == 0
    assert capsys.readouterr().out == f"driftfold {__version__}\n"
