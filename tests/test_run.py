"""What `run` tells about itself beside the numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from driftfold.checkpoint import MemoryStore
from driftfold.run import run
from driftfold.spec import digest, load_plugins, load_spec, loaded_plugins


def fingerprint(*changes: str) -> dict[str, Any]:
    spec = load_spec(
        "pca-synthetic", overrides=["horizon.rounds=1", "checkpoint_every=1", *changes]
    )
    store = MemoryStore()
    run(spec, store=store)
    snapshot = store.latest(digest(spec))
    assert snapshot is not None
    facts: dict[str, Any] = snapshot.meta["fingerprint"]
    return facts


def test_a_snapshot_names_the_plug_ins_that_are_loaded(tmp_path: Path) -> None:
    plugin = tmp_path / "for_the_fingerprint.py"
    plugin.write_text("VALUE = 1\n")
    load_plugins([str(plugin)])
    facts = fingerprint()
    assert facts["plugins"] == loaded_plugins()
    assert "driftfold_plugin_for_the_fingerprint" in facts["plugins"]


def test_a_snapshot_names_torch_only_where_torch_computes() -> None:
    facts = fingerprint()
    assert facts["numpy"] == np.__version__
    assert not {"torch", "geoopt"} & facts.keys()
    geoopt = fingerprint(
        "task.manifold={kind='geoopt_stiefel', r=5, d=100}", "compute={kind='loop'}"
    )
    assert geoopt["torch"][0].isdigit()
    assert geoopt["geoopt"][0].isdigit()
