"""Query parameters, strictly: one that nobody knows, or that is given twice, is a mistake."""

from collections import Counter

from fastapi import Request
from fastapi.routing import APIRoute

from driftfold.registry import unknown
from driftfold_api.problem import INVALID_REQUEST, Problem


# A coroutine only because FastAPI would call a function in another thread.
async def strict_query(request: Request) -> None:
    """Refuse parameters that the route does not know, and those that are given more than once."""
    given = Counter(name for name, _ in request.query_params.multi_items())
    route: APIRoute = request.scope["route"]
    known = [field.alias for field in route.dependant.query_params]
    errors = [
        {"field": f"query.{name[:50]}", "detail": detail}
        for name, times in given.items()
        if (detail := _wrong(name, times, known))
    ]
    if errors:
        lines = "\n".join(f"{entry['field']}: {entry['detail']}" for entry in errors)
        raise Problem(INVALID_REQUEST, lines, errors)


def _wrong(name: str, times: int, known: list[str]) -> str:
    if not known:
        return f"unknown parameter {name[:50]!r}; this address has none"
    if name not in known:
        return unknown("parameter", name[:50], known)
    return f"given {times} times, wanted once" if times > 1 else ""
