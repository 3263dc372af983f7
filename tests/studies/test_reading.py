"""Arms that read the run of another arm: rates that are matched, or exchanged."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.spec import plugins, to_mapping
from driftfold.studies import Arm
from driftfold.studies.base import Reads
from driftfold.studies.cells import Cell, Form, awaited, distinct, grid
from driftfold.studies.collecting import collect, is_done, read_series
from driftfold.studies.crew import Crew, Ended, Started
from driftfold.studies.orders import Measure, RunCell, carry_out
from driftfold.studies.rates import pace_key
from driftfold_api.client import Client
from driftfold_api.studying.on_service import OnService
from tests.studies.reading import CONTROLLED, PRESET, SHORT, STUDY
from tests.studies.tiny import Dies


@pytest.fixture(autouse=True)
def no_plugins_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells run in processes that have none, and results count where software is the same."""
    monkeypatch.setattr(plugins, "_loaded", {})


def order(cell: Cell, root: Path) -> RunCell:
    return RunCell(to_mapping(cell.spec), cell.folder(root), cell.read_folder(root))


def test_each_seed_reads_the_run_of_its_own_seed() -> None:
    cells = grid(STUDY, Form())
    assert [cell.name for cell in cells] == [
        "controlled/matched-s1",
        "controlled/matched-s2",
        "controlled/adaptive-s1",
        "controlled/adaptive-s2",
    ]
    named: list[Any] = [cell.spec.algorithm for cell in cells[:2]]
    assert [algorithm.rate.run for algorithm in named] == [cell.digest for cell in cells[2:]]
    assert [cell.reads for cell in cells] == [*(cell.place for cell in cells[2:]), "", ""]
    assert awaited(cells) == {cells[0]: cells[2], cells[1]: cells[3]}
    assert awaited(cells[:2]) == {}  # what is read is there already
    assert len(distinct(cells)) == 4


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(SpecError, match="'matched' of controlled reads the run of 'adaptive', wh"):
        grid(STUDY, Form(small=True))
    (matched, _) = CONTROLLED.arms
    ring = replace(
        CONTROLLED, arms=(matched, replace(matched, name="adaptive", reads=Reads("matched")))
    )
    with pytest.raises(SpecError, match="or reads it in turn"):
        grid(replace(STUDY, experiments=(ring,)), Form())


def test_the_order_is_that_of_reading_and_failures_are_passed_on(tmp_path: Path) -> None:
    """One seed's run is read; the other's dies, and so does what is to read it."""
    matched, lost, adaptive, dies = grid(STUDY, Form())
    orders: list[tuple[Cell, Any]] = [
        *((cell, order(cell, tmp_path)) for cell in (matched, lost, adaptive)),
        (dies, Dies()),
    ]
    with Crew(1) as crew:
        told = list(crew.work(orders, awaited((matched, lost, adaptive, dies))))
    assert [event.key for event in told if isinstance(event, Started)] == [adaptive, matched, dies]
    ends = {event.key: event.outcome for event in told if isinstance(event, Ended)}
    assert [ends[cell].ended for cell in (adaptive, matched, dies, lost)] == [
        "done",
        "done",
        "failed",
        "failed",
    ]
    assert ends[lost].about == (
        "it needs controlled/adaptive-s2, which has no result: its process died (exit code 3)"
    )
    assert not lost.folder(tmp_path).exists()
    values = collect((matched, adaptive), tmp_path, ("signal", "cpu"))
    rates = [
        values.sample("controlled", cell.arm, 4, "rate").values for cell in (matched, adaptive)
    ]
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-12)  # the mean of a constant, summed up
    told_of = read_series(adaptive.folder(tmp_path), ("signal",))
    assert told_of.at(4, "signal") == pytest.approx(values.series[adaptive.key].at(4, "signal"))
    assert told_of.at(4, "signal") != told_of.at(2, "signal")
    assert read_series(adaptive.folder(tmp_path)).at(4, "signal") is None
    # Later, with what it reads there from before:
    again = carry_out(order(matched, tmp_path), lambda: False, lambda rounds: None)
    assert again.ended == "done"
    assert is_done(matched, tmp_path)
    # And measured, with and without it:
    known = Measure(to_mapping(matched.spec), 0.0, adaptive.folder(tmp_path))
    assert carry_out(known, lambda: False, lambda rounds: None).rate is not None


def test_a_recorded_rate_has_the_pace_of_a_fixed_one() -> None:
    matched, _, adaptive, _ = grid(STUDY, Form())
    fixed = replace(CONTROLLED, arms=(Arm("fixed", PRESET, (*SHORT, "algorithm.rate=fixed_rate")),))
    cell, _ = grid(replace(STUDY, experiments=(fixed,)), Form())
    assert pace_key(matched.spec) == pace_key(cell.spec) != pace_key(adaptive.spec)


def test_workers_of_a_service_are_not_asked_to_read(tmp_path: Path) -> None:
    matched = grid(STUDY, Form())[0]
    nobody = Client("http://127.0.0.1:9")  # who is never asked
    (event,) = OnService(nobody, tmp_path).work([matched])
    assert isinstance(event, Ended)
    assert event.outcome.ended == "failed"
    assert "it reads the run cells/controlled/adaptive-s1, which the workers" in event.outcome.about
    assert "run this experiment without --service" in event.outcome.about
