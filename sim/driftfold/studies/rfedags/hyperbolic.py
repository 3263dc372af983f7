"""Structured prediction in the hyperbolic plane: where a noun lies."""

from driftfold.studies.base import Arm, Experiment, Small, published
from driftfold.studies.rfedags.settings import FIVE, by

PRESET = "hyperbolic-prediction"

_LOSS = {
    "rfedags": {0: 0.4747, 120: 0.1672, 210: 0.1272, 300: 0.1225, 600: 0.1215},
    "rfedavg": {0: 0.4747, 120: 0.1656, 210: 0.1262, 300: 0.1219, 600: 0.1216},
    "rfedsvrg-bug": {0: 0.4747, 120: 0.2518, 210: 0.1610, 300: 0.1319, 600: 0.1217},
}
_DISTANCE = {
    "rfedags": {0: 4.549, 120: 1.314, 210: 0.327, 300: 0.108, 600: 0.307},
    "rfedavg": {0: 4.549, 120: 1.284, 210: 0.292, 300: 0.192, 600: 0.389},
    "rfedsvrg-bug": {0: 4.549, 120: 2.385, 210: 1.208, 300: 0.528, 600: 0.225},
}

PREDICTION = Experiment(
    name="hyperbolic",
    title="Structured prediction of WordNet's mammals in the hyperbolic plane",
    source="hyperbolic structured prediction, H^2, N = 9, K = 5, 600 rounds",
    arms=(
        Arm("rfedags", PRESET, title="RFedAGS"),
        Arm("rfedavg", PRESET, by("rfedavg", steps=5, batch=66, step="6e-2"), "RFedAvg"),
        Arm("rfedsvrg", PRESET, by("rfedsvrg", steps=5, batch=66, step="6e-2"), "RFedSVRG"),
        Arm(
            "rfedsvrg-bug",
            PRESET,
            by("rfedsvrg", steps=5, batch=66, step="6e-2", more=("published_bug=true",)),
            "RFedSVRG, published bug",
        ),
    ),
    read_at=(0, 120, 210, 300, 600),
    metrics=("gap", "loss", "distance_to_truth"),
    published=(
        *(
            row
            for arm, values in _LOSS.items()
            for row in published(arm, values, factor=1.03, metric="loss")
        ),
        *(
            row
            for arm, values in _DISTANCE.items()
            for row in published(arm, values, metric="distance_to_truth")
        ),
    ),
    seeds=FIVE,
    small=Small("hyperbolic-prediction-small", ("algorithm.batch=0.5",)),
    needs=("mammal_points",),
    note=(
        "The minimiser of F lies at distance 0.328 from the true point, so the distance to the "
        "true point is no measure of convergence; the gap is."
    ),
)

HYPERBOLIC = (PREDICTION,)
