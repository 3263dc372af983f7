"""The page's files as they are served and as they are written; this needs no browser."""

import re
from pathlib import Path

import httpx
import pytest

from driftfold_api.page import FOLDER, TYPES
from tests.api.serving import problem

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.parent.name != "vendor")
LIMIT = 60_000  # bytes of script: a page that needs more should be two
NAMES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())


async def test_the_page_and_all_its_files_are_served(http: httpx.AsyncClient) -> None:
    page = await http.get("/")
    assert page.content == (FOLDER / "index.html").read_bytes()
    for name in NAMES:
        answer = await http.get(f"/page/{name}")
        assert answer.content == (FOLDER / name).read_bytes()
        assert answer.headers["content-type"].partition(";")[0] == TYPES[Path(name).suffix]
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = await http.get(f"/page/{name}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = await http.head(f"/page/{name}")
        assert (head.status_code, head.content) == (200, b"")
    linked = re.findall(r'(?:href|src)="(page/[^"]+)"', page.text)
    assert len(linked) == 5
    assert {name.removeprefix("page/") for name in linked} <= set(NAMES)


async def test_only_the_service_itself_may_be_asked_for_anything(http: httpx.AsyncClient) -> None:
    policy = (await http.get("/")).headers["content-security-policy"]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    assert rules.pop("default-src") == "'none'"
    assert set(rules.values()) == {"'self'", "'none'"}  # no unsafe-inline, no eval, no host


@pytest.mark.parametrize(
    "name", ["missing.js", "../page.py", "%2e%2e/page.py", "..%2fpage.py", "vendor", "", "/etc/x"]
)
async def test_nothing_else_is_served(http: httpx.AsyncClient, name: str) -> None:
    answer = await http.get(f"/page/{name}")
    assert problem(answer, 404, "not-found")


async def test_own_code_is_small_and_plain() -> None:
    scripts = [path for path in OWN if path.suffix == ".js"]
    assert sum(path.stat().st_size for path in scripts) < LIMIT
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path
        assert not re.findall(r"(?<!xmlns=\")https?://", text), path


async def test_what_is_not_ours_has_its_licence_beside_it() -> None:
    vendor = FOLDER / "vendor"
    assert {path.name for path in vendor.iterdir()} == {
        "uPlot.iife.min.js", "uPlot.min.css", "uPlot.LICENSE.txt",
    }  # fmt: skip
    assert "(v1.6.32)" in (vendor / "uPlot.iife.min.js").read_text(encoding="utf-8")[:100]
    assert "MIT License" in (vendor / "uPlot.LICENSE.txt").read_text(encoding="utf-8")
