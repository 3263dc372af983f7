"""Classes that a client, a batch or nobody has, and batches of one: numbers stay finite."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.world.scripted import told

CLASSES = 3


def data(path: Path, labels: list[list[int]]) -> dict[str, Any]:
    """A task with these labels, client by client."""
    rng = np.random.default_rng(2)
    y = np.concatenate([np.array(own, dtype=np.int64) for own in labels])
    owner = np.repeat(np.arange(len(labels)), [len(own) for own in labels])
    np.savez(path, x=rng.standard_normal((len(y), 4)) + y[:, None], y=y, owner=owner)
    return {
        "kind": "softmax_regression",
        "data": {"kind": "npz", "path": str(path)},
        "partition": {"kind": "natural"},
        "clients": "natural",
    }


@pytest.mark.parametrize("batch", [1, "full"], ids=str)
@pytest.mark.parametrize("step", [0.1, 1e6], ids=["small", "huge"])
@pytest.mark.parametrize(
    "labels",
    [
        [[0], [1], [2]],  # one sample, of one class
        [[0, 0, 0], [0, 0, 0, 0], [0]],  # of which there is no other
        [[0, 2, 2], [2, 0], [0, 0, 2]],  # one class in between is nobody's
        [[0, 1, 2] * 3, [1] * 9, [0]],
    ],
    ids=["one each", "one class", "a gap", "skewed"],
)
def test_scarce_classes(labels: list[list[int]], step: float, batch: Any, tmp_path: Path) -> None:
    """With huge steps all is predicted as one class, and its log-likelihoods are at their ends."""
    result, records = told(
        {"task": data(tmp_path / "data.npz", labels), "evaluate_every": 1},
        algorithm={"kind": "fedavg", "steps": 2, "batch": batch, "step_size": step},
        participation={"kind": "label_bernoulli"} if step < 1 else {"kind": "always"},
        horizon={"rounds": 6},
    )
    assert np.isfinite(result.model).all()
    evaluated = [r.values for r in records if r.kind == "evaluation"]
    assert all(np.isfinite(list(values.values())).all() for values in evaluated)
    assert result.counts["rejected"] == result.counts["failed"] == 0
