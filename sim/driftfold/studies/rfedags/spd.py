"""Frechet means of symmetric positive definite matrices."""

from driftfold.studies.base import Arm, Experiment

_AVG = (
    "algorithm.kind=rfedavg",
    "algorithm.steps=5",
    "algorithm.batch=0.5",
    "algorithm.step_size=1e-2",
)

MEAN_SMALL = Experiment(
    name="spd-mean-small",
    title="Frechet mean of synthetic matrices",
    source="the geometry of the paper's SPD experiment, made small; nothing published",
    arms=(
        Arm("rfedags", "spd-mean-small", title="RFedAGS"),
        Arm("rfedavg", "spd-mean-small", (*_AVG, "estimator=none"), title="RFedAvg"),
        Arm("rfedavg-corrected", "spd-mean-small", _AVG, title="RFedAvg, weights"),
    ),
    read_at=(0, 10, 30, 100, 150),
)

SPD = (MEAN_SMALL,)
