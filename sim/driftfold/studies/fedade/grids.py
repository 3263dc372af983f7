"""The core grid: three sets, two shifts, four schedules, all systems."""

from typing import Literal

from driftfold.studies.base import Arm, Experiment, Published, Small
from driftfold.studies.fedade.settings import END, SCHEDULES, SEEDS, SETTINGS, Setting
from driftfold.studies.fedade.systems import CALLED, RISKS, everything
from driftfold.studies.overview import Overview

ACCURACY = "accuracy_visits"
"""Share of inputs classified rightly before the client adapted to them, over all clients and
steps so far: what counts in practice."""

METRICS = (
    ACCURACY,
    "accuracy_after",
    "worst_decile",
    "rate",
    "signal",
    "gradients",
    "bytes_up",
    "bytes_down",
)

OF_ROUNDS = ("signal", "signal_0", "signal_1", "bytes_up", "bytes_down", "cpu")
"""Values of rounds that are read: both parts of S, bytes of all clients, seconds of a core."""

DRAWN = (
    "frozen",
    "reweighting",
    "mid-bbse",
    "ade-bbse",
    "mid-entropy",
    "ade-entropy",
    "matched-entropy",
)

EARLY = 20
"""Steps of the small form; values after as many stand in the tables of the others, too."""

IN_SMALL = ("lin", "ber")
"""Schedules in the small form."""

NOTE = (
    "Values are means over all steps so far, of the round after which they stand. accuracy_visits: "
    "before a client adapts to a batch; accuracy_after: on the same batch afterwards, as the "
    "released scripts count. gradients: examples whose gradients a client computes at one step. "
    "Bytes: of all clients in one step."
)


def measured(
    name: str,
    title: str,
    source: str,
    arms: tuple[Arm, ...],
    *,
    small: Small | None,
    seeds: tuple[int, ...] = SEEDS,
    drawn: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    at: tuple[int, ...] = (EARLY, END),
    published: tuple[Published, ...] = (),
    tier: Literal["core", "full"] = "core",
) -> Experiment:
    """Return an experiment whose values at the end are means over a stream."""
    return Experiment(
        name=name,
        title=title,
        source=source,
        arms=arms,
        read_at=at,
        metrics=METRICS,
        scale="linear",
        drawn=drawn,
        published=published,
        seeds=seeds,
        small=small,
        tier=tier,
        needs=needs,
        note=NOTE,
    )


def _experiment(setting: Setting, schedule: str) -> Experiment:
    called, toml = SCHEDULES[schedule]
    rates = " or ".join(
        f"{bounds.low:g}, {bounds.mid:g} and {bounds.high:g} ({CALLED[risk]})"
        for risk in RISKS
        for bounds in [setting.within(risk)]
    )
    preset = f"{setting.preset}-small"
    return measured(
        setting.name(schedule),
        f"{setting.title}: {called}",
        f"20 clients, {END} steps of 50 inputs, one round each; rates {rates}; our setting",
        everything(setting, toml),
        small=Small(preset=preset) if setting.small and schedule in IN_SMALL else None,
        drawn=DRAWN,
        needs=setting.needs,
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
)
