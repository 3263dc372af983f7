"""FLASH's records of phone states, and when a phone is ready for training."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from driftfold.errors import DataError

_FLAGS = {
    "battery_charged_on": ("charging", True),
    "battery_charged_off": ("charging", False),
    "screen_lock": ("locked", True),
    "screen_unlock": ("locked", False),
    "wifi": ("wifi", True),
    "2g": ("wifi", False),
    "3g": ("wifi", False),
    "4g": ("wifi", False),
    "5g": ("wifi", False),
    "unknown": ("wifi", False),
}


def ready(
    messages: Mapping[str, str], where: object
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    r"""Yield each user's sessions of being locked, on Wi-Fi and charging, in seconds.

    `messages` are lines of a time, a tab and a state. Time 0 is the midnight before the earliest
    message of all. Until a state is told it counts as not so; a session that no message ends lasts
    until the user's last message. Source: Yang et al., "Characterizing Impacts of Heterogeneity in
    Federated Learning upon Large-Scale Smartphone Data" (FLASH, WWW 2021).

    >>> lines = ["2020-01-31 01:00:00\tscreen_lock", "2020-01-31 01:00:10\twifi",
    ...          "2020-01-31 01:00:20\tbattery_charged_on", "2020-01-31 01:30:00\tscreen_unlock"]
    >>> list(ready({"a": "\n".join(lines)}, "here"))
    [('a', [(3620.0, 5400.0)])]
    """
    parsed = {user: _parsed(text, user, where) for user, text in messages.items()}
    times = [states[0][0] for states in parsed.values() if states]
    if not times:
        return
    midnight = min(times).replace(hour=0, minute=0, second=0, microsecond=0)
    for user, states in parsed.items():
        seconds = [((time - midnight).total_seconds(), state) for time, state in states]
        yield user, _sessions(seconds)


def _sessions(states: list[tuple[float, str]]) -> list[tuple[float, float]]:
    now = {"charging": False, "locked": False, "wifi": False}
    sessions: list[tuple[float, float]] = []
    since: float | None = None
    for time, state in states:
        if state in _FLAGS:
            name, value = _FLAGS[state]
            now[name] = value
        if all(now.values()) and since is None:
            since = time
        elif not all(now.values()) and since is not None:
            sessions.append((since, time))
            since = None
    if since is not None:
        sessions.append((since, states[-1][0]))
    return sessions


def _parsed(text: str, user: str, where: object) -> list[tuple[datetime, str]]:
    states = []
    for line in text.splitlines():
        if not line.strip():
            continue
        told, _, state = line.partition("\t")
        try:
            time = datetime.fromisoformat(told.strip())
        except ValueError:
            raise DataError(
                f"{where}: user {user!r} has the message {line[:60]!r}; wanted lines of "
                "YYYY-mm-dd HH:MM:SS, a tab and a state"
            ) from None
        states.append((time, state.strip().lower()))
    # Stable: messages of one second keep their order.
    return sorted(states, key=lambda message: message[0])
