"""Every registered net keeps the contract of its family, and the check finds those that do not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array, Bools, Floats
from driftfold.nets import LinearHead, MiniResNet6, Mlp, Mode, Model, Net, Pass, ResNet18
from driftfold.nets.convolutional import Convolutional
from driftfold.nets.convolved import Convolved
from driftfold.nets.leaky_relu import LeakyRelu
from driftfold.nets.linear import Linear
from driftfold.nets.masks import Masks
from driftfold.nets.residual import Residual
from driftfold.registry import kind_of
from driftfold.rng import Stream
from driftfold.testing.net import check_net
from tests.modules import own_kinds

DENSE: list[Net] = [
    LinearHead(),
    LinearHead(bias=False),
    Mlp(),
    Mlp((5,), "leaky"),
    Mlp((6, 3), batch_norm=True),
    Mlp((4, 4), "leaky", batch_norm=True, dropout=0.3),
]
PICTURES: list[Net] = [MiniResNet6(), ResNet18(width=2)]


@pytest.mark.parametrize("net", DENSE, ids=repr)
def test_dense_nets_keep_the_contract(net: Net) -> None:
    check_net(net)


@pytest.mark.slow
@pytest.mark.parametrize("net", PICTURES, ids=repr)
@pytest.mark.parametrize("inputs", [(5, 4), (8, 8, 3)])
def test_convolutional_nets_keep_the_contract(net: Net, inputs: tuple[int, ...]) -> None:
    check_net(net, inputs, samples=4, stacks=(1, 2, 7))  # they go one after another


@dataclass(frozen=True)
class OneBlock(Net):
    """A stem, a block, and a head of two layers."""

    def model(
        self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64
    ) -> Convolutional:
        stem = Convolved("body.stem.conv", "body.stem.norm", inputs[2], 2, slope=0.0)
        block = Residual("body.0", 2, 3, stride=2, slope=0.1, dropout=0.5)
        top = (Linear("head.0", 3, 2), LeakyRelu(0.1), Linear("head.1", 2, classes))
        return Convolutional(inputs, classes, np.dtype(dtype), [stem, block], top, ("head",))


def test_a_small_convolutional_net_keeps_the_contract() -> None:
    check_net(OneBlock(), (3, 3, 2), samples=3, stacks=(1, 2, 3))


def test_every_kind_is_tried() -> None:
    assert {kind_of(net) for net in DENSE + PICTURES} == set(own_kinds("net"))


@dataclass(frozen=True)
class Flawed(Net):
    """A net with a flaw in its passes."""

    flaw: Callable[["FlawedPass"], None]

    def model(self, inputs: tuple[int, ...], classes: int, dtype: Any = np.float64) -> Model:
        net = Mlp((4,), batch_norm=True, dropout=0.5)
        return FlawedModel(net.model(inputs, classes, dtype), self.flaw)


class FlawedModel(Model):
    def __init__(self, model: Model, flaw: Callable[["FlawedPass"], None]) -> None:
        vars(self).update(
            {name: getattr(model, name) for name in Model.__annotations__}, model=model, flaw=flaw
        )
        self.model, self.flaw = model, flaw

    @property
    def head_model(self) -> Model:
        return self.model.head_model

    def initial(self, stream: Stream) -> Floats:
        return self.model.initial(stream)

    def pass_bytes(self, n: int) -> int:
        return self.model.pass_bytes(n)

    def forward(
        self, theta: Array, x: Array, mode: Mode = "eval", masks: Masks | None = None
    ) -> Pass:
        made = FlawedPass(self.model.forward(theta, x, mode, masks), theta, x, mode)
        self.flaw(made)
        return made


class FlawedPass(Pass):
    def __init__(self, ran: Pass, theta: Array, x: Array, mode: Mode) -> None:
        self.ran, self.theta, self.x, self.mode = ran, theta, x, mode
        self.logits, self.features = ran.logits, ran.features
        self.buffers, self.scale, self.noise = ran.moved, 1.0, 0.0

    @property
    def moved(self) -> Array:
        return self.buffers

    def pullback(
        self, of_logits: Array | None, of_features: Array | None = None, only: Bools | None = None
    ) -> Array:
        return self.scale * self.ran.pullback(of_logits, of_features, only) + self.noise


def off_by_company(ran: FlawedPass) -> None:
    ran.logits = ran.logits * (1 + 1e-15 * ran.logits.size)


def other_gradient(ran: FlawedPass) -> None:
    ran.scale = 1.001


def gradient_of_buffers(ran: FlawedPass) -> None:
    ran.noise = 1e-9


def still(ran: FlawedPass) -> None:
    ran.buffers = np.broadcast_to(ran.theta, ran.ran.moved.shape)


def restless(ran: FlawedPass) -> None:
    ran.buffers = ran.theta + 1e-9


def careless(ran: FlawedPass) -> None:
    if ran.x.flags.writeable:
        ran.x += 1e-3


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        (off_by_company, "other bits"),
        (other_gradient, "the gradient of logits is off"),
        (gradient_of_buffers, "buffers have a gradient"),
        (still, "the buffers stayed"),
        (restless, "moved parameters that are no buffers"),
        (careless, "changed in place"),
    ],
)
def test_the_check_finds_a_flaw(flaw: Callable[[FlawedPass], None], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_net(Flawed(flaw), stacks=(1, 3))


def test_the_check_finds_no_flaw_where_none_is() -> None:
    check_net(Flawed(lambda ran: None), stacks=(1, 3))
