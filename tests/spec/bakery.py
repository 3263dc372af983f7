"""Two small families of the tests' own, with every form of field that a component may have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, Le, MinLen

from driftfold.errors import SpecError
from driftfold.registry import family, register

Share = Annotated[float, Interval(ge=0, le=1)]


@family("test-topping")
class Topping:
    """What may lie on a cake."""


@register("sugar")
@dataclass(frozen=True)
class Sugar(Topping):
    """Powdered."""

    grams: Annotated[float, Gt(0)] = 5.0


@register("fruit")
@dataclass(frozen=True)
class Fruit(Topping):
    """Fresh fruit.

    Attributes
    ----------
    name
        Which fruit.
    shares
        Share of each piece,
        from 0 to 1.
    """

    name: str
    shares: tuple[Share, ...] = (0.5, 0.5)


@dataclass(frozen=True)
class Oven:
    """How it is baked."""

    minutes: Annotated[int, Gt(0), Le(600)] = 30
    fan: bool = False
    top: Topping | None = None


@family("test-cake")
class Cake:
    """What is baked."""


@register("layered")
@dataclass(frozen=True)
class Layered(Cake):
    """A cake of every kind of field."""

    size: int | Annotated[float, Gt(0)] | Literal["full"]
    layers: tuple[Topping, ...] = ()
    oven: Oven = Oven()
    main: Topping = Fruit("plum")
    glaze: Annotated[float, Ge(0)] | Topping = 0.0
    notes: Mapping[str, int] | None = None
    pair: tuple[int, str] = (1, "a")
    sides: Mapping[str, Topping] | None = None
    dates: Annotated[tuple[int, ...], MinLen(1)] = (1,)


@register("flat")
@dataclass(frozen=True)
class Flat(Cake):
    """One whose fields limit each other."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise SpecError(f"got low = {self.low} above high = {self.high}; swap them")
