"""Dropout masks are addressed, and drop the share they are asked to."""

from dataclasses import replace

import numpy as np
import pytest

from driftfold.nets import Masks, Mlp
from driftfold.rng import Seed

MASKS = Masks(Seed(1).stream("dropout"), np.arange(40), np.full(40, 3))


def test_a_mask_is_the_same_in_any_company() -> None:
    whole = MASKS.kept("body.0", (5, 7), 0.3)
    some = np.array([17, 2, 39])
    part = Masks(MASKS.stream, some, np.full(3, 3)).kept("body.0", (5, 7), 0.3)
    np.testing.assert_array_equal(part, whole[some])
    alone = MASKS.of((17,), (40,)).kept("body.0", (5, 7), 0.3)
    np.testing.assert_array_equal(alone, whole[17])


def test_layers_visits_clients_and_purposes_have_masks_of_their_own() -> None:
    def bits(masks: Masks, layer: str = "body.0") -> bytes:
        return masks.kept(layer, (64,), 0.5).tobytes()

    others = [
        bits(MASKS, "body.1"),
        bits(replace(MASKS, visits=MASKS.visits + 1)),
        bits(replace(MASKS, clients=MASKS.clients + 1)),
        bits(replace(MASKS, stream=Seed(1).stream("other"))),
        bits(replace(MASKS, stream=Seed(2).stream("dropout"))),
    ]
    assert len({bits(MASKS), *others}) == 6


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.99])
def test_shares(share: float) -> None:
    kept = MASKS.kept("body.0", (1000,), share)
    # 40,000 draws: four standard deviations.
    assert abs(kept.mean() - (1 - share)) <= 4 * np.sqrt(share * (1 - share) / kept.size)


def test_survivors_are_scaled_up_and_only_in_mode_train() -> None:
    """The mean over many masks of a linear head's logits is that without dropout."""
    model = Mlp((6,), dropout=0.4).model((3,), 2)
    theta = model.initial(Seed(1).stream("initial"))
    x = np.random.default_rng(0).standard_normal((2000, 1, 3))[:1].repeat(2000, 0)
    masks = Masks(MASKS.stream, np.arange(2000), np.zeros(2000, dtype=int))
    plain = model.forward(theta, x, "eval").logits
    np.testing.assert_array_equal(model.forward(theta, x, "batch", masks).logits, plain)
    dropped = model.forward(theta, x, "train", masks).logits
    error = dropped.std(axis=0) / np.sqrt(2000)
    assert (np.abs(dropped.mean(axis=0) - plain[0]) < 4 * error).all()
    assert (error > 0).all()


def test_dropout_without_masks_is_an_error() -> None:
    model = Mlp((6,), dropout=0.4).model((3,), 2)
    with pytest.raises(ValueError, match=r"needs masks in mode 'train', got none; pass Masks"):
        model.forward(model.initial(MASKS.stream), np.ones((4, 3)), "train")
