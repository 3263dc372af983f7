"""Experiments with an odd number in one field, and how they end.

Run as a program it reads a list of them from a file, and writes how each ended.
"""

import json
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from driftfold.errors import DriftfoldError
from driftfold.run import run
from driftfold.spec import from_mapping, load_builtins
from driftfold.spec.codec import annotations, parameters
from driftfold.spec.hints import bare, is_sequence, items, members
from tests.modules import own_kinds

SECONDS = 5
MEMORY = 3 * 2**30
NUMBERS: tuple[float | int, ...] = (
    *(0, -1, 1.5, float("nan"), float("inf"), 5e-324, 1e-320, 1e-300, 1e-7, 1e18, 1e300),
    *(2**31, 2**32, 10**18, 2**63 - 1, 2**63, 2**64, 10**40),
)
BASE: dict[str, Any] = {
    "task": {
        "kind": "softmax_regression",
        "data": {"kind": "gaussian_classes", "classes": 3, "features": 3, "samples": 60},
        "clients": 6,
    },
    "algorithm": {"kind": "fedavg", "steps": 2, "batch": 2, "step_size": 0.05},
    "participation": {"kind": "markov_sessions", "session": 20.0},
    "latency": {"kind": "lognormal", "per_sample": 0.5},
    "horizon": {"rounds": 3},
}
PAST = {"kind": "past"}
NEEDED: dict[tuple[str, str], dict[str, Any]] = {
    ("participation", "outage"): {"of": {"kind": "markov_sessions"}},
    ("participation", "dropout"): {"of": {"kind": "markov_sessions"}, "unit": "seconds"},
    ("latency", "stragglers"): {"base": {"kind": "lognormal"}},
    ("estimator", "capped"): {"rule": PAST, "max_weight": 3.0},
    ("estimator", "shrunk"): {"rule": PAST},
    ("estimator", "silent"): {"rule": PAST},
    ("estimator", "hajek"): {"rule": PAST},
    ("cadence", "asynchronous_tiers"): {"tiers": 2},
    ("cadence", "tiered"): {"tiers": 2},
    ("selection", "repeated"): {"selection": {"kind": "uniform"}},
}
# One field that is given alone, or with another than by default.
WITH: dict[tuple[str, str, str], dict[str, Any]] = {
    ("participation", "adversarial", "start"): {"mode": "all_off"},
    ("participation", "adversarial", "end"): {"mode": "all_off"},
    ("participation", "adversarial", "client"): {"mode": "silent"},
    ("participation", "markov", "rate"): {"slot": 1.0},
    ("participation", "markov", "memory"): {"slot": 1.0},
    ("cadence", "synchronous", "over_selection"): {"cohort": 2},
    ("cadence", "tiered", "over_selection"): {"cohort": 2},
    ("cadence", "buffered", "max_staleness"): {"beyond": "clip"},
}
# What needs a file, or a task of its own.
LEFT_OUT = {("participation", "trace"), ("latency", "trace"), ("cadence", "stream")}
FAMILIES = ("participation", "latency", "device", "link", "cadence", "selection", "staleness")

Case = tuple[str, dict[str, Any], str]


def cases() -> Iterator[Case]:
    """Name, experiment and field of each."""
    for family in (*FAMILIES, "estimator"):
        for kind, component in own_kinds(family).items():
            if (family, kind) in LEFT_OUT:
                continue
            hints = annotations(component)
            for field in parameters(component):
                form = _numeric(hints[field.name])
                for number in NUMBERS if form else ():
                    part: dict[str, Any] = {"kind": kind, **NEEDED.get((family, kind), {})}
                    part |= WITH.get((family, kind, field.name), {})
                    part[field.name] = [number] * 6 if form == "list" else number
                    name = f"{family}.{kind}.{field.name} = {number}"
                    yield name, _experiment(family, part), field.name


def _numeric(hint: Any) -> str:
    """Whether an annotation allows a number, or a list of them and no number; else ""."""
    inner, _ = bare(hint)
    parts = [bare(part)[0] for part in members(inner)]
    if any(part in (int, float) for part in parts):
        return "number"
    return "list" if any(is_sequence(p) and _numeric(items(p)[0]) for p in parts) else ""


def _experiment(family: str, part: dict[str, Any]) -> dict[str, Any]:
    if family == "estimator":
        return {**BASE, family: part, "participation": {"kind": "bernoulli", "p": 0.5}}
    if family in ("device", "link"):
        field = "compute" if family == "device" else "link"
        return {**BASE, "latency": {"kind": "population", field: part}}
    if family in ("selection", "staleness"):
        return {
            **BASE,
            "cadence": {"kind": "buffered", "concurrency": 3, "buffer": 2, family: part},
        }
    return {**BASE, family: part}


def _ends(experiment: dict[str, Any], field: str) -> str:
    """Return "" where it ends as it should, else what happens."""
    try:
        result = run(from_mapping(experiment))
    except DriftfoldError as error:
        return "" if re.search(rf"\b{field}\b", str(error)) else f"does not name {field}: {error}"
    except Late:
        return f"not done after {SECONDS} s"
    except BaseException as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"
    assert result.rounds <= 3
    return ""


class Late(BaseException):
    """Time is up."""


def _late(number: int, frame: FrameType | None) -> None:
    raise Late


def main(path: str) -> None:
    load_builtins()
    warnings.simplefilter("ignore")  # numbers out of range are what this is about
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, _late)
    for name, experiment, field in json.loads(Path(path).read_text()):
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        told = _ends(experiment, field)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        print(json.dumps([name, told]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
