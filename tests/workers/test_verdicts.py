"""What every way to end means for a job."""

import signal

import pytest

from driftfold_workers.attempts.messages import Done, Failed, Stopped
from driftfold_workers.attempts.verdict import Verdict, judge
from driftfold_workers.jobs.job import State

KILLED = "the process was killed by"
EARLY = "the process exited with status 3 before the run was over"
DONE, STOPPED = Done({"rounds": 3}), Stopped()
BUG, FACT = Failed("ZeroDivisionError: zero", "", False), Failed("seed: got -1", "", True)
GIVEN_BACK = Verdict(None, "drained", "its worker stopped", counted=False, back_off=False)
PAUSED = Verdict(None, "paused", counted=False, back_off=False)
CANCELED = Verdict(State.CANCELED, "canceled")
FULL = Failed("No space left on device", "", False, machine=True)


def died(how: str, reason: str) -> Verdict:
    return Verdict(None, f"child died ({how})", reason)


CASES = [
    (DONE, 0, "", Verdict(State.SUCCEEDED, "finished", result=DONE.result)),
    (DONE, 0, "canceling", Verdict(State.SUCCEEDED, "finished", result=DONE.result)),
    (DONE, 0, "draining", Verdict(State.SUCCEEDED, "finished", result=DONE.result)),
    (STOPPED, 0, "canceling", CANCELED),
    (STOPPED, 0, "canceling draining", CANCELED),
    (STOPPED, 0, "draining", GIVEN_BACK),
    (STOPPED, 0, "pausing", PAUSED),
    (STOPPED, 0, "pausing draining", PAUSED),
    (STOPPED, 0, "pausing canceling", CANCELED),
    (DONE, 0, "pausing", Verdict(State.SUCCEEDED, "finished", result=DONE.result)),
    (None, -signal.SIGTERM, "pausing", PAUSED),
    (None, 3, "pausing", died("status 3", EARLY)),
    (STOPPED, 0, "", GIVEN_BACK),  # somebody else sent SIGTERM
    (None, -signal.SIGKILL, "draining", GIVEN_BACK),
    (None, -signal.SIGKILL, "canceling", CANCELED),
    (None, -signal.SIGKILL, "", died("signal 9", f"{KILLED} SIGKILL (out of memory?)")),
    (None, -signal.SIGSEGV, "", died("signal 11", f"{KILLED} SIGSEGV")),
    (None, 3, "", died("status 3", EARLY)),
    (BUG, 0, "", Verdict(None, "failed", BUG.reason)),
    (BUG, 0, "draining", Verdict(None, "failed", BUG.reason)),
    (BUG, 0, "canceling", CANCELED),
    (FULL, 0, "", Verdict(None, "failed", FULL.reason, counted=False)),
    (FACT, 0, "", Verdict(State.FAILED, "failed", FACT.reason)),
    (FACT, 0, "canceling", CANCELED),
]  # fmt: skip


@pytest.mark.parametrize(("end", "status", "wishes", "verdict"), CASES)
def test_verdicts(
    end: Done | Failed | Stopped | None, status: int, wishes: str, verdict: Verdict
) -> None:
    canceling, pausing, draining = (wish in wishes for wish in ("canceling", "pausing", "draining"))
    asked = judge(end, status, canceling=canceling, pausing=pausing, draining=draining)
    assert asked == verdict
