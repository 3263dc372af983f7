"""The study: all experiments, all claims."""

from driftfold.studies.base import Study
from driftfold.studies.rfedags.baselines import BASELINES, SVRG, SVRG_RARELY
from driftfold.studies.rfedags.completion import COMPLETION
from driftfold.studies.rfedags.eigenvector import EIGENVECTOR
from driftfold.studies.rfedags.findings import CLAIMS
from driftfold.studies.rfedags.hyperbolic import HYPERBOLIC
from driftfold.studies.rfedags.local_steps import LOCAL_STEPS
from driftfold.studies.rfedags.pca import PCA
from driftfold.studies.rfedags.scaling import SCALING
from driftfold.studies.rfedags.spd import SPD

RFEDAGS = Study(
    name="rfedags",
    title="RFedAGS and what it is compared with",
    about=(
        "Federated learning on manifolds where clients answer with unknown probabilities: the "
        "experiments of the RFedAGS paper beside its published values, with several seeds."
    ),
    experiments=(
        *PCA,
        *SCALING,
        *EIGENVECTOR,
        *LOCAL_STEPS,
        *BASELINES,
        SVRG,
        SVRG_RARELY,
        *SPD,
        *HYPERBOLIC,
        *COMPLETION,
    ),
    claims=CLAIMS,
    sources=(
        "Huang, Huang, Jawanpuria, Mishra: Riemannian Federated Learning via Averaging Gradient "
        "Streams. ICLR 2026; arXiv 2409.07223.",
        "Li, Ma: Federated Learning on Riemannian Manifolds. Applied Set-Valued Analysis and "
        "Optimization 5(2), 2023.",
    ),
)
