"""The core grid: three sets, two shifts, four schedules, all systems, each tuned before."""

from driftfold.studies.base import Experiment, Small
from driftfold.studies.fedade.contests import CONTESTS
from driftfold.studies.fedade.measuring import ACCURACY, measured
from driftfold.studies.fedade.settings import END, SCHEDULES, SETTINGS, Setting
from driftfold.studies.fedade.systems import everything
from driftfold.studies.overview import Overview

DRAWN = (
    "frozen",
    "reweighting",
    "best-bbse",
    "ade-bbse",
    "best-entropy",
    "ade-entropy",
    "matched-entropy",
)

IN_SMALL = ("lin", "ber")
"""Schedules in the small form."""


def _experiment(setting: Setting, schedule: str) -> Experiment:
    called, toml = SCHEDULES[schedule]
    preset = f"{setting.preset}-small"
    return measured(
        setting.name(schedule),
        f"{setting.title}: {called}",
        f"20 clients, {END} steps of 50 inputs, one round each; all that can be tuned was, on "
        "other seeds; our setting",
        everything(setting, toml),
        small=Small(preset=preset) if setting.small and schedule in IN_SMALL else None,
        drawn=DRAWN,
        needs=setting.needs,
    )


TUNING = tuple(
    experiment for setting in SETTINGS for experiment in CONTESTS[setting.short].experiments
)

GRIDS = tuple(_experiment(setting, schedule) for setting in SETTINGS for schedule in SCHEDULES)

_COLUMNS = tuple(
    (f"{setting.short}, {called}", setting.name(schedule))
    for setting in SETTINGS
    for schedule, (called, _) in SCHEDULES.items()
)
_ROWS = tuple((arm.label, arm.name) for arm in GRIDS[0].arms)


def _overview(title: str, metric: str, factor: float = 1.0, against: str = "") -> Overview:
    risk = against.partition("-")[2]
    rows = tuple(row for row in _ROWS if row[1] != against and row[1].endswith(risk and f"-{risk}"))
    return Overview(title, metric, END, _COLUMNS, rows, against, factor, "linear")


OVERVIEWS = (
    _overview("Accuracy before the update, in percent", ACCURACY, 100),
    _overview("Points above the frozen model, before the update", ACCURACY, 100, "frozen"),
    _overview("Points above Fed-ADE with the BBSE risk", ACCURACY, 100, "ade-bbse"),
    _overview("Points above Fed-ADE with the entropy risk", ACCURACY, 100, "ade-entropy"),
    _overview("Accuracy after the update, in percent", "accuracy_after", 100),
    _overview("Worst tenth of the clients, in percent", "worst_decile", 100),
    _overview("Mean rate", "rate"),
    _overview("Mean signal S", "signal"),
    _overview("Examples whose gradients a client computes at one step", "gradients"),
    _overview("Seconds of a core for one step of all clients", "cpu"),
)
