"""What is adapted to: sets, shifts and schedules."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Shift: TypeAlias = Literal["label", "covariate", "domains"]

SHIFTS: tuple[Shift, ...] = ("label", "covariate")
"""Those of the core grid."""

END = 100
"""Steps of a stream, with one round each."""

SEEDS = (1, 2, 3, 4, 5)
"""Seeds that are reported."""

SCHEDULES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "lin": ("Lin", 'kind = "linear"'),
        "sin": ("Sin", 'kind = "sine"'),
        "squ": ("Squ", 'kind = "square"'),
        "ber": ("Ber", 'kind = "bernoulli"'),
    }
)
"""The paper's four, by name: how it calls them, and what they are; Ber is the persistent chain."""


@dataclass(frozen=True)
class Bounds:
    """Between which rates the adaptive one moves.

    Attributes
    ----------
    low, high
        eta_min and eta_max.
    """

    low: float
    high: float

    @property
    def mid(self) -> float:
        """The geometric mean, to three digits."""
        return float(f"{(self.low * self.high) ** 0.5:.3g}")

    def times(self, low: float, high: float) -> "Bounds":
        """Both multiplied."""
        return Bounds(float(f"{self.low * low:.3g}"), float(f"{self.high * high:.3g}"))


@dataclass(frozen=True)
class Setting:
    """A set under a shift.

    Attributes
    ----------
    data, shift
        Which.
    title
        How tables call it.
    drift
        The drift, in which `{schedule}` stands for the schedule.
    needs
        Sets of the catalogue.
    small
        Whether there is a preset that needs no data.
    bounds
        Bounds of the rate that were published; None: all that can be tuned is tuned.
    """

    data: str
    shift: Shift
    title: str
    drift: str
    needs: tuple[str, ...] = ()
    small: bool = True
    bounds: Bounds | None = None

    @property
    def preset(self) -> str:
        """The preset."""
        return f"fedade-{self.data}-{self.shift}"

    @property
    def short(self) -> str:
        """For tables across settings."""
        return f"{self.data}, {self.shift}"

    def name(self, schedule: str) -> str:
        """Name of the experiment under a schedule, as in ``digits-label-lin``."""
        return f"{self.data}-{self.shift}-{schedule}"

    def under(self, schedule: str) -> str:
        """The setting that makes this schedule, given as TOML without braces, the one met."""
        return "task.drift=[{ " + self.drift.replace("{schedule}", "{ " + schedule + " }") + " }]"


_LABELS = 'kind = "labels", schedule = {schedule}, target = { kind = "dirichlet", alpha = 0.1 }'
_FASHION, _TEXT = ("fashion_mnist",), ("r8", "wordllama")

SETTINGS = (
    Setting("digits", "label", "Digits, label shift", _LABELS),
    Setting(
        "digits",
        "covariate",
        "Digits, corruptions",
        'kind = "corruptions", enlarge = 4, schedule = {schedule}',
    ),
    Setting("fashion", "label", "Fashion-MNIST, label shift", _LABELS, _FASHION),
    Setting(
        "fashion",
        "covariate",
        "Fashion-MNIST, corruptions",
        'kind = "corruptions", schedule = {schedule}',
        _FASHION,
    ),
    Setting("text", "label", "News agency texts, label shift", _LABELS, _TEXT, small=False),
    Setting(
        "text",
        "covariate",
        "News agency texts, shifted vectors",
        'kind = "affine_shift", schedule = {schedule}, shift = 0.1',
        _TEXT,
        small=False,
    ),
)

DIGITS = SETTINGS[0]
"""Digits under label shift: where single questions are asked."""
