"""What is tuned, and where: every system with as many candidates, on seeds of its own.

A contest is a set of tuning experiments with the same arms, one arm for each candidate of each
system. Reported arms take the candidate with the highest accuracy before the update, the mean over
all experiments of the contest (see `driftfold.studies.tuning`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from driftfold.studies.base import Arm, Experiment, Small
from driftfold.studies.fedade.measuring import ACCURACY, measured
from driftfold.studies.fedade.settings import END
from driftfold.studies.tuning import Candidate, Tuned

TUNING_SEEDS = (101, 102)
"""Seeds of tuning: none of the seeds that are reported."""

BUDGET = 8
"""Candidates of each system."""

_IN_SMALL = (3, 4)
"""Candidates in the small form, by number."""


@dataclass(frozen=True)
class System:
    """A system that has something to tune.

    Attributes
    ----------
    name, title
        For arms; for people.
    settings
        What it is, over a preset.
    values
        Candidates by the ends of their arms' names, from low to high.
    set_to
        The settings that a candidate is.
    """

    name: str
    title: str
    settings: tuple[str, ...]
    values: Mapping[str, Any]
    set_to: Callable[[Any], tuple[str, ...]]

    def arm_of(self, end: str) -> str:
        """Name of the arm that tries a candidate."""
        return f"{self.name}-{end}"

    def tried(self, preset: str, where: tuple[str, ...]) -> tuple[Arm, ...]:
        """One arm for each candidate."""
        return tuple(
            Arm(
                self.arm_of(end),
                preset,
                (*where, *self.settings, *self.set_to(value)),
                f"{self.title}: {end}",
            )
            for end, value in self.values.items()
        )


@dataclass(frozen=True)
class Place:
    """Where candidates are tried: a name, how people call it, settings over the preset, seeds."""

    name: str
    title: str
    settings: tuple[str, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Contest:
    """Systems that are tuned together.

    Attributes
    ----------
    name, title
        For experiments; for people.
    preset
        What all run.
    places, systems
        Where and what.
    needs
        Sets of the catalogue.
    small
        Preset of the small form; "" leaves it out.
    """

    name: str
    title: str
    preset: str
    places: tuple[Place, ...]
    systems: tuple[System, ...]
    needs: tuple[str, ...] = ()
    small: str = ""

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """The runs of all candidates, one experiment for each place."""
        return tuple(self._experiment(place) for place in self.places)

    def tuned(self, system: str, set_to: Callable[[Any], tuple[str, ...]] | None = None) -> Tuned:
        """Where the best candidate of a system comes from, and what it sets.

        `set_to` makes other settings of the best candidate than those that it was tried with.
        """
        one = self.system(system)
        made = set_to or one.set_to
        return Tuned(
            tuple(self._name(place) for place in self.places),
            tuple(Candidate(one.arm_of(end), made(value)) for end, value in one.values.items()),
            END,
            ACCURACY,
        )

    def system(self, name: str) -> System:
        """Return a system by its name."""
        return next(one for one in self.systems if one.name == name)

    def _name(self, place: Place) -> str:
        return f"tune-{self.name}-{place.name}"

    def _experiment(self, place: Place) -> Experiment:
        ends = [list(system.values) for system in self.systems]
        without = tuple(
            system.arm_of(end)
            for system, own in zip(self.systems, ends, strict=True)
            for i, end in enumerate(own)
            if i not in _IN_SMALL
        )
        return measured(
            self._name(place),
            f"Tuning. {self.title}: {place.title}",
            f"{BUDGET} candidates a system, on seeds that are not reported",
            tuple(
                arm for system in self.systems for arm in system.tried(self.preset, place.settings)
            ),
            small=Small(preset=self.small, without=without) if self.small else None,
            seeds=place.seeds,
            needs=self.needs,
            at=(END,),
            metrics=(ACCURACY, "rate"),
        )
