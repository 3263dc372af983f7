"""Deltas and models mixed up: kinds of payload are types, and a wrong pairing is refused."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftfold.algorithms.base import Endpoint, Tangent
from driftfold.algorithms.fedavg import LocalSGD
from driftfold.algorithms.rfedags import GradientStreams
from driftfold.assembly import build
from driftfold.errors import CapabilityError, RunError
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.modules import ROOT
from tests.world.scripted import TABLE

MIXED = """
from dataclasses import dataclass
from typing import Any
from driftfold.algorithms.base import Endpoint, LocalResult, Tangent
from driftfold.algorithms.fedavg import LocalSGD
from driftfold.algorithms.local_steps import Broadcast
from driftfold.tasks.base import View

@dataclass(frozen=True)
class Mixed(LocalSGD):
    def local(
        self, download: Broadcast, view: View, memory: Any, steps: int
    ) -> LocalResult[{sent}]:
        return LocalResult({sent}(download.point))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "accepted"), [("Endpoint", True), ("Tangent", False)])
def test_a_delta_where_a_model_is_meant_does_not_type_check(
    sent: str, accepted: bool, tmp_path: Path
) -> None:
    (tmp_path / "mixed.py").write_text(MIXED.format(sent=sent))
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "mixed.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode == 0) == accepted, done.stdout
    assert accepted or 'incompatible with return type "LocalResult[Endpoint]"' in done.stdout


def refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(CapabilityError, match=words):
        build(from_mapping({**TABLE, "algorithm": {"kind": "fedavg"}, **change}))


def test_models_are_not_mixed_where_clients_send_deltas() -> None:
    models = {"kind": "immediate", "mixes": "model"}
    refused({"cadence": models, "algorithm": {"kind": "rfedags"}}, "and clients send Tangent")
    build(from_mapping({**TABLE, "algorithm": {"kind": "fedavg"}, "cadence": models}))


def test_what_is_no_vector_is_not_coded_or_clipped_as_one() -> None:
    echo = {"kind": "fedawe"}
    wrappers: list[dict[str, Any]] = [
        {"kind": "compressed", "compressor": {"kind": "quantiser"}},
        {"kind": "private", "clip": 1.0},
        {"kind": "adversarial", "attack": {"kind": "sign_flip"}, "attackers": [1]},
    ]
    for wrapper in wrappers:
        refused({"algorithm": {**wrapper, "algorithm": echo}}, "and Echo, which fedawe")


def test_a_payload_of_another_kind_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two arrays of one shape the wrong one: the debug engine knows which it should be."""
    for phase, kind, wrong, name in (
        (LocalSGD, "fedavg", Tangent, "sent a Tangent; it declares Endpoint"),
        (GradientStreams, "rfedags", Endpoint, "sent a Endpoint; it declares Tangent"),
    ):
        monkeypatch.setattr(phase, "local", _sending(phase.local, wrong))
        spec = from_mapping({**TABLE, "algorithm": {"kind": kind}, "compute": {"kind": "debug"}})
        with pytest.raises(RunError, match=name):
            run(spec)


def _sending(honest: Any, kind: Any) -> Any:
    def local(self: Any, download: Any, view: Any, memory: Any, steps: int) -> Any:
        result = honest(self, download, view, memory, steps)
        (array,) = vars(result.payload).values()
        return type(result)(kind(array))

    return local
