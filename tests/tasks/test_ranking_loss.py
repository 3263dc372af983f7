import numpy as np
import torch

from driftfold.arrays import Floats
from driftfold.manifolds import Lorentz
from driftfold.rng import Seed
from driftfold.tasks.ranking_loss import pull_and_push, ranking_loss

SPACE = Lorentz(3)


def points(count: int) -> Floats:
    made: Floats = SPACE.random_point(Seed(1).stream("nodes"), np.arange(5 * count))
    return made.reshape(count, 5, 3)


REAL = np.array([[True, True, True], [True, False, True], [False, False, True]])


def test_loss_and_gradient_are_those_of_autograd() -> None:
    """From the textbook's distance arcosh(x_0 y_0 - s.t)."""
    x = points(3)
    at = torch.tensor(x, requires_grad=True)
    time = torch.sqrt(1 + (at**2).sum(-1))
    d = torch.arccosh(time[:, :1] * time[:, 1:] - (at[:, :1] * at[:, 1:]).sum(-1))
    scores = torch.where(torch.tensor(np.c_[[True] * 3, REAL]), -d, -torch.inf)
    loss = -torch.log_softmax(scores, dim=-1)[:, 0]
    assert np.allclose(ranking_loss(SPACE, x, REAL), loss.detach().numpy(), atol=1e-13)
    (slope,) = torch.autograd.grad(loss.sum(), at)
    wanted = SPACE.gradient(x, slope.numpy())
    assert np.allclose(pull_and_push(SPACE, x, REAL), wanted, atol=1e-12)


def test_what_is_left_out_changes_nothing() -> None:
    x = points(3)
    other = x.copy()
    other[:, 2:][~REAL] = 7.0
    assert np.array_equal(ranking_loss(SPACE, x, REAL), ranking_loss(SPACE, other, REAL))
    gradient = pull_and_push(SPACE, other, REAL)
    assert not gradient[:, 2:][~REAL].any()
    assert np.array_equal(gradient[:, :2], pull_and_push(SPACE, x, REAL)[:, :2])


def test_points_that_coincide_do_not_move_each_other() -> None:
    x = points(1)
    x[0, 1] = x[0, 0]
    gradient = pull_and_push(SPACE, x, REAL[:1])
    assert not gradient[0, 1].any()
    assert np.isfinite(gradient).all()
    assert gradient[0, 2].any()


def test_alike_distances_give_the_logarithm_of_their_number() -> None:
    x = np.zeros((3, 5, 3))
    x[:, 1:] = np.eye(3)[[0, 1, 2, 0]]
    assert np.allclose(ranking_loss(SPACE, x, REAL), np.log(REAL.sum(1) + 1.0))
