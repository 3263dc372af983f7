"""The study: all experiments, all claims."""

from driftfold.studies.base import Study
from driftfold.studies.fedade.beyond import BEYOND
from driftfold.studies.fedade.findings import CLAIMS
from driftfold.studies.fedade.grids import GRIDS, OF_ROUNDS, OVERVIEWS
from driftfold.studies.fedade.paper import PAPER
from driftfold.studies.fedade.questions import NOISE, QUESTIONS
from driftfold.studies.fedade.search import SEARCH

FEDADE = Study(
    name="fedade",
    title="Fed-ADE and what it is compared with",
    about=(
        "When does an adaptive rate beat a well-tuned fixed one? Fed-ADE beside the systems of its "
        "paper and the three controls that the paper lacks: the frozen model, a fixed rate equal "
        "to Fed-ADE's own mean, and Fed-ADE's rates exchanged among clients. Accuracy is that of "
        "predictions made before a client adapts to the batch."
    ),
    experiments=(*GRIDS, *QUESTIONS, *SEARCH, *BEYOND, *PAPER),
    claims=CLAIMS,
    overviews=(*OVERVIEWS, *NOISE),
    of_rounds=OF_ROUNDS,
    sources=(
        "Fed-ADE: adaptive learning rates for federated post-adaptation under distribution shift. "
        "CVPR 2026; arXiv 2603.01040.",
        "Bai, Zhang, Zhao, Sugiyama, Zhou: Adapting to Online Label Shift with Provable Guarantees "
        "(UOGD, ATLAS). NeurIPS 2022.",
        "Wu, Guo, Su, Weinberger: Online Adaptation to Label Distribution Shift (FTH). NeurIPS "
        "2021.",
        "Lipton, Wang, Smola: Detecting and Correcting for Label Shift with Black Box Predictors "
        "(BBSE). ICML 2018.",
        "Wang, Shelhamer, Liu, Olshausen, Darrell: Tent: Fully Test-Time Adaptation by Entropy "
        "Minimization. ICLR 2021.",
        "Hendrycks, Dietterich: Benchmarking Neural Network Robustness to Common Corruptions and "
        "Perturbations. ICLR 2019.",
    ),
)
