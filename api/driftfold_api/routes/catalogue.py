"""What a specification can say: kinds, its schema, presets."""

from functools import cache
from typing import Any

from fastapi import APIRouter

from driftfold import presets as shipped
from driftfold.spec import catalogue, digest, load_spec, to_mapping
from driftfold.spec.readers import parse
from driftfold_api.models import Preset, Presets
from driftfold_api.openapi import problems
from driftfold_api.spec_schema import spec_schema

router = APIRouter(prefix="/v1", tags=["catalogue"])


@router.get("/kinds", responses=problems())
async def kinds() -> dict[str, dict[str, dict[str, Any]]]:
    """Return every kind with its fields: family, kind, description."""
    return catalogue()


@router.get("/schema", responses=problems())
async def schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a specification with the kinds that are loaded here."""
    return spec_schema()


@router.get("/presets", responses=problems())
async def presets() -> Presets:
    """Return the experiments that come with driftfold, complete."""
    return _presets()


@cache
def _presets() -> Presets:
    return Presets(presets=[_preset(name) for name in shipped.names()])


def _preset(name: str) -> Preset:
    text = shipped.read(name)
    spec = load_spec(name)
    return Preset(
        name=name,
        doc=shipped.describe(name),
        extends=parse(text, ".toml", name).get("extends"),
        spec_digest=digest(spec),
        spec=to_mapping(spec),
    )
