"""A template, seen from the supervisor: start it, have processes forked, end it."""

import array
import asyncio
import errno
import os
import socket
import subprocess

from driftfold_workers.attempts.readable import until_readable
from driftfold_workers.attempts.starter import command, environment
from driftfold_workers.attempts.template import ANSWER, READY, TORCH

PATIENCE = 60.0  # seconds in which a template answers


class TemplateGone(OSError):
    """A template ended before it had answered."""


class TemplateLink:
    """A template and the socket on which it is asked for processes."""

    def __init__(self, *, torch: bool) -> None:
        self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._ready = False
        with its:
            try:
                self._process = subprocess.Popen(
                    command("template", its.fileno(), *([TORCH] if torch else [])),
                    stdin=subprocess.DEVNULL,
                    pass_fds=(its.fileno(),),
                    start_new_session=True,  # signals of the terminal are for the supervisor
                    env=environment(),
                )
            except BaseException:
                self._socket.close()
                raise

    @property
    def pid(self) -> int:
        """Process number."""
        return self._process.pid

    @property
    def ready(self) -> bool:
        """Whether it has imported everything; raises `TemplateGone` if it has ended."""
        try:
            said = self._socket.recv(len(READY))
        except BlockingIOError:
            return self._ready
        except ConnectionResetError:
            said = b""
        if not said:
            raise _gone()
        self._ready = True
        return True

    async def fork(self, orders: int, pipe: int) -> int:
        """Have a process forked that becomes a child of this one; return its number."""
        told, tell = os.pipe()
        try:
            self._ask(tell, orders, pipe)
            # The answer ends with the process in between: from then on the child is ours.
            answer = b""
            async with asyncio.timeout(PATIENCE):
                while chunk := await _read(told):
                    answer += chunk
        finally:
            os.close(told)
        if not answer:
            raise _gone()
        number: int = ANSWER.unpack(answer)[0]
        if number < 0:
            raise OSError(-number, os.strerror(-number))
        return number

    def end(self) -> None:
        """End it; processes that were forked from it go on."""
        self._process.kill()
        self._process.wait()
        self._socket.close()

    def _ask(self, tell: int, orders: int, pipe: int) -> None:
        ends = array.array("i", [tell, orders, pipe])
        try:
            self._socket.sendmsg([b"?"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, ends)])
        except (BrokenPipeError, ConnectionResetError):
            raise _gone() from None
        finally:
            os.close(tell)


def _gone() -> TemplateGone:
    return TemplateGone(errno.EPIPE, "the template of processes has ended")


async def _read(file: int) -> bytes:
    await until_readable(file)
    return os.read(file, ANSWER.size)
