import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.tasks.blocks import blocks_of

BLOCKS = np.arange(12 * 6.0).reshape(12, 2, 3)


@settings(deadline=None)
@given(ids=st.lists(st.integers(0, 11), max_size=15), copy_up_to=st.sampled_from([0, 10**6]))
def test_the_pieces_make_up_the_stack(ids: list[int], copy_up_to: int) -> None:
    clients = np.array(ids, dtype=np.int64)
    out = np.full((len(ids), 2, 3), np.nan)
    for where, part in blocks_of(BLOCKS, clients, copy_up_to):
        assert np.isnan(out[where]).all()  # no place twice
        out[where] = part
    assert np.array_equal(out, BLOCKS[clients])


def test_consecutive_ids_are_a_view() -> None:
    ((where, part),) = blocks_of(BLOCKS, np.arange(3, 9))
    assert where == slice(0, 6)
    assert np.shares_memory(part, BLOCKS)


def test_other_ids_are_one_copy_or_a_view_a_run() -> None:
    clients = np.array([0, 1, 5, 3, 4])
    ((_, part),) = blocks_of(BLOCKS, clients, copy_up_to=BLOCKS[0].nbytes)
    assert not np.shares_memory(part, BLOCKS)
    runs = blocks_of(BLOCKS, clients, copy_up_to=BLOCKS[0].nbytes - 1)
    assert [where for where, _ in runs] == [slice(0, 2), slice(2, 3), slice(3, 5)]
    assert all(np.shares_memory(part, BLOCKS) for _, part in runs)


def test_one_client_has_no_leading_axis() -> None:
    ((where, part),) = blocks_of(BLOCKS, np.asarray(4))
    assert where is ...
    assert part.shape == (2, 3)
    assert np.shares_memory(part, BLOCKS)
