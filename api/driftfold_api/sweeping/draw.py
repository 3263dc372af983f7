"""One random choice of a sweep: a number of a range, or one of some values."""

import math
from typing import Annotated, Any, Self

from annotated_types import MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

VALUES = 10_000


class Range(BaseModel):
    """Numbers from `low` to `high`; whole ones, `high` among them, if both are written so."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    low: int | float
    high: int | float
    log: bool = Field(
        default=False, description="All orders of magnitude are equally likely; `low` is above 0."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high or (self.log and self.low <= 0):
            facts: dict[str, Any] = {"low": self.low, "high": self.high}
            facts["wanted"] = "0 < low < high" if self.log else "low < high"
            raise PydanticCustomError("wording", "got {low} to {high}, wanted {wanted}", facts)
        if max(abs(self.low), abs(self.high)) > 2**53:
            raise PydanticCustomError("wording", "wanted numbers of at most 2^53 in size")
        return self

    def at(self, share: float) -> Any:
        """Return the number at a share in [0, 1) of the range.

        >>> Range(low=1, high=6).at(0.99), round(Range(low=1.0, high=100.0, log=True).at(0.5), 9)
        (6, 10.0)
        """
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        end = self.high + 1 if whole else self.high
        if self.log:
            value = self.low * math.exp(share * math.log(end / self.low))
        else:
            value = self.low + share * (end - self.low)
        value = min(max(value, self.low), self.high)  # beyond which rounding may lead
        return math.floor(value) if whole else float(value)


class Choice(BaseModel):
    """One of some values."""

    model_config = ConfigDict(strict=True, extra="forbid")

    choice: Annotated[list[Any], MinLen(1), MaxLen(VALUES)]

    def at(self, share: float) -> Any:
        """Return the value at a share in [0, 1).

        >>> Choice(choice=["a", "b"]).at(0.6)
        'b'
        """
        return self.choice[int(share * len(self.choice))]
