"""By which names the service may be asked: the name of a page elsewhere is none of them."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from driftfold_api.hosts import hosts_of
from driftfold_workers.redis.embedded import EmbeddedServer
from tests.api.serving import SPEC, Api, problem
from tests.workers import servers

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWN = ("localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.2:80", "[::1]:8000", "sim.example:443")
OTHERS = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8000", "0.0.0.0", "")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(server: EmbeddedServer) -> AsyncIterator[Api]:
    async with servers.store_on(server) as store:
        api = Api(store, hosts=hosts_of("127.0.0.1", ["Sim.example"]))
        await api.start()
        yield api
        await api.stop()


@pytest.mark.parametrize("host", OWN)
async def test_its_own_names_are_answered(api: Api, host: str) -> None:
    async with api.client() as http:
        for path in ("/v1/jobs", "/", "/livez"):
            assert (await http.get(path, headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("host", OTHERS)
async def test_other_names_are_refused_whatever_is_asked(api: Api, host: str) -> None:
    async with api.client() as http:
        headers = {"Host": host}
        for path in ("/v1/jobs", "/", "/nothing"):
            told = problem(await http.get(path, headers=headers), 421, "misdirected")
        assert f"--allowed-host {host.partition(':')[0]}" in told["detail"]
        answer = await http.post("/v1/jobs", json={"spec": SPEC}, headers=headers)
        problem(answer, 421, "misdirected")
        assert (await http.get("/v1/jobs")).json()["jobs"] == []


@pytest.mark.parametrize("origin", ["http://evil.example", "https://evil.example:8000", "null"])
async def test_a_page_elsewhere_changes_nothing(api: Api, origin: str) -> None:
    async with api.client() as http:
        made = await http.post("/v1/jobs", json={"spec": SPEC})
        cancel = f"/v1/jobs/{made.json()['id']}/cancel"
        told = problem(await http.post(cancel, headers={"Origin": origin}), 421, "misdirected")
        assert "origin" in told["detail"]
        assert (await http.get("/v1/jobs", headers={"Origin": origin})).status_code == 200
        answer = await http.post(cancel, headers={"Origin": "http://localhost:8000"})
        assert answer.status_code == 202


async def test_whoever_sends_no_name_is_no_browser_and_is_answered(api: Api) -> None:
    """Checks of load balancers still speak HTTP/1.0, which has no such header."""
    host, port = api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /livez HTTP/1.0\r\n\r\n")
    assert b" 200 OK" in await reader.readline()
    writer.close()
