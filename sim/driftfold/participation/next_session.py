"""The session of one client that comes next."""

import numpy as np

from driftfold.errors import RunError
from driftfold.participation.base import Attendance


def next_session(attendance: Attendance, client: int, time: float) -> tuple[float, float]:
    """When the session that runs at virtual `time`, or the next one, begins and ends; inf if never.

    It begins at `time` where the client is on. Raises `RunError` for a session without an end after
    its beginning, which would be asked for again at the same instant for ever.

    Examples
    --------
    >>> next_session(Attendance(), client=0, time=2.0)
    (2.0, inf)
    """
    one = np.array([client])
    begins = float(attendance.next_on(one, time)[0])
    ends = begins if begins == np.inf else float(attendance.session_end(one, begins)[0])
    if begins < np.inf and not ends > begins:
        raise RunError(
            f"the participation model says that client {client} comes on at {begins} s for a "
            f"session that ends at {ends} s; next_on must agree with session_end"
        )
    return begins, ends
