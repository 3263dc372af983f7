"""Kinds, presets, and the description of the API."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from driftfold import presets
from driftfold.spec import catalogue, digest, from_mapping, load_spec
from driftfold_api import openapi
from driftfold_api.problem import TYPES
from driftfold_api.spec_schema import spec_schema
from tests.modules import ROOT

asynchronous = pytest.mark.asyncio(loop_scope="module")


@asynchronous
async def test_kinds_and_schema_are_those_of_the_library(shared: httpx.AsyncClient) -> None:
    assert (await shared.get("/v1/kinds")).json() == catalogue()
    assert (await shared.get("/v1/schema")).json() == json.loads(json.dumps(spec_schema()))


@asynchronous
async def test_presets_are_whole(shared: httpx.AsyncClient) -> None:
    listed = (await shared.get("/v1/presets")).json()["presets"]
    assert [preset["name"] for preset in listed] == list(presets.names())
    for preset in listed:
        spec = from_mapping(preset["spec"])
        assert spec == load_spec(preset["name"])
        assert preset["spec_digest"] == digest(spec)
    assert {preset["extends"] for preset in listed} > {None, "pca-synthetic"}


def test_the_description_in_the_repository_is_todays() -> None:
    kept = (ROOT / "api" / "openapi.json").read_text(encoding="utf-8")
    assert kept == openapi.text(), "renew it: python -m driftfold_api.openapi api/openapi.json"


def test_the_description_is_renewed_by_a_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "driftfold_api.openapi", str(tmp_path / "new.json")]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "new.json").read_text() == openapi.text()


def test_every_operation_declares_problems_and_no_other_form_of_error() -> None:
    described = json.loads(openapi.text())
    operations = [one for path in described["paths"].values() for one in path.values()]
    assert len(operations) >= 19
    for operation in operations:
        answers = operation["responses"]
        for status in ("default", *(s for s in answers if s[0] in "45")):
            (media,) = answers[status]["content"]
            assert media == "application/problem+json"
    assert "HTTPValidationError" not in described["components"]["schemas"]
    submit = described["paths"]["/v1/jobs"]["post"]
    assert {"202", "400", "413", "415", "422", "503"} <= submit["responses"].keys()
    schema = submit["requestBody"]["content"]["application/json"]["schema"]
    assert described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["required"] == [
        "spec"
    ]


def test_references_of_the_description_lead_somewhere() -> None:
    text = openapi.text()
    known = json.loads(text)["components"]["schemas"]
    parts = text.split('"#/components/schemas/')[1:]
    assert {part.partition('"')[0] for part in parts} <= known.keys()


def test_types_of_problems_have_one_address_each() -> None:
    assert len({kind.uri for kind in TYPES.values()}) == len(TYPES)
