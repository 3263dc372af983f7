"""Specifications that cannot be run: one clear sentence, and nothing half made."""

from pathlib import Path
from typing import Any

import pytest

from driftfold.errors import CapabilityError, DataError, SpecError, UnknownKind
from driftfold.registry import kinds
from driftfold.run import run
from driftfold.spec import from_mapping, load_plugins
from tests.world import toys

GOOD: dict[str, Any] = {
    "task": {
        "kind": "pca",
        "rank": 2,
        "data": {"kind": "gaussian_blocks", "clients": 4, "samples": 6, "dimension": 5},
    },
    "algorithm": {"kind": "rfedags"},
    "horizon": {"rounds": 2},
}
PCA, BLOCKS = GOOD["task"], GOOD["task"]["data"]
NPZ = {"kind": "npz", "path": "/no/such/data.npz"}
BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "unknown field": ({"algorithm": {"kind": "rfedags", "step": 3}}, UnknownKind, "did you mean"),
    "unknown part": ({"estimators": {"kind": "none"}}, UnknownKind, "did you mean 'estimator'"),
    "unknown kind": ({"algorithm": {"kind": "rfedaggs"}}, UnknownKind, "did you mean 'rfedags'"),
    "negative horizon": ({"horizon": {"rounds": -1}}, SpecError, "horizon.rounds: got -1"),
    "no horizon": ({"horizon": {}}, SpecError, "the run would never end"),
    "endless horizon": ({"horizon": {"seconds": float("inf")}}, SpecError, "horizon.seconds"),
    "not a number": ({"horizon": {"seconds": float("nan")}}, SpecError, "horizon.seconds"),
    "wrong type": ({"seed": "one"}, SpecError, "seed"),
    "half a client": ({"task": {**PCA, "data": {**BLOCKS, "clients": 3.5}}}, SpecError, "clients"),
    "a million million clients": (
        {"task": {**PCA, "data": {**BLOCKS, "clients": 10**12}}}, SpecError, "1,000,000,000,000",
    ),
    "too much data": (
        {"task": {**PCA, "data": {**BLOCKS, "clients": 10**7, "samples": 10**7}}},
        SpecError, "GB",
    ),
    "wrong shape": ({"task": {**PCA, "rank": 6}}, SpecError, "does not fit into data"),
    "wrong manifold": (
        {"task": {**PCA, "manifold": {"kind": "stiefel", "r": 2, "d": 9}}}, SpecError, "shape",
    ),
    "no such file": (
        {"task": {**PCA, "data": NPZ, "partition": {"kind": "iid"}, "clients": 3}},
        DataError, "/no/such/data.npz",
    ),
    "labels that are not there": (
        {"task": {"kind": "softmax_regression", "data": BLOCKS, "partition": {"kind": "natural"},
                  "clients": "natural"}},
        SpecError, "labels",
    ),
    "a probability too few": (
        {"participation": {"kind": "bernoulli", "p": [0.5, 0.5]}}, SpecError, "4",
    ),
    "a batch of nobody": ({"algorithm": {"kind": "rfedags", "batch": 0}}, SpecError, "batch"),
    "a flat algorithm on a sphere": (
        {"algorithm": {"kind": "fedavg"}}, CapabilityError, "choose rfedavg or rfedags",
    ),
    "an unknown probability": (
        {"participation": {"kind": "diurnal"}, "estimator": {"kind": "oracle"}},
        CapabilityError, "needs the true probabilities",
    ),
    "a probability of the server's own making": (
        {"cadence": {"kind": "synchronous", "cohort": 2}, "estimator": {"kind": "oracle"}},
        CapabilityError, "picks a cohort",
    ),
}  # fmt: skip

assert toys  # importing it registers its kinds


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("resume", [False, True])
def test_one_clear_sentence_and_no_folder(case: str, resume: bool, tmp_path: Path) -> None:
    change, kind, words = BAD[case]
    folder = tmp_path / "run"
    with pytest.raises(kind) as error:
        run(from_mapping({**GOOD, **change}), folder=folder, resume=resume)
    text = str(error.value)
    assert words in text
    assert "\n" not in text, "one problem, one line"
    assert not folder.exists()


def test_the_good_one_is_good(tmp_path: Path) -> None:
    run(from_mapping(GOOD), folder=tmp_path / "run")
    assert (tmp_path / "run" / "result.json").exists()


def test_several_problems_are_told_at_once() -> None:
    wrong = {**GOOD, "seed": -1, "horizon": {"rounds": 0}, "algorithm": {"kind": "rfedags", "x": 1}}
    with pytest.raises(SpecError) as error:
        from_mapping(wrong)
    assert len(str(error.value).splitlines()) == 3


@pytest.mark.parametrize(
    "body", ["raise OSError('no licence')", "import no_such_package", "1 +", "raise SystemExit(3)"]
)
def test_a_plug_in_that_raises_on_import(body: str, tmp_path: Path) -> None:
    before = {name: dict(kinds(name)) for name in ("estimator", "latency")}
    path = tmp_path / "broken_kind.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from driftfold.latency.base import Latency\n"
        "from driftfold.registry import register\n"
        "@register('test-half-made')\n"
        "@dataclass(frozen=True)\n"
        "class Half(Latency):\n"
        "    def delays(self, fleet): ...\n"
        f"{body}\n"
    )
    with pytest.raises(SpecError, match="broken_kind") as error:
        load_plugins([str(path)])
    assert "\n" not in str(error.value)
    assert {name: dict(kinds(name)) for name in before} == before


def test_what_was_there_stays_when_a_run_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(from_mapping(GOOD), folder=folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    change = BAD["wrong shape"][0]
    with pytest.raises(SpecError):
        run(from_mapping({**GOOD, **change}), folder=folder, resume=True)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
