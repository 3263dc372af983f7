"""A Redis server of one's own: a child process whose data live in a folder, shared by commands."""

import fcntl
import json
import os
import secrets
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from driftfold_workers.redis.server_binary import ServerError, find_server

HOST = "127.0.0.1"
READY_WITHIN = 60.0  # seconds; a long log takes a while to load
STOPPED_WITHIN = 10.0
TRIES = 3  # a free port may be taken before the server has it
LOCK, FACTS, CONFIG, LOG = "server.lock", "server.json", "server.conf", "server.log"

# Keeps the server from outliving its owner, however that ends: the guard's input is a pipe whose
# other end only the owner holds. It tells the server's process number and ends when the server
# does. Whoever is left holds the lock (file descriptor), so nobody else touches the data.
GUARD = f"""
exec 4<&0
"$@" </dev/null 4<&- >>{LOG} 2>&1 &
server=$!
{{ read -r line; kill -TERM $server; }} <&4 >/dev/null 2>&1 &
reader=$!
echo $server
exec </dev/null >/dev/null 4<&-
wait $server
code=$?
kill $reader 2>/dev/null
exit $code
"""

CONFIGURATION = f"""\
bind {HOST}
port {{port}}
requirepass {{secret}}
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
"""


class EmbeddedServer:
    """Handle on the server whose data are in a folder.

    Whoever comes first owns it: starts it, and stops it on leaving. The server also stops when
    its owner is killed. Others on this machine join it. It listens on the loopback interface and
    wants the password that is part of `url`; only the user who owns it can read that.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "redis"
    >>> with EmbeddedServer.open(folder) as server, EmbeddedServer.open(folder) as other:
    ...     server.owner, other.owner, server.url == other.url
    (True, False, True)

    Attributes
    ----------
    folder
        Where its data, its log and its address are.
    owner
        Whether this handle started it.
    """

    def __init__(self, folder: Path, lock: int | None, program: Path | None) -> None:
        self.folder = folder
        self._program = program
        self.owner = lock is not None
        self._lock = lock
        self._guard: subprocess.Popen[bytes] | None = None

    @classmethod
    def open(cls, folder: Path, *, port: int | None = None, program: Path | None = None) -> Self:
        """Join the server of a folder, or start it; returns when it answers.

        Parameters
        ----------
        folder
            Made if it is missing.
        port
            Where a server that is started listens; None for the one of last time, or a free one.
        program
            What is started; None for the first that `find_server` finds.

        Raises
        ------
        ServerError
            There is no server program, the port is in use, the folder cannot be written, or the
            server does not answer within a minute.
        """
        deadline = time.monotonic() + READY_WITHIN
        while True:
            lock = _try_lock(folder)
            server = cls(folder, lock, program)
            if lock is not None:
                try:
                    server._start(port)
                except BaseException:
                    server.stop()
                    raise
                return server
            # The owner may be about to start it, to restart it, or to leave.
            if server.answers():
                return server
            if time.monotonic() > deadline:
                raise ServerError(
                    f"the Redis server of {folder} belongs to another process and has not "
                    f"answered for {READY_WITHIN:g} s; see {folder / LOG}, or stop that process"
                )
            time.sleep(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Its address, with the password."""
        return f"redis://:{self._facts()['secret']}@{HOST}:{self._facts()['port']}/0"

    @property
    def pid(self) -> int:
        """The number of its process."""
        return int(self._facts()["pid"])

    def alive(self) -> bool:
        """Whether its process runs; a handle that joined asks the server itself."""
        return self._guard.poll() is None if self._guard is not None else self.answers()

    def answers(self) -> bool:
        """Whether it answers: it runs and has loaded its data."""
        try:
            with Redis.from_url(self.url, socket_timeout=1.0, retry=Retry(NoBackoff(), 0)) as redis:
                return bool(redis.ping())
        except (RedisError, OSError, KeyError):
            return False

    def restart(self) -> None:
        """Start it again, at the same address, with all that it acknowledged; stop it if it runs.

        The owner does this when the server was killed.
        """
        if not self.owner:
            raise ServerError(f"only the process that started the server of {self.folder} may")
        facts = self._facts()
        self._halt()
        self._launch(facts["port"], facts["secret"])

    def stop(self) -> None:
        """Leave it; the owner stops it, and nothing is lost. Safe to repeat."""
        self._halt()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _start(self, port: int | None) -> None:
        before = self._facts()  # who knew the address of last time may go on with it
        secret = str(before.get("secret") or secrets.token_urlsafe(24))
        if port is not None:
            if not _is_free(port):
                raise ServerError(f"port {port} of {HOST} is in use; choose another, or none")
            return self._launch(port, secret)
        wishes = [int(before.get("port", 0)), *[0] * TRIES]
        ports = [wish for wish in wishes if wish and _is_free(wish)] or [_free_port()]
        for _ in range(TRIES):
            with suppress(_PortTaken):
                return self._launch(ports.pop() if ports else _free_port(), secret)
        raise ServerError(f"the Redis server found no free port in {TRIES} tries; name one")

    def _launch(self, port: int, secret: str) -> None:
        """Start the process and wait until it answers."""
        assert self._lock is not None
        program = self._program or find_server()
        _write_private(self.folder / CONFIG, CONFIGURATION.format(port=port, secret=secret))
        guard = self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", program, CONFIG],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # the shell's word on how the server ended
            pass_fds=(self._lock,),
            start_new_session=True,  # so that Ctrl-C reaches the owner alone, who stops it last
        )
        assert guard.stdout is not None
        pid = int(guard.stdout.readline() or 0)
        facts = {"port": port, "secret": secret, "pid": pid}
        _write_private(self.folder / FACTS, json.dumps(facts))
        deadline = time.monotonic() + READY_WITHIN
        while not self.answers():
            if guard.poll() is not None or time.monotonic() > deadline:
                self._halt()
                raise self._failure(program)
            time.sleep(0.01)

    def _halt(self) -> None:
        guard, self._guard = self._guard, None
        if guard is None:
            return
        assert guard.stdin is not None
        assert guard.stdout is not None
        guard.stdin.close()
        try:
            guard.wait(STOPPED_WITHIN)
        except subprocess.TimeoutExpired:
            if self.pid > 0:
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
            guard.wait()
        guard.stdout.close()

    def _facts(self) -> dict[str, Any]:
        try:
            facts: dict[str, Any] = json.loads((self.folder / FACTS).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return facts

    def _failure(self, program: Path) -> ServerError:
        with (self.folder / LOG).open(encoding="utf-8", errors="replace") as log:
            said = log.readlines()[-5:]
        kind = _PortTaken if any("already in use" in line for line in said) else ServerError
        return kind(
            f"the Redis server {program} did not start in {self.folder}; it said last: "
            f"{' / '.join(line.strip() for line in said)}"
        )


class _PortTaken(ServerError):
    """Somebody else was faster."""


def _try_lock(folder: Path) -> int | None:
    """Return the descriptor of the folder's lock, or None when another process has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ServerError(
            f"the Redis server cannot keep its data in {folder}: {error.strerror}; give a folder "
            "that can be written"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, at once as a whole."""
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    part.replace(path)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
