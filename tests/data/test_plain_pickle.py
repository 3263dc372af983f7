import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.data.plain_pickle import load_plain
from driftfold.errors import DataError


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_and_arrays_are_read(protocol: int) -> None:
    given: dict[str, Any] = {
        "data": np.arange(6, dtype=np.uint8).reshape(2, 3),
        "labels": [1, 2],
        "x": (None, 2.5),
    }
    if protocol == 5:  # arrays need a function of NumPy there, which no published set asks for
        del given["data"]
    got = load_plain(pickle.dumps(given, protocol), "here")
    assert {k: got[k] for k in ("labels", "x")} == {"labels": [1, 2], "x": (None, 2.5)}
    if protocol < 5:
        assert np.array_equal(got["data"], given["data"])


def test_a_pickle_of_python_2_is_read() -> None:
    """Protocol 2 with the texts of Python 2, as CIFAR-10 has them."""
    array = (
        pickle.dumps(np.arange(3, dtype=np.uint8), 2).removeprefix(b"\x80\x02").removesuffix(b".")
    )
    old = (
        b"\x80\x02}(U\x04data"
        + array.replace(b"numpy._core", b"numpy.core")
        + b"U\x06labelsK\x05u."
    )
    got = load_plain(old, "here")
    assert got[b"labels"] == 5
    assert got[b"data"].tolist() == [0, 1, 2]


def test_nothing_is_run(tmp_path: Path) -> None:
    path = tmp_path / "sprung"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(DataError, match=r"here is refused: it asks for .*; a pickle of plain"):
            load_plain(pickle.dumps({"data": Trap(path)}, protocol), "here")
    for code in (
        b"cos\nsystem\n(S'touch sprung'\ntR.",
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cnumpy\nload\n(S'x'\ntR.",
        b"cnumpy.core.multiarray\nscalar\n.",
        b"cnumpy\nndarray.tofile\n.",
    ):
        with pytest.raises(DataError, match="it asks for"):
            load_plain(code, "here")
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"\x80", b"not a pickle", pickle.dumps([1, 2])[:-3]])
def test_damaged_pickles_are_refused(content: bytes) -> None:
    with pytest.raises(DataError, match="here is refused"):
        load_plain(content, "here")
