"""The description of the API, and how its problems appear in it.

``python -m driftfold_api.openapi FILE`` writes it; the one in the repository is
``api/openapi.json``.
"""

import json
import sys
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from driftfold_api.group_models import GroupAsked
from driftfold_api.models import ProblemDetails, Submission
from driftfold_api.problem import MEDIA_TYPE, TYPES, ProblemType
from driftfold_api.repeat_models import CloneAsked, ReplayAsked, RetryAsked

BODIES = (Submission, RetryAsked, CloneAsked, ReplayAsked, GroupAsked)
"""What routes read themselves."""
REFERENCE = "#/components/schemas/"


def problems(*types: ProblemType) -> dict[int | str, dict[str, Any]]:
    """Return the problems that a route may answer with, for its description."""
    told: dict[int | str, dict[str, Any]] = {}
    for status in sorted({kind.status for kind in types}):
        titles = [kind.title for kind in types if kind.status == status]
        told[status] = _response("; ".join(titles))
    # With "default" given, FastAPI adds no 422 of its own form.
    return {**told, "default": _response("Any other problem")}


def body(model: type[Any], *, required: bool = True) -> dict[str, Any]:
    """Return the description of a JSON body that the route reads itself."""
    schema = {"$ref": REFERENCE + model.__name__}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": required, "content": content}}


def describe(app: FastAPI) -> None:
    """Let an app describe itself with the models that no route declares."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            known = schema.setdefault("components", {}).setdefault("schemas", {})
            for model in (ProblemDetails, *BODIES):
                table = model.model_json_schema(ref_template=REFERENCE + "{model}")
                known |= table.pop("$defs", {})
                known[model.__name__] = table
            schema["components"]["schemas"] = dict(sorted(known.items()))
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def text() -> str:
    """Return the description as the repository keeps it."""
    from driftfold_api.app import describe_only

    return json.dumps(describe_only(), indent=1, sort_keys=True) + "\n"


def _response(description: str) -> dict[str, Any]:
    schema = {"$ref": REFERENCE + ProblemDetails.__name__}
    return {"description": description, "content": {MEDIA_TYPE: {"schema": schema}}}


def explain(slug: str) -> dict[str, Any] | None:
    """Return what a type of problem means.

    >>> explain("unknown-job")["status"]
    404
    """
    kind = TYPES.get(slug)
    if kind is None:
        return None
    told = {"type": kind.uri, "title": kind.title, "status": kind.status}
    return {**told, "meaning": kind.meaning}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
