"""The study: all experiments, all claims."""

from driftfold.studies.base import Study
from driftfold.studies.estimators.findings import CLAIMS
from driftfold.studies.estimators.grids import GRIDS, OVERVIEWS

ESTIMATORS = Study(
    name="estimators",
    title="Estimators of participation where it changes",
    about=(
        "Which rule keeps RFedAGS unbiased when participation changes: estimators of the "
        "probabilities, and servers with a memory, under fixed probabilities and five kinds of "
        "change. The authors name it as the open problem."
    ),
    experiments=GRIDS,
    claims=CLAIMS,
    overviews=OVERVIEWS,
    sources=(
        "Huang, Huang, Jawanpuria, Mishra: Riemannian Federated Learning via Averaging Gradient "
        "Streams. ICLR 2026; arXiv 2409.07223.",
        "Wang, Ji: A Lightweight Method for Tackling Unknown Participation Statistics in Federated "
        "Averaging (FedAU). ICLR 2024.",
        "Xiang, Ioannidis, Yeh, Joe-Wong, Su: Efficient Federated Learning against Heterogeneous "
        "and Non-stationary Client Unavailability (FedAWE). NeurIPS 2024.",
        "Gu, Huang, Zhang, Huang: Fast Federated Learning in the Presence of Arbitrary Device "
        "Unavailability (MIFA). NeurIPS 2021.",
        "Jhunjhunwala, Sharma, Nagarkatti, Joshi: FedVARP: Tackling the Variance Due to Partial "
        "Client Participation in Federated Learning. UAI 2022.",
    ),
)
