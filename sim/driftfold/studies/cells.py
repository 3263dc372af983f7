"""The grid of a study: one cell, an ordinary specification, for each experiment, arm and seed."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from driftfold.errors import SpecError
from driftfold.spec import JobSpec, digest, load_spec
from driftfold.studies.base import Arm, Experiment, Study, first_seeds
from driftfold.studies.values import Values

CELLS = "cells"
"""Name of the folder that holds the cells' run folders."""


@dataclass(frozen=True)
class Form:
    """How much of a study to run.

    Attributes
    ----------
    small
        The form that checks everything in minutes, in place of the published sizes.
    full
        Also the experiments that take too long for the core grid.
    only
        Names of experiments, whatever their tier, with those that tune them; none takes all.
    seeds
        Seeds for every arm, in place of each experiment's own number.
    """

    small: bool = False
    full: bool = False
    only: tuple[str, ...] = ()
    seeds: int | None = None


@dataclass(frozen=True)
class Cell:
    """One run of a study.

    Attributes
    ----------
    experiment, arm, seed
        Which one.
    spec, digest
        What it runs, and its identity.
    place
        Its run folder below the study's. Cells that run the same share one.
    reads
        The folder of the run that has to be over before, below the study's; "" where none has.
    """

    experiment: str
    arm: str
    seed: int
    spec: JobSpec = field(compare=False)  # its digest says as much
    digest: str
    place: str
    reads: str = ""

    @property
    def name(self) -> str:
        """For people, as in ``pca/rfedags-s1``."""
        return f"{self.experiment}/{self.arm}-s{self.seed}"

    def __str__(self) -> str:
        """As `name`."""
        return self.name

    @property
    def key(self) -> tuple[str, str, int]:
        """Experiment, arm and seed."""
        return self.experiment, self.arm, self.seed

    def folder(self, root: Path) -> Path:
        """Return its run folder in the folder of a study."""
        return root / self.place

    def read_folder(self, root: Path) -> Path | None:
        """Return the run folder that it reads, or None."""
        return root / self.reads if self.reads else None


def chosen(study: Study, form: Form) -> tuple[Experiment, ...]:
    """Return the experiments in this form; raises `SpecError` for a name that is none."""
    names = [experiment.name for experiment in study.experiments]
    for name in form.only:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise SpecError(
                f"study {study.name} has no experiment {name!r}; {hint}known: {', '.join(names)}"
            )
    wanted = [e for e in study.experiments if _is_wanted(e, form)]
    tuning = {name for experiment in wanted for name in experiment.tuned_by}
    there = (e for e in study.experiments if e in wanted or _tunes(e, tuning, form))
    return tuple(_in_form(e, form) for e in there)


def tuning(experiments: Collection[Experiment]) -> frozenset[str]:
    """Return the names of those that set arms of others: they are run before all."""
    return frozenset(name for experiment in experiments for name in experiment.tuned_by)


def grid(study: Study, form: Form, values: Values | None = None) -> tuple[Cell, ...]:
    """Return all cells of a form, in the study's order.

    Tuned arms have the settings that are best by `values`, those of the tuning experiments.

    >>> from driftfold.studies import get_study
    >>> cells = grid(get_study("rfedags"), Form(only=("pca",), seeds=1))
    >>> cells[0].name, cells[0].spec.seed
    ('pca/rfedags-s1', 1)
    """
    places: dict[str, str] = {}
    known = values or Values()
    grids = (_cells(experiment, places, known) for experiment in chosen(study, form))
    return tuple(cell for cells in grids for cell in cells)


def distinct(cells: Collection[Cell]) -> list[Cell]:
    """Return one cell of each run folder."""
    return list({cell.place: cell for cell in reversed(list(cells))}.values())[::-1]


def awaited(cells: Collection[Cell]) -> dict[Cell, Cell]:
    """Return by cell the one among them whose run it reads.

    >>> awaited(())
    {}
    """
    there = {cell.place: cell for cell in cells}
    return {cell: there[cell.reads] for cell in cells if cell.reads in there}


def _is_wanted(experiment: Experiment, form: Form) -> bool:
    if form.small and experiment.small is None:
        return False
    if form.only:
        return experiment.name in form.only
    return experiment.tier == "core" or form.full


def _tunes(experiment: Experiment, names: Collection[str], form: Form) -> bool:
    return experiment.name in names and not (form.small and experiment.small is None)


def _in_form(experiment: Experiment, form: Form) -> Experiment:
    own = experiment.as_small() if form.small else experiment
    return own if form.seeds is None else replace(own, seeds=first_seeds(own.seeds, form.seeds))


def _cells(experiment: Experiment, places: dict[str, str], values: Values) -> list[Cell]:
    """The cells of an experiment; `places` has the folders of specifications, by digest."""
    made: dict[tuple[str, int], Cell] = {}
    for arm in _read_first(experiment):
        arm = _set(arm, values)
        for seed in experiment.seeds:
            source = None if arm.reads is None else made[arm.reads.arm, seed]
            spec, identity = _spec(arm.preset, _settings(experiment, arm, source), seed)
            own = f"{CELLS}/{experiment.name}/{arm.name}-s{seed}"
            place = places.setdefault(identity, own)
            reads = "" if source is None else source.place
            made[arm.name, seed] = Cell(
                experiment.name, arm.name, seed, spec, identity, place, reads
            )
    return [made[arm.name, seed] for arm in experiment.arms for seed in experiment.seeds]


def _set(arm: Arm, values: Values) -> Arm:
    """The arm with what tuning found."""
    if arm.tuned is None:
        return arm
    return replace(arm, overrides=(*arm.overrides, *arm.tuned.settings(values)))


def _read_first(experiment: Experiment) -> list[Arm]:
    """The arms, those that others read before these."""
    left, made = list(experiment.arms), list[Arm]()
    while left:
        names = {arm.name for arm in made}
        ready = [arm for arm in left if arm.reads is None or arm.reads.arm in names]
        if not ready:
            arm = left[0]
            assert arm.reads is not None
            raise SpecError(
                f"arm {arm.name!r} of {experiment.name} reads the run of {arm.reads.arm!r}, which "
                "is no arm of this form, or reads it in turn; name one that runs by itself"
            )
        made += ready
        left = [arm for arm in left if arm not in ready]
    return made


def _settings(experiment: Experiment, arm: Arm, source: Cell | None) -> tuple[str, ...]:
    settings = (*arm.overrides, f"name={experiment.name}-{arm.name}")
    if arm.reads is None or source is None:
        return settings
    return (*settings, f"{arm.reads.into}={source.digest}")


@cache
def _loaded(preset: str, settings: tuple[str, ...]) -> JobSpec:
    return load_spec(preset, overrides=list(settings))


@cache
def _spec(preset: str, settings: tuple[str, ...], seed: int) -> tuple[JobSpec, str]:
    """A cell's specification and its digest, kept since a tuned grid is made more than once."""
    spec = replace(_loaded(preset, settings), seed=seed)
    return spec, digest(spec)
