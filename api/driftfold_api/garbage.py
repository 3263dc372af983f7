"""How often a process with thousands of open streams looks for garbage in cycles."""

import gc

THRESHOLDS = (10_000, 50, 20)


def collect_rarely() -> None:
    """Look for garbage rarely, and never again among what is there now: call it after the start.

    An event wakes a task for each of its followers, which are more objects than Python's own
    threshold of 700. With 5,000 followers the search through all that they hold costs as much
    again as telling them; see `bench.service`.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
