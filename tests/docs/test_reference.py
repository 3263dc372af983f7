"""The reference pages say what the code does."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from driftfold.checkpoint import MemoryStore
from driftfold.run import run
from driftfold.spec import load_spec
from driftfold.telemetry.memory import Memory
from driftfold.world.tally import OUTCOMES
from driftfold_api.failures import Outcome
from tests.modules import ROOT

REFERENCE = ROOT / "docs" / "reference"


def test_the_page_of_the_specification_is_up_to_date() -> None:
    """In a process of its own, which knows no kinds of other tests."""
    program = "from docs.make_reference import page; print(page(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    written = (REFERENCE / "specification.md").read_text(encoding="utf-8")
    assert written == done.stdout, "run python docs/make_reference.py"


@cache
def terms(page: str) -> frozenset[str]:
    """Return what stands in `backquotes` on a page."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return frozenset(re.findall(r"`([^`\n]+)`", text))


def finished(folder: Path) -> tuple[Any, Memory]:
    """Run an experiment in which everything that a record can tell happens."""
    memory = Memory()
    spec = load_spec(
        {
            "extends": "pca-synthetic",
            "algorithm": {"step_size": 1e308},
            "cadence": {"kind": "synchronous", "cohort": 20, "over_selection": 1.5},
            "horizon": {"rounds": 3},
            "evaluate_every": 1,
            "checkpoint_every": 1,
        }
    )
    return run(spec, folder=folder, sinks=[memory]), memory


def test_every_value_of_a_record_is_explained(tmp_path: Path) -> None:
    _, broken = finished(tmp_path)
    memory = Memory()
    run(load_spec("pca-synthetic", overrides=["horizon.rounds=2"]), sinks=[memory])
    records = [*broken.records, *memory.records]
    assert {record.kind for record in records} == {"round", "evaluation", "fault"}
    names = {name for record in records for name in [*record.values, *record.timing, record.kind]}
    assert set(OUTCOMES) <= names
    assert not names - terms("records.md")


def test_each_client_invited_ends_in_one_way() -> None:
    memory = Memory()
    short = ["cadence.deadline=45"]
    run(load_spec(ROOT / "examples" / "deadline.toml", overrides=short), sinks=[memory])
    rounds = [record.values for record in memory.records if record.kind == "round"]
    for name in ("late", "dropped", "skipped"):
        assert any(values[name] for values in rounds), name
    for values in rounds:
        ends = ("declined", "arrived", "late", "dropped")
        assert values["invited"] == sum(values[name] for name in ends)
        assert values["arrived"] == sum(values[n] for n in ("accepted", "rejected", "failed"))


def test_every_file_and_field_of_a_result_is_explained(tmp_path: Path) -> None:
    finished(tmp_path)
    files = {path.name + "/" * path.is_dir() for path in tmp_path.iterdir()}
    result = json.loads((tmp_path / "result.json").read_text())
    assert not files - terms("results.md")
    assert not {*result, *result["timing"]} - terms("results.md")


def test_every_exit_code_is_explained() -> None:
    assert not {str(outcome.value) for outcome in Outcome} - terms("results.md")


@pytest.mark.parametrize("fact", ["quiet", "trace", "decisions", "recorder", "tickets"])
def test_every_part_of_a_snapshot_is_explained(fact: str) -> None:
    store = MemoryStore()
    overrides = ["horizon.rounds=1", "checkpoint_every=1"]
    result = run(load_spec("pca-synthetic", overrides=overrides), store=store)
    snapshot = store.latest(result.spec_digest)
    assert snapshot is not None
    assert fact in snapshot.meta
    assert fact in terms("results.md")
