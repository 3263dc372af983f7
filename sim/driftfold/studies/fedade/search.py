"""A search for a setting in which the adaptive rate wins: jumps, calm clients, better signals.

In each setting fixed rates and the bounds of every adaptive one are tuned, with as many candidates
each and on other seeds than those that are reported.
"""

from collections.abc import Mapping

from driftfold.studies.base import Experiment
from driftfold.studies.fedade.candidates import CALLED, RISKS, fed_ade, fixed_rate
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place
from driftfold.studies.fedade.contests import best, by_bounds
from driftfold.studies.fedade.measuring import measured
from driftfold.studies.fedade.questions import PRESET, combined, frozen
from driftfold.studies.fedade.settings import DIGITS
from driftfold.studies.fedade.systems import arm, signalled, variant

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

_EVERY_SECOND = ", ".join(["0.0", "1000.0"] * 10)
_EVERY_OTHER = ", ".join(["1000.0", "0.0"] * 10)


def _half(schedule: str, starts: str) -> str:
    """A schedule that starts with every second of twenty clients, and never with the others."""
    clock = f'{{ kind = "given", start = [{starts}] }}'
    return f'kind = "staggered", schedule = {{ {schedule} }}, clock = {clock}'


_NOISE = (
    'kind = "feature_noise", sd = 0.6, schedule = { '
    + _half('kind = "step", at = [1]', _EVERY_OTHER)
    + " }"
)

_UNEVEN = DIGITS.under(_half('kind = "square", every = 20', _EVERY_SECOND))

JUMPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "jump-100": (
        "one jump, batches of 100",
        (DIGITS.under('kind = "step"'), "task.batch=100"),
    ),
    "to-and-fro": ("a jump every 25 steps", (DIGITS.under('kind = "square", every = 25'),)),
    "staggered": (
        "one jump, each client at its own time",
        (
            DIGITS.under(
                'kind = "staggered", schedule = { kind = "step", at = [20] }, '
                'clock = { kind = "drawn", start = 60.0 }'
            ),
        ),
    ),
    "uneven": (
        "half of the clients jump every 20 steps, the other half stay, with noisier inputs",
        (_UNEVEN.removesuffix(" }]") + " }, { " + _NOISE + " }]",),
    ),
}
"""Settings of the search: how tables call them, and what is set."""


def _contest(name: str) -> Contest:
    called, settings = JUMPS[name]
    return Contest(
        f"search-{name}",
        f"Search, {called}",
        PRESET,
        (Place("own", "the same setting", settings, TUNING_SEEDS),),
        tuple(
            system
            for risk in RISKS
            for system in (
                fixed_rate(risk),
                *(
                    fed_ade(risk, variant, f"Fed-ADE, {says}", signal)
                    for variant, (says, signal) in VARIANTS.items()
                ),
            )
        ),
    )


CONTESTS = {name: _contest(name) for name in JUMPS}


def _search(name: str) -> Experiment:
    (called, own), contest = JUMPS[name], CONTESTS[name]
    arms = [frozen("frozen", own)]
    for risk in RISKS:
        tuned = best(DIGITS, f"fixed-{risk}", contest)
        arms.append(arm("best", risk, PRESET, own, by=tuned))
        for what, (says, signal) in VARIANTS.items():
            by = by_bounds(DIGITS, risk, signalled(signal), contest, what)
            arms += variant(what, risk, DIGITS, own, f"Fed-ADE, {says}", signal, by)
    return measured(
        f"search-{name}",
        f"Search, digits under label shift: {called}",
        "jumps stand out of the noise floor; not in the paper",
        tuple(arms),
        drawn=("frozen", *(f"{what}-{risk}" for risk in CALLED for what in ("best", "remembered"))),
    )


SEARCH = tuple(_search(name) for name in JUMPS)
SEARCH_TUNING = tuple(place for contest in CONTESTS.values() for place in contest.experiments)
