"""Virtual-time asyncio: the clock jumps to the next event."""

from driftfold.kernel.loop import VirtualLoop
from driftfold.kernel.primitives import now, sleep
from driftfold.kernel.runner import run

__all__ = ["VirtualLoop", "now", "run", "sleep"]
