"""A sweep: which fields of a specification take which values, in what order."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Self, TypeAlias

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from driftfold.rng import Seed
from driftfold_api.sweeping.draw import VALUES, Choice, Range
from driftfold_api.wording import in_words

MOST = 10_000  # jobs in a group
PATHS = 50

Path: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=200, pattern=r"^[^.\s]+(\.[^.\s]+)*$"),
    in_words("the path of a field, as algorithm.steps"),
]
Values: TypeAlias = Annotated[list[Any], MinLen(1), MaxLen(VALUES)]
Point: TypeAlias = dict[str, Any]
"""Values by the paths of their fields."""
Whole: TypeAlias = Annotated[int, Ge(0), Le(2**64 - 1)]


class Sweep(BaseModel):
    """Points in the space of specifications: a grid, or random ones; each with several seeds.

    Examples
    --------
    >>> sweep = Sweep(grid={"algorithm.steps": [1, 5]}, seeds=[1, 2])
    >>> len(sweep), list(sweep.points())[1]
    (4, {'algorithm.steps': 1, 'seed': 2})
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    grid: Annotated[dict[Path, Values], MaxLen(PATHS)] = Field(
        default={}, description="Values by paths of fields: all combinations, the last path first."
    )
    random: Annotated[dict[Path, Range | Choice], MaxLen(PATHS)] = Field(
        default={}, description="In place of a grid: for each path a range or a choice of values."
    )
    samples: Annotated[int, Ge(1), Le(MOST)] | None = Field(
        default=None, description="Random points. Asking for fewer gives the first of them."
    )
    seed: Whole = Field(
        default=0, description="Which random points; has nothing to do with the seeds of jobs."
    )
    seeds: Annotated[list[Whole], MaxLen(MOST)] = Field(
        default=[], description="Seeds of the specification: every point with each of them."
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if wrong := self._wrong():
            raise PydanticCustomError("wording", "{wrong}", {"wrong": wrong})
        return self

    def _wrong(self) -> str:
        if self.grid and self.random:
            return "got both grid and random, wanted one of them"
        if not (self.grid or self.random or self.seeds):
            return "got nothing to vary, wanted grid, random or seeds"
        if bool(self.random) != (self.samples is not None):
            return "random and samples belong together: give both of them, or none"
        if self.seeds and "seed" in (self.grid or self.random):
            return "got seeds and values of the field seed, wanted one of them"
        if len(self) > MOST:
            return f"got {len(self)} points, wanted at most {MOST}"
        return ""

    def __len__(self) -> int:
        grid = math.prod(len(values) for values in self.grid.values())
        return (self.samples or grid) * max(1, len(self.seeds))

    def points(self) -> Iterator[Point]:
        """Yield the points, in order."""
        for point in self._random() if self.random else self._grid():
            if not self.seeds:
                yield point
            for seed in self.seeds:
                yield {**point, "seed": seed}

    def _grid(self) -> Iterator[Point]:
        for values in product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))

    def _random(self) -> Iterator[Point]:
        # Each number has an address, so that another path or sample moves none of the others.
        streams = {path: Seed(self.seed).stream(f"sweep of {path}") for path in self.random}
        for sample in range(self.samples or 0):
            yield {
                path: draw.at(float(streams[path].uniform(sample, 0, 1)[0]))
                for path, draw in self.random.items()
            }


def table_of(point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a point says, as tables to lay over a specification, one after the other.

    >>> table_of({"algorithm.steps": 5, "seed": 2})
    [{'algorithm': {'steps': 5}}, {'seed': 2}]
    """
    tables = []
    for path, value in point.items():
        table = value
        for name in reversed(path.split(".")):
            table = {name: table}
        tables.append(table)
    return tables


def in_short(point: Mapping[str, Any]) -> str:
    """Return a point as people tell it.

    >>> in_short({"algorithm.steps": 5, "seed": 2})
    'steps=5 seed=2'
    """
    return " ".join(f"{path.rpartition('.')[2]}={_shown(value)}" for path, value in point.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return str(value.get("kind", "…"))
    return str(value)
