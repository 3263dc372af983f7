"""Conformance of a detector kind."""

from typing import Any

import numpy as np

from driftfold.arrays import Bools
from driftfold.detectors.base import Alarm, Detector
from driftfold.testing.estimator import through_snapshot
from driftfold.testing.expect import expect
from driftfold.trees import leaves, rows, spread

_STACKS = (1, 7, 37)
_BATCH = 8
_SELDOM = 7
"""Every so many visits everything is checked."""


def check_detector(detector: Detector[Any], visits: int = 40) -> None:
    """Raise `AssertionError` unless `detector` keeps the contract of `Detector`.

    Of 37 clients one in ten inputs is wrong, and in the second half of the visits, for every other
    client, nine in ten. Checked: shapes and types; the memory passed in is left as it was, and
    keeps its structure; the same memory, or one that went through a snapshot, gives the same; every
    client's bits are the same in stacks of 1, 7 and 37; an empty batch raises no alarm and changes
    nothing; and each client whose errors became frequent has an alarm after that.

    >>> from driftfold.detectors import Ddm
    >>> check_detector(Ddm())
    """
    clients = max(_STACKS)
    memory = spread(detector.begin(), clients)
    found = np.zeros(clients, dtype=bool)
    for visit in range(visits):
        errors = _errors(clients, visit, visits)
        if visit % _SELDOM:
            alarm, memory = detector.watch(memory, errors)
            found |= alarm.drift & (visit >= visits // 2)
            continue
        before = [leaf.copy() for leaf in leaves(memory)]
        alarm, after = detector.watch(memory, errors)
        _check_alarm(alarm, clients, visit)
        expect(
            all(map(np.array_equal, leaves(memory), before)),
            f"watch changed the memory passed to it at visit {visit}; return a new one",
        )
        expect(
            [(x.shape, x.dtype) for x in leaves(after)] == [(x.shape, x.dtype) for x in before],
            f"visit {visit}: watch returned a memory of another structure",
        )
        for which, other in (("the same memory", memory), ("a restored", through_snapshot(memory))):
            expect(
                _same(detector.watch(other, errors), (alarm, after)),
                f"visit {visit}: {which} gave another alarm or another new memory",
            )
        _check_stacks(detector, memory, errors, (alarm, after))
        quiet, kept = detector.watch(after, errors[:, :0])
        expect(
            not (quiet.warning.any() or quiet.drift.any()) and _equal(kept, after),
            f"visit {visit}: an empty batch raised an alarm, or moved the memory",
        )
        found |= alarm.drift & (visit >= visits // 2)
        memory = after
    expect(
        bool(found[1::2].all()),
        f"{int((~found[1::2]).sum())} of {clients // 2} clients had nine errors in ten for "
        f"{visits - visits // 2} batches of {_BATCH}, after one in ten, and no drift was told",
    )


def _errors(clients: int, visit: int, visits: int) -> Bools:
    rng = np.random.default_rng((2, visit))
    risen = (visit >= visits // 2) & (np.arange(clients) % 2 == 1)
    errors: Bools = rng.random((clients, _BATCH)) < np.where(risen, 0.9, 0.1)[:, None]
    return errors


def _check_alarm(alarm: Alarm, clients: int, visit: int) -> None:
    for name in ("warning", "drift"):
        told = getattr(alarm, name)
        expect(
            told.shape == (clients,) and told.dtype == bool,
            f"visit {visit}: {name} is {told.dtype} {told.shape}; wanted bool ({clients},)",
        )


def _check_stacks(
    detector: Detector[Any], memory: Any, errors: Bools, whole: tuple[Alarm, Any]
) -> None:
    alarm, after = whole
    for size in _STACKS:
        some = slice(len(errors) - size, len(errors))
        alone = detector.watch(rows(memory, some), errors[some])
        expected = Alarm(alarm.warning[some], alarm.drift[some]), rows(after, some)
        expect(
            _same(alone, expected),
            f"a stack of {size} clients gave other bits than one of {len(errors)}; treat each "
            "client alone",
        )


def _same(one: tuple[Alarm, Any], other: tuple[Alarm, Any]) -> bool:
    return (
        np.array_equal(one[0].warning, other[0].warning)
        and np.array_equal(one[0].drift, other[0].drift)
        and _equal(one[1], other[1])
    )


def _equal(one: Any, other: Any) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(leaves(one), leaves(other), strict=True))
