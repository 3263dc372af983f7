"""By which names the service may be asked.

There is no login, and a web page elsewhere can let its own name lead to this machine (DNS
rebinding): the browser would then let it read and send everything. Such a request gives itself away
by the name in its Host header, or in the Origin of what would change something. A number in its
place is harmless: no page can claim it.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from driftfold_api import problem as p

EVERYWHERE = ("0.0.0.0", "::", "")
"""Addresses to listen at that mean all of this machine's."""


@dataclass(frozen=True)
class Hosts:
    """Names and addresses, beside those of the loopback, by which a service may be asked.

    >>> hosts = Hosts(frozenset({"sim.example"}))
    >>> [hosts.allow(host) for host in ("localhost:8000", "127.0.0.1", "[::1]:80", "SIM.example")]
    [True, True, True, True]
    >>> [hosts.allow(host) for host in ("evil.example:8000", "10.0.0.1", "")]
    [False, False, False]

    Attributes
    ----------
    names
        In lower case; "*" allows any.
    numbers
        Whether any numerical address is allowed.
    """

    names: frozenset[str] = frozenset()
    numbers: bool = False

    def allow(self, host: str) -> bool:
        """Return whether a Host header is one of ours."""
        name = _name(host)
        if name == "localhost" or name in self.names or "*" in self.names:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self.numbers or address.is_loopback


LOOPBACK = Hosts()


def hosts_of(listening: str, allowed: Sequence[str] = ()) -> Hosts:
    """Return what is allowed to a service that listens at an address.

    >>> hosts_of("10.0.0.1").allow("10.0.0.1:8000"), hosts_of("10.0.0.1").allow("10.0.0.2:8000")
    (True, False)
    >>> hosts_of("0.0.0.0").allow("10.0.0.2:8000"), hosts_of("::").allow("evil.example")
    (True, False)
    """
    everywhere = listening in EVERYWHERE
    own = socket.gethostname() if everywhere else listening
    return Hosts(frozenset(_name(name) for name in (own, *allowed)), numbers=everywhere)


class HostCheck:
    """Refuses what was meant for another host."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a problem."""
        wrong = self._foreign(scope) if scope["type"] == "http" else None
        if wrong is None:
            await self.app(scope, receive, send)
            return
        what, host = wrong
        scope.setdefault("state", {})[p.PROBLEM] = p.MISDIRECTED.slug
        name = _name(host)[:100] or "NAME"
        told = p.Problem(
            p.MISDIRECTED,
            f"got the {what} {host[:100]!r}, wanted one of this service's; if it is one, "
            f"start the service with --allowed-host {name}",
        )
        await p.answer(told, scope["path"])(scope, receive, send)

    def _foreign(self, scope: Scope) -> tuple[str, str] | None:
        """What names another host, and which; None for a request that is ours.

        A page elsewhere may send what changes things without asking first, when it has no body. It
        cannot hide where it comes from.
        """
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        if host is not None and not self.hosts.allow(host):  # browsers always send one
            return "host", host
        if origin is not None and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            source = origin.partition("://")[2] or origin
            if not self.hosts.allow(source):
                return "origin", source
        return None


def _name(host: str) -> str:
    """Return a host without its port.

    >>> [_name(host) for host in ("Localhost:80", "[::1]:80", "::1", "sim.example.")]
    ['localhost', '::1', '::1', 'sim.example']
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    name = host if host.count(":") > 1 else host.partition(":")[0]
    return name.lower().rstrip(".")
