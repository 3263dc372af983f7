"""Inverse probabilities of clients that hardly ever come: a cap bounds them, and records tell."""

from typing import Any

import numpy as np
import pytest

from driftfold.estimators.diagnostics import effective_size
from tests.world.scripted import TABLE, rounds, told

CAP = 3.0
# Client 0 hardly ever comes, all others always.
RARE: dict[str, Any] = {
    **TABLE,
    "algorithm": {"kind": "fedavg", "step_size": 0.1},
    "participation": {"kind": "bernoulli", "p": [0.03] + [1.0] * 5},
    "horizon": {"rounds": 90},
    "evaluate_every": 90,
}


@pytest.mark.parametrize("rule", ["oracle", "inclusive", "past"])
def test_a_cap_bounds_the_weight_of_whoever_hardly_comes(rule: str) -> None:
    """A weight is at most the cap times the client's weight in the objective, 1/6."""
    plain, alone = told(RARE, estimator={"kind": rule})
    result, records = told(
        RARE, estimator={"kind": "capped", "rule": {"kind": rule}, "max_weight": CAP}
    )
    came = [i for i, r in enumerate(rounds(records)) if r["accepted"] == 6]
    assert 0 < len(came) < 6, "take another seed"
    largest = max(r["weight_max"] for r in rounds(records))
    assert largest == pytest.approx(CAP / 6, rel=1e-12)
    assert max(r["weight_max"] for r in rounds(alone)) > 3 * largest
    assert np.isfinite(result.model).all()
    assert np.isfinite(plain.model).all()
    for i in came[-1:]:  # by then every rule knows that the others always come
        sizes = [r[i]["effective_size"] for r in (rounds(alone), rounds(records))]
        assert sizes[0] < 2 < 4 < sizes[1]
        if rule == "oracle":
            weights = np.array([CAP, 1, 1, 1, 1, 1]) / 6
            assert sizes[1] == pytest.approx(effective_size(weights), rel=1e-12)


def test_a_probability_of_zero_is_no_division() -> None:
    """Nobody has come yet: a rule by frequencies has no weight above the cap for the first one."""
    first, _ = told(
        RARE,
        estimator={"kind": "capped", "rule": {"kind": "past"}, "max_weight": CAP},
        horizon={"rounds": 1},
    )
    assert np.isfinite(first.model).all()
