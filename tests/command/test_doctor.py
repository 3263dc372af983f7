"""`driftfold doctor`."""

import json
from pathlib import Path

from typer.testing import CliRunner

from driftfold.engines import TABLE
from driftfold_api.command import app
from tests.command.cli import spawn


def test_the_table_is_shown_row_by_row() -> None:
    shown = CliRunner().invoke(app, ["doctor"]).output
    at = [shown.index(f"  {row.kernel}  ") for row in TABLE]
    assert at == sorted(at)
    assert all(row.where in shown and row.reason in shown for row in TABLE)


def test_as_json_it_names_what_a_report_of_a_fault_needs(tmp_path: Path) -> None:
    done = spawn(["doctor", "--json"], tmp_path, DRIFTFOLD_NATIVE="0", DRIFTFOLD_DATA=str(tmp_path))
    found = json.loads(done.stdout)
    assert found["kernels"] == {
        "loaded": False,
        "why": "DRIFTFOLD_NATIVE=0 turns the kernels off",
        "to do": "unset DRIFTFOLD_NATIVE",
    }
    assert found["data"] == {"folder": str(tmp_path), "exists": True}
    assert found["packages"]["numpy"]
    assert [row["kernel"] for row in found["engines"]] == [row.kernel for row in TABLE]


def test_the_address_of_a_redis_is_not_shown(tmp_path: Path) -> None:
    """It may hold a password, and what doctor prints is pasted into reports."""
    shown = spawn(["doctor"], tmp_path, REDIS_URL="redis://:secret@queue:6379/0").stdout
    assert "from: REDIS_URL" in shown
    assert "secret" not in shown
