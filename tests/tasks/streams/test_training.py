"""Training before deployment, and that it is done once."""

from pathlib import Path

import numpy as np
import pytest

from driftfold.data import Digits
from driftfold.errors import RunError
from driftfold.nets import Mlp
from driftfold.rng import Seed
from driftfold.tasks.streams import Pretraining
from driftfold.tasks.streams.class_shares import class_shares
from driftfold.tasks.streams.kept_models import kept

DATA = Digits().load(Seed(0))
assert DATA.y is not None
X, Y = DATA.x[:400], DATA.y[:400]
MODEL = Mlp((16,)).model((64,), 10)


def test_adam_is_torch_s() -> None:
    """Full batches, so that the same gradients go in; float64: rounding only."""
    import torch

    ours = Pretraining(epochs=20, batch=400, rate=0.01).train(MODEL, X, Y, Seed(1))
    start = MODEL.initial(Seed(1).stream("pretraining start"))
    theta = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.Adam([theta], lr=0.01)
    x, y = torch.tensor(X), torch.tensor(Y)
    for _ in range(20):
        parts = MODEL.layout.parts(np.arange(MODEL.layout.size))
        names = ("body.0.weight", "body.0.bias", "head.weight", "head.bias")
        w, b, v, c = (theta[torch.tensor(parts[name])] for name in names)
        loss = torch.nn.functional.cross_entropy(torch.relu(x @ w.T + b) @ v.T + c, y)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    np.testing.assert_allclose(ours, theta.detach().numpy(), atol=1e-10)


def test_training_repeats_itself_and_follows_the_seed() -> None:
    recipe = Pretraining(epochs=2)
    one, two, other = (recipe.train(MODEL, X, Y, Seed(s)) for s in (1, 1, 2))
    assert one.tobytes() == two.tobytes() != other.tobytes()


def test_training_that_runs_away_is_told() -> None:
    with np.errstate(all="ignore"), pytest.raises(RunError, match="take a smaller one"):
        Pretraining(epochs=2, rate=1e308).train(MODEL, X, Y, Seed(1))


def test_equal_training_is_done_once(tmp_path: Path) -> None:
    made = []

    def make() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        made.append(1)
        return np.arange(3.0)

    for recipe in ("a", "a", "b"):
        assert kept(tmp_path, recipe, X, Y, make).tolist() == [0, 1, 2]
    assert len(made) == 2
    kept(tmp_path, "a", X + 1, Y, make)
    assert len(made) == 3
    for path in (tmp_path / "trained").iterdir():
        path.write_bytes(path.read_bytes()[:50])
    assert kept(tmp_path, "a", X, Y, make).tolist() == [0, 1, 2]
    assert len(made) == 4
    nowhere = tmp_path / "a file"
    nowhere.write_text("")
    assert kept(nowhere, "a", X, Y, make).tolist() == [0, 1, 2]


def test_distributions_before_deployment() -> None:
    y = np.arange(100) % 10
    assert class_shares("natural", y).tolist() == class_shares("uniform", y).tolist()
    decay = class_shares("decay", y)
    np.testing.assert_allclose(decay[-1] / decay[0], 0.1)
    gaussian = class_shares("gaussian", y)
    np.testing.assert_allclose(gaussian, gaussian[::-1])
    np.testing.assert_allclose(np.log(gaussian[4] / gaussian[0]), (4.5**2 - 0.5**2) / 8)
