"""Cells are run, interrupted and resumed, and fail without harm to others."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from driftfold.folder import RESULT, SPEC, only_writer
from driftfold.run import run
from driftfold.spec import load_spec, to_mapping
from driftfold.studies.cells import Cell, Form, grid
from driftfold.studies.collecting import collect, is_done, read_series
from driftfold.studies.crew import Advanced, Crew, Ended, Started
from driftfold.studies.logbook import Note, State, read_note, renew, software_of, state_of
from driftfold.studies.orders import Measure, RunCell, carry_out
from driftfold.studies.outlook import Outlook
from driftfold.studies.rates import Rate, pace_key
from driftfold.telemetry.reader import read_records
from tests.studies.tiny import STUDY, Dies


@pytest.fixture
def cells() -> list[Cell]:
    return list(grid(STUDY, Form()))


def order(cell: Cell, root: Path) -> RunCell:
    return RunCell(to_mapping(cell.spec), cell.folder(root))


def state(cell: Cell, root: Path) -> State:
    return state_of(cell.folder(root), cell.digest, software_of(cell.spec))


def test_a_cell_is_the_run_that_it_names(cells: list[Cell], tmp_path: Path) -> None:
    outcome = carry_out(order(cells[0], tmp_path), lambda: False, lambda rounds: None)
    assert outcome.ended == "done"
    assert is_done(cells[0], tmp_path)
    assert not is_done(cells[1], tmp_path)
    series = collect(cells, tmp_path).series[cells[0].key]
    assert series.rounds.tolist() == [0, 1, 2, 3]
    assert series.at(3, "gap") == run(cells[0].spec).metrics["gap"]


def test_an_interrupted_cell_goes_on_to_the_same_numbers(cells: list[Cell], tmp_path: Path) -> None:
    answers: Iterator[bool] = iter([False, True])
    stopped = carry_out(order(cells[0], tmp_path), lambda: next(answers), lambda rounds: None)
    assert stopped.ended == "stopped"
    assert state(cells[0], tmp_path) is State.BEGUN
    assert collect(cells, tmp_path).series == {}
    folder = cells[0].folder(tmp_path)
    before = read_note(folder)
    assert carry_out(order(cells[0], tmp_path), lambda: False, lambda rounds: None).ended == "done"
    after = read_note(folder)
    assert before is not None
    assert after is not None
    assert after.seconds > before.seconds  # of both attempts
    whole = tmp_path / "whole"
    run(cells[0].spec, folder=whole)
    values = [[r.values for r in read_records(place)] for place in (folder, whole)]
    assert values[0] == values[1]
    assert (folder / "checkpoints").is_dir()  # it did go on, and not begin anew


def test_a_run_counts_that_says_nothing_of_what_is_new(cells: list[Cell], tmp_path: Path) -> None:
    """Of an older driftfold, which knew a field less; only where the field has its default."""
    cell, folder = cells[0], cells[0].folder(tmp_path)
    carry_out(order(cell, tmp_path), lambda: False, lambda rounds: None)
    values = [record.values for record in read_records(folder)]
    table = json.loads((folder / SPEC).read_text())
    lacking = {**table, "task": {k: v for k, v in table["task"].items() if k != "precision"}}
    assert lacking != table
    for spec, count in (({**lacking, "seed": 7}, State.NEW), (lacking, State.DONE)):
        (folder / SPEC).write_text(json.dumps(spec))
        Note("of old", software_of(cell.spec), seconds=5.0).write(folder)
        assert state(cell, tmp_path) is State.NEW
        renew(folder, cell.spec)
        assert state(cell, tmp_path) is count
    assert json.loads((folder / SPEC).read_text()) == table
    assert json.loads((folder / RESULT).read_text())["spec_digest"] == cell.digest
    assert read_note(folder) == Note(cell.digest, software_of(cell.spec), seconds=5.0)
    assert [record.values for record in read_records(folder)] == values


def test_a_changed_specification_or_software_is_run_anew(cells: list[Cell], tmp_path: Path) -> None:
    first = order(cells[0], tmp_path)
    carry_out(first, lambda: False, lambda rounds: None)
    folder = cells[0].folder(tmp_path)
    note = read_note(folder)
    assert note is not None
    assert state_of(folder, "another", note.software) is State.NEW
    assert state_of(folder, note.spec, "another") is State.NEW
    other = load_spec(to_mapping(cells[0].spec), overrides=["horizon.rounds=2"])
    carry_out(replace(first, spec=to_mapping(other)), lambda: False, lambda rounds: None)
    assert read_series(folder).rounds.tolist() == [0, 1, 2]


def test_a_cell_waits_for_who_outlives_a_study_that_was_killed(
    cells: list[Cell], tmp_path: Path
) -> None:
    with ExitStack() as held:
        held.enter_context(only_writer(cells[0].folder(tmp_path)))
        Timer(0.2, held.pop_all().close).start()
        outcome = carry_out(order(cells[0], tmp_path), lambda: False, lambda rounds: None)
    assert outcome.ended == "done"


def test_missing_data_and_broken_parts_are_outcomes(cells: list[Cell], tmp_path: Path) -> None:
    lacking = carry_out(order(cells[2], tmp_path), lambda: False, lambda rounds: None)
    assert lacking.ended == "no data"
    assert "gone.npz" in lacking.about
    odd = load_spec("pca-synthetic-small", overrides=["task.rank=30"])  # of rows of length 20
    failed = carry_out(
        RunCell(to_mapping(odd), tmp_path / "odd"), lambda: False, lambda rounds: None
    )
    assert failed.ended == "failed"
    assert failed.about


def test_the_pace_is_measured_without_a_trace(cells: list[Cell]) -> None:
    outcome = carry_out(
        Measure(to_mapping(cells[0].spec), 0.01), lambda: False, lambda rounds: None
    )
    assert outcome.rate is not None
    rate = outcome.rate
    assert rate.setup > 0
    assert rate.round > 0
    assert rate.evaluation > 0


@pytest.mark.slow
def test_processes_fail_die_and_stop_without_harm(cells: list[Cell], tmp_path: Path) -> None:
    """One process after another: a failure, a death, a cell, and one that is cut short."""
    endless = load_spec("pca-synthetic-small", overrides=["horizon.rounds=1000000"])
    work: list[tuple[str, Any]] = [
        ("lacking", order(cells[2], tmp_path)),
        ("dies", Dies()),
        ("plain", order(cells[1], tmp_path)),
        ("endless", RunCell(to_mapping(endless), tmp_path / "endless")),
    ]
    told = []
    with Crew(1) as crew:
        for event in crew.work(work):
            told.append(event)
            if len(told) == 1:  # Ctrl-C, which the terminal sends to all, while it is starting
                (child,) = active_children()
                os.kill(child.pid or 0, signal.SIGINT)
            if isinstance(event, Advanced) and event.key == "endless":
                break
    ends = {event.key: event.outcome for event in told if isinstance(event, Ended)}
    assert {key: outcome.ended for key, outcome in ends.items()} == {
        "lacking": "no data",
        "dies": "failed",
        "plain": "done",
    }
    assert "exit code 3" in ends["dies"].about
    assert [event.key for event in told if isinstance(event, Started)] == [key for key, _ in work]
    assert any((tmp_path / "endless" / "checkpoints").rglob("*"))


def test_the_outlook_learns_from_what_ends(cells: list[Cell]) -> None:
    plain = cells[:2]
    pace = pace_key(plain[0].spec)
    outlook = Outlook(plain, {}, cores=1)
    assert outlook.left() is None
    outlook.take(Started(plain[0]))
    ended = carry_out(Measure(to_mapping(plain[0].spec), 0.0), lambda: False, lambda rounds: None)
    outlook.take(Ended(plain[0], replace(ended, seconds=8.0)))
    assert outlook.done == 1
    assert outlook.left() == pytest.approx(8.0)  # both run at one pace
    outlook.take(Advanced(plain[1], 3 // 2))
    assert outlook.left() == pytest.approx(8.0 * 2 / 3)
    known = Outlook(plain, {pace: Rate(1.0, 0.0, 0.0)}, cores=2)
    assert known.left() == pytest.approx(1.0)
