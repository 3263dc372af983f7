"""Nets with batch normalisation, which TENT and BN-adapt need."""

from driftfold.studies.base import Arm, Experiment
from driftfold.studies.fedade.candidates import by_rate, fed_ade, fixed_rate
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place
from driftfold.studies.fedade.contests import best, by_bounds
from driftfold.studies.fedade.measuring import measured
from driftfold.studies.fedade.settings import SCHEDULES, SETTINGS
from driftfold.studies.fedade.systems import arm, matched, signalled

_NORM = "task.net.batch_norm=true"
CORRUPTED = next(setting for setting in SETTINGS if setting.short == "digits, covariate")

_TENT = by_rate("tent", "TENT", "tent", (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1))

CONTEST = Contest(
    "norms",
    "Digits, corruptions, batch normalisation",
    CORRUPTED.preset,
    tuple(
        Place(name, called, (CORRUPTED.under(toml), _NORM), (TUNING_SEEDS[i % 2],))
        for i, (name, (called, toml)) in enumerate(SCHEDULES.items())
    ),
    (_TENT, fixed_rate("entropy"), fed_ade("entropy")),
)


def _experiment(name: str) -> Experiment:
    called, toml = SCHEDULES[name]
    preset, own = CORRUPTED.preset, (CORRUPTED.under(toml), _NORM)
    tuned = best(CORRUPTED, "fixed-entropy", CONTEST)
    ade = by_bounds(CORRUPTED, "entropy", signalled(""), CONTEST)
    return measured(
        f"norms-{name}",
        f"Digits, corruptions, {called}, a net with batch normalisation",
        "one batch norm after each hidden layer",
        (
            Arm("frozen", preset, (*own, 'algorithm={ kind = "frozen" }'), "frozen"),
            Arm("bn-adapt", preset, (*own, 'algorithm={ kind = "bn_adapt" }'), "BN-adapt"),
            Arm("tent", preset, (*own, *_TENT.settings), "TENT", tuned=CONTEST.tuned("tent")),
            arm("best", "entropy", preset, own, by=tuned),
            arm("ade", "entropy", preset, own, by=ade),
            matched("ade", "entropy", preset, own),
        ),
    )


NORMS = tuple(_experiment(name) for name in SCHEDULES)
