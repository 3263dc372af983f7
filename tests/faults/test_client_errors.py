"""A client fails in its work, or in its own story: only its update is lost."""

from typing import Any

import numpy as np
import pytest

from driftfold.errors import ClientError
from driftfold.run import run
from driftfold.spec import from_mapping
from tests.world.scripted import CLIENTS, TABLE, faults, model_after, rounds, told

GUILTY = {"kind": "test-scripted", "raises": [2]}
INNOCENT = [0, 1, 3, 4, 5]
ENGINES: list[dict[str, Any]] = [
    {"kind": "stacked"},
    {"kind": "stacked", "tile": 2},
    {"kind": "loop"},
]


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_only_the_guilty_update_is_lost(engine: dict[str, Any]) -> None:
    result, records = told(TABLE, algorithm=GUILTY, compute=engine)
    assert result.ended == "rounds"
    assert (result.counts["failed"], result.counts["accepted"]) == (3, 15)
    assert result.counts["rejected"] == result.counts["skipped"] == 0
    # Rounding of a few operations on numbers near 1.
    np.testing.assert_allclose(result.model, model_after([INNOCENT] * 3), rtol=0, atol=1e-14)
    for told_of in faults(records):
        assert told_of.note == "client 2: LookupError: no such sample"
        assert told_of.values == {"failed": 1.0, "rejected": 0.0}
    assert [r["failed"] for r in rounds(records)] == [1.0] * 3


def test_when_all_fail_the_round_is_skipped() -> None:
    everybody = {"kind": "test-scripted", "raises": list(range(CLIENTS)), "until": 1}
    result, records = told(TABLE, algorithm=everybody)
    assert [r["skipped"] for r in rounds(records)] == [1.0, 0.0, 0.0]
    assert rounds(records)[0]["failed"] == CLIENTS
    np.testing.assert_allclose(result.model, model_after([range(CLIENTS)] * 2), rtol=0, atol=1e-14)


def test_the_policy_may_be_to_fail() -> None:
    spec = from_mapping({**TABLE, "algorithm": GUILTY, "faults": {"on_client_error": "fail"}})
    with pytest.raises(ClientError, match=r"client 2 failed: LookupError: no such sample") as error:
        run(spec)
    assert "faults.on_client_error" in str(error.value)


def test_a_bad_value_is_no_client_error() -> None:
    result, _ = told(
        TABLE,
        algorithm={"kind": "test-scripted", "nan": [2]},
        faults={"on_client_error": "fail"},
    )
    assert result.counts["rejected"] == 3


@pytest.mark.parametrize("how", ["nan", "negative"])
def test_a_delay_that_is_none_is_the_failure_of_that_client(how: str) -> None:
    """Never taken for zero: the coroutine of that client raises, in the middle of the round."""
    latency = {"kind": "test-delays", "wrong": [4], "how": how}
    result, records = told(TABLE, latency=latency)
    assert (result.counts["failed"], result.counts["accepted"]) == (3, 15)
    assert result.time == 3.0
    assert faults(records)[0].note.startswith("client 4: ValueError: sleep() got a delay of")
    with pytest.raises(ClientError, match="client 4 failed: ValueError"):
        run(from_mapping({**TABLE, "latency": latency, "faults": {"on_client_error": "fail"}}))


def test_a_model_of_delays_that_raises_ends_the_run() -> None:
    """No client's fault: there is nothing to go on with, and nothing is swallowed."""
    spec = from_mapping({**TABLE, "latency": {"kind": "test-delays", "how": "raises"}})
    with pytest.raises(LookupError, match="no trace for this device"):
        run(spec)
