"""What servers, clients and estimators remember comes back from a snapshot, bit for bit."""

from pathlib import Path
from typing import Any

import pytest

from driftfold.run import run
from driftfold.spec import from_mapping
from tests.world.test_resume import Bomb, outcome

pytestmark = pytest.mark.slow

AGS: dict[str, Any] = {"kind": "rfedags", "steps": 2, "batch": 3, "step_size": 0.05}
TABLE: dict[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 1,
        "data": {"kind": "gaussian_blocks", "clients": 12, "samples": 6, "dimension": 4},
    },
    "algorithm": AGS,
    "participation": {"kind": "bernoulli", "p": 0.4},
    "latency": {"kind": "lognormal"},
    "horizon": {"rounds": 40},
    "evaluate_every": 5,
    "checkpoint_every": 7,
}
FEDBUFF: dict[str, Any] = {  # a client may contribute twice, to an older point
    "cadence": {"kind": "buffered", "concurrency": 6, "buffer": 4},
    "participation": "always",
    "latency": {"kind": "lognormal", "per_sample": 0.1},
}
CASES: dict[str, dict[str, Any]] = {
    "fedvarp": {"algorithm": {"kind": "fedvarp", "algorithm": AGS}, "estimator": "oracle"},
    "mifa": {"algorithm": {"kind": "mifa", "algorithm": AGS, "start": "wait"}},
    "fedawe": {"algorithm": {**AGS, "kind": "fedawe"}},
    "fedvarp-buffered": {"algorithm": {"kind": "fedvarp", "algorithm": AGS}, **FEDBUFF},
    "mifa-buffered": {"algorithm": {"kind": "mifa", "algorithm": AGS}, **FEDBUFF},
    "fedau": {"estimator": {"kind": "fedau", "cutoff": 3}, "metrics": ["weight_bias"]},
    "ewma": {"estimator": {"kind": "ewma", "beta": 0.1}},
    "window": {"estimator": {"kind": "window", "rounds": 70}},
    "kalman": {"estimator": {"kind": "kalman", "period": 5.0, "threshold": 1.0}},
    "silent": {
        "estimator": {"kind": "silent", "rounds": 4, "rule": "beta"},
        "metrics": ["weight_bias"],
    },
    "shrunk": {"estimator": {"kind": "shrunk", "rule": "beta"}, "metrics": ["weight_bias"]},
}


@pytest.mark.parametrize("case", CASES)
def test_a_resumed_run_is_the_whole_one(case: str, tmp_path: Path) -> None:
    spec = from_mapping(TABLE | CASES[case])
    whole = run(spec, folder=tmp_path / "whole")
    assert whole.rounds == 40
    for at in (19, 33):
        folder = tmp_path / str(at)
        with pytest.raises(KeyboardInterrupt):
            run(spec, folder=folder, sinks=[Bomb(at)])
        assert outcome(run(spec, folder=folder, resume=True)) == outcome(whole)
