"""Bodies of requests: strict JSON, read as a model."""

from typing import TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from driftfold_api.strict_json import read_json

M = TypeVar("M", bound=BaseModel)


async def read_model(request: Request, model: type[M], *, required: bool = True) -> M:
    """Return what a body says, or raise the problem with it. A body may be missing if it may."""
    return as_model({} if not required and _empty(request) else await read_json(request), model)


def as_model(given: object, model: type[M]) -> M:
    """Return a value as a model; what is wrong with it is told as part of the body."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = [{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors()]
        raise RequestValidationError(found) from None


def _empty(request: Request) -> bool:
    length = request.headers.get("content-length", "0")
    return length == "0" and "transfer-encoding" not in request.headers
