import json
from pathlib import Path

import numpy as np
import pytest

from driftfold.errors import DataError
from driftfold.latency import Delays, Trace
from driftfold.latency.trace import shuffled_rows
from driftfold.rng import Seed
from tests.participation.fleets import fleet_of

HEAD = "client,seconds_per_sample,down_bytes_s,up_bytes_s\n"


def written(folder: Path, text: str, name: str = "devices.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def answers(delays: Delays, size: int) -> list[tuple[float, ...]]:
    """Seconds of 1 sample, 1000 bytes down and 1000 bytes up, client by client."""
    clients = np.arange(size)
    parts = (
        delays.compute(clients, np.ones(size), 0),
        delays.download(clients, 1000, 0),
        delays.upload(clients, 1000, 0),
    )
    return list(zip(*(part.tolist() for part in parts), strict=True))


def test_rows_by_client_in_any_order_of_rows_and_columns(tmp_path: Path) -> None:
    head = "up_bytes_s, note,client,down_bytes_s,seconds_per_sample"
    text = f"{head}\n250,b,1,500,2\n\n1000,a,0,4000,.5\n"
    model = Trace(written(tmp_path, text), "by_client", round_trip=1.0, overhead=3.0)
    assert answers(model.delays(fleet_of(2)), 2) == [(3.5, 1.25, 2.0), (5.0, 3.0, 5.0)]


def test_fedscale_devices(tmp_path: Path) -> None:
    # FedScale: 3 * 162 ms of training a sample; 1000 bytes are 8000 / 1024 kbit.
    table = {
        "1": {"computation": 100, "communication": 50.0, "more": ""},
        "0": {"computation": 162.0, "communication": 5648.1},
    }
    model = Trace(written(tmp_path, json.dumps(table), "capacity.json"), "by_client")
    first, second = answers(model.delays(fleet_of(2)), 2)
    assert first == pytest.approx((0.486, 8000 / 1024 / 5648.1, 8000 / 1024 / 5648.1), rel=1e-14)
    assert second == pytest.approx((0.3, 0.15625, 0.15625), rel=1e-14)


def test_rows_are_dealt_out_evenly_and_stay_whole(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i + 1},{1000 * (i + 1)},{500 * (i + 1)}\n" for i in range(5))
    model = Trace(written(tmp_path, HEAD.replace("client", "device") + rows))
    found = answers(model.delays(fleet_of(12)), 12)
    wanted = [(float(i), 1 / i, 2 / i) for i in range(1, 6)]
    assert set(found) == set(wanted)
    assert all(sorted(found[i : i + 5]) == sorted(wanted) for i in (0, 5))
    assert found[:5] != wanted  # nor in the table's order
    assert found[:5] != found[5:10]
    assert answers(model.delays(fleet_of(3)), 3) == found[:3]
    assert answers(model.delays(fleet_of(12, seed=2)), 12) != found


def test_every_order_of_the_rows_is_as_likely() -> None:
    firsts = [shuffled_rows(Seed(seed), rows=4, size=1)[0] for seed in range(400)]
    counts = np.bincount(firsts, minlength=4)
    assert np.abs(counts - 100).max() < 4 * np.sqrt(400 * 3 / 16)  # four standard errors


def test_visits_vary_by_the_given_variation(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "0,1,1000,1000\n")
    delays = Trace(path, compute_cv=0.1, down_cv=0.2, up_cv=0.3).delays(fleet_of(2000))
    logs = np.log(np.transpose(answers(delays, 2000)))
    wanted = np.sqrt(np.log1p([0.01, 0.04, 0.09]))
    assert logs.std(axis=1) / wanted == pytest.approx(1.0, abs=4 / np.sqrt(2 * 2000))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.pickle", "", "pickles are never read"),
        ("a.csv", "", "it has no column seconds_per_sample"),
        ("a.csv", HEAD, "has no rows"),
        ("a.csv", "client,seconds_per_sample,down_bytes_s\n0,1,1\n", "no column up_bytes_s"),
        ("a.csv", HEAD + "0,1,1\n", "rows of another length"),
        ("a.csv", HEAD + "0,slow,1,1\n", "could not convert string to float: 'slow'"),
        ("a.csv", HEAD + "0,1,1,1\n7,-1,1,1\n", r"row 2 of .* \(7\) has -1, 1, 1 for"),
        ("a.csv", HEAD + "0,1,0,1\n", "rates of at least"),
        ("a.csv", HEAD + "0,nan,1,1\n", "has nan, 1, 1 for"),
        ("a.csv", HEAD + "0,1,1,1\n0,2,1,1\n", "two rows for '0'"),
        ("a.csv", HEAD + "0,1,1,1\n2,2,1,1\n", "no row for client 1 of 2"),
        ("a.json", "{", "is no table of devices"),
        ("a.json", "[" * 5000, "is no table of devices"),
        ("a.json", "[1]", "it is no table of clients"),
        ("a.json", '{"0": 3}', "the entry '0' is no table"),
        ("a.json", '{"0": {"computation": "1"}}', "computation of the entry '0' is '1'"),
        ("a.json", '{"0": {"computation": 1}}', "communication of the entry '0' is None"),
        ("a.json", '{"0": {"computation": 1, "communication": 1' + "0" * 400 + "}}", "no table"),
    ],
    ids=lambda text: text[:60],
)  # fmt: skip
def test_what_is_no_table(tmp_path: Path, name: str, text: str, message: str) -> None:
    model = Trace(written(tmp_path, text, name), "by_client")
    with pytest.raises(DataError, match=message):
        model.delays(fleet_of(2))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*no\.csv \(No such file or directory\)"):
        Trace(str(tmp_path / "no.csv")).delays(fleet_of(2))
