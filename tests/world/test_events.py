"""Event keys: one number each, no two alike."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from driftfold.errors import RunError
from driftfold.world.events import (
    CLIENTS,
    CLOSED,
    DISPATCHES,
    DOWNLOADED,
    EMPTY,
    LEFT,
    PHASES,
    SENT,
    WAITED,
    WORKED,
    check_room,
    server_key,
    visit_key,
)

VISITS = st.tuples(
    st.integers(0, CLIENTS - 1),
    st.integers(0, DISPATCHES - 1),
    st.integers(0, PHASES - 1),
    st.sampled_from([DOWNLOADED, WORKED, SENT, LEFT]),
)
SERVER = st.tuples(
    st.integers(0, DISPATCHES - 1),
    st.integers(0, PHASES - 1),
    st.sampled_from([WAITED, CLOSED, EMPTY]),
)


def key_of(visit: tuple[int, int, int, int]) -> int:
    client, dispatch, phase, stage = visit
    return visit_key(client, dispatch, phase) + stage


@given(VISITS, VISITS)
def test_visits_differ(one: tuple[int, int, int, int], two: tuple[int, int, int, int]) -> None:
    assert (key_of(one) == key_of(two)) == (one == two)
    assert 0 <= key_of(one) < 2**63


@given(SERVER, SERVER, VISITS)
def test_the_server_is_nobody_else(
    one: tuple[int, int, int], two: tuple[int, int, int], visit: tuple[int, int, int, int]
) -> None:
    assert (server_key(*one) == server_key(*two)) == (one == two)
    assert server_key(*one) != key_of(visit)
    assert 0 <= server_key(*one) < 2**63


def test_neighbours_at_the_edges_differ() -> None:
    clients = [0, 1, CLIENTS - 2, CLIENTS - 1]
    dispatches = [0, 1, DISPATCHES - 2, DISPATCHES - 1]
    phases = [0, 1, PHASES - 2, PHASES - 1]
    visits = [(c, d, p, s) for c in clients for d in dispatches for p in phases for s in range(4)]
    keys = {key_of(v) for v in visits}
    keys |= {server_key(d, p, s) for d in dispatches for p in phases for s in range(3)}
    assert len(keys) == 4 * 4 * 4 * 4 + 4 * 4 * 3


def test_what_does_not_fit_is_refused() -> None:
    """Counts: a last client, dispatch or phase is one below the room."""
    check_room(CLIENTS, DISPATCHES, PHASES)
    for numbers in ((CLIENTS + 1, 0, 0), (0, DISPATCHES + 1, 0), (0, 0, PHASES + 1)):
        with pytest.raises(RunError, match="event keys have room for"):
            check_room(*numbers)
    assert key_of((0, DISPATCHES - 1, 0, LEFT)) < key_of((1, 0, 0, DOWNLOADED))
