"""A search for a setting in which the adaptive rate wins: jumps, larger batches, better signals."""

from driftfold.studies.base import Experiment
from driftfold.studies.fedade.grids import measured
from driftfold.studies.fedade.questions import PRESET, combined, frozen
from driftfold.studies.fedade.settings import DIGITS
from driftfold.studies.fedade.systems import CALLED, RISKS, adaptive, arm, fixed, recorded

_DEBIASED = combined('{ kind = "debiased_uncertainty" }', '{ kind = "debiased_representation" }')
_REMEMBERED = (
    'signal = { kind = "jump_memory", keep = 0.8, signal = '
    + _DEBIASED.removeprefix("signal = ")
    + " }"
)

VARIANTS = {
    "ade": ("S", ""),
    "debiased": ("debiased S", _DEBIASED),
    "remembered": ("debiased S with jump memory", _REMEMBERED),
}
"""Signals of the search."""

FIXED = ("low", "mid", "high")
"""Fixed rates of the search; the best of them is chosen afterwards, which favours it."""

JUMPS = {
    "jump": ("one jump", 'kind = "step"', ()),
    "jump-100": ("one jump, batches of 100", 'kind = "step"', ("task.batch=100",)),
    "to-and-fro": ("a jump every 25 steps", 'kind = "square", every = 25', ()),
    "staggered": (
        "one jump, each client at its own time",
        'kind = "staggered", schedule = { kind = "step", at = [20] }, '
        'clock = { kind = "drawn", start = 60.0 }',
        (),
    ),
}
"""Settings of the search: how tables call them, the schedule, and what else is set."""


def _search(name: str) -> Experiment:
    called, schedule, more = JUMPS[name]
    own = (DIGITS.under(schedule), *more)
    arms = [frozen("frozen", own)]
    for risk in RISKS:
        bounds = DIGITS.within(risk)
        arms += [
            arm(what, risk, PRESET, (*own, fixed(rate)))
            for what, rate in zip(FIXED, (bounds.low, bounds.mid, bounds.high), strict=True)
        ]
        for variant, (says, signal) in VARIANTS.items():
            who = f"Fed-ADE, {says}, {CALLED[risk]}"
            own_rate = (*own, adaptive(bounds, signal))
            arms.append(arm(variant, risk, PRESET, own_rate, who))
            arms.append(
                arm(
                    f"{variant}-matched",
                    risk,
                    PRESET,
                    (*own, recorded("mean")),
                    f"FixLR matched to {says}, {CALLED[risk]}",
                    of=variant,
                )
            )
    return measured(
        f"search-{name}",
        f"Search, digits under label shift: {called}",
        "jumps stand out of the noise floor; not in the paper",
        tuple(arms),
        small=None,
        drawn=("frozen", "mid-bbse", "debiased-bbse", "remembered-bbse", "remembered-entropy"),
    )


SEARCH = tuple(_search(name) for name in JUMPS)
