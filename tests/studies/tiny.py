"""A study of a moment: two arms of three rounds, and one whose data are missing."""

import os
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import numpy as np

from driftfold.run import Ask
from driftfold.studies import Arm, Claim, Experiment, Study, published
from driftfold.studies.base import Small
from driftfold.studies.comparisons import in_band, ordered
from driftfold.studies.orders import Outcome
from driftfold.studies.telling import Tell
from driftfold.studies.values import Series, Values

SHORT = ("horizon.rounds=3", "evaluate_every=1")

PLAIN = Experiment(
    name="plain",
    title="Two arms of <three> rounds",
    source="nobody's paper",
    arms=(
        Arm("weighted", "pca-synthetic-small", SHORT, title="with weights"),
        Arm("plain", "pca-synthetic-small", (*SHORT, "estimator=none")),
    ),
    read_at=(0, 3),
    published=(
        *published("weighted", {0: 0.25, 3: 0.2}, factor=2),
        *published("plain", {3: 1e-9}, factor=2),
    ),
    seeds=(1,),
    small=Small(settings=("horizon.rounds=2",)),
    note="Three rounds tell nothing.",
)

LACKING = Experiment(
    name="lacking",
    title="Data that nobody has",
    source="nobody's paper",
    arms=(
        Arm("missing", "pca-synthetic-small", (*SHORT, 'task.data={kind="npz", path="gone.npz"}')),
    ),
    read_at=(3,),
    seeds=(1,),
    small=None,
)

STUDY = Study(
    name="tiny",
    title="A study & its report",
    about="Whether the engine works.",
    experiments=(PLAIN, LACKING),
    claims=(
        Claim(
            "start",
            "The first gap is about a quarter.",
            "nobody",
            lambda values: in_band("first gap", values.sample("plain", "weighted", 0), 0.1, 0.5),
        ),
        Claim(
            "order",
            "Weights win in three rounds.",
            "nobody",
            lambda values: ordered(values, PLAIN, ("weighted", "plain"), 3),
        ),
        Claim(
            "gone",
            "What was not measured is told.",
            "nobody",
            lambda values: in_band("gap", values.sample("lacking", "missing", 3), 0.0, 1.0),
        ),
    ),
    sources=("Nobody: Nothing. 2026.",),
)


def series(*gaps: float, metric: str = "gap") -> Series:
    """Return a run that was evaluated after rounds 0, 1, 2, ..."""
    return Series(np.arange(len(gaps)), {metric: np.array(gaps)})


def made_up(**arms: list[float]) -> Values:
    """Return the values after round 0 of an experiment "plain", a list of seeds for each arm."""
    return Values(
        {
            ("plain", arm, seed): series(value)
            for arm, values in arms.items()
            for seed, value in enumerate(values, start=1)
        }
    )


@dataclass(frozen=True)
class Dies:
    """An order in which the process dies."""

    def carry_out(self, stop: Ask, tell: Tell) -> Outcome:
        os._exit(3)


@dataclass(frozen=True)
class Endless:
    """An order that tells of rounds until it is to stop, and then writes how it ended."""

    file: Path

    def carry_out(self, stop: Ask, tell: Tell) -> Outcome:
        self.file.write_text("begun")
        while not stop():
            tell(1)
            sleep(0.01)
        self.file.write_text("in order")
        return Outcome("stopped")


@dataclass(frozen=True)
class Stuck:
    """An order in a round that never ends."""

    file: Path

    def carry_out(self, stop: Ask, tell: Tell) -> Outcome:
        self.file.write_text("begun")
        sleep(600)
        return Outcome("done")
