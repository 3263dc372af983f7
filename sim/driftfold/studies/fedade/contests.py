"""The contests of the core grid: all systems of a set under a shift, over the four schedules."""

from collections.abc import Callable
from dataclasses import dataclass

from driftfold.studies.fedade.candidates import (
    RISKS,
    TUNED_BASELINES,
    fed_ade,
    fixed_rate,
)
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place
from driftfold.studies.fedade.settings import SCHEDULES, SETTINGS, Bounds, Setting
from driftfold.studies.tuning import Tuned


def contest_of(setting: Setting) -> Contest:
    """Both risks' fixed rates and bounds, and the baselines; two schedules for each seed."""
    places = tuple(
        Place(name, called, (setting.under(toml),), (TUNING_SEEDS[i % len(TUNING_SEEDS)],))
        for i, (name, (called, toml)) in enumerate(SCHEDULES.items())
    )
    return Contest(
        f"{setting.data}-{setting.shift}",
        setting.title,
        setting.preset,
        places,
        (
            *(system(risk) for risk in RISKS for system in (fixed_rate, fed_ade)),
            *TUNED_BASELINES,
        ),
        setting.needs,
        f"{setting.preset}-small" if setting.short == "digits, label" else "",
    )


CONTESTS = {setting.short: contest_of(setting) for setting in SETTINGS}


@dataclass(frozen=True)
class Set:
    """Settings that are known, or found by tuning."""

    settings: tuple[str, ...] = ()
    tuned: Tuned | None = None


def by_bounds(
    setting: Setting,
    risk: str,
    make: Callable[[Bounds], tuple[str, ...]],
    contest: Contest | None = None,
    system: str = "ade",
) -> Set:
    """What Fed-ADE's bounds make: those that were published, or the best of the candidates.

    These are tried in the setting's contest, or in another one.
    """
    if setting.bounds is not None:
        return Set(make(setting.bounds))
    where = contest or CONTESTS[setting.short]
    return Set(tuned=where.tuned(f"{system}-{risk}", make))


def best(setting: Setting, system: str, contest: Contest | None = None) -> Set:
    """The best candidate of a system; nothing where settings were published."""
    if setting.bounds is not None:
        return Set()
    return Set(tuned=(contest or CONTESTS[setting.short]).tuned(system))
