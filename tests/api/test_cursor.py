"""Cursors are read as they were written, and nothing else is read as one."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold_api.client.events import Frames, Positions
from driftfold_api.cursor import Cursor, Place

ids = st.uuids().map(str)
counts = st.integers(0, 2**53)
places = st.builds(Place, counts, counts) | st.just(Place(over=True))


@given(st.dictionaries(ids, places, min_size=1, max_size=8), st.none() | counts)
def test_what_is_written_is_read(known: dict[str, Place], turn: int | None) -> None:
    cursor = Cursor(known, turn)
    assert Cursor.read(cursor.text) == cursor
    assert cursor.text.isascii()
    assert not set(cursor.text) & set(" \r\n&=%")  # goes into headers and addresses as it is
    assert len(cursor.text) <= 20 + len(known) * (22 + 2 * 18)


@given(st.text())
def test_other_texts_are_refused(text: str) -> None:
    try:
        cursor = Cursor.read(text)
    except ValueError:
        return
    assert Cursor.read(cursor.text) == cursor


def test_positions_count_what_was_yielded_and_no_more() -> None:
    """Who stops in the middle of an event goes on in the middle of it."""
    one, two = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
    told = Cursor({one: Place(3, 0), two: Place()}, 5)
    records = ",".join(
        f'{{"seq":{seq},"kind":"round","time":0.0,"version":{seq},"values":{{}}}}'
        for seq in (1, 2, 3)
    )
    sent = f'id: {told.text}\nevent: records\ndata: {{"job":"{one}","records":[{records}]}}\n\n'
    (frame,) = Frames().feed(sent.encode())
    positions = Positions()
    assert positions.params == {}
    events = positions.take(frame)
    assert next(events)[1].seq == 1  # type: ignore[union-attr]
    assert next(events)[1].seq == 2  # type: ignore[union-attr]
    # `two` has begun and told nothing: it must not be forgotten.
    assert positions.params == {"cursor": Cursor({one: Place(2, 0), two: Place()}, 5).text}
    again = Positions(cursor=positions.cursor)
    assert [event.seq for _, event in again.take(frame)] == [3]  # type: ignore[union-attr]


def test_a_cursor_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no part of a cursor"):
        Positions(cursor="x.1.2.3")
