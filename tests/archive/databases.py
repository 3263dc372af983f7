"""Databases for tests: a file of SQLite, and a server of PostgreSQL of our own."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, text

INSTALLED = Path("/usr/lib/postgresql")  # Debian keeps a folder for each version there
FAST = ("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=16MB")


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest; None where it is not installed."""
    found = sorted(INSTALLED.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    where = shutil.which("initdb")
    return None if where is None else Path(where).resolve().parent


def as_somebody() -> list[str]:
    """What goes before a command, so that it does not run as root: PostgreSQL refuses to."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid", somebody(), "--regid", "nogroup", "--clear-groups"]


def somebody() -> str:
    users = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in users else "nobody"


class Postgres:
    """A server in a folder; it can be killed and started again."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._port = free_port()
        self.url = f"postgresql://driftfold@127.0.0.1:{self._port}/postgres"
        words = ("-D", str(folder / "data"), "-A", "trust", "-N", "-U", "driftfold")
        made = subprocess.run(
            [*as_somebody(), str(programs / "initdb"), *words],
            capture_output=True,
            text=True,
            cwd=folder,
        )
        assert made.returncode == 0, made.stderr

    def start(self) -> None:
        words = ("-D", str(self._folder / "data"), "-p", str(self._port), "-k", str(self._folder))
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [
                    *(*as_somebody(), str(self._programs / "postgres"), *words),
                    *("-c", "listen_addresses=127.0.0.1", *FAST),
                ],
                stdout=log,
                stderr=log,
                cwd=self._folder,
            )
        wait_for(self._programs, self._port, self._server)

    def kill(self) -> None:
        """End it at once: what is not on disk is lost, and it recovers when it is started again."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait(30)


@contextmanager
def postgres(programs: Path) -> Iterator[Postgres]:
    """A server that runs as long as the block."""
    with TemporaryDirectory(prefix="driftfold-pg-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, somebody(), "nogroup")
        server = Postgres(programs, Path(name))
        server.start()
        try:
            yield server
        finally:
            server.kill()


def no_more_pages(connection: Connection) -> None:
    """Let a file of SQLite grow no more, as on a full disk."""
    pages = connection.execute(text("PRAGMA page_count")).scalar_one()
    connection.execute(text(f"PRAGMA max_page_count = {pages}"))


def wait_for(programs: Path, port: int, server: "subprocess.Popen[bytes]") -> None:
    asked = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    end = time.monotonic() + 60
    while subprocess.run(asked).returncode != 0:
        assert server.poll() is None, "PostgreSQL did not start"
        assert time.monotonic() < end, "PostgreSQL does not answer"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
