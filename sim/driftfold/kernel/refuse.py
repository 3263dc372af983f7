"""What virtual time refuses: everything that needs the world outside the loop."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from driftfold.kernel.errors import OutsideVirtualTime

_NETWORK = "model the network as `await sleep(transfer time)` and pass messages by asyncio.Queue"
_THREAD = "call the function directly and say how long it takes with `await sleep(duration)`"
_PROCESS = "run the program before or after the simulation"
_SIGNAL = "install the handler with signal.signal() around the run"

_REFUSED = {
    "run_in_executor": _THREAD,
    "set_default_executor": _THREAD,
    "getaddrinfo": _NETWORK,
    "getnameinfo": _NETWORK,
    "create_connection": _NETWORK,
    "create_server": _NETWORK,
    "create_unix_connection": _NETWORK,
    "create_unix_server": _NETWORK,
    "create_datagram_endpoint": _NETWORK,
    "connect_accepted_socket": _NETWORK,
    "start_tls": _NETWORK,
    "sendfile": _NETWORK,
    "add_reader": _NETWORK,
    "remove_reader": _NETWORK,
    "add_writer": _NETWORK,
    "remove_writer": _NETWORK,
    "sock_recv": _NETWORK,
    "sock_recv_into": _NETWORK,
    "sock_recvfrom": _NETWORK,
    "sock_recvfrom_into": _NETWORK,
    "sock_sendall": _NETWORK,
    "sock_sendto": _NETWORK,
    "sock_connect": _NETWORK,
    "sock_accept": _NETWORK,
    "sock_sendfile": _NETWORK,
    "connect_read_pipe": _PROCESS,
    "connect_write_pipe": _PROCESS,
    "subprocess_exec": _PROCESS,
    "subprocess_shell": _PROCESS,
    "add_signal_handler": _SIGNAL,
    "remove_signal_handler": _SIGNAL,
}


def _refusal(name: str, advice: str) -> Callable[..., NoReturn]:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise OutsideVirtualTime(
            f"{name}() reaches outside, and virtual time has no outside to wait for; {advice}"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuse: virtual time has no outside."
    return refuse


class InsideOnlyLoop(asyncio.BaseEventLoop):
    """An event loop that refuses sockets, pipes, processes, signals and threads by name."""

    if TYPE_CHECKING:  # what the base class has and its type stub does not tell
        _closed: bool
        _debug: bool
        _ready: deque[asyncio.Handle]
        _stopping: bool
        _task_factory: object
        _thread_id: int | None

        def _check_callback(self, callback: object, method: str) -> None: ...
        def _check_closed(self) -> None: ...
        def _check_running(self) -> None: ...
        def _check_thread(self) -> None: ...

    def _process_events(self, event_list: list[object]) -> None:
        """Take up what a selector found: there is none."""

    def _write_to_self(self) -> None:
        """Wake a waiting selector: there is none."""


for _name, _advice in _REFUSED.items():
    setattr(InsideOnlyLoop, _name, _refusal(_name, _advice))
