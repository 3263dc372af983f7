"""Texts whose domain drifts: the same subjects, talked about in other groups.

The core grid's covariate shift of texts is one of vectors, for want of domains with the same
classes. Here the domains are real, halves of the groups of 20 Newsgroups; fewer systems are run.
"""

from driftfold.studies.base import Arm, Experiment
from driftfold.studies.fedade.candidates import RISKS, fed_ade, fixed_rate
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place
from driftfold.studies.fedade.contests import best, by_bounds
from driftfold.studies.fedade.measuring import ACCURACY, measured
from driftfold.studies.fedade.settings import END, SCHEDULES, Setting
from driftfold.studies.fedade.systems import UNTUNED, arm, matched, recorded, signalled
from driftfold.studies.overview import Overview

SETTING = Setting(
    "text",
    "domains",
    "Newsgroups, other halves of the subjects",
    'kind = "domains", schedule = {schedule}',
    ("newsgroups", "wordllama"),
    small=False,
)

CONTEST = Contest(
    f"{SETTING.data}-{SETTING.shift}",
    SETTING.title,
    SETTING.preset,
    tuple(
        Place(name, called, (SETTING.under(toml),), (TUNING_SEEDS[i % len(TUNING_SEEDS)],))
        for i, (name, (called, toml)) in enumerate(SCHEDULES.items())
    ),
    tuple(system(risk) for risk in RISKS for system in (fixed_rate, fed_ade)),
    SETTING.needs,
)


def _adapting(drift: tuple[str, ...], risk: str) -> tuple[Arm, ...]:
    preset = SETTING.preset
    shuffled = (*drift, recorded("shuffled"))
    return (
        arm("best", risk, preset, drift, by=best(SETTING, f"fixed-{risk}", CONTEST)),
        arm("ade", risk, preset, drift, by=by_bounds(SETTING, risk, signalled(""), CONTEST)),
        matched("ade", risk, preset, drift),
        arm("shuffled", risk, preset, shuffled, of="ade"),
    )


def _experiment(schedule: str) -> Experiment:
    called, toml = SCHEDULES[schedule]
    drift = (SETTING.under(toml),)
    unadapted = (
        Arm(name, SETTING.preset, (*drift, f'algorithm={{ kind = "{kind}" }}', *more), title)
        for name, (title, kind, more) in UNTUNED.items()
    )
    return measured(
        SETTING.name(schedule),
        f"{SETTING.title}: {called}",
        "20 clients, 100 steps of 50 messages, one round each; rates and bounds tuned on other "
        "seeds; not in the paper",
        (*unadapted, *(one for risk in RISKS for one in _adapting(drift, risk))),
        needs=SETTING.needs,
    )


DOMAINS = tuple(_experiment(schedule) for schedule in SCHEDULES)

OVERVIEWS = tuple(
    Overview(
        title,
        ACCURACY,
        END,
        tuple((called, SETTING.name(name)) for name, (called, _) in SCHEDULES.items()),
        tuple((one.label, one.name) for one in DOMAINS[0].arms if one.name != against),
        against,
        100,
        "linear",
    )
    for title, against in (
        (f"{SETTING.title}: accuracy before the update, in percent", ""),
        (f"{SETTING.title}: points above the frozen model", "frozen"),
    )
)
