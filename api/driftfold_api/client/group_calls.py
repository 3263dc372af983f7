"""Requests about groups; see `calls`."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftfold.spec import JobSpec
from driftfold_api.client.calls import Call, model_of, table_of
from driftfold_api.errors import Refused
from driftfold_api.group_models import ChildPage, GroupDetail, GroupPage
from driftfold_api.terms import TermsGiven, to_body
from driftfold_workers.jobs.new_id import is_id


def sweep(
    spec: JobSpec | Mapping[str, Any] | str | Path,
    points: Mapping[str, Any],
    stop: Mapping[str, Any] | None,
    name: str | None,
    key: str | None,
    terms: TermsGiven,
) -> Call[GroupDetail]:
    """Run an experiment at many points."""
    said = {"name": name, "stop": None if stop is None else dict(stop)}
    body = {"spec": table_of(spec), "sweep": dict(points), **to_body(terms)}
    body |= {field: value for field, value in said.items() if value is not None}
    headers = {"Idempotency-Key": key or str(uuid.uuid4())}
    read = model_of(GroupDetail)
    # Every point is checked first.
    return Call("POST", "/v1/groups", read, headers=headers, body=body, patience=120.0)


def get(group: str) -> Call[GroupDetail]:
    """Look at a group."""
    return Call("GET", _group(group), model_of(GroupDetail))


def page(limit: int, cursor: str | None) -> Call[GroupPage]:
    """List groups, newest first."""
    return Call("GET", "/v1/groups", model_of(GroupPage), {"limit": limit, "cursor": cursor})


def jobs(group: str, after: int, limit: int) -> Call[ChildPage]:
    """List the jobs of a group."""
    params = {"after": after, "limit": limit}
    return Call("GET", f"{_group(group)}/jobs", model_of(ChildPage), params)


def cancel(group: str) -> Call[GroupDetail]:
    """Cancel a group."""
    return Call("POST", f"{_group(group)}/cancel", model_of(GroupDetail))


def delete(group: str) -> Call[None]:
    """Forget a group that is over."""
    return Call("DELETE", _group(group), lambda response: None, repeatable=False)


def _group(group: str) -> str:
    if not is_id(group):
        detail = f"no group has the id {group[:50]!r}"
        raise Refused(detail, 404, "/problems/unknown-group")
    return f"/v1/groups/{group}"
