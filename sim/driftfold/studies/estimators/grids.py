"""The experiments: two tasks under six kinds of participation."""

from driftfold.studies.base import Experiment, Small
from driftfold.studies.estimators.drifts import DRIFTS
from driftfold.studies.estimators.rules import MEAN, RULES, arms

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
        seeds=tuple(range(11, 21)),
        small=Small(
            settings=("horizon.rounds=50",), without=tuple(f"{MEAN}-{rule}" for rule in RULES)
        ),
    )


GRIDS = tuple(_experiment(task, drift) for task in TASKS for drift in DRIFTS)
