"""Every registered detector keeps its contract, and the check catches those that do not."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Bools
from driftfold.detectors import Adwin, Ddm, Detector, PageHinkley
from driftfold.detectors.base import Alarm
from driftfold.detectors.ddm import Fewest
from driftfold.registry import kind_of, kinds
from driftfold.testing import check_detector

EXAMPLES: list[Detector[Any]] = [Adwin(window=64), Ddm(), PageHinkley(), PageHinkley(3, 0.0, 2.0)]


def test_every_kind_is_covered() -> None:
    assert {kind_of(rule) for rule in EXAMPLES} == set(kinds("detector"))


@pytest.mark.parametrize("detector", EXAMPLES, ids=repr)
def test_contract(detector: Detector[Any]) -> None:
    if isinstance(detector, Adwin):
        pytest.importorskip("river")
    check_detector(detector)


@dataclass(frozen=True)
class Wrong(Ddm):
    """Keeps the contract but for one point."""

    fault: str = ""

    def watch(self, memory: Fewest, errors: Bools) -> tuple[Alarm, Fewest]:
        if self.fault == "deaf":
            return super().watch(memory, np.zeros_like(errors))
        alarm, after = super().watch(memory, errors)
        if self.fault == "in place" and memory.count.flags.writeable:
            memory.count[...] = after.count
        if self.fault == "company":
            after = replace(after, p=after.p + len(errors))
        if self.fault == "structure":
            after = replace(after, count=after.count.astype(np.float64))
        if self.fault == "shape":
            return Alarm(alarm.warning[:, None], alarm.drift), after
        if self.fault == "restless":
            return Alarm(alarm.warning, alarm.drift | (errors.shape[1] == 0)), after
        return alarm, after


FAULTS = {
    "deaf": "no drift was told",
    "in place": "changed the memory",
    "company": "a stack of 1",
    "structure": "another structure",
    "shape": "wanted bool",
    "restless": "an empty batch",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_breaks_the_contract_is_caught(fault: str) -> None:
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_detector(Wrong(fault=fault))
