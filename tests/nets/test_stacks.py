"""Stacks: bits at the sizes that are used, ways back that stop, nothing copied for each client."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.errors import SpecError
from driftfold.nets import LinearHead, MiniResNet6, Mlp, Net
from driftfold.nets.layer import Trace
from driftfold.rng import Seed


def stack(net: Net, inputs: tuple[int, ...], n: int, clients: int, dtype: Any) -> Any:
    model = net.model(inputs, 10, dtype)
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((clients, model.layout.size)) ** 2 / 10
    theta = (model.initial(Seed(1).stream("initial")) + noise).astype(dtype)
    x = rng.standard_normal((clients, n, *inputs)).astype(dtype)
    return model, theta, x, rng.standard_normal((clients, n, 10)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("net", "inputs", "n"),
    [
        (Mlp(), (64,), 50),
        (Mlp((64,), batch_norm=True), (11, 11), 13),
        (LinearHead(), (384,), 50),
        (Mlp((31, 9), "leaky"), (17,), 1),
    ],
)
def test_bits_do_not_depend_on_the_stack(
    net: Net, inputs: tuple[int, ...], n: int, dtype: Any
) -> None:
    model, theta, x, g = stack(net, inputs, n, 64, dtype)
    mode = "eval" if n < 2 else "train"
    whole = model.forward(theta, x, mode)
    gradient = whole.pullback(g)
    for rows in (slice(0, 1), slice(5, 12), slice(27, 64), 63):
        part = model.forward(theta[rows].copy(), x[rows].copy(), mode)
        np.testing.assert_array_equal(part.logits, whole.logits[rows])
        np.testing.assert_array_equal(part.pullback(g[rows]), gradient[rows])
        np.testing.assert_array_equal(part.moved, whole.moved[rows])


class Trap(Trace):
    def __init__(self, y: Array) -> None:
        self.y = y

    def back(self, dy: Array, grads: Any, to_input: bool) -> Array | None:
        raise AssertionError("the way back went on")


def test_the_way_back_stops_at_the_first_wanted_parameter() -> None:
    model, theta, x, g = stack(Mlp((6, 5)), (4,), 3, 2, np.float64)
    ran = model.forward(theta, x)
    upper = model.layout.where(["body.1", "head"])
    wanted = ran.pullback(g)
    ran._traces[:2] = [Trap(trace.y) for trace in ran._traces[:2]]
    got = ran.pullback(g, only=upper)
    np.testing.assert_array_equal(got[:, upper], wanted[:, upper])
    with pytest.raises(AssertionError, match="went on"):
        ran.pullback(g)


def test_a_wanted_head_leaves_a_convolutional_body_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model, theta, x, g = stack(MiniResNet6(), (2, 2), 2, 1, np.float32)
    model.memory = 0  # every way back through the body would pass it forward first
    ran = model.forward(theta, x)
    monkeypatch.setattr(ran, "_run", lambda *_, **__: pytest.fail("the body ran"))
    head = model.layout.where(model.head)
    assert ran.pullback(g, only=head)[:, head].any()


def test_a_body_computed_again_gives_the_same_bits() -> None:
    model, theta, x, g = stack(MiniResNet6(), (4, 4), 3, 2, np.float32)
    kept = model.forward(theta, x, "batch").pullback(g)
    model.memory = model.pass_bytes(3)  # one of the two clients
    ran = model.forward(theta, x, "batch")
    assert len(ran._graphs) == 1
    np.testing.assert_array_equal(ran.pullback(g), kept)


def peak(work: Callable[[], Any]) -> int:
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_theta_and_one_set_of_inputs_are_not_copied() -> None:
    model = LinearHead().model((1000,), 2)
    rng = np.random.default_rng(0)
    clients, n = 200, 5
    theta = model.initial(Seed(1).stream("initial"))
    x = rng.standard_normal((clients, n, 1000))
    one_theta = peak(lambda: model.forward(theta, x).logits)
    one_x = peak(lambda: model.forward(np.stack([theta] * 4), x[0]).logits)
    assert one_theta < theta.nbytes * clients / 10
    assert one_x < 4 * theta.nbytes + x[0].nbytes


def test_steps_on_a_thousand_heads_need_one_body() -> None:
    """Features once, then the head alone: no array has a body a client."""
    model = MiniResNet6().model((2, 2), 10, np.float32)
    theta = model.initial(Seed(1).stream("initial"))
    head = model.layout.where(model.head)
    features = model.forward(theta, np.ones((2, 2, 2), np.float32)).features
    heads = np.repeat(theta[head][None], 1000, axis=0)
    g = np.ones((1000, 2, 10), np.float32)
    used = peak(lambda: model.head_model.forward(heads, features).pullback(g))
    assert heads.nbytes < used < 1.5 * heads.nbytes  # the gradient, and little else


@pytest.mark.parametrize(
    ("theta", "x", "message"),
    [
        ((3, 9), (3, 5, 4), r"parameters have shape \(3, 9\); wanted \(\.\.\., 25\)"),
        ((3, 25), (3, 5, 3), r"inputs have shape \(3, 5, 3\); wanted \(\.\.\., n, 4\)"),
        ((25,), (4,), r"inputs have shape \(4,\); wanted"),
    ],
)
def test_shapes_that_do_not_fit(theta: Any, x: Any, message: str) -> None:
    model = LinearHead().model((4,), 5)
    with pytest.raises(ValueError, match=message):
        model.forward(np.zeros(theta), np.zeros(x))


def test_statistics_of_one_value_are_refused() -> None:
    model, theta, x, _ = stack(Mlp(batch_norm=True), (4,), 1, 2, np.float64)
    for mode in ("batch", "train"):
        with pytest.raises(ValueError, match="need 2 values or more of each feature, got 1"):
            model.forward(theta, x, mode)
    assert model.forward(theta, x).logits.shape == (2, 1, 10)


def test_what_no_net_can_be_bound_to() -> None:
    with pytest.raises(SpecError, match=r"takes pictures, got inputs of shape \(3072,\)"):
        MiniResNet6().model((3072,), 10)
    with pytest.raises(SpecError, match="float32 or float64, not in float16"):
        Mlp().model((4,), 10, np.float16)
