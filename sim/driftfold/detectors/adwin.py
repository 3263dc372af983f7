"""ADWIN, by river: a window that is cut where its halves have different means.

Bifet, A., Gavalda, R.: "Learning from time-changing data with adaptive windowing", SDM 2007.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Lt

from driftfold.arrays import Array, Bools
from driftfold.detectors.base import Alarm, Detector
from driftfold.errors import CapabilityError
from driftfold.registry import register
from driftfold.trees import node


@node
class Window:
    """Of each client: its latest errors, the newest last, (w,), and how many of them there are."""

    errors: Array
    count: Array


@register("adwin")
@dataclass(frozen=True)
class Adwin(Detector[Window]):
    """Drift where river's ADWIN has found that errors became more, over the latest `window` errors.

    river's objects cannot be put into a snapshot as arrays. So what is kept is the errors
    themselves: at each step a new ADWIN is fed with them, then with the new ones, of which alone
    alarms count; what it cuts off is forgotten. It gives no warnings.

    Needs river: ``pip install driftfold[detectors]``.

    Attributes
    ----------
    delta
        Significance of a cut: the lower, the fewer false alarms.
    window
        Most errors that are kept.
    """

    delta: Annotated[float, Gt(0), Lt(1)] = 0.002
    window: Annotated[int, Ge(32)] = 512

    def begin(self) -> Window:
        """Nothing seen."""
        _adwin()
        return Window(np.zeros(self.window, dtype=bool), np.zeros((), dtype=np.int64))

    def watch(self, memory: Window, errors: Bools) -> tuple[Alarm, Window]:
        """Replay each client's window, and go on."""
        kept, counts = memory.errors.copy(), memory.count.copy()
        drifted = np.zeros(len(errors), dtype=bool)
        for i, new in enumerate(errors):
            old = memory.errors[i, self.window - int(memory.count[i]) :]
            drifted[i], width = self._follow(old, new)
            both = np.concatenate([old, new])
            counts[i] = min(width, self.window, len(both))
            kept[i] = False
            kept[i, self.window - counts[i] :] = both[len(both) - counts[i] :]
        return Alarm(np.zeros_like(drifted), drifted), Window(kept, counts)

    def _follow(self, old: Bools, new: Bools) -> tuple[bool, int]:
        """Whether the new ones brought more errors, and how many are left in the window."""
        found, adwin = False, _adwin()(delta=self.delta)
        for error in old.tolist():
            adwin.update(int(error))
        for error in new.tolist():
            mean = adwin.estimation
            adwin.update(int(error))
            found |= bool(adwin.drift_detected and adwin.estimation > mean)
        return found, int(adwin.width)


def _adwin() -> Any:
    try:
        from river.drift import ADWIN
    except ImportError as error:
        raise CapabilityError(
            "detector 'adwin' needs river, which is not installed; install driftfold[detectors], "
            "or choose detector 'ddm' or 'page_hinkley'"
        ) from error
    return ADWIN
