"""The study: all experiments, all claims."""

from driftfold.studies.base import Study
from driftfold.studies.fedade.availability import AVAILABILITY
from driftfold.studies.fedade.availability import CONTEST as OF_AVAILABILITY
from driftfold.studies.fedade.beyond import BEYOND, BEYOND_TUNING
from driftfold.studies.fedade.claims import CLAIMS
from driftfold.studies.fedade.concept import CONCEPT
from driftfold.studies.fedade.concept import CONTEST as OF_CONCEPT
from driftfold.studies.fedade.crowds import CLIENTS
from driftfold.studies.fedade.domains import CONTEST as OF_DOMAINS
from driftfold.studies.fedade.domains import DOMAINS
from driftfold.studies.fedade.domains import OVERVIEWS as OF_EACH_DOMAIN
from driftfold.studies.fedade.grids import GRIDS, OVERVIEWS, TUNING
from driftfold.studies.fedade.measuring import OF_ROUNDS
from driftfold.studies.fedade.norms import CONTEST as OF_NORMS
from driftfold.studies.fedade.norms import NORMS
from driftfold.studies.fedade.paper import EVERYBODY, PAPER
from driftfold.studies.fedade.questions import NOISE, QUESTIONS
from driftfold.studies.fedade.search import SEARCH, SEARCH_TUNING

FEDADE = Study(
    name="fedade",
    title="Fed-ADE and what it is compared with",
    about=(
        "When does an adaptive rate beat a well-tuned fixed one? Fed-ADE beside the systems of its "
        "paper and the controls that the paper lacks: the frozen model, the best of eight fixed "
        "rates, a fixed rate equal to Fed-ADE's own mean, Fed-ADE's rates exchanged among clients, "
        "and its rates without averaging. Whatever can be tuned is, with eight candidates each, on "
        "seeds that are not reported; of candidates that with the highest mean accuracy over all "
        "tuning runs is taken. Accuracy is that of predictions made before a client adapts to the "
        "batch."
    ),
    experiments=(
        *TUNING,
        *OF_CONCEPT.experiments,
        *OF_NORMS.experiments,
        *OF_DOMAINS.experiments,
        *OF_AVAILABILITY.experiments,
        *SEARCH_TUNING,
        *BEYOND_TUNING,
        *GRIDS,
        *QUESTIONS,
        CLIENTS,
        *CONCEPT,
        *NORMS,
        *DOMAINS,
        *AVAILABILITY,
        *SEARCH,
        *BEYOND,
        *PAPER,
    ),
    claims=CLAIMS,
    overviews=(*OVERVIEWS, *OF_EACH_DOMAIN, *NOISE, EVERYBODY),
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
        "Dai, Xue, Yang, Yu: Co-clustering based Classification for Out-of-domain Documents. KDD "
        "2007.",
        "Hendrycks, Dietterich: Benchmarking Neural Network Robustness to Common Corruptions and "
        "Perturbations. ICLR 2019.",
    ),
)
