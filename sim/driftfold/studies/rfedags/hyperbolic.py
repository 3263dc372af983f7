"""Structured prediction in the hyperbolic plane: where a noun lies."""

from driftfold.studies.base import Arm, Experiment, published

_AVG = (
    "algorithm.kind=rfedavg",
    "algorithm.steps=5",
    "algorithm.batch=66",
    "algorithm.step_size=6e-2",
    "estimator=none",
)
_SVRG = ("algorithm.kind=rfedsvrg", *_AVG[1:])

PREDICTION = Experiment(
    name="hyperbolic",
    title="Structured prediction of WordNet's mammals in the hyperbolic plane",
    source="hyperbolic structured prediction, H^2, N = 9, K = 5, 600 rounds",
    arms=(
        Arm("rfedags", "hyperbolic-prediction", title="RFedAGS"),
        Arm("rfedavg", "hyperbolic-prediction", _AVG, title="RFedAvg"),
        Arm("rfedsvrg", "hyperbolic-prediction", _SVRG, title="RFedSVRG"),
    ),
    read_at=(0, 120, 210, 300, 600),
    metrics=("gap", "loss", "distance_to_truth"),
    published=(
        *published(
            "rfedags",
            {0: 0.4747, 120: 0.1672, 210: 0.1272, 300: 0.1225, 600: 0.1215},
            factor=1.02,
            metric="loss",
        ),
        *published(
            "rfedavg",
            {0: 0.4747, 120: 0.1656, 210: 0.1262, 300: 0.1219, 600: 0.1216},
            factor=1.02,
            metric="loss",
        ),
        *published(
            "rfedags",
            {0: 4.549, 120: 1.314, 210: 0.327, 300: 0.108, 600: 0.307},
            metric="distance_to_truth",
        ),
        *published(
            "rfedavg",
            {0: 4.549, 120: 1.284, 210: 0.292, 300: 0.192, 600: 0.389},
            metric="distance_to_truth",
        ),
    ),
    needs=("mammal_points",),
    note=(
        "The minimiser of F lies at distance 0.328 from the true point, so the distance to the "
        "true point is no measure of convergence; the gap is."
    ),
)

HYPERBOLIC = (PREDICTION,)
