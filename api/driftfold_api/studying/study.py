"""`driftfold study`: run what is missing of a study, judge its claims, and write the report."""

import os
import shlex
import signal
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter
from typing import Any

import typer

from driftfold.data.catalogue.folder import VARIABLE
from driftfold.folder import only_writer
from driftfold.spec import to_mapping
from driftfold.studies import Study, get_study
from driftfold.studies.cells import Cell, Form, awaited, chosen, distinct, grid, tuning
from driftfold.studies.collecting import collect, is_done
from driftfold.studies.crew import Crew, Ended, Event
from driftfold.studies.judging import judge
from driftfold.studies.logbook import renew
from driftfold.studies.needs import missing
from driftfold.studies.orders import Outcome, RunCell
from driftfold.studies.outlook import Outlook
from driftfold_api.errors import RequestError
from driftfold_api.failures import Outcome as Exit
from driftfold_api.reaching import reach
from driftfold_api.studying.display import Display, display
from driftfold_api.studying.estimate import load_rates, measure_all, print_estimate
from driftfold_api.studying.on_service import OnService
from driftfold_api.studying.report.facts import gather
from driftfold_api.studying.report.model import Report
from driftfold_api.studying.report.terminal import print_verdicts
from driftfold_api.studying.report.write import write_report

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class StudyRequest:
    """What was asked for on the command line; the fields are those of `driftfold study`."""

    name: str
    form: Form
    estimate: bool = False
    jobs: int | None = None
    folder: Path | None = None
    data: Path | None = None
    service: bool = False
    url: str | None = None
    quiet: bool = False

    @property
    def root(self) -> Path:
        """The study's folder."""
        return self.folder or Path("runs") / f"{self.name}{'-small' * self.form.small}"

    @property
    def cores(self) -> int:
        """How many cells run at a time."""
        return self.jobs or os.cpu_count() or 1

    @property
    def command(self) -> str:
        """The command that does this."""
        form = self.form
        words = ["driftfold", "study", self.name]
        words += ["--small"] * form.small + ["--full"] * form.full
        words += [word for name in form.only for word in ("--only", name)]
        for option, value in (
            ("--seeds", form.seeds),
            ("--jobs", self.jobs),
            ("--folder", self.folder),
            ("--data", self.data),
            ("--url", self.url),
        ):
            words += [option, str(value)] if value is not None else []
        return shlex.join(words + ["--service"] * self.service)


def study(request: StudyRequest) -> None:
    """Carry the request out; exit with 1 when a cell failed.

    Interrupted, it reports what is there and exits with 130; the same request goes on. One process
    at a time works in a study's folder.
    """
    if request.data is not None:
        if not request.data.is_dir():
            raise RequestError(f"--data: {request.data} is no folder; give the one with the sets")
        os.environ[VARIABLE] = str(request.data)
    for variable in THREADS:  # of the processes to come: a cell has one core
        os.environ.setdefault(variable, "1")
    asked = get_study(request.name)
    first = _those_that_tune(request, asked, grid(asked, request.form))
    _require_writable(request.root)
    with only_writer(request.root, "study"):
        _carry_out(request, asked, first)


def _those_that_tune(
    request: StudyRequest, asked: Study, cells: tuple[Cell, ...]
) -> tuple[Cell, ...]:
    """The cells whose values set arms of the others."""
    names = tuning(chosen(asked, request.form))
    return tuple(cell for cell in cells if cell.experiment in names)


def _tuned_grid(request: StudyRequest, asked: Study, first: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The whole grid, set by what is known of the tuning so far."""
    return grid(asked, request.form, collect(first, request.root))


def _carry_out(request: StudyRequest, asked: Study, first: tuple[Cell, ...]) -> None:
    absent = _tell_missing(asked, request)

    def left(cells: tuple[Cell, ...]) -> list[Cell]:
        for cell in distinct(cells):
            renew(cell.folder(request.root), cell.spec)
        return [
            cell
            for cell in distinct(cells)
            if cell.experiment not in absent and not is_done(cell, request.root)
        ]

    tuning_left = left(first)
    if request.estimate:
        cells = _tuned_grid(request, asked, first)
        todo = left(cells)
        rates = measure_all(todo, request.root, request.cores, request.quiet)
        print_estimate(asked, cells, todo, rates, request.cores)
        return
    started = perf_counter()
    outcomes: dict[str, Outcome] = {}
    interrupted = False
    try:
        _run(request, tuning_left, outcomes)
        rest = left(_tuned_grid(request, asked, first))
        _run(request, [cell for cell in rest if cell.place not in outcomes], outcomes)
    except KeyboardInterrupt:
        interrupted = True
        typer.echo(f"interrupted; go on with: {request.command}", err=True)
    cells = _tuned_grid(request, asked, first)
    values = collect(cells, request.root, asked.of_rounds, absent)
    report = Report(
        study=asked,
        form=request.form,
        cells=cells,
        values=values,
        findings=judge(asked, values, small=request.form.small),
        absent=absent,
        troubles={place: o.about for place, o in outcomes.items() if o.ended != "done"},
        facts=gather(request.command, request.root, cells, perf_counter() - started),
    )
    page = write_report(report, request.root)
    print_verdicts(report)
    for trouble in report.told_troubles():
        typer.echo(f"not run: {trouble}", err=True)
    typer.echo(str(page))
    if interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
    if report.troubles:
        raise typer.Exit(Exit.FAILED)


def _require_writable(root: Path) -> None:
    """Say before hours of work that nothing of it could be kept."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=root):
            pass
    except OSError as error:
        raise RequestError(
            f"cannot write in {root}: {error.strerror}; choose another --folder"
        ) from error


def _run(request: StudyRequest, todo: list[Cell], outcomes: dict[str, Outcome]) -> None:
    """Run the cells that are not done; note by place what came of each."""
    if not todo:
        return
    rates = load_rates(request.root)
    outlook = Outlook(todo, rates, request.cores)
    shown = display(outlook, request.quiet)
    with _sigterm_as_interrupt(), shown, _events(request, outlook, shown) as events:
        for event in events:
            outlook.take(event)
            shown.take(event)
            if isinstance(event, Ended):
                outcomes[event.key.place] = event.outcome


@contextmanager
def _events(
    request: StudyRequest, outlook: Outlook, shown: Display
) -> Iterator[Generator[Event[Cell], None, None]]:
    """Open what carries the cells out: processes of this machine, or a service's workers."""
    if request.service or request.url:
        with (
            reach(request.url, insist=True, tell=shown.say) as client,
            closing(OnService(client, request.root).work(outlook.cells)) as events,
        ):
            yield events
    else:
        root = request.root.absolute()
        orders = [
            (cell, RunCell(to_mapping(cell.spec), cell.folder(root), cell.read_folder(root)))
            for cell in outlook.cells
        ]
        with Crew(request.cores) as crew:
            yield crew.work(orders, awaited(outlook.cells))


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell_missing(asked: Study, request: StudyRequest) -> dict[str, str]:
    """Say before the start which experiments lack their data; return by name why."""
    absent = {
        name: "; ".join(
            f"{status.entry.name} is {status.state}: {status.entry.advice}" for status in states
        )
        for name, states in missing(chosen(asked, request.form)).items()
    }
    for name, why in absent.items():
        typer.echo(f"{name} is not run, data missing: {why}", err=True)
    return absent
