"""The benchmark of nets runs, tells what readers look for, and compares like with like."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.bare_nets import bare_numpy, bare_torch
from bench.net_steps import CLASSES, SIZES, descend, starts
from bench.residual_nets import grouped_step, mapped_step
from driftfold.nets import MiniResNet6, Mlp
from driftfold.nets.losses import entropy

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_quick_prints_every_figure() -> None:
    command = [sys.executable, "-m", "bench.drift", "--quick"]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=600)
    told = json.loads(ended.stdout)
    assert told["threads"] == 1
    steps = told["mlp_64_32_16_10"]
    assert [(s["clients"], s["dtype"]) for s in steps] == [
        (20, "float64"), (20, "float32"), (100, "float64"), (100, "float32"),
    ]  # fmt: skip
    for step in steps:
        assert min(step["ms"].values()) > 0
        assert step["modules_to_stacked"] > 1
        assert {"one_at_a_time_to_stacked", "stacked_to_bare", "us_per_client"} <= step.keys()
    assert min(told["mini_resnet6"]["ms_per_client"].values()) > 0
    entropy, bbse = told["online_step"]
    assert entropy["one_at_a_time_to_run"] > 1 < bbse["one_at_a_time_to_run"]
    assert entropy["run_to_bare"] > 1
    run = told["run_on_heads"]
    assert run["kept_mb"] < run["peak_mb"] < run["full_copies_mb"]
    bodies = told["run_on_bodies"]
    assert bodies["kept_mb"] < bodies["sent_mb"] < bodies["full_copies_mb"]
    heads = told["heads"]
    assert (heads["clients"], heads["numbers_each"]) == (1000, 8906)
    assert heads["heads_mb"] == 35.6
    assert heads["heads_mb"] < heads["peak_mb"] < 100


def test_the_bare_programs_take_the_same_step() -> None:
    model = Mlp(SIZES[1:-1]).model(SIZES[:1], CLASSES, np.float64)
    theta, x = starts(model, 3, 7)
    ends = [bare(SIZES, theta, x, 0.1)() for bare in (bare_numpy, bare_torch)]
    before = theta.copy()
    descend(model, theta, x, 0.1)
    parts = list(model.layout.parts(theta).values())
    for weights, biases in ends:
        found = [_numbers(w).swapaxes(1, 2) for w in weights], [_numbers(b) for b in biases]
        for got, wanted in zip([*found[0], *found[1]], [*parts[::2], *parts[1::2]], strict=True):
            np.testing.assert_allclose(got, wanted, atol=1e-14)
    assert np.abs(theta - before).max() > 1e-3


@pytest.mark.slow
def test_the_other_ways_through_convolutions_give_the_same_gradient() -> None:
    model = MiniResNet6().model((4, 4, 3), CLASSES, np.float64)
    theta, x = starts(model, 2, 3)
    ran = model.forward(theta, x)
    wanted = model.layout.parts(ran.pullback(entropy(ran.logits)[1] / 3))
    for step in (mapped_step, grouped_step):
        for name, gradient in step(model, theta, x)().items():
            np.testing.assert_allclose(_numbers(gradient), wanted[name], atol=1e-13)


def _numbers(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.detach().numpy()
