"""Groups: many jobs by one request, seen and canceled together."""

from typing import Annotated

from annotated_types import Ge, Le
from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.datastructures import URL

from driftfold_api import problem as p
from driftfold_api.archive.group import UnknownGroup
from driftfold_api.bodies import read_model
from driftfold_api.etag import UNCHANGED, Known, unless_known
from driftfold_api.group_models import (
    ChildPage,
    ChildView,
    GroupAsked,
    GroupDetail,
    GroupPage,
    GroupView,
)
from driftfold_api.groups import BY_REQUEST, BadPoints, delete_group, make_group
from driftfold_api.openapi import body, problems
from driftfold_api.routes.jobs import POLL_AFTER, Cursor
from driftfold_api.routes.repeats import BAD_BODY, TROUBLE, TROUBLE_IN_MAKING, KeyGiven
from driftfold_api.service import Service, ServiceHere
from driftfold_workers.jobs.new_id import is_id
from driftfold_workers.jobs.store import Conflict

router = APIRouter(prefix="/v1/groups", tags=["groups"])


async def group_id(group: str) -> str:
    """Refuse what cannot be the id of a group before the archive is asked."""
    if not is_id(group):
        raise UnknownGroup(f"no group has the id {group[:50]!r}")
    return group


GroupHere = Annotated[str, Depends(group_id)]


@router.post(
    "",
    status_code=202,
    response_model=GroupDetail,
    openapi_extra=body(GroupAsked),
    responses=problems(*BAD_BODY, p.INVALID_SPEC, p.KEY_REUSED, *TROUBLE_IN_MAKING),
)
async def create(
    request: Request, response: Response, service: ServiceHere, idempotency_key: KeyGiven = None
) -> GroupDetail:
    """Run an experiment at many points: a job for each, all of them or none."""
    asked = await read_model(request, GroupAsked)
    try:
        group = await make_group(service, asked, idempotency_key)
    except BadPoints as error:
        entries = [
            {"field": f"sweep.points[{number}]", "detail": detail}
            for number, detail in error.problems.items()
        ]
        raise p.Problem(p.INVALID_SPEC, str(error), entries) from None
    told = await _told(service, group.id)
    response.headers.update({"Location": told.links["self"], "Retry-After": POLL_AFTER})
    return told


@router.get("", response_model=GroupPage, responses=problems(p.INVALID_REQUEST, p.UNREACHABLE))
async def list_groups(
    request: Request,
    service: ServiceHere,
    limit: Annotated[int, Query(), Ge(1), Le(200)] = 50,
    cursor: Annotated[Cursor | None, Query(description="From the page before.")] = None,
) -> GroupPage:
    """List groups, newest first."""
    found = await service.archive.groups.list(limit=limit + 1, cursor=cursor)
    shown, following = found[:limit], None
    if len(found) > limit:
        url: URL = request.url.include_query_params(cursor=shown[-1].id)
        following = f"{url.path}?{url.query}"
    tallies = await service.archive.groups.tallies([group.id for group in shown])
    return GroupPage(
        groups=[GroupView.of(group, tallies[group.id]) for group in shown],
        cursor=shown[-1].id if following else None,
        next=following,
    )


@router.get(
    "/{group}",
    response_model=GroupDetail,
    responses={304: UNCHANGED, **problems(p.UNKNOWN_GROUP, p.UNREACHABLE)},
)
async def get_group(
    group: GroupHere, service: ServiceHere, if_none_match: Known = None
) -> Response:
    """Return a group, and how far it is. Its ETag changes with all that is told of it."""
    return unless_known(await _told(service, group), if_none_match)


@router.get(
    "/{group}/jobs",
    response_model=ChildPage,
    responses=problems(p.UNKNOWN_GROUP, p.INVALID_REQUEST, p.UNREACHABLE),
)
async def list_children(
    group: GroupHere,
    service: ServiceHere,
    after: Annotated[int, Query(description="Jobs after this number."), Ge(0), Le(2**53)] = 0,
    limit: Annotated[int, Query(), Ge(1), Le(1000)] = 100,
) -> ChildPage:
    """Return the jobs of a group and their points, in the order of these."""
    await service.archive.groups.get(group)
    found = await service.archive.groups.children(group, after=after, limit=limit + 1)
    jobs = [ChildView.of(child) for child in found[:limit]]
    last = jobs[-1].number if jobs else after
    return ChildPage(jobs=jobs, last=last, complete=len(found) <= limit)


@router.post(
    "/{group}/cancel",
    status_code=202,
    response_model=GroupDetail,
    responses=problems(p.UNKNOWN_GROUP, p.CONFLICT, *TROUBLE),
)
async def cancel(group: GroupHere, response: Response, service: ServiceHere) -> GroupDetail:
    """Cancel the jobs of a group that are not over; it takes a second or so to begin."""
    told = await _told(service, group)
    if told.done:
        raise Conflict(f"all jobs of group {group} are over; there is nothing to cancel")
    await service.archive.groups.end(group, BY_REQUEST)
    response.headers["Retry-After"] = POLL_AFTER
    return await _told(service, group)


@router.delete(
    "/{group}", status_code=204, responses=problems(p.UNKNOWN_GROUP, p.CONFLICT, *TROUBLE)
)
async def delete(group: GroupHere, service: ServiceHere) -> None:
    """Forget a group that is over, its jobs and their logs."""
    await delete_group(service, group)


async def _told(service: Service, group: str) -> GroupDetail:
    known = await service.archive.groups.get(group)
    return GroupDetail.of(known, (await service.archive.groups.tallies([group]))[group])
