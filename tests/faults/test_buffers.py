"""A buffer that wants more answers than there are live clients to give them."""

from typing import Any

import pytest

from driftfold.errors import NeverAnswers
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.world.scripted import TABLE, rounds, told

# Client 0 answers at 1, 2 and 3 s and is gone at 3.5; the others never answer.
DEAD: dict[str, Any] = {
    **TABLE,
    "algorithm": {"kind": "fedavg"},
    "latency": {"kind": "test-delays", "never": [1, 2, 3, 4, 5]},
    "participation": {"kind": "test-sessions", "on": [[0.0, 3.5]]},
    "cadence": {"kind": "buffered", "concurrency": 6, "buffer": 4},
}


def test_a_time_limit_empties_the_buffer() -> None:
    limited = {**DEAD["cadence"], "patience": 10.0}
    result, records = told(DEAD, cadence=limited, horizon={"rounds": 1})
    assert (result.time, result.counts["dropped"]) == (10.0, 1)
    assert [r["accepted"] for r in rounds(records)] == [3.0]


@pytest.mark.parametrize("answers", [0.0, 3.5], ids=["none", "too few"])
def test_without_one_the_wait_for_ever_is_told_at_once(answers: float) -> None:
    on = {"kind": "test-sessions", "on": [[0.0, answers]]}
    with pytest.raises(NeverAnswers, match="patience"):
        run(from_mapping({**DEAD, "participation": on}))


def test_when_the_others_have_left_the_buffer_is_as_full_as_it_gets() -> None:
    left = {"kind": "test-sessions", "on": [[0.0, 3.5]] + [[0.0, 0.5]] * 5}
    result, records = told(DEAD, participation=left, horizon={"rounds": 9})
    assert (result.ended, result.rounds, result.time) == ("nobody left", 1, 3.5)
    assert [r["accepted"] for r in rounds(records)] == [3.0]
    assert result.counts["dropped"] == 6


def test_live_clients_fill_it_in_turns_however_many_it_wants() -> None:
    """Two of six are alive: they answer again and again."""
    alive = {"kind": "test-delays", "never": [2, 3, 4, 5]}
    result, records = told(
        DEAD, latency=alive, participation={"kind": "always"}, horizon={"rounds": 3}
    )
    assert [r["accepted"] for r in rounds(records)] == [4.0] * 3
    assert result.time == 6.0
