"""Two findings on the published comparison, in small: what the gain is, and what the bug does."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Floats
from driftfold.run import run
from driftfold.spec import from_mapping
from driftfold.telemetry.memory import Memory

SEEDS = range(2)
UNEQUAL = (*[0.9] * 5, *[0.3] * 3, *[0.15] * 2)  # the blocks of large scale are heard rarely


@cache
def path(kind: str, estimator: str, p: Any, rounds: int, clients: int, bug: bool = False) -> Floats:
    """Gaps of each seed every 20 rounds, (seeds, evaluations): K = 5, B = 10, alpha = 0.02."""
    rows = []
    for seed in SEEDS:
        memory = Memory()
        data = {"kind": "gaussian_blocks", "clients": clients, "samples": 20, "dimension": 10}
        algorithm = {"kind": kind, "steps": 5, "batch": 10, "step_size": 0.02}
        spec = {
            "task": {"kind": "pca", "rank": 2, "data": data},
            "algorithm": {**algorithm, **({"published_bug": True} if bug else {})},
            "participation": {"kind": "bernoulli", "p": p},
            "estimator": estimator,
            "horizon": {"rounds": rounds},
            "evaluate_every": 20,
            "seed": seed,
        }
        run(from_mapping(spec), sinks=[memory])
        rows.append([r.values["gap"] for r in memory.records if "gap" in r.values])
    return np.array(rows)


def test_the_gain_comes_from_the_weights() -> None:
    """RFedAvg with corrected weights is RFedAGS, within 5 % of the gap, for each seed.

    So are both without; and the weights leave less than two thirds of it in 40 rounds.
    """
    ends = {
        (kind, rule): path(kind, rule, UNEQUAL, 40, 10)[:, -1]
        for kind in ("rfedags", "rfedavg")
        for rule in ("inclusive", "none")
    }
    for rule in ("inclusive", "none"):
        ratio = ends["rfedavg", rule] / ends["rfedags", rule]
        assert np.abs(ratio - 1).max() < 0.05
    for kind in ("rfedags", "rfedavg"):
        assert np.all(ends[kind, "inclusive"] < ends[kind, "none"] / 1.5)


def test_the_published_curve_needs_the_bug() -> None:
    """RFedSVRG as published is slow for dividing a sum over responders by N.

    Half of all clients respond, with equal probabilities, so that the plain mean is right and the
    wrong one is about half as long: its gap is larger all the way (by 8 % to 58 % for the first
    seven seeds), and after 40 rounds it is less than the other's after 20. Mended, RFedSVRG is
    RFedAvg, within 20 % of the gap (its noise at the end).
    """
    mended = path("rfedsvrg", "none", 0.5, 40, 20)
    broken = path("rfedsvrg", "none", 0.5, 40, 20, bug=True)
    average = path("rfedavg", "none", 0.5, 40, 20)
    assert np.all(broken[:, 1:] > 1.05 * mended[:, 1:])
    assert np.all(broken[:, 2] < mended[:, 1])
    assert mended[:, -1] == pytest.approx(average[:, -1], rel=0.2)
