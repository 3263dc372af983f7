"""Detectors against plain loops over one client's errors, and in stacks."""

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Bools
from driftfold.detectors import Adwin, Ddm, Detector, PageHinkley
from driftfold.errors import CapabilityError
from driftfold.trees import leaves, rows, spread

OWN: list[Detector[Any]] = [
    Ddm(),
    Ddm(warm_up=5, warning=1.0, drift=2.0),
    PageHinkley(),
    PageHinkley(3, 0.0, 2.0, 0.9),
]


def errors(clients: int, count: int) -> Bools:
    """Errors that become frequent in the middle, for some clients."""
    rng = np.random.default_rng(4)
    risk = np.where(
        np.arange(count) < count // 2, 0.2, 0.2 + 0.6 * (np.arange(clients) % 2)[:, None]
    )
    return rng.random((clients, count)) < risk


def watched(detector: Detector[Any], said: Bools, batch: int) -> list[tuple[Bools, Bools]]:
    memory, alarms = spread(detector.begin(), len(said)), []
    for start in range(0, said.shape[1], batch):
        alarm, memory = detector.watch(memory, said[:, start : start + batch])
        alarms.append((alarm.warning, alarm.drift))
    return alarms


def ddm(rule: Ddm, said: list[bool]) -> Iterator[tuple[bool, bool]]:
    """As the paper has it, one input after the other."""
    i = wrong = 0
    least = (1.0, 1.0)
    for error in said:
        i, wrong = i + 1, wrong + error
        p = wrong / i
        s = math.sqrt(p * (1 - p) / i)
        warning = drift = False
        if i >= rule.warm_up:
            if p + s <= sum(least):
                least = (p, s)
            elif p + s > sum(least):
                warning = p + s >= least[0] + rule.warning * least[1]
                drift = p + s >= least[0] + rule.drift * least[1]
        yield warning, drift
        if drift:
            i, wrong, least = 0, 0, (1.0, 1.0)


def page_hinkley(rule: PageHinkley, said: list[bool]) -> Iterator[tuple[bool, bool]]:
    """Sums of everything since the last drift, anew at each input."""
    since: list[bool] = []
    for error in said:
        since.append(error)
        sums = [0.0]
        for i, x in enumerate(since, 1):
            mean = sum(since[:i]) / i
            sums.append(rule.forgetting * sums[-1] + x - mean - rule.delta)
        drift = len(since) >= rule.warm_up and sums[-1] - min(sums[1:]) > rule.threshold
        yield False, drift
        if drift:
            since = []


@pytest.mark.parametrize("detector", OWN, ids=repr)
def test_alarms_are_those_of_a_plain_loop(detector: Detector[Any]) -> None:
    """Exactly: no threshold lies within rounding of these sums."""
    said = errors(6, 200)
    singly = watched(detector, said, 1)
    loop: Any = ddm if isinstance(detector, Ddm) else page_hinkley
    for c in range(6):
        expected = list(loop(detector, said[c].tolist()))
        assert [(bool(w[c]), bool(d[c])) for w, d in singly] == expected
    drifted = np.array([d for _, d in singly])
    assert drifted[100:, 1::2].any(axis=0).all()


@pytest.mark.parametrize("detector", OWN, ids=repr)
def test_a_batch_raises_what_any_of_its_errors_raises(detector: Detector[Any]) -> None:
    said = errors(5, 200)
    singly, together = watched(detector, said, 1), watched(detector, said, 5)
    for k in range(2):
        one = np.array([alarm[k] for alarm in singly]).reshape(40, 5, 5).max(axis=1)
        assert np.array_equal(one, np.array([alarm[k] for alarm in together]))


@pytest.mark.parametrize("detector", OWN, ids=repr)
def test_clients_are_alone_in_their_stack(detector: Detector[Any]) -> None:
    said = errors(7, 60)
    _, memory = detector.watch(spread(detector.begin(), 7), said)
    for c in range(7):
        _, alone = detector.watch(spread(detector.begin(), 1), said[c : c + 1])
        for whole, own in zip(leaves(rows(memory, [c])), leaves(alone), strict=True):
            assert whole.tobytes() == own.tobytes()


def test_ddm_by_hand() -> None:
    """One error in four: p = 1/4, s = sqrt(3/64) = 0.2165; then p + s grows to drift."""
    detector = Ddm(warm_up=4)
    memory = spread(detector.begin(), 1)
    alarm, memory = detector.watch(memory, np.array([[True, False, False, False]]))
    assert memory.p[0] == 0.25
    assert memory.s[0] == pytest.approx(0.21650635, abs=1e-8)
    # Two more: p = 3/6, s = 0.2041, 0.7041 >= 0.25 + 2 * 0.2165 = 0.6830, and below 0.8995.
    alarm, memory = detector.watch(memory, np.array([[True, True]]))
    assert (alarm.warning[0], alarm.drift[0]) == (True, False)
    # Nine wrong of twelve: p + s = 0.75 + 0.125 = 0.875; ten of thirteen 0.7692 + 0.1169 = 0.8861.
    alarm, memory = detector.watch(memory, np.ones((1, 7), dtype=bool))
    assert (alarm.warning[0], alarm.drift[0]) == (True, False)
    # Twelve of fifteen: 0.8 + 0.1033 = 0.9033.
    alarm, memory = detector.watch(memory, np.ones((1, 2), dtype=bool))
    assert alarm.drift[0]
    assert memory.count[0] == 0


def test_who_makes_no_errors_raises_no_alarm() -> None:
    for detector in OWN:
        assert not np.any(watched(detector, np.zeros((2, 100), dtype=bool), 10))


def test_adwin_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river.drift", None)
    with pytest.raises(CapabilityError, match=r"install driftfold\[detectors\]"):
        Adwin().begin()


def test_adwin_is_that_of_river() -> None:
    """While nothing was forgotten: the same alarms, at errors that became more."""
    river = pytest.importorskip("river.drift")
    said = errors(2, 200)
    alarms = watched(Adwin(), said, 5)
    for c in range(2):
        adwin = river.ADWIN()
        expected: list[bool] = []
        for error in said[c].tolist():
            adwin.update(int(error))
            expected.append(adwin.drift_detected)
        found = np.array(expected).reshape(40, 5).max(axis=1)
        first = int(found.argmax()) if found.max() else 40
        said_so = np.array([d for _, d in alarms])[:, c]
        assert said_so[: first + 1].tolist() == found[: first + 1].tolist()
    assert np.array([d for _, d in alarms])[:, 1].any()


def test_adwin_keeps_a_bounded_window_and_forgets_what_it_cut() -> None:
    pytest.importorskip("river.drift")
    detector = Adwin(window=64)
    memory = spread(detector.begin(), 1)
    _, memory = detector.watch(memory, np.zeros((1, 100), dtype=bool))
    assert memory.count[0] == 64
    alarm, memory = detector.watch(memory, np.ones((1, 64), dtype=bool))
    assert alarm.drift[0]
    assert memory.errors[0, -32:].all()
    # Fewer errors than before are a change, too, but no drift.
    alarm, memory = detector.watch(memory, np.zeros((1, 64), dtype=bool))
    assert not alarm.drift[0]
    assert memory.count[0] <= 64
