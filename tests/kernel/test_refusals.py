"""Virtual time has no outside: sockets, threads, processes and signals are refused."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from driftfold.kernel import VirtualLoop, run, sleep
from driftfold.kernel.errors import KernelError, OutsideVirtualTime

Call = Callable[[asyncio.AbstractEventLoop], Awaitable[Any] | Any]

CALLS: dict[str, Call] = {
    "run_in_executor": lambda loop: loop.run_in_executor(None, print),
    "to_thread": lambda loop: asyncio.to_thread(print),
    "getaddrinfo": lambda loop: loop.getaddrinfo("localhost", 80),
    "open_connection": lambda loop: asyncio.open_connection("localhost", 80),
    "start_server": lambda loop: asyncio.start_server(lambda r, w: None, "localhost", 0),
    "create_datagram_endpoint": lambda loop: loop.create_datagram_endpoint(
        asyncio.DatagramProtocol
    ),
    "create_subprocess_exec": lambda loop: asyncio.create_subprocess_exec("true"),
    "create_subprocess_shell": lambda loop: asyncio.create_subprocess_shell("true"),
    "add_reader": lambda loop: loop.add_reader(0, print),
    "add_signal_handler": lambda loop: loop.add_signal_handler(2, print),
    "connect_read_pipe": lambda loop: loop.connect_read_pipe(asyncio.Protocol, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_reach_outside_are_refused_with_advice(name: str) -> None:
    async def main() -> None:
        result = CALLS[name](asyncio.get_running_loop())
        if result is not None:
            await result

    with pytest.raises(OutsideVirtualTime, match="no outside") as caught:
        run(main())
    assert isinstance(caught.value, KernelError)
    assert "; " in str(caught.value)  # what was asked; what to do instead


def test_sockets_are_refused() -> None:
    async def main() -> None:
        left, right = socket.socketpair()
        with left, right:
            left.setblocking(False)
            await asyncio.get_running_loop().sock_recv(left, 1)

    with pytest.raises(OutsideVirtualTime, match="sock_recv"):
        run(main())


def test_every_method_that_asyncio_leaves_to_a_selector_is_refused_or_its_own() -> None:
    """No public method is left that would fail with a bare NotImplementedError."""
    loop = VirtualLoop()
    bare = [
        name
        for name, method in vars(asyncio.AbstractEventLoop).items()
        if not name.startswith("_") and getattr(VirtualLoop, name) is method
    ]
    loop.close()
    assert bare == []


def test_another_thread_may_not_call_in() -> None:
    caught: list[BaseException] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def from_outside() -> None:
            try:
                loop.call_soon_threadsafe(print)
            except BaseException as error:
                caught.append(error)

        thread = threading.Thread(target=from_outside)
        thread.start()
        thread.join()

    run(main())
    (error,) = caught
    assert isinstance(error, OutsideVirtualTime)
    assert "another thread" in str(error)


def test_the_loop_s_own_thread_may_call_threadsafe() -> None:
    async def main() -> list[int]:
        seen: list[int] = []
        asyncio.get_running_loop().call_soon_threadsafe(seen.append, 1)
        await sleep(0.0)
        return seen

    assert run(main()) == [1]
