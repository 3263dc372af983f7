"""The table of rounds is that of all rounds, however many attempts came to it."""

import io
import math
from pathlib import Path
from typing import Any

import pytest

from driftfold.checkpoint.base import Snapshot
from driftfold.checkpoint.memory import MemoryStore
from driftfold.errors import CheckpointError
from driftfold.files import LocalFiles
from driftfold.telemetry.base import Record
from driftfold.telemetry.json_form import to_json
from driftfold_workers.artefacts import rounds as module
from driftfold_workers.artefacts.rounds import Rounds
from driftfold_workers.artefacts.with_rounds import WithRounds
from tests.workers.tables import rows, rows_of


def records(count: int) -> list[Record]:
    """Rounds with other records between them; not every metric is in every round."""
    told = []
    for seq in range(1, count + 1):
        values: dict[str, float] = {
            "responders": seq % 5,
            "loss": math.nan if seq % 7 == 0 else 1 / seq,
        }
        if seq % 3 == 0:
            values["time"] = math.inf
        if seq > count // 2:
            values["late"] = -float(seq)
        kind = "evaluation" if seq % 4 == 0 else "round"
        told.append(Record(seq, kind, 60.5 * seq, seq, values, timing={"wall": 0.1}))
    return told


def table(rounds: Rounds) -> list[dict[str, Any]]:
    file = io.BytesIO()
    rounds.write_table(file)
    return rows(file.getvalue())


@pytest.mark.parametrize("part", [1, 3, 10, 4096])
@pytest.mark.parametrize("every", [1, 4, 25])
def test_attempts_that_go_on_from_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int, every: int
) -> None:
    monkeypatch.setattr(module, "PART", part)
    told, files, kept = records(60), LocalFiles(tmp_path), MemoryStore()
    reached, past = 0, None
    for epoch in range(1, 100):
        rounds = Rounds(files, f"a.{epoch}")
        if past is not None:
            rounds.go_on_from(kept.load(*past))
        store, lives_for = WithRounds(kept, rounds), 7 * epoch  # then it is killed
        for record in told[reached : reached + lives_for]:
            rounds.emit(record)
            if record.seq % every == 0:
                past = (f"a.{epoch}", store.save(f"a.{epoch}", Snapshot({}, {})))
                saved = record.seq
        if record.seq == len(told):
            break
        reached = saved if past is not None else 0
    assert table(rounds) == rows_of(to_json(record) for record in told)
    assert epoch > 1


def test_metric_and_position_of_one_name_are_two_columns(tmp_path: Path) -> None:
    rounds = Rounds(LocalFiles(tmp_path), "a.1")
    rounds.emit(Record(1, "round", 2.0, 3, {"time": 4.0}))
    assert table(rounds) == [
        {"seq": "1.0", "version": "3.0", "time": "2.0", "time (metric)": "4.0"}
    ]


def test_a_run_without_rounds_has_a_table_without_rows(tmp_path: Path) -> None:
    assert table(Rounds(LocalFiles(tmp_path), "a.1")) == []


def test_a_snapshot_without_rounds_is_none_to_go_on_from(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="kept no rounds"):
        Rounds(LocalFiles(tmp_path), "a.1").go_on_from(Snapshot({}, {}))


def test_a_job_that_tries_another_one_again_has_the_rounds_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART", 4)
    told, first, second = records(30), LocalFiles(tmp_path / "a"), LocalFiles(tmp_path / "b")
    rounds = Rounds(first, "a.1")
    snapshot = Snapshot({}, {})
    for record in told[:20]:
        rounds.emit(record)
        snapshot = rounds.kept_in(Snapshot({}, {}))
    again = Rounds(second, "b.1")
    again.go_on_from(snapshot, first)
    for path in (tmp_path / "a").rglob("*.npz"):  # the first one is deleted meanwhile
        path.unlink()
    for record in told[20:]:
        again.emit(record)
    assert table(again) == rows_of(to_json(record) for record in told)
    with pytest.raises(CheckpointError, match="rounds before the snapshot are gone"):
        Rounds(second, "b.2").go_on_from(snapshot, first)
