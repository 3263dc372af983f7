"""Principal subspaces on the Stiefel manifold (section 5 of the paper, synthetic data)."""

from driftfold.studies.base import Arm, Experiment, Published, published

_SVRG = (
    "algorithm.kind=rfedsvrg",
    "algorithm.steps=5",
    "algorithm.batch=50",
    "algorithm.step_size=6e-3",
    "estimator=none",
)

SYNTHETIC = Experiment(
    name="pca",
    title="Principal subspace of synthetic data: weights and aggregation",
    source="synthetic PCA, St(5, 100), N = 40, K = 5, 1,000 rounds",
    arms=(
        Arm("rfedags", "pca-synthetic", title="RFedAGS"),
        Arm("rfedavg", "pca-synthetic-rfedavg", title="RFedAvg"),
        Arm("rfedags-rs", "pca-synthetic-rs", title="RFedAGS, no weights"),
        Arm("rfedavg-corrected", "pca-synthetic-rfedavg-corrected", title="RFedAvg, weights"),
        Arm("oracle", "pca-synthetic", ("estimator=oracle",), title="RFedAGS, true p"),
        Arm("rfedsvrg", "pca-synthetic", _SVRG, title="RFedSVRG"),
    ),
    read_at=(0, 100, 200, 500, 1000),
    published=(
        *published("rfedags", {0: 0.7056, 100: 0.4433, 200: 0.2580, 500: 0.0781}),
        Published("rfedags", 1000, 0.0213, low=0.015, high=0.06),
        *published("rfedavg", {0: 0.7056, 100: 0.4968, 200: 0.3641, 500: 0.2270}),
        Published("rfedavg", 1000, 0.1834, low=0.13, high=0.21),
    ),
    note=(
        "The published data cannot be drawn again (MATLAB's generator), so values differ as those "
        "of other seeds do; the participation probabilities are the published ones."
    ),
)

PCA = (SYNTHETIC,)
