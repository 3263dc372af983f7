"""The rules that are compared, as arms: weights of estimators, and servers with a memory."""

from driftfold.studies.base import Arm

WEIGHTS = ("past", "inclusive", "window", "ewma", "kalman", "fedau")
"""Rules that estimate the probabilities from who answered."""

FORGETTING = ("window", "ewma", "kalman")
"""Those of them that forget."""

LASTING = ("past", "inclusive", "fedau")
"""Those of them that count from the first round on."""

KNOWN = ("oracle", "ipw-varp")
"""Rules that are told the true probabilities."""

MEMORY = ("ipw-varp", "varp-window", "mifa")
"""Servers that remember what clients sent last."""

RULES = ("none", "oracle", *WEIGHTS, *MEMORY)
"""Rules that go with both aggregations."""

STREAMS, MEAN = "ags", "avg"
"""Names of the aggregations: gradient streams (RFedAGS), tangent mean of end points (RFedAvg)."""

AGGREGATIONS = (STREAMS, MEAN)

DRAWN = ("none", "oracle", "past", "window", "kalman", "varp-window", "mifa")
"""Rules in the plots, by gradient streams."""

LABELS = {
    "none": "no weights",
    "oracle": "true p",
    "past": "past rounds",
    "inclusive": "past and present round",
    "window": "window of 50",
    "ewma": "EWMA, 0.01",
    "kalman": "Kalman",
    "fedau": "FedAU",
    "ipw-varp": "IPW-VARP, true p",
    "varp-window": "IPW-VARP, window",
    "mifa": "MIFA",
}
_KIND = {STREAMS: "rfedags", MEAN: "rfedavg"}
_TITLE = {STREAMS: "RFedAGS", MEAN: "RFedAvg"}
_AROUND = {
    "ipw-varp": ("fedvarp", "oracle"),
    "varp-window": ("fedvarp", "window"),
    "mifa": ("mifa", "none"),
}
# The mean weight of FedAWE is 1 / mean p, about 3; its echo makes its mean step that of the others.
_ECHO = 0.3


def _work(field: str, kind: str) -> tuple[str, ...]:
    fields = {"kind": kind, "steps": "5", "batch": '"full"', "step_size": "3e-3"}
    return tuple(f"{field}.{name}={value}" for name, value in fields.items())


def _arm(aggregation: str, rule: str, preset: str, drift: tuple[str, ...]) -> Arm:
    kind = _KIND[aggregation]
    if rule in _AROUND:
        around, estimator = _AROUND[rule]
        algorithm = (f"algorithm.kind={around}", *_work("algorithm.algorithm", kind))
    else:
        algorithm, estimator = _work("algorithm", kind), rule
    # MIFA has no weights, and 0 / 1 weights of others say nothing about it.
    quiet = ("metrics=[]",) if rule == "mifa" else ()
    settings = (*algorithm, f"estimator={estimator}", *drift, *quiet)
    return Arm(f"{aggregation}-{rule}", preset, settings, f"{_TITLE[aggregation]}, {LABELS[rule]}")


def arms(preset: str, drift: tuple[str, ...]) -> tuple[Arm, ...]:
    """Return all arms of a task under one kind of participation.

    FedAWE averages points in the tangent space, after gradient streams of its clients: it has one
    arm.
    """
    echoing = (*_work("algorithm", "fedawe"), f"algorithm.echo={_ECHO}", "metrics=[]")
    return (
        *(_arm(how, rule, preset, drift) for how in AGGREGATIONS for rule in RULES),
        Arm("fedawe", preset, (*echoing, "estimator=none", *drift), "FedAWE"),
    )
