"""Early-stop rules: which jobs of a group need not go on, judged by a metric at equal rounds."""

from abc import abstractmethod
from collections.abc import Mapping
from statistics import median
from typing import Annotated, Literal, TypeAlias

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field

from driftfold_api.sweeping.curve import Curve


class Rule(BaseModel):
    """What all rules have."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    metric: Annotated[str, MinLen(1), MaxLen(200)] = Field(
        description="Name of a value in the records, as gap or loss."
    )
    goal: Literal["min", "max"] = Field(default="min", description="Whether less is better.")

    @abstractmethod
    def against(self, child: int, round_: int, curves: Mapping[int, Curve]) -> str:
        """Return why a job is to be stopped that has just reached a round; "" for no reason."""

    def shown(self, value: float) -> str:
        """Return a value of a curve, in which less is better, as it is in the records."""
        return f"{value if self.goal == 'min' else -value:.4g}"


class MedianRule(Rule):
    """Stop a job whose best value so far is worse than the median of the others.

    Of each other job that has reached the round too, the mean of its values up to there counts
    (Golovin et al. 2017, "Google Vizier: a service for black-box optimization", section 3.2.2).

    Examples
    --------
    >>> rule = MedianRule(kind="median", metric="gap", grace=1, others=2)
    >>> curves = {0: Curve.of({2: 5.0}), 1: Curve.of({2: 1.0}), 2: Curve.of({2: 3.0})}
    >>> rule.against(0, 2, curves)
    'its best gap by round 2, 5, is worse than 2, the median of 2 others'
    >>> rule.against(1, 2, curves)
    ''
    """

    kind: Literal["median"]
    grace: Annotated[int, Ge(0), Le(2**53)] = Field(
        default=10, description="Rounds up to which nothing is judged."
    )
    others: Annotated[int, Ge(1), Le(10_000)] = Field(
        default=3, description="Other jobs that must have reached the round before it is judged."
    )

    def against(self, child: int, round_: int, curves: Mapping[int, Curve]) -> str:
        """Return why a job is to be stopped."""
        if round_ <= self.grace:
            return ""
        found = (curve.mean(round_) for other, curve in curves.items() if other != child)
        means = [mean for mean in found if mean is not None]
        best = curves[child].best(round_)
        if len(means) < self.others or best <= (middle := median(means)):
            return ""
        return (
            f"its best {self.metric} by round {round_}, {self.shown(best)}, is worse than "
            f"{self.shown(middle)}, the median of {len(means)} others"
        )


class TargetRule(Rule):
    """Stop all others once a job has reached a value; that one goes on to its end."""

    kind: Literal["target"]
    value: float = Field(description="At which the goal is reached.")

    def against(self, child: int, round_: int, curves: Mapping[int, Curve]) -> str:
        """Return nothing: a job is stopped by what another one reached."""
        return ""

    def reached(self, child: int, round_: int, curves: Mapping[int, Curve]) -> bool:
        """Return whether a job has the value at a round.

        >>> rule = TargetRule(kind="target", metric="accuracy", goal="max", value=0.9)
        >>> rule.reached(0, 4, {0: Curve.of({4: -0.95})})
        True
        """
        wanted = self.value if self.goal == "min" else -self.value
        return curves[child].best(round_) <= wanted


StopRule: TypeAlias = Annotated[MedianRule | TargetRule, Field(discriminator="kind")]
