"""Groups in SQL: made, read and deleted."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from driftfold_api.archive.accepting import KEEP, check, job_of_wanted
from driftfold_api.archive.base import KeyReused, Wish
from driftfold_api.archive.database import Database
from driftfold_api.archive.group import NOBODY, Child, Group, GroupWanted, Tally, UnknownGroup
from driftfold_api.archive.group_tables import children, group_keys, groups
from driftfold_api.archive.reading import there
from driftfold_api.archive.rows import to_job, to_row
from driftfold_api.archive.tables import idempotency, jobs
from driftfold_workers.jobs.canonical import to_json
from driftfold_workers.jobs.job import Job, State
from driftfold_workers.jobs.new_id import new_id


def make(
    connection: Connection,
    database: Database,
    wanted: GroupWanted,
    key: str | None,
    room: bool = True,
) -> tuple[Group, Sequence[Job], bool]:
    """Make a group and all of its jobs, unless the key has made it; tell whether it is new."""
    digest = digest_of(wanted)
    if key is not None and (known := _known(connection, key, digest)) is not None:
        return known, [], False
    for _, child in wanted.children[:1]:  # all have the same terms
        check(connection, child, room)
    group = Group(
        id=new_id(),
        name=wanted.name,
        created=round(time.time(), 6),
        spec=wanted.spec,
        sweep=wanted.sweep,
        stop=wanted.stop,
        size=len(wanted.children),
    )
    connection.execute(insert(groups).values(_row(group)))
    if key is not None:
        entry = {"key": key, "digest": digest, "job_group": group.id, "created": group.created}
        connection.execute(delete(group_keys).where(group_keys.c.key == key))
        if not connection.execute(database.insert_new(group_keys).values(entry)).rowcount:
            # Somebody else was faster, who has committed by now.
            connection.execute(delete(groups).where(groups.c.id == group.id))
            return make(connection, database, wanted, key, room)
    made = [job_of_wanted(each, group=group.id) for _, each in wanted.children]
    points = [to_json(point) for point, _ in wanted.children]
    connection.execute(insert(jobs), [to_row(job) for job in made])
    rows = [
        {"job_group": group.id, "number": number, "job": job.id, "point": point}
        | {"judged": -1, "stopped": ""}
        for number, (job, point) in enumerate(zip(made, points, strict=True), 1)
    ]
    connection.execute(insert(children), rows)
    return group, made, True


def digest_of(wanted: GroupWanted) -> str:
    """Return what equal requests have in common."""
    terms = [each.terms.to_table() | {"delay": each.delay} for _, each in wanted.children[:1]]
    request = [wanted.name, wanted.spec, wanted.sweep, wanted.stop, terms, len(wanted.children)]
    return hashlib.sha256(to_json(request).encode()).hexdigest()


def group_of(connection: Connection, group: str) -> Group:
    """Return a group."""
    found = connection.execute(select(groups).where(groups.c.id == group)).one_or_none()
    if found is None:
        raise UnknownGroup(f"no group has the id {group}")
    return _group(found)


def page_of(connection: Connection, limit: int, cursor: str | None) -> Sequence[Group]:
    """Return groups, newest first, those before a cursor."""
    wanted = select(groups).order_by(groups.c.id.desc()).limit(limit)
    if cursor is not None:
        wanted = wanted.where(groups.c.id < cursor)
    return [_group(row) for row in connection.execute(wanted)]


def tallies_of(connection: Connection, wanted: Sequence[str]) -> Mapping[str, Tally]:
    """Tell how far groups are."""
    found = connection.execute(
        select(
            children.c.job_group,
            jobs.c.state,
            func.count().label("count"),
            func.sum(jobs.c.rounds).label("rounds"),
            func.sum(jobs.c.horizon_rounds).label("wanted"),
            func.count(jobs.c.horizon_rounds).label("known"),
        )
        .join(jobs, jobs.c.id == children.c.job)
        .where(children.c.job_group.in_(wanted), there())
        .group_by(children.c.job_group, jobs.c.state)
    )
    rows: dict[str, list[Any]] = {group: [] for group in wanted}
    for row in found:
        rows[row.job_group].append(row)
    return {group: _tally(parts) for group, parts in rows.items()}


def children_of(connection: Connection, group: str, after: int, limit: int) -> Sequence[Child]:
    """Return jobs of a group after a number, in order."""
    found = connection.execute(
        select(children.c.number, children.c.point, children.c.stopped, children.c.judged, jobs)
        .join(jobs, jobs.c.id == children.c.job)
        .where(children.c.job_group == group, children.c.number > after, there())
        .order_by(children.c.number)
        .limit(limit)
    )
    return [
        Child(row.number, json.loads(row.point), row.stopped, row.judged, to_job(row))
        for row in found
    ]


def end(connection: Connection, group: str, reason: str, spared: int = NOBODY) -> None:
    """Have the jobs of a group canceled that are not over, but for one; the first reason counts."""
    values = {"ended": reason, "spared": spared}
    unless = (groups.c.id == group) & (groups.c.ended == "")
    connection.execute(update(groups).where(unless).values(values))


def forget(connection: Connection, group: str) -> Sequence[str]:
    """Forget a group, and hide its jobs, whose rows go later; return these."""
    mine = select(children.c.job).where(children.c.job_group == group)
    found = list(connection.scalars(mine.order_by(children.c.number)))
    connection.execute(update(jobs).where(jobs.c.id.in_(mine)).values(wish=Wish.DELETE))
    connection.execute(delete(idempotency).where(idempotency.c.job.in_(mine)))
    connection.execute(delete(groups).where(groups.c.id == group))
    return found


def _known(connection: Connection, key: str, digest: str) -> Group | None:
    found = connection.execute(
        select(group_keys.c.digest, group_keys.c.created.label("since"), groups)
        .join(groups, groups.c.id == group_keys.c.job_group)
        .where(group_keys.c.key == key)
    ).one_or_none()
    if found is None or time.time() - found.since >= KEEP:
        return None
    if found.digest != digest:
        raise KeyReused(
            f"this idempotency key was used for group {found.id}, which was asked for otherwise; "
            "use a new key for a new group"
        )
    return _group(found)


def _row(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": group.name,
        "spec": to_json(group.spec),
        "sweep": json.dumps(group.sweep),  # the order of its paths is that of its points
        "stop": None if group.stop is None else to_json(group.stop),
        "size": group.size,
        "created": group.created,
        "open": True,
        "ended": "",
        "spared": NOBODY,
    }


def _group(row: Row[Any]) -> Group:
    return Group(
        id=row.id,
        name=row.name,
        created=row.created,
        spec=json.loads(row.spec),
        sweep=json.loads(row.sweep),
        stop=None if row.stop is None else json.loads(row.stop),
        size=row.size,
        ended=row.ended,
        spared=row.spared,
    )


def _tally(rows: Sequence[Any]) -> Tally:
    whole = all(row.known == row.count for row in rows)
    return Tally(
        states={State(row.state): row.count for row in rows},
        rounds=sum(int(row.rounds) for row in rows),
        horizon_rounds=sum(int(row.wanted) for row in rows) if whole else None,
    )
