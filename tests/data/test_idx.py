import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.arrays import Array
from driftfold.data import Idx
from driftfold.data.idx_format import read_idx
from driftfold.errors import DataError
from driftfold.rng import Seed

IMAGES = np.arange(5 * 2 * 3, dtype=np.uint8).reshape(5, 2, 3)
LABELS = np.array([3, 0, 3, 1, 2], dtype=np.uint8)


def idx(values: Array, kind: int = 8) -> bytes:
    head = struct.pack(f">4B{values.ndim}I", 0, 0, kind, values.ndim, *values.shape)
    return head + bytes(values.tobytes())


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    images, labels = tmp_path / "images", tmp_path / "labels.gz"
    images.write_bytes(idx(IMAGES))
    labels.write_bytes(gzip.compress(idx(LABELS)))
    return images, labels


@settings(deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    packed=st.booleans(),
    start=st.integers(0, 255),
)
def test_what_was_written_is_read(
    shape: list[int], packed: bool, start: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values = ((np.arange(np.prod(shape)) + start) % 256).astype(np.uint8).reshape(shape)
    path = tmp_path_factory.mktemp("idx") / "file"
    path.write_bytes(gzip.compress(idx(values)) if packed else idx(values))
    read = read_idx(path, dimensions=len(shape))
    assert read.dtype == np.uint8
    assert np.array_equal(read, values)


def test_images_become_rows_in_the_unit_interval(files: tuple[Path, Path]) -> None:
    data = Idx(str(files[0]), str(files[1])).load(Seed(0))
    assert np.array_equal(data.x, IMAGES.reshape(5, 6) / 255)
    assert data.shape == IMAGES.shape[1:]
    assert data.y is not None
    assert data.y.dtype == np.int64
    assert data.y.tolist() == LABELS.tolist()


def test_a_limit_takes_the_first_images(files: tuple[Path, Path]) -> None:
    data = Idx(str(files[0]), str(files[1]), limit=2).load(Seed(0))
    assert data.x.shape == (2, 6)
    assert data.y is not None
    assert data.y.tolist() == [3, 0]


def test_labels_may_be_left_out(files: tuple[Path, Path]) -> None:
    assert Idx(str(files[0])).load(Seed(0)).y is None


def test_centring_uses_the_images_that_are_used(files: tuple[Path, Path]) -> None:
    x = Idx(str(files[0]), limit=3, pixels="centred").load(Seed(0)).x
    assert np.allclose(x.mean(axis=0), 0, atol=1e-15)
    x = Idx(str(files[0]), limit=3, pixels="standardised").load(Seed(0)).x
    assert abs(x.mean()) < 1e-15
    assert abs(x.std() - 1) < 1e-15


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "starts with nothing"),
        (b"PK\x03\x04 a zip file", "starts with 50 4b 03 04"),
        (idx(LABELS), r"starts with 00 00 08 01; .* 3 dimension\(s\) starts with 00 00 08 03"),
        (idx(IMAGES, kind=0x0D), "starts with 00 00 0d 03"),
        (idx(IMAGES)[:10], "ends within its header after 10 of 16 bytes"),
        (idx(IMAGES)[:-1], "holds 29 values; its header promises 5 x 2 x 3 = 30"),
        (idx(IMAGES) + b"\0", "holds 31 values"),
        (gzip.compress(idx(IMAGES), mtime=0)[:-9], "gzip-compressed but damaged"),
        (gzip.compress(idx(IMAGES), mtime=0)[:12], "gzip-compressed but damaged"),
        (b"\x1f\x8b" + bytes(30), "gzip-compressed but damaged"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "train-images"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        Idx(str(path)).load(Seed(0))
    assert str(path) in str(caught.value)


def test_any_flipped_byte_of_a_gzip_file_is_noticed_or_harmless(tmp_path: Path) -> None:
    packed = gzip.compress(idx(IMAGES), mtime=0)
    path = tmp_path / "images"
    refused = 0
    for place in range(len(packed)):
        path.write_bytes(packed[:place] + bytes([packed[place] ^ 0x10]) + packed[place + 1 :])
        try:
            assert np.array_equal(read_idx(path, dimensions=3), IMAGES)  # e.g. the time stamp
        except DataError:
            refused += 1
    assert refused > len(packed) / 2


def test_a_missing_file_says_what_was_wanted_and_where_to_get_it(tmp_path: Path) -> None:
    path = tmp_path / "nowhere"
    with pytest.raises(DataError, match=r"cannot read .*nowhere \(No such file.*idx.*MNIST"):
        Idx(str(path)).load(Seed(0))
    with pytest.raises(DataError, match="cannot read"):
        Idx(str(tmp_path)).load(Seed(0))  # a folder


def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    other = tmp_path / "other"
    other.write_bytes(idx(LABELS[:4]))
    with pytest.raises(DataError, match=r"holds 5 images but .* 4 labels"):
        Idx(str(files[0]), str(other)).load(Seed(0))


def test_a_limit_beyond_the_data_is_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(DataError, match="holds 5 images, fewer than the limit of 6"):
        Idx(str(files[0]), limit=6).load(Seed(0))


def test_an_empty_file_of_images_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none"
    path.write_bytes(idx(IMAGES[:0]))
    with pytest.raises(DataError, match="holds no image"):
        Idx(str(path)).load(Seed(0))
