"""Conformance of a label estimate kind."""

from typing import Any

import numpy as np
import numpy.typing as npt

from driftfold.arrays import Floats
from driftfold.label_shift.base import LabelEstimate
from driftfold.label_shift.source import SourceFacts
from driftfold.testing.estimator import through_snapshot
from driftfold.testing.expect import expect
from driftfold.trees import leaves, rows, spread

_STACKS = (1, 7, 37)


def check_label_estimate(
    rule: LabelEstimate[Any], source: SourceFacts, visits: int = 3, n: int = 12
) -> None:
    """Raise `AssertionError` unless `rule` keeps the contract of `LabelEstimate` on `source`.

    Batches are made of the source's own predictions. Checked: shapes; entries are finite and sum to
    1; the memory passed in is left as it was; the same memory, or one that went through a snapshot,
    gives the same; every client's bits are the same in stacks of 1, 7 and 37; the order of samples
    moves rounding only; and an empty batch moves nothing.

    >>> from driftfold.label_shift import Inverse, source_facts
    >>> said = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
    >>> check_label_estimate(Inverse(), source_facts(said, np.array([0, 0, 1, 1])))
    """
    clients = max(_STACKS)
    rng = np.random.default_rng(0)
    memory = spread(rule.begin(source), clients)
    for visit in range(visits):
        said = source.probabilities[rng.integers(0, source.samples, (clients, n))]
        before = [leaf.copy() for leaf in leaves(memory)]
        p, after = rule.estimate(memory, source, said)
        _check_shares(p, clients, source.classes, visit)
        expect(
            all(map(np.array_equal, leaves(memory), before)),
            f"estimate changed the memory passed to it at visit {visit}; return a new one",
        )
        for which, other in (("the same memory", memory), ("a restored", through_snapshot(memory))):
            again, kept = rule.estimate(other, source, said)
            expect(
                np.array_equal(again, p) and _equal(kept, after),
                f"visit {visit}: {which} gave another estimate or another new memory",
            )
        _check_stacks(rule, memory, source, said, p, after)
        shuffled, _ = rule.estimate(memory, source, said[:, rng.permutation(n)])
        expect(
            np.abs(shuffled - p).max() < 1e-6,  # sums round otherwise: solvers may stop elsewhere
            f"visit {visit}: the order of a batch's samples moved the estimate",
        )
        idle, kept = rule.estimate(after, source, said[:, :0])
        expect(
            np.array_equal(idle, rule.belief(after, source, clients)) and _equal(kept, after),
            f"visit {visit}: an empty batch moved the belief or the memory",
        )
        memory = after


def _check_shares(p: Floats, clients: int, classes: int, visit: int) -> None:
    expect(
        p.shape == (clients, classes) and p.dtype == np.float64,
        f"visit {visit}: got {p.dtype} {p.shape}; wanted float64 {(clients, classes)}",
    )
    off = np.abs(p.sum(axis=-1) - 1)
    expect(
        bool(np.isfinite(p).all()) and bool((off < 1e-9).all()),
        f"visit {visit}: shares are not finite, or sum to 1 only within {off.max():.1e}",
    )


def _check_stacks(
    rule: LabelEstimate[Any],
    memory: Any,
    source: SourceFacts,
    said: npt.NDArray[Any],
    p: Floats,
    after: Any,
) -> None:
    for size in _STACKS:
        some = slice(len(p) - size, len(p))
        alone, kept = rule.estimate(rows(memory, some), source, said[some])
        expect(
            np.array_equal(alone, p[some]) and _equal(kept, rows(after, some)),
            f"in a stack of {size} clients other bits came out than in one of {len(p)}; let no "
            "product or reduction run over clients",
        )


def _equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, leaves(one), leaves(other)))
