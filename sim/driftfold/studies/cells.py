"""The grid of a study: one cell, an ordinary specification, for each experiment, arm and seed."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from driftfold.errors import SpecError
from driftfold.spec import JobSpec, digest, load_spec
from driftfold.studies.base import Arm, Experiment, Study, first_seeds

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
        Names of experiments, whatever their tier; none takes all.
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
    wanted = (e for e in study.experiments if _is_wanted(e, form))
    return tuple(_in_form(e, form) for e in wanted)


def grid(study: Study, form: Form) -> tuple[Cell, ...]:
    """Return all cells of a form, in the study's order.

    >>> from driftfold.studies import get_study
    >>> cells = grid(get_study("rfedags"), Form(only=("pca",), seeds=1))
    >>> cells[0].name, cells[0].spec.seed
    ('pca/rfedags-s1', 1)
    """
    places: dict[str, str] = {}
    grids = (_cells(experiment, places) for experiment in chosen(study, form))
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


def _in_form(experiment: Experiment, form: Form) -> Experiment:
    own = experiment.as_small() if form.small else experiment
    return own if form.seeds is None else replace(own, seeds=first_seeds(own.seeds, form.seeds))


def _cells(experiment: Experiment, places: dict[str, str]) -> list[Cell]:
    """The cells of an experiment; `places` has the folders of specifications, by digest."""
    made: dict[tuple[str, int], Cell] = {}
    for arm in _read_first(experiment):
        plain = None if arm.reads else _spec(experiment, arm)
        for seed in experiment.seeds:
            source = None if arm.reads is None else made[arm.reads.arm, seed]
            spec = plain or _spec(experiment, arm, source)
            spec = replace(spec, seed=seed)
            identity = digest(spec)
            own = f"{CELLS}/{experiment.name}/{arm.name}-s{seed}"
            place = places.setdefault(identity, own)
            reads = "" if source is None else source.place
            made[arm.name, seed] = Cell(
                experiment.name, arm.name, seed, spec, identity, place, reads
            )
    return [made[arm.name, seed] for arm in experiment.arms for seed in experiment.seeds]


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


def _spec(experiment: Experiment, arm: Arm, source: Cell | None = None) -> JobSpec:
    settings = [*arm.overrides, f"name={experiment.name}-{arm.name}"]
    if arm.reads is not None and source is not None:
        settings.append(f"{arm.reads.into}={source.digest}")
    return load_spec(arm.preset, overrides=settings)
