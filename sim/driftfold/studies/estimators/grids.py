"""The experiments: two tasks under six kinds of participation."""

from driftfold.studies.base import Experiment, Small
from driftfold.studies.estimators.drifts import DRIFTS
from driftfold.studies.estimators.rules import (
    DRAWN,
    LABELS,
    MEAN,
    MEMORY,
    RULES,
    STREAMS,
    arms,
)
from driftfold.studies.overview import Overview

END = 400
"""Rounds of a run."""

LATE = 300
"""Gaps are averaged from this round on."""

TASKS = {"pca": "Principal subspace", "eigenvector": "Principal eigenvector"}


def experiment_name(task: str, drift: str) -> str:
    """Return the name of an experiment.

    >>> experiment_name("pca", "jump")
    'pca-jump'
    """
    return f"{task}-{drift}"


def _experiment(task: str, drift: str) -> Experiment:
    about, settings = DRIFTS[drift]
    manifold = {"pca": "St(2, 20)", "eigenvector": "S^19"}[task]
    return Experiment(
        name=experiment_name(task, drift),
        title=f"{TASKS[task]}: {about}",
        source=f"{manifold}, N = 40, four classes, K = 5, {END} rounds; not in the paper",
        arms=arms(f"estimators-{task}", settings),
        read_at=(0, 100, 150, 200, LATE, END),
        metrics=("gap", "weight_bias"),
        drawn=tuple(f"{STREAMS}-{rule}" for rule in DRAWN),
        seeds=tuple(range(11, 21)),
        small=Small(
            settings=("horizon.rounds=50",), without=tuple(f"{MEAN}-{rule}" for rule in RULES)
        ),
    )


GRIDS = tuple(_experiment(task, drift) for task in TASKS for drift in DRIFTS)

_WEIGHED = tuple(rule for rule in RULES if rule not in MEMORY)


def _overview(task: str, title: str, metric: str, rows: tuple[tuple[str, str], ...]) -> Overview:
    columns = tuple((drift, experiment_name(task, drift)) for drift in DRIFTS)
    return Overview(title, metric, LATE, columns, rows)


def _rows(how: str, rules: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((LABELS[rule], f"{how}-{rule}") for rule in rules)


OVERVIEWS = (
    *(
        _overview(
            task,
            f"{about}: gap, mean of rounds {LATE} to {END}, {of}",
            "gap",
            (*_rows(how, RULES), *more),
        )
        for task, about in TASKS.items()
        for how, of, more in (
            (STREAMS, "gradient streams", (("FedAWE", "fedawe"),)),
            (MEAN, "tangent mean of end points", ()),
        )
    ),
    _overview(
        "pca",
        f"Bias of the weights, sum (w p / a - 1)^2, mean of rounds {LATE} to {END}",
        "weight_bias",
        _rows(STREAMS, _WEIGHED),
    ),
)
