"""A plug-in for tests: participation that takes wall time, memory, or the process with it.

What it does is no part of the specification, so the numbers are those of a run where it does
nothing: it reads a JSON file that the environment names, at every dispatch.
"""

import json
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftfold.arrays import Bools, Ints
from driftfold.fleet import Fleet
from driftfold.participation.base import Attendance, Participation
from driftfold.participation.bernoulli import Bernoulli
from driftfold.registry import register

BEHAVIOUR = "DRIFTFOLD_TEST_BEHAVIOUR"


class Behaving(Attendance):
    def __init__(self, inner: Attendance) -> None:
        self.inner = inner

    def responds(self, clients: Ints, dispatch: int) -> Bools:
        file = Path(os.environ.get(BEHAVIOUR, os.devnull))
        how = json.loads(file.read_text()) if file.is_file() else {}
        behave(how, dispatch)
        if how.get("clock"):  # numbers that no attempt computes again
            answers: Bools = np.random.default_rng(time.time_ns()).random(len(clients)) < 0.7
            return answers
        return self.inner.responds(clients, dispatch)


def behave(how: dict[str, Any], dispatch: int) -> None:
    time.sleep(how.get("pause", 0.0))
    room = how.get("room", resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    if dispatch >= how.get("from", 0):
        if "signal" in how:
            os.kill(os.getpid(), how["signal"])
            time.sleep(60)
        if "exit" in how:
            os._exit(how["exit"])
        if "raise" in how:
            raise ZeroDivisionError(how["raise"])
        if "burn" in how:
            end = time.process_time() + how["burn"]
            while time.process_time() < end:
                pass
        if "memory" in how:
            np.ones(how["memory"], dtype=np.uint8)
        while how.get("deaf"):  # neither rounds nor signals get anywhere
            time.sleep(0.05)


@register("test-behaving")
@dataclass(frozen=True)
class BehavingParticipation(Participation):
    def attend(self, fleet: Fleet) -> Attendance:
        return Behaving(Bernoulli(p=0.7).attend(fleet))
