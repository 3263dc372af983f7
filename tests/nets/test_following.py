"""Mode "follow": running statistics move as in training, and nothing is dropped."""

import numpy as np
import pytest

from driftfold.nets import MiniResNet6, Mlp
from driftfold.nets.base import Net
from driftfold.rng import Seed


@pytest.mark.parametrize(
    ("net", "plain", "inputs"),
    [
        (Mlp((6, 5), batch_norm=True, dropout=0.5), Mlp((6, 5), batch_norm=True), (4,)),
        pytest.param(
            MiniResNet6(), MiniResNet6(dropout=(0.0, 0.0, 0.0)), (8, 8), marks=pytest.mark.slow
        ),
    ],
)
def test_statistics_move_as_in_training_without_dropout(
    net: Net, plain: Net, inputs: tuple[int, ...]
) -> None:
    """Bit for bit: without dropout the two modes are the same arithmetic."""
    model, other = net.model(inputs, 3), plain.model(inputs, 3)
    theta = model.initial(Seed(1).stream("initial"))
    x = Seed(2).stream("inputs").normal(np.arange(2), 0, 9 * int(np.prod(inputs)))
    x = x.reshape(2, 9, *inputs)
    followed = model.forward(theta, x, "follow")
    trained = other.forward(theta, x, "train")
    assert followed.moved.tobytes() == trained.moved.tobytes()
    assert followed.logits.tobytes() == model.forward(theta, x, "batch").logits.tobytes()
    assert np.abs(followed.moved - theta).max() > 1e-3
