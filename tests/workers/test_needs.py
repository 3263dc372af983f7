"""A specification needs every kind in it, at any depth, and a worker has what it loaded."""

import pytest

from driftfold import presets
from driftfold.spec import from_mapping, load_spec
from driftfold_workers.jobs.needs import computes_with_torch, kinds_here, needs_of
from tests.workers.experiments import experiment


@pytest.mark.parametrize("name", presets.names())
def test_presets_need_what_the_library_has(name: str) -> None:
    needs = needs_of(load_spec(name))
    assert set(needs) <= set(kinds_here())
    assert list(needs) == sorted(set(needs))


def test_nested_kinds_and_plug_ins_count() -> None:
    assert needs_of(from_mapping(experiment())) == (
        "algorithm:rfedags", "cadence:synchronous", "combination:weighted_sum", "compute:stacked",
        "data:gaussian_blocks", "estimator:inclusive", "latency:constant",
        "participation:test-behaving", "partition:natural", "selection:uniform",
        "server_optimizer:descend", "task:pca",
    )  # fmt: skip
    assert "participation:test-behaving" in kinds_here()


def test_what_computes_with_torch() -> None:
    for kind in ("net:mini_resnet6", "net:resnet18", "task:manifold_network"):
        assert computes_with_torch([kind])
    assert computes_with_torch(needs_of(load_spec("spd-network")))
    assert not computes_with_torch(needs_of(load_spec("pca-synthetic")))
