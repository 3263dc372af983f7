"""Fed-ADE where clients come and go by hours of their own.

The paper has all clients, or a tenth of them, at every step. Here a step is an hour, and a client's
signal is against the batch that it met last, which may be hours ago: "divided by the gap" is the
signal for one step.
"""

from driftfold.studies.base import Arm, Experiment
from driftfold.studies.fedade.candidates import RATES, fed_ade, fixed_rate
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place
from driftfold.studies.fedade.contests import best, by_bounds
from driftfold.studies.fedade.measuring import ACCURACY, METRICS, NOTE, measured
from driftfold.studies.fedade.settings import DIGITS
from driftfold.studies.fedade.systems import arm, matched, recorded, signalled

_PER_STEP = (
    'signal = { kind = "per_step", signal = { kind = "combined", signals = '
    '[{ kind = "uncertainty" }, { kind = "representation" }] } }'
)
_GAP = fed_ade("entropy", "gap", "Fed-ADE, S divided by the gap", _PER_STEP)

FLEETS = {
    "nights": (
        "classes follow the hour of the night, and so does who is there",
        'kind = "staggered", schedule = { kind = "recurring", peak = 2.0, hours = 8.0 }, '
        'clock = { kind = "time_zones" }',
        'kind = "diurnal"',
    ),
    "rare-first": (
        "one jump, of who is rarely there first",
        'kind = "staggered", schedule = { kind = "step", at = [10] }, '
        'clock = { kind = "by_presence", start = 80.0 }',
        'kind = "markov"',
    ),
}
"""When clients drift, and when they are there: how it is called, schedule and participation."""


def _under(fleet: str) -> tuple[str, ...]:
    _, schedule, participation = FLEETS[fleet]
    hours = ("task.period=3600", "cadence.period=3600")
    return (DIGITS.under(schedule), *hours, f"participation={{ {participation} }}")


CONTEST = Contest(
    "availability",
    "Digits, label shift, clients come and go",
    DIGITS.preset,
    tuple(
        Place(name, FLEETS[name][0], _under(name), (seed,))
        for name, seed in zip(FLEETS, TUNING_SEEDS, strict=True)
    ),
    (fixed_rate("entropy", RATES["entropy"]), fed_ade("entropy"), _GAP),
)


def _experiment(name: str) -> Experiment:
    where, preset = _under(name), DIGITS.preset
    shuffled = (*where, recorded("shuffled"))
    by_both = by_bounds(DIGITS, "entropy", signalled(""), CONTEST)
    by_gap = by_bounds(DIGITS, "entropy", signalled(_PER_STEP), CONTEST, "gap")
    return measured(
        f"availability-{name}",
        f"Digits, label shift, clients come and go: {FLEETS[name][0]}",
        "20 clients, mostly away; a step is an hour; not in the paper",
        (
            Arm("frozen", preset, (*where, 'algorithm={ kind = "frozen" }'), "frozen"),
            arm("best", "entropy", preset, where, by=best(DIGITS, "fixed-entropy", CONTEST)),
            arm("ade", "entropy", preset, where, by=by_both),
            matched("ade", "entropy", preset, where),
            arm("shuffled", "entropy", preset, shuffled, of="ade"),
            arm("gap", "entropy", preset, where, f"{_GAP.title}, entropy", by=by_gap),
            matched("gap", "entropy", preset, where, "S divided by the gap"),
        ),
        metrics=(*METRICS[:2], "accuracy_everyone", *METRICS[2:]),
        note=f"{NOTE} {ACCURACY} is of clients that are there, accuracy_everyone of all at last.",
    )


AVAILABILITY = tuple(_experiment(name) for name in FLEETS)
