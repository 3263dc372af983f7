"""What is tried in tuning: eight candidates for each system, half a decade apart.

Fed-ADE's bounds have their S of about 0.05 in mind: the eight pairs give mean rates from the lowest
of the fixed ones to the highest, and each second one moves ten times as far as the other.
"""

from collections.abc import Mapping
from itertools import product

from driftfold.studies.fedade.contest import System
from driftfold.studies.fedade.settings import Bounds

RISKS = {"bbse": "bbse_source", "entropy": "entropy"}
"""Kinds of risk, by the ends of names."""

CALLED = {"bbse": "BBSE", "entropy": "entropy"}

RATES: Mapping[str, tuple[float, ...]] = {
    "bbse": (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
    "entropy": (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1),
}
"""Fixed rates, by risk: entropy bears smaller ones."""

_LOWS = {"bbse": (3e-4, 3e-3, 0.03, 0.3), "entropy": (1e-5, 1e-4, 1e-3, 0.01)}


def bounds_tried(risk: str) -> dict[str, Bounds]:
    """Bounds of the adaptive rate, by name.

    >>> list(bounds_tried("entropy").values())[2:4]
    [Bounds(low=0.0001, high=0.001), Bounds(low=0.0001, high=0.01)]
    """
    made = [Bounds(low, 1.0).times(1.0, low * far) for low in _LOWS[risk] for far in (10, 100)]
    return {f"{bounds.low:g}-{bounds.high:g}": bounds for bounds in made}


def adaptive(bounds: Bounds, more: str = "") -> str:
    """The setting of an adaptive rate; `more` is a field of it."""
    fields = ['kind = "adaptive"', f"low = {bounds.low}", f"high = {bounds.high}"]
    return "algorithm.rate={ " + ", ".join([*fields, *([more] if more else [])]) + " }"


def fixed(rate: float) -> str:
    """The setting of a fixed rate."""
    return f'algorithm.rate={{ kind = "fixed_rate", rate = {rate} }}'


def rates(*tried: float) -> dict[str, float]:
    """Rates by name."""
    return {f"{rate:g}": rate for rate in tried}


def fixed_rate(risk: str, tried: tuple[float, ...] | None = None) -> System:
    """FixLR with a risk."""
    return System(
        f"fixed-{risk}",
        f"FixLR, {CALLED[risk]}",
        (f"algorithm.risk={RISKS[risk]}",),
        rates(*(tried or RATES[risk])),
        lambda rate: (fixed(rate),),
    )


def fed_ade(risk: str, name: str = "ade", title: str = "Fed-ADE", signal: str = "") -> System:
    """Fed-ADE with a risk, and a signal if it is not the paper's."""
    return System(
        f"{name}-{risk}",
        f"{title}, {CALLED[risk]}",
        (f"algorithm.risk={RISKS[risk]}",),
        bounds_tried(risk),
        lambda bounds: (adaptive(bounds, signal),),
    )


def by_rate(
    name: str, title: str, kind: str, tried: tuple[float, ...], *settings: str, field: str = "rate"
) -> System:
    """A system whose one field is tuned."""
    return System(
        name,
        title,
        (f'algorithm={{ kind = "{kind}" }}', *settings),
        rates(*tried),
        lambda rate: (f"algorithm.{field}={rate}",),
    )


UOGD = by_rate("uogd", "UOGD", "uogd", RATES["bbse"])
FED_POE = by_rate("fed-poe", "Fed-POE", "fed_poe", tuple(10 * rate for rate in RATES["bbse"]))
"""Its eta is the field over the root of the number of steps, 10."""

ATLAS = System(
    "atlas",
    "ATLAS",
    ('algorithm={ kind = "atlas" }',),
    {
        "-".join(way): way
        for way in product(
            ("paper", "code"), ("decaying", "constant"), ("parameters", "predictions")
        )
    },
    lambda way: tuple(
        f'algorithm.{field}="{value}"'
        for field, value in zip(("rates", "meta", "combine"), way, strict=True)
    ),
)
"""Its rates follow from the problem: what is tuned is which of the published forms it has."""

FEDCCFA = System(
    "fedccfa",
    "FedCCFA",
    ('algorithm={ kind = "fedccfa" }',),
    rates(*RATES["entropy"]),
    lambda rate: (f"algorithm.body_rate={rate}", f"algorithm.head_rate={10 * rate:g}"),
)
"""Rates of body and head, one to ten as published."""

TUNED_BASELINES = (UOGD, ATLAS, FED_POE, FEDCCFA)
