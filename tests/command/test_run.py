"""`driftfold run`: a folder, a result, and the same numbers every time."""

import json
from pathlib import Path
from typing import Any

import pytest

from driftfold.run import run
from driftfold.spec import digest, load_spec
from driftfold.telemetry.reader import read_records
from tests.command.cli import QUICK, call

KEYS = {"spec_digest", "event_digest", "metrics_digest", "metrics", "timing"}
SPEC = ["horizon.rounds=6", "evaluate_every=2"]


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert call("run", *arguments, "--json", "--quiet") == 0
    out, err = capsys.readouterr()
    assert err == ""
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_a_folder_that_is_not_there_cannot_go_on(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("run", "gone", "--resume") == 2
    assert "gone: there is no such folder; give the folder of the run" in capsys.readouterr().err


def test_the_folder_holds_specification_records_result_and_plot(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = run_json(capsys, "pca-synthetic", *QUICK)
    spec = load_spec("pca-synthetic", overrides=SPEC)
    folder = here / answer["folder"]
    assert answer["folder"] == f"runs/pca-synthetic-{digest(spec)[:8]}-s0"
    assert answer.keys() >= KEYS
    assert answer["spec_digest"] == digest(spec)
    assert load_spec(folder / "spec.json") == spec
    assert json.loads((folder / "result.json").read_text())["metrics"] == answer["metrics"]
    evaluations = [r for r in read_records(folder) if r.kind == "evaluation"]
    assert evaluations[-1].values == answer["metrics"]
    assert (here / answer["plot"]).read_bytes().startswith(b"\x89PNG")


def test_the_command_gives_what_the_library_gives(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run_json(capsys, "pca-synthetic", *QUICK, "--seed", "3", "--no-plot")
    result = run(load_spec("pca-synthetic", overrides=[*SPEC, "seed=3"]))
    assert answer["event_digest"] == result.event_digest
    assert answer["metrics_digest"] == result.metrics_digest
    assert answer["metrics"] == result.metrics
    assert answer["plot"] is None


def test_the_table_shows_metrics_digests_and_where_things_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("run", "pca-synthetic", *QUICK, "--folder", "mine") == 0
    out, err = capsys.readouterr()
    for word in ("gap", "loss", "all rounds done", "virtual time", "metrics digest", "mine"):
        assert word in out
    assert "round 6/6" in err
    assert "rounds/s" in err


def test_a_folder_is_not_run_into_twice(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot")
    assert call("run", "pca-synthetic", *QUICK, "--folder", "a") == 2
    assert "already holds a run; continue it with --resume" in capsys.readouterr().err
    (here / "a" / "notes.txt").write_text("mine")
    again = run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot", "--overwrite")
    assert again["metrics_digest"] == first["metrics_digest"]
    assert (here / "a" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(["--set", "task.rank=1000"], "lower the rank"), (["--resume"], "give one of them")],
    ids=["parts that do not fit", "resumed as well"],
)
def test_what_cannot_run_overwrites_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot")
    before = {path.name: path.read_bytes() for path in (here / "a").iterdir()}
    assert call("run", "pca-synthetic", *QUICK, "--folder", "a", "--overwrite", *arguments) == 2
    assert why in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (here / "a").iterdir()} == before


def test_resuming_gives_the_same_result(capsys: pytest.CaptureFixture[str]) -> None:
    snapshots = ("--set", "checkpoint_every=4", "--no-plot")
    first = run_json(capsys, "pca-synthetic", *QUICK, *snapshots, "--folder", "a")
    again = run_json(capsys, "a", "--resume", "--no-plot")
    assert again["resumed_from"] == 4
    assert call("run", "a", "--resume", "--no-plot") == 0
    assert "no snapshot" not in capsys.readouterr().err
    for key in ("spec_digest", "event_digest", "metrics_digest", "metrics", "counts"):
        assert again[key] == first[key]
    versions = [r.version for r in read_records(Path("a")) if r.kind == "round"]
    assert versions == [1, 2, 3, 4, 5, 6]


def test_resuming_without_a_snapshot_starts_again(capsys: pytest.CaptureFixture[str]) -> None:
    first = run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot")
    again = run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot", "--resume")
    assert again["resumed_from"] is None
    assert again["metrics_digest"] == first["metrics_digest"]
    assert call("run", "a", "--resume", "--no-plot", "--json") == 0
    assert "no snapshot in a to resume from; starting at round 0" in capsys.readouterr().err
    fresh = run_json(capsys, "pca-synthetic", *QUICK, "--folder", "b", "--no-plot", "--resume")
    assert fresh["metrics_digest"] == first["metrics_digest"]


def test_a_folder_does_not_hide_the_preset_of_its_name(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "pca-synthetic").mkdir()
    assert run_json(capsys, "pca-synthetic", *QUICK, "--no-plot")["rounds"] == 6


def test_another_experiment_is_not_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot")
    assert call("run", "pca-synthetic-rs", *QUICK, "--folder", "a", "--resume") == 2
    assert "another specification, which --resume cannot continue" in capsys.readouterr().err


def test_a_plugin_that_is_not_used_changes_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "unused_extra.py").write_text("VALUE = 1\n")
    plain = run_json(capsys, "pca-synthetic", *QUICK, "--folder", "a", "--no-plot")
    extra = run_json(
        capsys, "pca-synthetic", *QUICK, "--folder", "b", "--no-plot", "--plugin", "unused_extra.py"
    )
    for key in ("spec_digest", "event_digest", "metrics_digest"):
        assert plain[key] == extra[key]


@pytest.mark.parametrize(
    ("name", "file", "stem"),
    [
        ("two words/..", "x.toml", "two-words"),
        ("", "my spec.toml", "my-spec"),
        ("..", "x.toml", "run"),
        ("été", "x.toml", "été"),
    ],
)
def test_folders_have_plain_names(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, file: str, stem: str
) -> None:
    (here / file).write_text(f'extends = "pca-synthetic"\nname = "{name}"')
    answer = run_json(capsys, file, *QUICK, "--no-plot")
    assert Path(answer["folder"]).parent == Path("runs")
    assert Path(answer["folder"]).name.startswith(f"{stem}-{answer['spec_digest'][:8]}-s0")
