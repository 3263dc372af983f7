"""What of groups is to be judged, what was decided, and which jobs are to be canceled for it."""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, exists, select, update

from driftfold_api.archive.group import Group
from driftfold_api.archive.group_tables import children, groups
from driftfold_api.archive.grouping import end, group_of
from driftfold_api.archive.reading import OVER, there
from driftfold_api.archive.recording import stand
from driftfold_api.archive.tables import jobs, records
from driftfold_workers.jobs.job import State

RECORDS, MOST = 2000, 20_000  # of one job, and of all, that are read in one go
LEAVING = (*OVER, str(State.CANCELING))


def open_groups(connection: Connection) -> Sequence[Group]:
    """Return the groups some of whose jobs were not over when they were last closed."""
    found = connection.scalars(select(groups.c.id).where(groups.c.open).order_by(groups.c.id))
    return [group_of(connection, group) for group in found.all()]


def standing_of(connection: Connection, group: str) -> Mapping[int, tuple[int, bool]]:
    """Return of each child the last round that was judged, and whether it was stopped there."""
    mine = select(children.c.number, children.c.judged, children.c.stopped)
    found = connection.execute(mine.where(children.c.job_group == group))
    return {number: (judged, bool(stopped)) for number, judged, stopped in found}


def values_of(
    connection: Connection, group: str, metric: str, heard: Mapping[int, int]
) -> tuple[Mapping[int, Sequence[tuple[int, float]]], Mapping[int, int]]:
    """Return new values of a metric by child, as (round, value), and up to which record.

    `heard` has the last record of each child that is known. Of much that is new a part is read.
    """
    found: dict[int, list[tuple[int, float]]] = {}
    last: dict[int, int] = {}
    count = 0
    where = children.c.job_group == group
    mine = select(children.c.number, jobs.c.id, jobs.c.seq).join(jobs, jobs.c.id == children.c.job)
    for child, job, seq in connection.execute(mine.where(where)).all():
        if seq <= heard.get(child, 0) or count >= MOST:
            continue
        texts = connection.execute(
            select(records.c.seq, records.c.record)
            .where(records.c.job == job, records.c.seq > heard.get(child, 0))
            .order_by(records.c.seq)
            .limit(RECORDS)
        )
        for number, text in texts:
            last[child] = number
            count += 1
            if f'"{metric}"' in text:
                record = json.loads(text)
                value = record.get("values", {}).get(metric)
                if isinstance(value, int | float | str):
                    found.setdefault(child, []).append((record["version"], float(value)))
    return found, last


def decide(
    connection: Connection,
    fence: int,
    group: str,
    judged: Mapping[int, int],
    stopped: Mapping[int, str],
    reached: tuple[int, str] | None,
) -> None:
    """Keep what was judged of a group; a recorder that is no more in charge is `Overtaken`."""
    stand(connection, fence)
    rows = [
        {"child": child, "round": round_, "why": stopped.get(child, "")}
        for child, round_ in judged.items()
    ]
    if rows:
        one = (children.c.job_group == group) & (children.c.number == bindparam("child"))
        set_ = update(children).where(one)
        set_ = set_.values(judged=bindparam("round"), stopped=bindparam("why"))
        connection.execute(set_, rows)
    if reached is not None:
        end(connection, group, reached[1], spared=reached[0])


def doomed(connection: Connection, limit: int) -> Sequence[tuple[str, str]]:
    """Return jobs that are to be canceled and are not recorded so, and why."""
    found = connection.execute(
        select(jobs.c.id, children.c.stopped, groups.c.ended)
        .join(children, children.c.job == jobs.c.id)
        .join(groups, groups.c.id == children.c.job_group)
        .where(groups.c.open, jobs.c.state.not_in(LEAVING), there())
        .where(
            (children.c.stopped != "")
            | ((groups.c.ended != "") & (children.c.number != groups.c.spared))
        )
        .order_by(jobs.c.id.desc())  # those that have not begun first
        .limit(limit)
    )
    return [(job, stopped or ended) for job, stopped, ended in found]


def close(connection: Connection) -> None:
    """Close the groups all of whose jobs are over: nothing of them changes any more."""
    alive = exists(
        select(jobs.c.id)
        .join(children, children.c.job == jobs.c.id)
        .where(children.c.job_group == groups.c.id, jobs.c.state.not_in(OVER), there())
    )
    connection.execute(update(groups).where(groups.c.open, ~alive).values(open=False))
