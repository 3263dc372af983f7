"""What must hold when a campaign is over. Each rule tells, in sentences, where it is broken."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from driftfold_api.recording.reconciler import UNSEEN
from tests.faults.chaos.evidence import Archived, Evidence
from tests.faults.chaos.lifecycle import BEGIN, FINAL, violations
from tests.faults.chaos.orders import Order, expected
from tests.workers.experiments import SAME, without_timing


@dataclass
class Case:
    """What was ordered, what the users were told, and what is left.

    Attributes
    ----------
    accepted
        Job of each key, as the first answer said.
    canceled
        Keys of the jobs whose cancellation was accepted.
    seen
        Records that somebody read along, by key.
    """

    orders: Sequence[Order]
    evidence: Evidence
    accepted: Mapping[str, str]
    canceled: frozenset[str] = frozenset()
    seen: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    def jobs(self) -> Iterator[tuple[Order, str, Archived]]:
        """Every order that has a job, that job, and what the archive tells of it."""
        for order in self.orders:
            for job, told in self.evidence.archive.items():
                if told.row["name"] == order.key:
                    yield order, job, told


Rule = Callable[[Case], Iterator[str]]


def every_order_is_one_job(case: Case) -> Iterator[str]:
    """Each key has made one job, the one that was answered; nobody has made others."""
    counts = Counter(told.row["name"] for told in case.evidence.archive.values())
    for order in case.orders:
        count = counts.pop(order.key, 0)
        # After its job has failed, a key makes another one.
        if count != 1 and not (order.doomed and count > 1):
            yield f"{order.key}: {count} jobs"
    for order, job, _ in case.jobs():
        if not order.doomed and case.evidence.keys.get(order.key) != job:
            yield f"{order.key}: its key leads to {case.evidence.keys.get(order.key)}, not to {job}"
        if not order.doomed and case.accepted.get(order.key, job) != job:
            yield f"{order.key}: {case.accepted[order.key]} was answered, and {job} is there"
    for name in counts:
        yield f"a job that nobody wanted: {name}"


def every_job_ends_as_it_should(case: Case) -> Iterator[str]:
    """It succeeds, unless it was canceled or cannot."""
    for order, job, told in case.jobs():
        wanted = ["failed"] if order.doomed else ["succeeded"]
        if order.key in case.canceled:
            wanted.append("canceled")
        if told.row["state"] not in wanted:
            yield f"{job} ({order.key}) is {told.row['state']}: {told.row['reason']}"


def the_log_has_no_gap(case: Case) -> Iterator[str]:
    """Records are numbered 1, 2, 3, ..., as they say themselves, up to the end."""
    for _, job, told in case.jobs():
        numbers = [number for number, _ in told.records]
        own = [json.loads(record)["seq"] for _, record in told.records]
        if not numbers == own == list(range(1, told.row["seq"] + 1)):
            yield f"{job}: records {_brief(numbers)}, which say {_brief(own)}, of {told.row['seq']}"


def the_numbers_are_undisturbed(case: Case) -> Iterator[str]:
    """Every value is the one of an undisturbed run, to the last bit, and so is the result."""
    for order, job, told in case.jobs():
        if order.doomed:
            continue
        result, records = expected(order)
        mine = [without_timing(json.loads(record)) for _, record in told.records]
        wanted = records[: len(mine)] if told.row["state"] == "canceled" else records
        if mine != wanted:
            same = list(takewhile(lambda pair: pair[0] == pair[1], zip(mine, wanted, strict=False)))
            yield f"{job}: {len(mine)} records for {len(wanted)}, the same up to {len(same)}"
        if told.row["state"] == "succeeded":
            table = json.loads(told.row["result"] or "{}")
            other = [name for name in SAME if table.get(name) != result[name]]
            if other or told.row["rounds"] != order.rounds:
                yield f"{job}: its result differs in {other}, it has {told.row['rounds']} rounds"


def lifecycles_are_lives(case: Case) -> Iterator[str]:
    """What happened to a job can happen in that order, with one end."""
    for _, job, told in case.jobs():
        for violation in violations(told.events):
            yield f"{job}: {violation}"


def rows_agree_with_lifecycles(case: Case) -> Iterator[str]:
    """The row of a job and those of its attempts say what its events say."""
    for _, job, told in case.jobs():
        row, claims = told.row, [event for event in told.events if event["kind"] in BEGIN]
        last = told.events[-1] if told.events else {"kind": "", "number": 0}
        if (row["state"], row["events"]) != (last["kind"], last["number"]) or not row["finished"]:
            yield f"{job}: {row['state']} after {row['events']} events, finished {row['finished']}"
        epochs = [claim["facts"].get("epoch", 0) for claim in claims]
        # One that the job store may have lost is queued with an epoch far behind.
        if (row["epoch"] - (epochs or [0])[-1]) % UNSEEN:
            yield f"{job}: its epoch is {row['epoch']}, its claims' {_brief(epochs)}"
        attempts = [attempt["epoch"] for attempt in told.attempts]
        if attempts != epochs:
            yield f"{job}: attempts with epochs {_brief(attempts)}, claims with {_brief(epochs)}"
        for attempt in told.attempts:
            if not attempt["ended"] or attempt["outcome"] in ("", "running"):
                yield f"{job}: the attempt of epoch {attempt['epoch']} has no end"


def the_job_store_agrees(case: Case) -> Iterator[str]:
    """What it still knows of a job is what the archive has."""
    for _, job, told in case.jobs():
        stored = case.evidence.store.get(job)
        if stored is None:
            continue  # forgotten, since it is over
        for name in ("state", "seq", "epoch", "attempt", "events", "rounds", "reason"):
            if stored.fields.get(name) != str(told.row[name]):
                yield f"{job}: {name} is {stored.fields.get(name)}, recorded {told.row[name]}"
        events = [(event["number"], event["kind"]) for event in told.events]
        for what, mine, all_ in (
            ("records", list(stored.records), list(told.records)),
            ("events", list(stored.events), events),
        ):
            if mine != all_[len(all_) - len(mine) :]:
                yield f"{job}: its {what} are not the end of those recorded"


def nothing_is_left_to_do(case: Case) -> Iterator[str]:
    """No lease, nothing queued or waiting, nothing unrecorded; each job is where its state says."""
    evidence = case.evidence
    for name, members in evidence.sets.items():
        if (name.startswith("q:") or name == "a:unrecorded") and members:
            yield f"{name} has {_brief(members)}"
        if name.startswith("jobs:"):
            for job in members:
                state = evidence.store[job].fields["state"] if job in evidence.store else "unknown"
                if name != f"jobs:{state}":
                    yield f"{job} is in {name}, and is {state}"
    indexed = {job for name in FINAL for job in evidence.sets.get(f"jobs:{name}", ())}
    for job in evidence.store:
        if job not in indexed or job not in evidence.sets.get("jobs", ()):
            yield f"{job} is in no list of jobs"


def nothing_is_orphaned(case: Case) -> Iterator[str]:
    """Keys and files belong to jobs that are there; no process, snapshot or part is left."""
    evidence = case.evidence
    for name in evidence.names:
        kind, _, job = name.partition(":")
        if kind in ("job", "m", "ev") and job not in evidence.archive:
            yield f"the key {name} is of no job"
        if kind in ("m", "ev") and job not in evidence.store:
            yield f"the key {name} is of a job that was forgotten"
    for name in evidence.files:
        path = Path(name)
        if path.name.endswith(".part") or ".part" in path.suffixes:
            yield f"a file was left half written: {name}"
        elif path.parts[1:2] == ("rounds",) and len(path.parts) > 2:
            yield f"a part of a table was left: {name}"
        elif path.parts[1:2] == ("checkpoints",) and len(path.parts) > 3:
            job, _, attempt, _ = path.parts
            known = evidence.archive.get(job)
            if known is None or known.row["checkpoint"] != f"{attempt}:{path.stem}":
                yield f"a snapshot was left: {name}"
    yield from (f"a process was left: {process}" for process in evidence.processes)


def results_are_whole(case: Case) -> Iterator[str]:
    """Whoever succeeded has left the files of a run; they say what the archive says."""
    for _, job, told in case.jobs():
        files = {Path(name).name for name in case.evidence.files if name.startswith(f"{job}/")}
        if told.row["state"] != "succeeded":
            continue
        if missing := {"config.json", "result.json", "rounds.parquet", "model.npz"} - files:
            yield f"{job} has no {sorted(missing)}"
            continue
        text = (case.evidence.folder / job / "result.json").read_text()
        left, kept = json.loads(text), json.loads(told.row["result"] or "{}")
        if any(left.get(name) != kept.get(name) for name in SAME):
            yield f"{job}: its result.json is another result"


def readers_missed_nothing(case: Case) -> Iterator[str]:
    """Who read along got each record once, in order."""
    for order, job, told in case.jobs():
        if order.doomed or order.key not in case.seen:
            continue
        mine = [without_timing(json.loads(record)) for _, record in told.records]
        if list(case.seen[order.key]) != mine:
            yield f"{job}: {len(case.seen[order.key])} records were read, {len(mine)} are there"


RULES: Sequence[Rule] = (
    *(every_order_is_one_job, every_job_ends_as_it_should, the_log_has_no_gap),
    *(the_numbers_are_undisturbed, lifecycles_are_lives, rows_agree_with_lifecycles),
    *(the_job_store_agrees, nothing_is_left_to_do, nothing_is_orphaned, results_are_whole),
    readers_missed_nothing,
)


def broken(case: Case) -> dict[str, list[str]]:
    """Return what is wrong, by rule; nothing for a rule that holds."""
    told = {rule.__name__.replace("_", " "): list(rule(case)) for rule in RULES}
    return {name: sentences for name, sentences in told.items() if sentences}


def _brief(many: Sequence[Any]) -> str:
    some = ", ".join(map(str, chain(many[:6], ["..."] if len(many) > 6 else [])))
    return f"[{some}]"
