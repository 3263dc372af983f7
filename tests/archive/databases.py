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


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """The URL of a server that runs as long as the block."""
    with TemporaryDirectory(prefix="driftfold-pg-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, somebody(), "nogroup")
        data = f"{name}/data"
        made = subprocess.run(
            [
                *as_somebody(),
                str(programs / "initdb"),
                "-D",
                data,
                "-A",
                "trust",
                "-N",
                "-U",
                "driftfold",
            ],
            capture_output=True,
            text=True,
            cwd=name,
        )
        assert made.returncode == 0, made.stderr
        port = free_port()
        served = ("-D", data, "-p", str(port), "-k", name, "-c", "listen_addresses=127.0.0.1")
        with (Path(name) / "log").open("wb") as log:
            server = subprocess.Popen(
                [*as_somebody(), str(programs / "postgres"), *served, *FAST],
                stdout=log,
                stderr=log,
                cwd=name,
            )
        try:
            wait_for(programs, port, server)
            yield f"postgresql://driftfold@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing is worth keeping
            server.wait(30)


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
