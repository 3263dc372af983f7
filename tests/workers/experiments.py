"""Small experiments for workers, how their processes behave, and what they must give."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driftfold.result import Result
from driftfold.run import run
from driftfold.spec import from_mapping, load_plugins, to_mapping
from driftfold.telemetry.json_form import to_json
from driftfold.telemetry.memory import Memory

BEHAVIOUR = "DRIFTFOLD_TEST_BEHAVIOUR"
PLUGIN = str(Path(__file__).with_name("behaving.py"))
# Of this process of pytest, and those that its tests start: others run beside it.
os.environ[BEHAVIOUR] = f"{tempfile.gettempdir()}/driftfold-test-{os.getpid()}.json"
SAME = (
    "spec_digest", "event_digest", "metrics_digest", "evaluation_digest", "model_digest",
    "metrics", "counts", "ended", "rounds", "events", "time",
)  # fmt: skip


def experiment(rounds: int = 40, **changes: Any) -> dict[str, Any]:
    """The complete specification of an experiment whose rounds take no time by themselves."""
    load_plugins([PLUGIN])
    table = {
        "task": {
            "kind": "pca",
            "rank": 2,
            "data": {"kind": "gaussian_blocks", "clients": 6, "samples": 8, "dimension": 5},
        },
        "algorithm": {"kind": "rfedags"},
        "estimator": {"kind": "inclusive"},
        "participation": {"kind": "test-behaving"},
        "horizon": {"rounds": rounds},
        **changes,
    }
    return to_mapping(from_mapping(table))


def undisturbed(spec: Mapping[str, Any]) -> tuple[Result, list[dict[str, Any]]]:
    """What `driftfold.run.run` gives: the result, and the records without their timing."""
    memory = Memory()
    result = run(from_mapping(spec), sinks=[memory])
    return result, [without_timing(to_json(record)) for record in memory.records]


def without_timing(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "timing"}


def told(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Records in a log, without their timing."""
    return [without_timing(json.loads(line)) for line in lines]


class Behaviour:
    """What all processes with this environment do; may be changed while they run.

    One file for all tests: processes that are forked have the environment of their template.
    """

    def __init__(self) -> None:
        self.file = Path(os.environ[BEHAVIOUR])
        self.set()

    def forget(self) -> None:
        self.file.unlink()

    def change(self, **how: Any) -> None:
        """Change some of it; None is as if it had never been said."""
        told = {**json.loads(self.file.read_text()), **how}
        self.set(**{name: value for name, value in told.items() if value is not None})

    def set(self, **how: Any) -> None:
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(how))
        part.replace(self.file)
