import json
import math
from typing import Any, Never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold.errors import RecordError
from driftfold.telemetry import Record
from driftfold.telemetry.json_form import from_json, to_json, to_line

numbers = st.floats() | st.integers(-(2**70), 2**70)
metrics = st.dictionaries(st.text(), numbers, max_size=4)
records = st.builds(
    Record,
    seq=st.integers(1),
    kind=st.text(),
    time=st.floats(),
    version=st.integers(0),
    values=metrics,
    timing=metrics,
    note=st.text(),
)


def not_strict(constant: str) -> Never:
    raise AssertionError(f"{constant} is not JSON")


def exact(record: Record) -> tuple[Any, ...]:
    def bits(value: float) -> str | int:
        return value.hex() if isinstance(value, float) else value

    values, timing = (
        [(name, bits(value)) for name, value in group.items()]
        for group in (record.values, record.timing)
    )
    return record.seq, record.kind, bits(record.time), record.version, values, timing, record.note


@given(records)
def test_a_line_holds_the_record_exactly_and_is_strict_json(record: Record) -> None:
    line = to_line(record)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    back = from_json(json.loads(line, parse_constant=not_strict))
    assert exact(back) == exact(record)


def test_what_is_not_finite_has_documented_names() -> None:
    record = Record(1, "round", math.inf, 1, {"a": math.nan, "b": -math.inf}, {"c": math.inf})
    form = to_json(record)
    assert form["time"] == "Infinity"
    assert form["values"] == {"a": "NaN", "b": "-Infinity"}
    assert form["timing"] == {"c": "Infinity"}


def test_what_is_empty_is_left_out() -> None:
    assert to_json(Record(1, "round", 0.5, 1)).keys() == {
        "seq",
        "kind",
        "time",
        "version",
        "values",
    }
    assert to_json(Record(1, "round", 0.5, 1), "clients/1.npz")["detail"] == "clients/1.npz"


WHOLE = {"seq": 1, "kind": "round", "time": 0.5, "version": 1, "values": {}}


@pytest.mark.parametrize(
    "form",
    [
        {},
        {k: v for k, v in WHOLE.items() if k != "time"},
        WHOLE | {"time": "soon"},
        WHOLE | {"time": None},
        WHOLE | {"values": [1]},
        WHOLE | {"values": {"a": "nan"}},
        WHOLE | {"timing": {"a": {}}},
    ],
)
def test_what_is_no_record_is_refused(form: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match="this is no record"):
        from_json(form)
