"""When an estimate is not to be trusted."""

import numpy as np

from driftfold.label_shift import (
    Guarded,
    Guards,
    Inverse,
    RunningMean,
    SourceFacts,
    Uniform,
    negative_mass,
    smallest_singular_value,
)
from driftfold.trees import spread
from tests.label_shift.sources import a_source, batches


def facts(confusion: np.ndarray) -> SourceFacts:
    k = len(confusion)
    return SourceFacts(confusion, np.full(k, 1 / k), np.eye(k), np.arange(k))


def test_singular_values_and_negative_mass() -> None:
    m = np.array([[0.9, 0.2], [0.1, 0.8]])
    assert np.allclose(smallest_singular_value(m), np.sqrt(np.linalg.eigvalsh(m.T @ m)[0]))
    assert negative_mass(np.array([[1.2, -0.15, -0.05], [0.2, 0.5, 0.3]])).round(15).tolist() == [
        0.2,
        0.0,
    ]


def test_a_batch_that_label_shift_explains_passes() -> None:
    source = a_source(each=200)
    said = batches(np.array([[0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1]]), 300, 1)
    assert not Guards().suspect(source, said).any()


def test_each_sign_is_seen() -> None:
    said = np.eye(2)[[[0, 0, 1, 1], [0, 0, 0, 0]]]
    m = np.array([[0.8, 0.2], [0.2, 0.8]])  # nothing explains that all are of the first
    assert Guards().suspect(facts(m), said).tolist() == [False, True]
    assert Guards(negative=1.0).suspect(facts(m), said).tolist() == [False, False]
    weak = np.array([[0.53, 0.47], [0.47, 0.53]])
    assert Guards(negative=9.0).suspect(facts(weak), said).tolist() == [True, True]
    assert Guards().suspect(facts(m), said[:1], moved=np.array([0.4])).tolist() == [True]


def test_without_an_inverse_everything_is_suspect_and_nothing_is_of_no_samples() -> None:
    said = np.eye(2)[[[0, 1], [1, 1]]]
    flat = facts(np.full((2, 2), 0.5))
    assert Guards(sigma=0.0).suspect(flat, said).all()
    assert not Guards().suspect(flat, said[:, :0]).any()


def test_guarded_the_reserve_answers_for_those_who_are_suspect() -> None:
    source = a_source(each=200)
    shares = np.array([[0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1], [0.25] * 4])
    said = batches(shares, 300, 1)
    said[1] = np.eye(4)[0]  # surer than this model ever is
    rule = Guarded(RunningMean(Inverse()), Uniform())
    p, memory = rule.estimate(spread(rule.begin(source), 3), source, said)
    plain, _ = Inverse().estimate(None, source, said)
    assert memory.trusted.tolist() == [True, False, True]
    assert np.array_equal(p[[0, 2]], plain[[0, 2]])
    assert p[1].tolist() == [0.25] * 4
    assert np.array_equal(rule.belief(memory, source, 3), p)
