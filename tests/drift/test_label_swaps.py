"""Concept drift: labels that change their meaning."""

import numpy as np
import pytest

from driftfold.drift import LabelSwaps
from driftfold.drift.clocks import ByGroup
from driftfold.drift.schedules import Constant, Staggered, Step
from driftfold.errors import SpecError
from tests.drift.timelines import pool, timeline


def meaning(drift: LabelSwaps, client: int, step: int) -> list[int]:
    course = drift.bind(timeline(steps=200), pool())
    meant = course.relabel(np.arange(10)[None], np.array([client]), np.array([step]))
    return [int(label) for label in meant[0]]


@pytest.mark.parametrize(
    ("clients", "pair"), [((0, 1, 2, 10, 12), (1, 2)), ((3, 5, 14), (3, 4)), ((6, 9, 19), (5, 6))]
)
def test_pairs_go_by_the_clients_number(clients: tuple[int, ...], pair: tuple[int, int]) -> None:
    swapped = list(range(10))
    swapped[pair[0]], swapped[pair[1]] = pair[1], pair[0]
    for client in clients:
        assert meaning(LabelSwaps(), client, 99) == list(range(10))
        assert meaning(LabelSwaps(), client, 100) == swapped


def test_a_second_swap_undoes_the_first() -> None:
    recurrent = LabelSwaps(Step(at=(100, 150)))
    assert meaning(recurrent, 0, 149)[:3] == [0, 2, 1]
    assert meaning(recurrent, 0, 150) == list(range(10))
    course = recurrent.bind(timeline(steps=200), pool())
    assert course.changes(0).tolist() == [100, 150]


def test_groups_swap_one_after_the_other() -> None:
    incremental = LabelSwaps(Staggered(Step(at=(100,)), ByGroup(start=(0, 10, 20))))
    course = incremental.bind(timeline(steps=200), pool())
    assert [course.changes(i).tolist() for i in (0, 3, 6)] == [[100], [110], [120]]


def test_between_two_meanings_labels_are_a_mixture() -> None:
    course = LabelSwaps(Constant(0.3), ((0, 1),), (1,)).bind(timeline(), pool())
    labels = np.tile(np.arange(3), 2000)
    meant = course.relabel(labels[None], np.array([4]), np.array([7]))[0]
    moved = meant != labels
    assert set(zip(labels[moved].tolist(), meant[moved].tolist(), strict=True)) == {(0, 1), (1, 0)}
    assert moved[labels < 2].mean() == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / 4000))


def test_drawn_pairs() -> None:
    drawn = LabelSwaps(Constant(1.0), ((0, 1), (2, 3)), assigned="drawn")
    course = drawn.bind(timeline(clients=400), pool())
    meant = course.relabel(np.tile([0, 2], (400, 1)), np.arange(400), np.zeros(400, int))
    first = (meant == [1, 2]).all(axis=1)
    assert (first | (meant == [0, 3]).all(axis=1)).all()
    assert first.mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(400))


@pytest.mark.parametrize(
    ("drift", "message"),
    [
        (LabelSwaps(pairs=((1, 1),), bounds=(1,)), "two different classes"),
        (LabelSwaps(pairs=((1, 10),), bounds=(1,)), "classes of 0 to 9"),
        (LabelSwaps(bounds=(3, 10)), "one bound for each pair"),
        (LabelSwaps(bounds=(6, 3, 10)), "ascending order"),
    ],
)
def test_swaps_that_cannot_be_are_refused(drift: LabelSwaps, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        drift.bind(timeline(), pool())
