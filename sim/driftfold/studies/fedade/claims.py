"""What is claimed of Fed-ADE, and by which rule it is judged."""

from collections.abc import Sequence
from functools import partial

from driftfold.studies.base import Claim
from driftfold.studies.fedade import rules
from driftfold.studies.fedade.availability import FLEETS
from driftfold.studies.fedade.candidates import RISKS
from driftfold.studies.fedade.concept import SWAPS
from driftfold.studies.fedade.domains import SETTING as DOMAIN_SETTING
from driftfold.studies.fedade.questions import MEASURES, WEIGHTS
from driftfold.studies.fedade.search import JUMPS, VARIANTS
from driftfold.studies.fedade.settings import SCHEDULES, SHIFTS, Shift

_PAPER = "the Fed-ADE paper"
_US = "us, before the run"
_SWAPS = tuple(f"concept-{name}" for name in SWAPS)
_NORMS = tuple(f"norms-{name}" for name in SCHEDULES)


def _claim(
    name: str,
    sentence: str,
    source: str,
    said: str,
    pairs: Sequence[tuple[str, str]],
    shifts: Sequence[Shift] = SHIFTS,
) -> Claim:
    return Claim(name, sentence, source, partial(rules.above, said, pairs, shifts))


def _both(one: str, *others: str) -> list[tuple[str, str]]:
    """Pairs with both risks."""
    return [(f"{one}-{r}", f"{other}-{r}") for r in ("bbse", "entropy") for other in others]


_MAIN = (
    _claim(
        "fixlr",
        "Fed-ADE is more accurate than a fixed rate in the middle of its bounds.",
        _PAPER,
        "above FixLR (mid)",
        _both("ade", "mid"),
    ),
    _claim(
        "well-tuned",
        "It is more accurate than a well-tuned fixed rate: than the best of eight, and than one "
        "equal to its own mean.",
        _US,
        "above FixLR (tuned) and FixLR (matched)",
        _both("ade", "best", "matched"),
    ),
    _claim(
        "tuned",
        "It is more accurate than the best of eight fixed rates, tuned with the same effort.",
        _US,
        "above FixLR (tuned)",
        _both("ade", "best"),
    ),
    _claim(
        "matched",
        "It is more accurate than a fixed rate equal to its own mean: the rate's moves help.",
        _US,
        "above FixLR (matched)",
        _both("ade", "matched"),
    ),
    _claim(
        "shuffled",
        "It is more accurate than with its rates exchanged among clients: it matters who gets "
        "which.",
        _US,
        "above S shuffled",
        _both("ade", "shuffled"),
    ),
    _claim(
        "signal-uncertainty",
        "Without the signal of predictions, S_unc, accuracy is lower.",
        _PAPER,
        "above Fed-ADE without S_unc",
        _both("ade", "no-unc"),
    ),
    _claim(
        "signal-representation",
        "Without the signal of features, S_rep, accuracy is lower.",
        _PAPER,
        "above Fed-ADE without S_rep",
        _both("ade", "no-rep"),
    ),
    Claim(
        "uncertainty-beyond-rate",
        "S_unc helps by more than the mean rate: without it less is gained over a fixed rate equal "
        "to the arm's own mean.",
        _US,
        partial(rules.beyond_rate, "S_unc adds to the gain over the own mean", "no-unc"),
    ),
    Claim(
        "representation-beyond-rate",
        "S_rep helps by more than the mean rate: without it less is gained over a fixed rate equal "
        "to the arm's own mean.",
        _US,
        partial(rules.beyond_rate, "S_rep adds to the gain over the own mean", "no-rep"),
    ),
    _claim(
        "averaging",
        "Averaging the feature extractor helps: with the same rates and steps, clients without it "
        "are less accurate.",
        _PAPER,
        "above the same rates without averaging",
        _both("ade", "separate"),
    ),
    _claim(
        "gain",
        "Fed-ADE with the paper's risk is more accurate than the frozen model, which the paper "
        "does not show.",
        _US,
        "above frozen",
        [("ade-bbse", "frozen")],
    ),
    _claim(
        "gain-entropy",
        "With the risk of the released scripts it is, too.",
        _US,
        "above frozen",
        [("ade-entropy", "frozen")],
    ),
    _claim(
        "reweighting",
        "Under label shift, reweighting the frozen model's answers by the same estimate of classes "
        "is more accurate than Fed-ADE with the paper's risk.",
        _US,
        "above Fed-ADE, BBSE",
        [("reweighting", "ade-bbse")],
        ("label",),
    ),
    _claim(
        "baselines",
        "Fed-ADE is more accurate than FTH, UOGD, ATLAS, Fed-POE and FedCCFA.",
        _PAPER,
        "above them, all tuned",
        [("ade-bbse", other) for other in ("fth", "uogd", "atlas", "fed-poe", "fedccfa")],
    ),
)

_QUESTIONS = (
    Claim(
        "collapse",
        f"On digits, entropy collapses at eta = 1: more than {rules.COLLAPSE:g} points below "
        "frozen.",
        _US,
        rules.collapse,
    ),
    Claim(
        "floor",
        "Without drift the signal is near 0: less than half of what it is under drift.",
        _US,
        rules.floor,
    ),
    Claim(
        "pretraining",
        "Whatever the classes before deployment, Fed-ADE is above a tuned fixed rate, and above "
        "its own mean.",
        _US,
        rules.pretraining,
    ),
    Claim(
        "bounds",
        "The bounds of the rate hardly matter: less than a point between any two of five.",
        _US,
        rules.bounds,
    ),
    Claim(
        "weights",
        "Equal weights of the two signals are the best of five rules.",
        _US,
        partial(rules.best_of, "weights", tuple(WEIGHTS), "w1-1"),
    ),
    Claim(
        "weights-beyond-rate",
        "With some weights of the two signals, fixed or adaptive, the rate's moves help.",
        _US,
        partial(rules.some_beyond_rate, "weights", tuple(WEIGHTS)),
    ),
    Claim(
        "measures",
        "The cosine is the best of four measures of similarity.",
        _PAPER,
        partial(rules.best_of, "measures", tuple(MEASURES), "cosine"),
    ),
    Claim(
        "measures-beyond-rate",
        "With some measure of similarity the rate's moves help.",
        _US,
        partial(rules.some_beyond_rate, "measures", tuple(MEASURES)),
    ),
    Claim("clients", "The gain grows with the number of clients.", _US, rules.clients),
    Claim(
        "cheaper",
        "Fed-ADE is cheaper than FTH, ATLAS, Fed-POE and FedCCFA: it computes fewer gradients.",
        "the Fed-ADE paper, in wall time",
        rules.fewer_gradients,
    ),
    Claim(
        "faster",
        "It takes fewer seconds of a core than FTH, ATLAS, Fed-POE and FedCCFA.",
        "the Fed-ADE paper, in wall time",
        rules.fewer_seconds,
    ),
    Claim(
        "tent",
        "With batch normalisation, under corruptions, Fed-ADE is more accurate than TENT and "
        "BN-adapt.",
        _US,
        partial(
            rules.above_in,
            "above TENT and BN-adapt",
            _NORMS,
            [("ade-entropy", "tent"), ("ade-entropy", "bn-adapt")],
        ),
    ),
    Claim(
        "domains-gain",
        "Where texts come from other groups of the same subjects, Fed-ADE is more accurate than "
        "the frozen model.",
        _US,
        partial(
            rules.above_under,
            "above frozen",
            DOMAIN_SETTING,
            [(f"ade-{risk}", "frozen") for risk in RISKS],
        ),
    ),
    Claim(
        "domains-well-tuned",
        "There it is more accurate than a well-tuned fixed rate: than the best of eight, and than "
        "one equal to its own mean.",
        _US,
        partial(
            rules.above_under,
            "above FixLR (tuned) and FixLR (matched)",
            DOMAIN_SETTING,
            _both("ade", "best", "matched"),
        ),
    ),
    Claim(
        "availability",
        "Where clients come and go, Fed-ADE is more accurate than a well-tuned fixed rate: than "
        "the best of eight, and than one equal to its own mean; with S as it is, and divided by "
        "the steps since a client's last batch.",
        _US,
        partial(
            rules.above_in,
            "above FixLR (tuned) and FixLR (matched)",
            tuple(f"availability-{name}" for name in FLEETS),
            [
                (f"{what}-entropy", f"{other}-entropy")
                for what, own in (("ade", "matched"), ("gap", "gap-matched"))
                for other in ("best", own)
            ],
        ),
    ),
    Claim(
        "concept-blind",
        "Where labels swap, Fed-ADE without labels is more accurate than the frozen model.",
        _US,
        partial(rules.above_in, "above frozen", _SWAPS, [("ade-entropy", "frozen")]),
    ),
    Claim(
        "concept-detectors",
        "Where labels swap, drift detection, FedDrift and Flash are more accurate than a tuned "
        "fixed rate with the same five labels a step.",
        _US,
        partial(
            rules.above_in,
            "above FixLR with labels",
            _SWAPS,
            [(other, "best-labelled") for other in ("detection", "feddrift", "flash")],
        ),
    ),
    Claim(
        "concept-labels",
        "Where labels swap, drift detection, FedDrift, Flash and a fixed rate with five labels a "
        "step are more accurate than the frozen model.",
        _US,
        partial(
            rules.above_in,
            "above frozen",
            _SWAPS,
            [(o, "frozen") for o in ("detection", "feddrift", "flash", "best-labelled")],
        ),
    ),
    Claim(
        "search",
        "There is a setting in which an adaptive rate beats both its own mean and the tuned fixed "
        f"rate by more than the interval, among {len(JUMPS)} kinds of drift and {len(VARIANTS)} "
        "signals, with two risks.",
        _US,
        rules.search,
    ),
)

CLAIMS = (*_MAIN, *_QUESTIONS)
