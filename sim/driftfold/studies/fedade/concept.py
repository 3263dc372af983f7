"""Concept drift: pairs of classes swap their labels, which nothing but labels can show."""

from collections.abc import Mapping

from driftfold.studies.base import Arm, Experiment
from driftfold.studies.fedade.candidates import (
    RATES,
    adaptive,
    bounds_tried,
    by_rate,
    fed_ade,
    fixed,
    fixed_rate,
    rates,
)
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place, System
from driftfold.studies.fedade.measuring import measured
from driftfold.studies.fedade.settings import DIGITS
from driftfold.studies.fedade.systems import matched

_LABELLED = 'algorithm.risk={ kind = "labelled", budget = 5 }'
"""Five labels of the fifty inputs of a step: the budget of all that have any."""

SWAPS: Mapping[str, tuple[str, str]] = {
    "sudden": ("labels swap at half-time", "at = [50]"),
    "recurrent": ("labels swap, and swap back", "at = [33, 66]"),
}
"""By name: how tables call it, and the jumps."""


def _under(jumps: str) -> str:
    schedule = f'{{ kind = "step", {jumps} }}'
    return f'task.drift=[{{ kind = "label_swaps", schedule = {schedule} }}]'


_FIXED = System(
    "fixed-labelled", "FixLR, 5 labels", (_LABELLED,), rates(*RATES["bbse"]), lambda r: (fixed(r),)
)
_ADE = System(
    "ade-labelled",
    "Fed-ADE, 5 labels",
    (_LABELLED,),
    bounds_tried("bbse"),
    lambda bounds: (adaptive(bounds),),
)
_DETECTION = System(
    "detection",
    "drift detection (DDM), 5 labels",
    ('algorithm={ kind = "drift_detection", budget = 5 }', _LABELLED),
    rates(*RATES["bbse"]),
    lambda low: (f"algorithm.low={low}", f"algorithm.high={3 * low:g}"),
)
_FEDDRIFT = by_rate("feddrift", "FedDrift, 5 labels", "feddrift", RATES["bbse"], _LABELLED)
_FLASH = by_rate(
    "flash", "Flash, 5 labels", "flash", RATES["entropy"], _LABELLED, field="server_rate"
)

CONTEST = Contest(
    "concept",
    "Digits, label swaps",
    DIGITS.preset,
    tuple(
        Place(name, called, (_under(jumps),), (seed,))
        for (name, (called, jumps)), seed in zip(SWAPS.items(), TUNING_SEEDS, strict=True)
    ),
    (fixed_rate("entropy"), fed_ade("entropy"), _FIXED, _ADE, _DETECTION, _FEDDRIFT, _FLASH),
)

_OTHER_DETECTORS = {"page_hinkley": "Page-Hinkley"}
"""Beside DDM, by kind; ADWIN needs another package."""


def _experiment(name: str) -> Experiment:
    called, jumps = SWAPS[name]
    where, preset = (_under(jumps),), DIGITS.preset

    def tuned(system: System, name: str = "", title: str = "", *more: str) -> Arm:
        own = (*where, *system.settings, *more)
        chosen = CONTEST.tuned(system.name)
        return Arm(name or system.name, preset, own, title or system.title, tuned=chosen)

    return measured(
        f"concept-{name}",
        f"Digits: {called}",
        "FedCCFA's swaps; all that learn from labels have five a step and client, and were tuned",
        (
            Arm("frozen", preset, (*where, 'algorithm={ kind = "frozen" }'), "frozen"),
            tuned(CONTEST.system("fixed-entropy"), "best-entropy", "FixLR (tuned), entropy"),
            tuned(CONTEST.system("ade-entropy")),
            matched("ade", "entropy", preset, where),
            tuned(_FIXED, "best-labelled", "FixLR (tuned), 5 labels"),
            tuned(_ADE),
            tuned(_DETECTION),
            *(
                tuned(
                    _DETECTION,
                    f"detection-{kind}",
                    f"drift detection ({says}), 5 labels",
                    f'algorithm.detector={{ kind = "{kind}" }}',
                )
                for kind, says in _OTHER_DETECTORS.items()
            ),
            tuned(_FEDDRIFT),
            tuned(_FLASH),
        ),
    )


CONCEPT = tuple(_experiment(name) for name in SWAPS)
