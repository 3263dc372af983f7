"""The paper's four image benchmarks, for whoever has the data and a day.

Constants are those of the released scripts. Published accuracies stand beside ours, without a band:
the scripts are another algorithm than the paper's, and measure after the update. They do so for all
clients, whoever takes part: beside it stands the mean of `accuracy_everyone` over the steps.
"""

from collections.abc import Mapping

from driftfold.studies.base import Experiment, Published
from driftfold.studies.fedade.measuring import NOTE, measured
from driftfold.studies.fedade.settings import END, SCHEDULES, Bounds, Setting
from driftfold.studies.fedade.systems import everything
from driftfold.studies.overview import Overview

_LABELS = 'kind = "labels", schedule = {schedule}, target = { kind = "partition" }'
_CORRUPTIONS = 'kind = "corruptions", schedule = {schedule}'

BENCHMARKS = (
    (
        Setting(
            "cifar10",
            "label",
            "CIFAR-10",
            _LABELS,
            ("cifar10",),
            bounds=Bounds(1e-5, 1e-3),
        ),
        10,
    ),
    (
        Setting(
            "tiny-imagenet",
            "label",
            "Tiny ImageNet",
            _LABELS,
            ("tiny_imagenet",),
            bounds=Bounds(5e-6, 1e-4),
        ),
        10,
    ),
    (
        Setting(
            "cifar10",
            "covariate",
            "CIFAR-10-C",
            _CORRUPTIONS,
            ("cifar10",),
            bounds=Bounds(1e-6, 1e-4),
        ),
        30,
    ),
    (
        Setting(
            "cifar100",
            "covariate",
            "CIFAR-100-C",
            _CORRUPTIONS,
            ("cifar100",),
            bounds=Bounds(1e-5, 1e-4),
        ),
        50,
    ),
)
"""Settings, and rounds of a step."""

_ROUNDS = (
    " With several rounds a step accuracy_visits is of a client's first round of the step, before "
    "it adapted, and accuracy_after of its last one, both of those who took part; the rate is a "
    "mean over rounds; gradients, bytes and cpu are of one round."
)

_SYSTEMS = ("fth", "atlas", "fed-poe", "fedccfa", "mid-bbse", "ade-bbse")

PERCENT: Mapping[str, tuple[float | None, ...]] = {
    "tiny-imagenet-label-lin": (78.2, 76.5, 87.1, 84.7, 88.2, 89.1),
    "tiny-imagenet-label-sin": (77.9, 76.8, 87.5, 84.8, 88.0, 88.9),
    "tiny-imagenet-label-squ": (77.2, 78.5, 86.4, 83.0, 88.2, 88.9),
    "tiny-imagenet-label-ber": (78.2, 77.6, 86.5, 83.8, 87.8, 88.7),
    "cifar10-label-lin": (31.4, 36.5, 71.3, 65.8, 70.8, 73.8),
    "cifar10-label-sin": (40.3, 43.7, 71.4, 65.8, 70.5, 73.6),
    "cifar10-label-squ": (None, None, None, None, None, 72.2),
    "cifar10-label-ber": (None, None, None, None, None, 72.9),
    "cifar10-covariate-lin": (23.7, 13.9, 44.5, 43.1, 63.9, 64.4),
    "cifar10-covariate-squ": (23.8, 14.1, 48.5, None, 64.5, 65.4),
    "cifar10-covariate-ber": (None, None, 48.7, 42.0, 64.4, 65.8),
    "cifar100-covariate-lin": (9.2, 3.5, 27.3, 24.3, 43.4, 45.8),
    "cifar100-covariate-sin": (7.6, 2.9, 27.5, 24.5, 42.1, 46.7),
}
"""Published accuracies, in the order of `_SYSTEMS`, as far as they could be obtained."""


def _published(name: str, end: int) -> tuple[Published, ...]:
    found = zip(_SYSTEMS, PERCENT.get(name, ()), strict=False)
    return tuple(
        Published(system, end, percent / 100, metric="accuracy_after")
        for system, percent in found
        if percent is not None
    )


def _benchmark(setting: Setting, rounds: int, schedule: str) -> Experiment:
    called, toml = SCHEDULES[schedule]
    end = END * rounds
    name = setting.name(schedule)
    return measured(
        name,
        f"{setting.title}, {setting.shift} shift: {called}",
        f"tables of the paper; 100 clients, {END} steps of {rounds} rounds",
        everything(setting, toml),
        small=None,
        drawn=("frozen", "mid-bbse", "ade-bbse", "mid-entropy", "ade-entropy"),
        needs=setting.needs,
        at=(end,),
        published=_published(name, end),
        tier="full",
        seeds=(1, 2, 3),
        note=NOTE + _ROUNDS,
    )


PAPER = tuple(
    _benchmark(setting, rounds, schedule)
    for setting, rounds in BENCHMARKS
    for schedule in SCHEDULES
)

EVERYBODY = Overview(
    "Accuracy of all clients at the end of each step, mean over the steps, in percent",
    "accuracy_everyone",
    1,
    tuple((e.title, e.name) for e in PAPER),
    tuple((arm.label, arm.name) for arm in PAPER[0].arms),
    factor=100.0,
    scale="linear",
)
"""What the published values are nearest to: everybody, also who did not take part."""
