"""Conformance of a signal kind."""

from typing import Any

import numpy as np

from driftfold.arrays import Floats
from driftfold.rng import Seed
from driftfold.signals.base import Held, Observed, Signal, Sizes
from driftfold.testing.estimator import through_snapshot
from driftfold.testing.expect import expect
from driftfold.trees import leaves, rows, spread

_STACKS = (1, 7, 37)
_CLASSES, _FEATURES, _BATCH = 5, 9, 12


def check_signal(signal: Signal[Any], visits: int = 5) -> None:
    """Raise `AssertionError` unless `signal` keeps the contract of `Signal`.

    Batches are random, of 5 classes and 9 features. Checked: shapes; S is from 0 to 1, and 0 at a
    client's first batch; the memory passed in is left as it was; the same memory, or one that went
    through a snapshot, gives the same; every client's bits are the same in stacks of 1, 7 and 37;
    an empty batch gives 0 and moves nothing; and a batch may be recalled.

    >>> from driftfold.signals import Uncertainty
    >>> check_signal(Uncertainty())
    """
    clients = max(_STACKS)
    memory = spread(signal.begin(_sizes()), clients)
    for visit in range(visits):
        # Some have been away, and one is here for the first time again and again.
        gap = np.minimum(visit, 1 + np.arange(clients) % 3)
        gap[0] = 0
        observed = _observed(clients, visit, gap)
        before = [leaf.copy() for leaf in leaves(memory)]
        s, after = signal.measure(memory, observed)
        _check_values(s, gap == 0, visit)
        expect(
            all(map(np.array_equal, leaves(memory), before)),
            f"measure changed the memory passed to it at visit {visit}; return a new one",
        )
        for which, other in (("the same memory", memory), ("a restored", through_snapshot(memory))):
            again, kept = signal.measure(other, observed)
            expect(
                np.array_equal(again, s) and _equal(kept, after),
                f"visit {visit}: {which} gave another signal or another new memory",
            )
        _check_stacks(signal, memory, observed, s, after)
        _check_empty(signal, after, observed)
        recalled = signal.recall(after, observed)
        expect(
            _shapes(recalled) == _shapes(after),
            f"visit {visit}: recall returned a memory of another structure",
        )
        memory = after


def _sizes() -> Sizes:
    rng = np.random.default_rng(0)
    held = Held(rng.dirichlet(np.ones(_CLASSES), 60), rng.normal(size=(60, _FEATURES)), 12, Seed(0))
    return Sizes(_CLASSES, _FEATURES, held)


def _observed(clients: int, visit: int, gap: Any) -> Observed:
    rng = np.random.default_rng((1, visit))
    said = rng.dirichlet(np.full(_CLASSES, 0.5), (clients, _BATCH))
    shown = rng.normal(size=(clients, _BATCH, _FEATURES)) + rng.normal(size=(clients, 1, _FEATURES))
    return Observed(said, shown, gap, progress=visit / 10)


def _check_values(s: Floats, first: Any, visit: int) -> None:
    expect(
        s.shape == first.shape and s.dtype == np.float64,
        f"visit {visit}: got {s.dtype} {s.shape}; wanted float64 {first.shape}",
    )
    expect(((s >= 0) & (s <= 1)).all(), f"visit {visit}: got {s.min()} .. {s.max()}; wanted 0 .. 1")
    expect((s[first] == 0).all(), f"visit {visit}: got {s[first]} at first batches; wanted 0")


def _check_stacks(
    signal: Signal[Any], memory: Any, observed: Observed, s: Floats, after: Any
) -> None:
    for size in _STACKS:
        some = slice(len(s) - size, len(s))
        few = Observed(
            observed.probabilities[some], observed.features[some], observed.gap[some],
            observed.progress,
        )  # fmt: skip
        alone, kept = signal.measure(rows(memory, some), few)
        expect(
            np.array_equal(alone, s[some]) and _equal(kept, rows(after, some)),
            f"in a stack of {size} clients other bits came out than in one of {len(s)}; let no "
            "product or reduction run over clients",
        )


def _check_empty(signal: Signal[Any], memory: Any, observed: Observed) -> None:
    empty = observed.samples(slice(0, 0))
    s, kept = signal.measure(memory, empty)
    expect(
        not s.any() and _equal(kept, memory) and _equal(signal.recall(memory, empty), memory),
        "an empty batch gave a signal other than 0, or moved the memory",
    )


def _equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, leaves(one), leaves(other)))


def _shapes(tree: Any) -> list[Any]:
    return [(leaf.shape, leaf.dtype) for leaf in leaves(tree)]
