"""The verdict: what an attempt's end means for its job."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftfold_workers.attempts.messages import Done, Failed, Stopped
from driftfold_workers.attempts.process import describe_exit
from driftfold_workers.jobs.job import State


@dataclass(frozen=True)
class Verdict:
    """What to tell the job store.

    Attributes
    ----------
    state
        The job's final state, or None to give it back to the queue.
    outcome
        What became of the attempt, in words.
    reason
        Why.
    counted
        Whether the attempt counts when the job is given back.
    back_off
        Whether the job then waits, unless the attempt got further than the one before.
    result
        The result table of a job that succeeded.
    """

    state: State | None
    outcome: str
    reason: str = ""
    counted: bool = True
    back_off: bool = True
    result: Mapping[str, Any] | None = None


def judge(
    end: Done | Failed | Stopped | None,
    status: int,
    *,
    canceling: bool = False,
    pausing: bool = False,
    draining: bool = False,
    over: str = "",
    starved: bool = False,
) -> Verdict:
    """Return the verdict on a process that said `end` as its last word and exited with `status`.

    `over` says which limit of the job was exceeded, `starved` whether the system has killed some
    process meanwhile because memory ran out.

    A run that reached its horizon has succeeded, even if it was to be canceled or paused meanwhile.

    >>> judge(None, -9)
    Verdict(state=None, outcome='child died (signal 9)', \
reason='the process was killed by SIGKILL (out of memory?)', counted=True, back_off=True, \
result=None)
    >>> judge(None, -9, canceling=True).state
    <State.CANCELED: 'canceled'>
    """
    if isinstance(end, Done):
        return Verdict(State.SUCCEEDED, "finished", result=end.result)
    if canceling:
        return Verdict(State.CANCELED, "canceled")
    if over:  # another attempt would only be over it again
        return Verdict(State.FAILED, "over its limit", over)
    if isinstance(end, Failed):
        state = State.FAILED if end.final else None
        return Verdict(state, "failed", end.reason, counted=not end.machine)
    # One that was told to stop before it could listen dies of that.
    if pausing and (isinstance(end, Stopped) or (end is None and status == -signal.SIGTERM)):
        return Verdict(None, "paused", counted=False, back_off=False)
    if draining or isinstance(end, Stopped):
        return Verdict(None, "drained", "its worker stopped", counted=False, back_off=False)
    how = f"signal {-status}" if status < 0 else f"status {status}"
    return Verdict(None, f"child died ({how})", describe_exit(status, starved=starved))
