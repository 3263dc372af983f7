"""What happens seldom is found however far ahead it is, and never said not to come."""

import numpy as np
import pytest

from driftfold.errors import RunError, SpecError
from driftfold.participation import Adversarial, Always, Cyclic, Jump, Markov, Outage, Sine
from tests.participation.fleets import fleet_of


def test_a_chain_that_hardly_ever_comes_on() -> None:
    size, a = 30, 1e-5
    attendance = Markov(p=0.5, rate=a, slot=1.0).attend(fleet_of(size))
    off = np.flatnonzero(~attendance.available(np.arange(size), 7.0))
    comes = attendance.next_on(off, 7.0)
    assert (comes > 7.0 + 2**16).any()  # beyond what was searched once
    assert (comes < np.inf).all()
    # Geometric: mean and standard deviation are one number.
    assert abs((comes - 7.0).mean() * a - 1) < 5 / np.sqrt(len(off))


def test_answers_that_are_hardly_ever_given() -> None:
    size, p = 30, 1e-5
    attendance = Sine(p=p, swing=0.3, slot=1.0).attend(fleet_of(size))
    comes = attendance.next_on(np.arange(size), 7.0)
    assert (comes > 7.0 + 2**16).any()
    assert (comes < np.inf).all()
    mean = 1 / (0.7 * p)  # the sine's own mean is 0
    assert abs((comes - 7.0).mean() / mean - 1) < 5 / np.sqrt(size)
    for client, begin in list(enumerate(comes.tolist()))[:3]:
        one = np.array([client])
        assert attendance.available(one, begin)[0]
        assert attendance.session_end(one, begin)[0] == begin + 1


def test_turns_that_are_far_apart() -> None:
    size, period = 20, 2**31
    attendance = Cyclic(p=1e-3, period=period, slot=1e-3).attend(fleet_of(size))
    comes = attendance.next_on(np.arange(size), 0.0)
    assert (comes < period * 1e-3).all()
    assert comes.max() > 2**22 * 1e-3
    last = int(comes.argmax())
    one = np.array([last])
    assert not attendance.available(one, float(np.nextafter(comes[last], 0)))[0]
    assert attendance.available(one, float(comes[last]))[0]
    on = round(1e-3 * period)
    assert attendance.session_end(one, float(comes[last]))[0] == pytest.approx(
        comes[last] + on * 1e-3, rel=1e-12
    )


def test_there_may_be_no_chance_for_long_before_a_jump() -> None:
    attendance = Jump(p=0.0, at=200_000, after=1.0, slot=1.0).attend(fleet_of(2))
    assert attendance.next_on(np.arange(2), 0.5).tolist() == [200_000.0] * 2


def test_no_chance_is_never() -> None:
    attendance = Jump(p=0.5, at=3, after=0.0, slot=1.0).attend(fleet_of(2))
    assert attendance.next_on(np.arange(2), 3.5).tolist() == [np.inf] * 2


def test_an_outage_that_hardly_ever_takes_anybody() -> None:
    size, share = 40, 1e-4
    attendance = Outage(Always(), share=share, every=1.0, duration=0.5).attend(fleet_of(size))
    ends = attendance.session_end(np.arange(size), 3.0)
    assert (ends > 3.0 + 2**14).any()
    assert abs((ends - 3.0).mean() * share - 1) < 5 / np.sqrt(size)
    for client, end in list(enumerate(ends.tolist()))[:3]:
        assert not attendance.available(np.array([client]), end)[0]


def test_outages_that_are_too_seldom_are_refused() -> None:
    with pytest.raises(SpecError, match=r"share = 1e-07.*set share to 0, or to 1e-05 or more"):
        Outage(Always(), share=1e-7).attend(fleet_of(2))


@pytest.mark.parametrize("model", [Adversarial(every=0.5), Cyclic(slot=0.5), Markov(slot=0.5)])
def test_slots_without_a_number_are_refused(model: Adversarial | Cyclic | Markov) -> None:
    attendance = model.attend(fleet_of(2))
    with pytest.raises(RunError, match=r"beyond the 2\^32 slots of 0\.5 s.*`slot`, or `every`"):
        attendance.next_on(np.arange(2), 2.0**32)
