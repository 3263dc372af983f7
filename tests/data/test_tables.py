"""Sets that are spread as tables: films, muscle signals, brain networks, points."""

import io
from pathlib import Path

import numpy as np
import pytest

from driftfold.data import (
    Connectomes,
    Emg,
    MovieLens1M,
    MovieLens100K,
    matrices_of,
    read_mammal_points,
)
from driftfold.data.connectomes import correlations
from driftfold.data.csv_table import numbers, words
from driftfold.data.emg import windows_of
from driftfold.data.movielens import STARS_1M, parse_ratings
from driftfold.errors import DataError
from driftfold.rng import Seed
from tests.data.tiny import tiny_set

INTER = (
    b"user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    b"196\t242\t3\t881250949\n186\t302\t4\t891717742\n196\t51\t5\t886397596\n"
)
DAT = b"1::1193::5::978300760\n1::661::3::978302109\n2::1357::4::978298709\n"


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [(0, "ml-100k.inter", INTER), (1, "u.data", INTER.partition(b"\n")[2])],
)
def test_movielens_100k(
    form: int, name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_set(monkeypatch, tmp_path, "movielens_100k", {name: content}, form)
    ratings = MovieLens100K(held_out=0.5, standardise=False, folder=folder).load(Seed(0))
    assert (ratings.users, ratings.items) == (943, 1682)
    assert ratings.user.tolist() == [185, 195, 195]
    assert ratings.item.tolist() == [301, 50, 241]
    assert ratings.value.tolist() == [4, 5, 3]
    assert ratings.test.sum() == 1
    scored = MovieLens100K(folder=folder).load(Seed(0))
    assert scored.mean == 4
    assert np.allclose(scored.value * scored.scale + 4, ratings.value)


def test_movielens_1m(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_set(monkeypatch, tmp_path, "movielens_1m", {"ratings.dat": DAT})
    with pytest.raises(DataError, match=r"has \(0, 0, 1, 1, 1\) ratings of 1 to 5 stars"):
        MovieLens1M(folder=folder).load(Seed(0))
    monkeypatch.setattr("driftfold.data.movielens.STARS_1M", (0, 0, 1, 1, 1))
    ratings = MovieLens1M(held_out=0, standardise=False, folder=folder).load(Seed(0))
    assert (ratings.users, ratings.items) == (6040, 3952)
    assert ratings.item.tolist() == [660, 1192, 1356]
    assert ratings.value.tolist() == [3, 5, 4]


def test_the_published_counts_of_movielens_1m() -> None:
    assert sum(STARS_1M) == 1_000_209
    mean = np.average([1, 2, 3, 4, 5], weights=STARS_1M)
    assert round(float(mean), 4) == 3.5816
    assert (
        round(float(np.sqrt(np.average(([1, 2, 3, 4, 5] - mean) ** 2, weights=STARS_1M))), 3)
        == 1.117
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"1::2::x::4\n",
        b"1::2\n",
        b"1::2::3::4\n1::2\n",
        b"1::2::3.5::4\n",
        b"1::2::6::4\n",
        b"0::2::3::4\n",
        b"1::-2::3::4\n",
        "1::2::３::é\n".encode(),
    ],
)
@pytest.mark.filterwarnings("ignore:loadtxt. input contained no data")
def test_other_lines_of_ratings_are_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"^here (is no table|has no lines)"):
        parse_ratings(content, b"::", 0, "here")


def signals(counts: dict[tuple[str, str], int]) -> bytes:
    rng = np.random.default_rng(0)
    lines = [b"time,c0,c1,c2,c3,c4,c5,c6,c7,label,exp"]
    for (label, session), count in counts.items():
        for row in rng.integers(0, 255, (count, 8)).tolist():
            lines.append(",".join(map(str, [0, *row, label, session])).encode())
    return b"\n".join(lines) + b"\n"


def test_muscle_signals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = signals({("rest", "p_s1"): 25, ("fist", "p_s1"): 9, ("rest", "q_s1"): 20})
    folder = tiny_set(monkeypatch, tmp_path, "emg", {"emg.csv": content})
    data = Emg(window=10, folder=folder).load(Seed(0))
    assert data.y is not None
    assert data.owner is not None
    assert (data.y.tolist(), data.owner.tolist(), data.clients) == ([1] * 4, [0, 0, 1, 1], 2)
    rows = numbers(content, range(1, 9), "here")
    assert np.allclose(matrices_of(data.x)[1], np.cov(rows[10:20].T), rtol=1e-14)
    with pytest.raises(DataError, match="has no 30 rows of one sign"):
        windows_of(content, 30, "here")


def test_brain_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = b"Id,F1,F2,F3\r\n7,0.1,0.2,0.3\r\n9,-0.5,0,0.25\r\n"
    labels = b"Id,Class\r\n7,1\r\n9,0\r\n"
    contents = {"train_FNC.csv": table, "train_labels.csv": labels}
    folder = tiny_set(monkeypatch, tmp_path, "connectomes", contents)
    data = Connectomes(folder=folder).load(Seed(0))
    assert data.y is not None
    assert data.y.tolist() == [1, 0]
    assert matrices_of(data.x)[0].tolist() == [[1, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 1]]
    contents["train_labels.csv"] = b"Id,Class\n9,1\n7,0\n"
    folder = tiny_set(monkeypatch, tmp_path, "connectomes", contents)
    with pytest.raises(DataError, match="list different people"):
        Connectomes(folder=folder).load(Seed(0))
    with pytest.raises(DataError, match="2 numbers a row, which fill no triangle"):
        correlations(b"Id,F1,F2\n1,2,3\n", "here")


@pytest.mark.parametrize("content", [b"a,b\n1,x\n", b"a,b\n1\n", b"a,b\n", b"a,b\n1,nan\n", b""])
@pytest.mark.filterwarnings("ignore:loadtxt. input contained no data")
def test_other_tables_are_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"^here (is no table|has no rows)"):
        numbers(content, [0, 1], "here")
    if b"x" not in content and b"nan" not in content:
        with pytest.raises(DataError, match=r"^here has no rows"):
            words(content, 2, "here")


def points(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no sound .npz file"),
        (points(names=["a"]), "no sound .npz file"),
        (points(names=["a", "a"], poincare_points=np.zeros((2, 2))), "has 1 different names"),
        (points(names=["a"], poincare_points=np.zeros((2, 2))), "one point for each name"),
        (points(names=["a"], poincare_points=np.array([[0.6, 0.8]])), "outside the unit ball"),
        (points(names=["a"], poincare_points=np.array([[0.6, np.nan]])), "not finite"),
    ],
)
def test_other_points_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "hsp_mammals.npz").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_mammal_points(tmp_path)


def test_points_are_read_with_their_names(tmp_path: Path) -> None:
    given = np.array([[0.5, 0.5], [0, -0.9]])
    content = points(names=["cat.n.01", "dog.n.01"], poincare_points=given)
    (tmp_path / "hsp_mammals.npz").write_bytes(content)
    read = read_mammal_points(tmp_path)
    assert read.names == ("cat.n.01", "dog.n.01")
    assert np.array_equal(read.points, given)
