"""The grid of a study: one cell, an ordinary specification, for each experiment, arm and seed."""

from collections.abc import Collection
from dataclasses import dataclass, replace
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
    """

    experiment: str
    arm: str
    seed: int
    spec: JobSpec
    digest: str
    place: str

    @property
    def name(self) -> str:
        """For people, as in ``pca/rfedags-s1``."""
        return f"{self.experiment}/{self.arm}-s{self.seed}"

    @property
    def key(self) -> tuple[str, str, int]:
        """Experiment, arm and seed."""
        return self.experiment, self.arm, self.seed

    def folder(self, root: Path) -> Path:
        """Return its run folder in the folder of a study."""
        return root / self.place


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
    cells: list[Cell] = []
    places: dict[str, str] = {}
    for experiment in chosen(study, form):
        for arm in experiment.arms:
            any_seed = _spec(experiment, arm)
            for seed in experiment.seeds:
                spec = replace(any_seed, seed=seed)
                identity = digest(spec)
                own = f"{CELLS}/{experiment.name}/{arm.name}-s{seed}"
                place = places.setdefault(identity, own)
                cells.append(Cell(experiment.name, arm.name, seed, spec, identity, place))
    return tuple(cells)


def distinct(cells: Collection[Cell]) -> list[Cell]:
    """Return one cell of each run folder."""
    return list({cell.place: cell for cell in reversed(list(cells))}.values())[::-1]


def _is_wanted(experiment: Experiment, form: Form) -> bool:
    if form.small and experiment.small is None:
        return False
    if form.only:
        return experiment.name in form.only
    return experiment.tier == "core" or form.full


def _in_form(experiment: Experiment, form: Form) -> Experiment:
    own = experiment.as_small() if form.small else experiment
    return own if form.seeds is None else replace(own, seeds=first_seeds(own.seeds, form.seeds))


def _spec(experiment: Experiment, arm: Arm) -> JobSpec:
    settings = [*arm.overrides, f"name={experiment.name}-{arm.name}"]
    return load_spec(arm.preset, overrides=settings)
