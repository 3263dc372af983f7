"""Frechet means of symmetric positive definite matrices: descriptors of tissue."""

from driftfold.studies.base import Arm, Experiment, Small, published
from driftfold.studies.rfedags.settings import by

PRESET = "spd-mean-descriptors"

DESCRIPTORS = Experiment(
    name="spd",
    title="Frechet mean of descriptors of tissue",
    source="SPD(9), N = 50, K = 5, 300 rounds; tiles of another slide than the paper's",
    arms=(
        Arm("rfedags", PRESET, title="RFedAGS"),
        Arm("rfedavg", PRESET, by("rfedavg", steps=5, batch=200, step="1e-2"), "RFedAvg"),
        Arm(
            "rfedavg-corrected",
            PRESET,
            by("rfedavg", steps=5, batch=200, step="1e-2", weights=None),
            "RFedAvg, weights",
        ),
    ),
    read_at=(0, 10, 30, 100, 150, 300),
    published=(
        *published(
            "rfedags",
            {0: 40.57, 10: 18.94, 30: 2.84, 100: 2.9e-3, 150: 3.2e-5, 300: 5.9e-6},
        ),
        *published(
            "rfedavg",
            {0: 40.57, 10: 14.84, 30: 1.99, 100: 2.0e-3, 150: 5.3e-5, 300: 2.4e-5},
        ),
    ),
    small=Small(f"{PRESET}-small", ("algorithm.batch=0.5",)),
    note=(
        "The paper's tiles are PathMNIST's and its nine features are not stated, so the gaps are "
        "of other matrices; how fast they fall can be compared, and where they end cannot."
    ),
)

SVRG = Experiment(
    name="spd-svrg",
    title="Frechet mean of descriptors of tissue: RFedSVRG with the published bug",
    source=DESCRIPTORS.source,
    arms=(
        Arm(
            "rfedsvrg-bug",
            PRESET,
            by("rfedsvrg", steps=5, batch=200, step="1e-2", more=("published_bug=true",)),
            "RFedSVRG, published bug",
        ),
    ),
    read_at=DESCRIPTORS.read_at,
    published=published(
        "rfedsvrg-bug", {0: 40.57, 10: 25.96, 30: 10.8, 100: 0.489, 150: 0.055, 300: 1.7e-4}
    ),
    small=None,
    tier="full",
    note=DESCRIPTORS.note,
)

SPD = (DESCRIPTORS, SVRG)
