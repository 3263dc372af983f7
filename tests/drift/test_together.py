"""Several drifts in one experiment."""

import numpy as np
import pytest

from driftfold.drift import (
    AffineShift,
    Change,
    Corrupted,
    DomainMixture,
    Drift,
    FeatureNoise,
    LabelMixture,
    LabelSwaps,
    bind,
)
from driftfold.drift.corruptions import Contrast, GaussianNoise
from driftfold.drift.schedules import Bernoulli, Constant, Linear, Step
from driftfold.errors import CapabilityError
from driftfold.spec.codec import decode, encode
from tests.drift.timelines import pool, timeline

EVERYONE, ZERO = np.arange(20), np.zeros(20, int)


def test_without_drifts_all_stays_as_it_is() -> None:
    still = bind((), timeline(), pool())
    x, labels = np.ones((20, 2, 3)), np.ones((20, 2), int)
    assert np.array_equal(still.shares(EVERYONE, ZERO), np.full((20, 10), 0.1))
    assert still.domain_shares(EVERYONE, ZERO) is None
    assert still.apply(x, labels, EVERYONE, ZERO) is x
    assert still.relabel(labels, EVERYONE, ZERO) is labels
    assert still.changes(0) == ()
    assert still.weights(EVERYONE, ZERO) == {}


def test_each_drift_moves_what_it_is_about() -> None:
    rows = np.arange(60)
    place = pool(shape=(8, 8), domain=rows % 2)
    drifts = (
        LabelMixture(Step(at=(20,))),
        DomainMixture(Step(at=(30,))),
        Corrupted(Step(at=(40,)), (Contrast(),)),
        FeatureNoise(Step(at=(40,))),
        LabelSwaps(Step(at=(20,)), ((0, 1),), (1,)),
    )
    both = bind(drifts, timeline(), place)
    assert list(both.courses) == ["labels", "domains", "inputs", "inputs.1", "concept"]
    assert both.changes(3) == (
        Change(20, ("labels", "concept")),
        Change(30, ("domains",)),
        Change(40, ("inputs", "inputs.1")),
    )
    after = both.courses["labels"].towards()  # type: ignore[attr-defined]
    assert both.average_shares(20, 100) == pytest.approx(0.2 * 0.1 + 0.8 * after, abs=1e-12)
    at_forty = both.changed(EVERYONE, np.full(20, 40))
    assert {name for name, which in at_forty.items() if which.all()} == {"inputs", "inputs.1"}
    assert not (at_forty["labels"] | at_forty["domains"] | at_forty["concept"]).any()
    when = np.full(20, 35)
    assert np.array_equal(both.shares(EVERYONE, when), both.courses["labels"].towards())  # type: ignore[attr-defined]
    domains = both.domain_shares(EVERYONE, when)
    assert domains is not None
    assert domains.tolist() == [[0.0, 1.0]] * 20
    assert (both.relabel(np.array([[0, 1, 2]]), EVERYONE[:1], when[:1]) == [1, 0, 2]).all()
    assert {name: set(w) for name, w in both.weights(EVERYONE, when).items()} == {
        "labels": {1.0}, "domains": {1.0}, "inputs": {0.0}, "inputs.1": {0.0}, "concept": {1.0},
    }  # fmt: skip


def test_inputs_go_through_their_drifts_in_order() -> None:
    inputs = np.random.default_rng(0).random((30, 64))
    place = pool(shape=(8, 8), inputs=inputs)
    always = Constant(1.0)
    rows = np.arange(6).reshape(2, 3)
    drifts = Corrupted(always, (Contrast(),)), Corrupted(always, (GaussianNoise(),))
    met = bind(drifts, timeline(), place).apply(inputs[rows], rows, EVERYONE[:2], ZERO[:2])
    x = inputs[rows]
    for drift in drifts:  # the second meets what the first has made, not samples of the pool
        x = drift.bind(timeline(), pool(shape=(8, 8))).apply(x, rows, EVERYONE[:2], ZERO[:2])
    assert np.array_equal(met, x)


def test_drifts_of_one_sort_draw_numbers_of_their_own() -> None:
    both = bind((FeatureNoise(Constant(1.0)), FeatureNoise(Constant(1.0))), timeline(), pool())
    x, rows = np.zeros((1, 5, 2)), np.zeros((1, 5), int)
    one, other = (c.apply(x, rows, ZERO[:1], ZERO[:1]) for c in both.courses.values())  # type: ignore[attr-defined]
    assert not np.isclose(one, other).any()
    chains = bind((LabelMixture(Bernoulli()), FeatureNoise(Bernoulli())), timeline(), pool())
    labels, noise = chains.courses.values()
    assert labels.changes(0).tolist() != noise.changes(0).tolist()


@pytest.mark.parametrize(
    ("drifts", "message"),
    [
        ((LabelMixture(), LabelMixture()), "both say which labels come"),
        ((DomainMixture(), LabelMixture(), DomainMixture()), "both say which domains come"),
        ((FeatureNoise(), Corrupted()), "'corruptions' is defined on images .* 'feature_noise'"),
        ((Corrupted(), AffineShift(), Corrupted()), "put it first"),
    ],
)
def test_drifts_without_a_meaning_together_are_refused(
    drifts: tuple[Drift, ...], message: str
) -> None:
    with pytest.raises(CapabilityError, match=message):
        bind(drifts, timeline(), pool(shape=(8, 8), domain=np.arange(2)))


def test_drifts_are_written_in_a_specification() -> None:
    plain = [
        {
            "kind": "labels",
            "schedule": {
                "kind": "staggered",
                "schedule": {"kind": "bernoulli", "form": "redraw"},
                "clock": {"kind": "drawn", "start": 10},
            },
            "target": {"kind": "other_client", "of": "dirichlet"},
            "origin": {"kind": "given", "weights": [[1, 2], [3, 4]]},
        },
        {"kind": "corruptions", "schedule": "sine", "corruptions": ["fog", "snow"], "enlarge": 4},
        {"kind": "label_swaps", "pairs": [[0, 1]], "bounds": [1]},
    ]
    drifts = decode(tuple[Drift, ...], plain)
    assert drifts[0].schedule.schedule == Bernoulli(form="redraw")
    assert drifts[1].enlarge == 4
    assert decode(tuple[Drift, ...], encode(drifts)) == drifts
    assert encode(Linear()) == {"kind": "linear", "start": 0.0, "end": None}
