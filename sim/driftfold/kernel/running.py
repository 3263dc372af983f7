"""Which virtual-time loop runs in this thread."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftfold.kernel.loop import VirtualLoop


class _Here(threading.local):
    loop: "VirtualLoop | None" = None


# asyncio keeps the same fact, but up to Python 3.11 asking it costs a system call.
here = _Here()
