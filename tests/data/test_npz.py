from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.data import Npz
from driftfold.errors import DataError
from driftfold.rng import Seed


def saved(folder: Path, **arrays: Any) -> str:
    path = folder / "data.npz"
    np.savez(path, **arrays)
    return str(path)


def test_features_labels_and_owners_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path, x=np.arange(12.0).reshape(3, 2, 2), y=[1, 0, 2], owner=[0, 1, 1])
    data = Npz(path).load(Seed(0))
    assert data.x.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert data.x.dtype == np.float64
    assert data.y is not None
    assert data.owner is not None
    assert (data.y.tolist(), data.owner.tolist()) == ([1, 0, 2], [0, 1, 1])
    short = Npz(path, limit=2).load(Seed(0))
    assert short.y is not None
    assert (len(short.x), short.y.tolist(), short.clients) == (2, [1, 0], 2)


def test_bytes_are_pixels_and_other_numbers_are_left_alone(tmp_path: Path) -> None:
    assert Npz(saved(tmp_path, x=np.array([[0, 255]], np.uint8))).load(Seed(0)).x.tolist() == [
        [0, 1]
    ]
    assert Npz(saved(tmp_path, x=np.array([[0, 255]], np.int64))).load(Seed(0)).x.max() == 255


def test_objects_are_refused_and_not_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    path = saved(tmp_path, x=np.array([Trap()], dtype=object))
    with pytest.raises(DataError, match=r"is no sound .npz file .*allow_pickle"):
        Npz(path).load(Seed(0))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"z": np.ones(3)}, "holds z but no array x"),
        ({"x": np.array(1.0)}, r"x in .* has shape \(\)"),
        ({"x": np.ones((0, 3))}, r"x in .* has shape \(0, 3\)"),
        ({"x": np.array(["a"])}, "type <U1"),
        ({"x": np.array([[np.nan]])}, "not finite"),
        ({"x": np.ones((2, 1)), "y": np.array([0, 1, 2])}, r"y in .* shape \(2,\) were wanted"),
        ({"x": np.ones((2, 1)), "y": np.array([0.0, 1.0])}, "type float64; whole numbers"),
        ({"x": np.ones((2, 1)), "owner": np.array([0, -1])}, "owner in .* whole numbers from 0"),
        ({"x": np.ones((2, 1)), "owner": np.array([0, 2**60])}, "owner in .* number classes"),
    ],
)
def test_other_contents_are_refused_by_name(
    tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    path = saved(tmp_path, **arrays)
    with pytest.raises(DataError, match=message) as caught:
        Npz(path).load(Seed(0))
    assert path in str(caught.value)


def test_a_limit_beyond_the_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds 3 samples, fewer than the limit of 4"):
        Npz(saved(tmp_path, x=np.ones((3, 1))), limit=4).load(Seed(0))


def test_files_that_are_no_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    with pytest.raises(DataError, match=r"cannot read .* \(No such file"):
        Npz(str(path)).load(Seed(0))
    np.save(tmp_path / "bare.npy", np.ones(3))
    with pytest.raises(DataError, match="one bare array"):
        Npz(str(tmp_path / "bare.npy")).load(Seed(0))
    path.write_bytes(b"not an archive")
    with pytest.raises(DataError, match="no sound"):
        Npz(str(path)).load(Seed(0))
    np.savez_compressed(path, x=np.random.default_rng(0).random((50, 50)))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="no sound"):
        Npz(str(path)).load(Seed(0))
    spoiled = bytearray(whole)
    spoiled[len(whole) // 2] ^= 0xFF
    path.write_bytes(bytes(spoiled))
    with pytest.raises(DataError, match="no sound"):
        Npz(str(path)).load(Seed(0))
