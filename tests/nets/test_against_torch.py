"""Logits, gradients and running statistics are those of torch's own modules."""

import numpy as np
import pytest
from torch import from_numpy, nn

from driftfold.arrays import Array
from driftfold.nets import LinearHead, MiniResNet6, Mlp, Model, ResNet18
from driftfold.rng import Seed
from tests.nets import torch_twins

CLOSE = 1e-11  # relative; sums of a few hundred products in another order


def theta_of(model: Model, seed: int = 1) -> Array:
    """Random parameters, with normalisations and running statistics off their first values."""
    start = model.initial(Seed(seed).stream("initial"))
    return start + 0.2 * np.random.default_rng(seed).random(start.shape)


@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("activation", ["relu", "leaky"])
@pytest.mark.parametrize("hidden", [(7,), (32, 16)])
def test_mlp(hidden: tuple[int, ...], activation: str, norms: bool) -> None:
    model = Mlp(hidden, activation, norms).model((4, 3), 5)  # type: ignore[arg-type]
    x = np.random.default_rng(2).standard_normal((9, 4, 3))
    slope = 0.0 if activation == "relu" else 0.01
    twin = torch_twins.mlp((12, *hidden, 5), slope, norms)
    inputs = from_numpy(x.reshape(9, 12))
    torch_twins.check_against(model, twin, theta_of(model), x, inputs, CLOSE)


def test_linear_head() -> None:
    model = LinearHead().model((6,), 4)
    x = np.random.default_rng(2).standard_normal((9, 6))
    twin = torch_twins.mlp((6, 4), 0.0, False)
    torch_twins.check_against(model, twin, theta_of(model), x, from_numpy(x), CLOSE)


@pytest.mark.parametrize("channels", [1, 3])
def test_mini_resnet6(channels: int) -> None:
    model = MiniResNet6((0.0, 0.0, 0.0)).model((6, 5, channels), 4)
    x = np.random.default_rng(2).standard_normal((3, 6, 5, channels))
    twin = torch_twins.mini_resnet6(channels, 4)
    inputs = from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2)))
    torch_twins.check_against(model, twin, theta_of(model), x, inputs, 100 * CLOSE)


def test_resnet18() -> None:
    model = ResNet18(width=2).model((9, 8), 4)
    x = np.random.default_rng(2).standard_normal((4, 9, 8))
    twin = torch_twins.resnet18(1, 4, 2)
    torch_twins.check_against(model, twin, theta_of(model), x, from_numpy(x[:, None]), 100 * CLOSE)


def test_first_parameters_are_spread_as_in_torch() -> None:
    """Uniform up to 1/sqrt(fan-in), which tensors of thousands of numbers nearly reach."""
    model = MiniResNet6().model((8, 8, 3), 10)
    twin = torch_twins.mini_resnet6(3, 10)
    ours = model.layout.parts(model.initial(Seed(1).stream("initial")))
    torch_twins.fill(twin, np.zeros(model.layout.size))
    for layer in twin.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.BatchNorm2d):
            layer.reset_parameters()
    theirs = model.layout.parts(torch_twins.flat(twin))
    for name, part in ours.items():
        if part.size > 2000:
            assert abs(np.abs(part).max() / np.abs(theirs[name]).max() - 1) < 0.01
            assert abs(part.std() / theirs[name].std() - 1) < 0.05
        if ".norm" in name:
            np.testing.assert_array_equal(part, theirs[name])
