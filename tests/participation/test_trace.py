import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftfold.errors import DataError
from driftfold.participation import Trace
from driftfold.participation.session_files import read_sessions
from driftfold.participation.trace import Replay
from driftfold.testing.participation import check_participation
from tests.participation.fleets import fleet_of

# Users with sessions that overlap, touch, wrap around the period's end, last for ever, or are none.
ROWS = [
    ("a", 0, 10),
    ("a", 90, 100),
    ("b", 20, 40),
    ("b", 40, 50),
    ("b", 30, 45),
    ("c", 0, 100),
    ("d", 5, 5),
    ("e", 0.1, 0.3),
    ("e", 1 / 3, 99.9),
]


def written(path: Path, period: float | None = 100) -> str:
    end = "" if period is None else f",{period}"
    lines = [f"{user},{start!r},{stop!r}{end}" for user, start, stop in ROWS]
    header = "client,start,end" + ("" if period is None else ",period")
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("repeat", [True, False])
def test_contract(tmp_path: Path, repeat: bool) -> None:
    check_participation(Trace(written(tmp_path / "s.csv"), repeat=repeat), fleet_of(11), span=500.0)


def test_sessions_are_joined_and_empty_ones_left_out(tmp_path: Path) -> None:
    table = read_sessions(Path(written(tmp_path / "s.csv", None)))
    assert table.users == ("a", "b", "c", "d", "e")
    assert table.first.tolist() == [0, 2, 3, 4, 4, 6]
    assert (table.starts[2], table.ends[2]) == (20.0, 50.0)
    assert table.periods.tolist() == [86400.0] * 5


def test_a_written_table_is_read_again(tmp_path: Path) -> None:
    table = read_sessions(Path(written(tmp_path / "s.csv")))
    table.write(tmp_path / "t.csv")
    again = read_sessions(tmp_path / "t.csv")
    assert again.users == table.users
    for name in ("first", "starts", "ends", "periods"):
        assert getattr(again, name).tolist() == getattr(table, name).tolist()


def test_all_users_are_dealt_out_before_any_comes_again(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv")
    small, large = Trace(path).attend(fleet_of(7)), Trace(path).attend(fleet_of(10))
    assert isinstance(small, Replay)
    assert isinstance(large, Replay)
    assert sorted(large.user[:5].tolist()) == sorted(large.user[5:].tolist()) == [0, 1, 2, 3, 4]
    assert small.user.tolist() == large.user[:7].tolist()


def test_later_weeks_are_as_the_first(tmp_path: Path) -> None:
    """A generator that moves an index at each query loses sessions from the second week on."""
    record = {"0": {"active": [0, 500], "inactive": [200, 604800], "finish_time": 604800}}
    (tmp_path / "t.json").write_text(json.dumps(record))
    attendance = Trace(str(tmp_path / "t.json"), assignment="by_client").attend(fleet_of(1))
    one = np.array([0])
    for week in (9, 0, 3, 1):
        start = 604800.0 * week
        assert attendance.available(one, start + 150.0).all()
        assert not attendance.available(one, start + 250.0).any()
        assert attendance.next_on(one, start + 250.0).tolist() == [start + 500.0]
        assert attendance.session_end(one, start + 500.0).tolist() == [start + 604800.0 + 200.0]


def test_fedscale(tmp_path: Path) -> None:
    record = {
        "7": {"duration": 30, "active": [10, 50], "inactive": [30, 60], "finish_time": 172800},
        "8": {"active": [5], "inactive": [], "finish_time": 86400, "model": "CPH1801"},
    }
    (tmp_path / "t.json").write_text(json.dumps(record))
    table = read_sessions(tmp_path / "t.json")
    assert table.users == ("7", "8")
    assert table.starts.tolist() == [10.0, 50.0, 5.0]
    assert table.ends.tolist() == [30.0, 60.0, 86400.0]
    assert table.periods.tolist() == [172800.0, 86400.0]


def test_flash(tmp_path: Path) -> None:
    lines = [
        "2020-01-31 23:00:00\twifi",
        "2020-01-31 23:10:00\tbattery_charged_on",
        "2020-01-31 23:20:00\tscreen_lock",
        "2020-01-31 23:20:00\t80.0%",
        "2020-02-01 00:20:00\t4G",
        "2020-02-01 01:00:00\tWifi",
        "2020-02-01 02:00:00\tscreen_off",
    ]
    other = "2020-02-02 00:00:00\tscreen_lock\n"
    record = {"x": {"messages": "\n".join(lines)}, "y": {"messages": other}}
    (tmp_path / "t.json").write_text(json.dumps(record))
    table = read_sessions(tmp_path / "t.json")
    assert table.first.tolist() == [0, 2, 2]
    assert table.starts.tolist() == [23 * 3600 + 1200.0, 25 * 3600.0]
    assert table.ends.tolist() == [24 * 3600 + 1200.0, 26 * 3600.0]
    assert table.periods.tolist() == [2 * 86400.0] * 2


@pytest.mark.slow
def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = list(zip(*ROWS, strict=True))
    names = ("client", "start", "end")
    parts = dict(zip(names, (columns[0], *(list(map(float, c)) for c in columns[1:])), strict=True))
    parquet.write_table(pyarrow.table(parts), tmp_path / "s.parquet")
    table = read_sessions(tmp_path / "s.parquet")
    same = read_sessions(Path(written(tmp_path / "s.csv", None)))
    assert table.users == same.users
    assert table.starts.tolist() == same.starts.tolist()
    assert table.ends.tolist() == same.ends.tolist()


@pytest.mark.slow
def test_nothing_loads_pickle_or_pyarrow_for_a_csv(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv")
    code = (
        "import sys; from pathlib import Path;"
        "from driftfold.participation.session_files import read_sessions;"
        f"read_sessions(Path({path!r})); print('pyarrow' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert said.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("s.csv", "client,start\n0,1\n", "has the columns client, start"),
        ("s.csv", "client,start,end\n", "no sessions"),
        ("s.csv", "client,start,end\n0,5,x\n", "row 1 is"),
        ("s.csv", "client,start,end\n0,5,4\n", "from 5.0 to 4.0 s; wanted"),
        ("s.csv", "client,start,end\n0,5,inf\n", "from 5.0 to inf s; wanted"),
        ("s.csv", "client,start,end,period\n0,5,9,8\n", "in a period of 8.0 s; wanted"),
        ("s.csv", "client,start,end,period\n0,1,2,8\n0,3,4,9\n", "give each user one"),
        ("s.json", "[]", "no table of users"),
        ("s.json", "{", "is damaged"),
        ("s.json", '{"0": {"active": [1], "finish_time": 9}}', "'0' has no such record"),
        ("s.json", '{"0": {"active": [], "inactive": [1], "finish_time": 9}}', "goes 1 times"),
        ("s.json", '{"0": {"messages": "yesterday on"}}', "wanted lines of YYYY"),
        ("s.pickle", "", "no known kind"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, name: str, content: str, part: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=part):
        Trace(str(tmp_path / name)).attend(fleet_of(2))


def test_missing_files_and_users_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        Trace(str(tmp_path / "none.csv")).attend(fleet_of(2))
    with pytest.raises(DataError, match="No such file"):
        Trace(str(tmp_path / "none.parquet")).attend(fleet_of(2))
    with pytest.raises(DataError, match="has no user 0"):
        Trace(written(tmp_path / "s.csv"), assignment="by_client").attend(fleet_of(2))
