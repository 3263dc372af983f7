"""Parameters are found by prefixes of their full names, and nothing is found by half a word."""

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.nets import Entry, Layout, MiniResNet6, ResNet18

LAYOUT = Layout(
    (
        Entry("body.1.weight", (2, 3)),
        Entry("body.10.weight", (1,)),
        Entry("body.1.norm.running_mean", (2,), buffer=True),
        Entry("head.weight", (2, 2)),
    )
)


@pytest.mark.parametrize(
    ("prefixes", "places"),
    [
        (["body.1"], [*range(6), 7, 8]),
        (["body.10"], [6]),
        (["body"], range(9)),
        (["head.weight", "body.1.norm"], range(7, 13)),
        ([], []),
    ],
)
def test_prefixes_end_at_dots(prefixes: list[str], places: list[int]) -> None:
    assert np.flatnonzero(LAYOUT.where(prefixes)).tolist() == list(places)


@pytest.mark.parametrize("prefix", ["layer1.weight", "bod", "body.", "body.1.weight.x", ""])
def test_a_prefix_of_nothing_is_an_error_that_names_what_there_is(prefix: str) -> None:
    with pytest.raises(SpecError, match=r"unknown parameter prefix .*known: body, body\.1"):
        LAYOUT.where(["head", prefix])


def test_parts_are_views_and_join_undoes_them() -> None:
    theta = np.arange(26.0).reshape(2, 13)
    parts = LAYOUT.parts(theta)
    assert {name: part.shape for name, part in parts.items()} == {
        "body.1.weight": (2, 2, 3),
        "body.10.weight": (2, 1),
        "body.1.norm.running_mean": (2, 2),
        "head.weight": (2, 2, 2),
    }
    assert all(np.shares_memory(part, theta) for part in parts.values())
    np.testing.assert_array_equal(LAYOUT.join(dict(reversed(parts.items()))), theta)


def test_a_part_is_the_layout_of_what_where_chooses() -> None:
    theta = np.arange(13.0)
    chosen = ["body.1", "head"]
    alone = LAYOUT.part(chosen).parts(theta[LAYOUT.where(chosen)])
    assert alone.keys() == {"body.1.weight", "body.1.norm.running_mean", "head.weight"}
    for name, part in alone.items():
        np.testing.assert_array_equal(part, LAYOUT.parts(theta)[name])


def test_buffers_are_known_and_never_wanted() -> None:
    assert np.flatnonzero(LAYOUT.buffers).tolist() == [7, 8]
    assert "body.1.norm.running_mean" not in LAYOUT.wanted(None)
    only = np.zeros(13, dtype=bool)
    only[[3, 8]] = True
    assert LAYOUT.wanted(only) == {"body.1.weight"}


def test_mini_resnet6_has_the_numbers_of_the_experiments() -> None:
    model = MiniResNet6().model((32, 32, 3), 10)
    counted, head = ~model.layout.buffers, model.layout.where(model.head)
    assert int(counted.sum()) == 307_146
    assert int((counted & ~head).sum()) == 298_240
    assert int(head.sum()) == 8_906
    assert model.features == 128
    assert int(model.layout.buffers.sum()) == 2 * 3 * (32 + 64 + 128)


def test_resnet18_has_the_numbers_of_its_like() -> None:
    """11,173,962 for 10 classes is the count of the CIFAR form of ResNet-18."""
    model = ResNet18().model((32, 32, 3), 10)
    assert int((~model.layout.buffers).sum()) == 11_173_962
    assert model.features == 512
    assert len(model.norms) == 20
