import json
import struct
from pathlib import Path

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import HashedWords, WordLlama
from driftfold.data.texts.safetensors_format import parse_safetensors
from driftfold.data.texts.unit_length import unit_length
from driftfold.errors import DataError
from tests.data.texts.test_byte_pairs import PAIRS, description
from tests.data.tiny import tiny_set

TABLE = np.random.default_rng(1).normal(size=(len(PAIRS.numbers), 5)).astype(np.float16)
KINDS = {"f2": "F16", "f4": "F32", "i8": "I64", "b1": "BOOL"}
TABLE_NAME, WORDS_NAME = "l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"


def safetensors(**arrays: Array) -> bytes:
    header, body = dict[str, object](), b""
    for name, array in arrays.items():
        start, kind = len(body), KINDS[array.dtype.str[1:]]
        body += array.tobytes()
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, len(body)]}
    told = json.dumps({"__metadata__": {"a": "b"}, **header}).encode()
    return struct.pack("<Q", len(told)) + told + body


def table(monkeypatch: pytest.MonkeyPatch, folder: Path, **changes: bytes) -> Path:
    contents = {TABLE_NAME: safetensors(rows=TABLE), WORDS_NAME: description()}
    tiny_set(monkeypatch, folder, "wordllama", {**contents, **changes})
    return folder


def test_a_text_is_the_mean_of_its_pieces_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = table(monkeypatch, tmp_path)
    vectors = WordLlama().encode(["ab aba", "", "b"], folder)
    assert vectors.dtype == np.float32
    mean = TABLE[PAIRS.cut("ab aba")].astype(np.float64).mean(axis=0)
    assert np.allclose(vectors[0], mean / np.linalg.norm(mean), rtol=1e-7)
    assert not vectors[1].any()
    assert np.array_equal(WordLlama().encode(["b"], folder)[0], vectors[2])
    short = WordLlama(pieces=2).encode(["ab ab ab ab b b b"], folder)
    assert np.array_equal(short, WordLlama().encode(["ab ab"], folder))


def test_tables_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {
        "rows, fewer than": safetensors(rows=TABLE[:-1]),
        "holds a, b, wanted one table": safetensors(a=TABLE, b=TABLE),
        "holds nothing, wanted one table": safetensors(),
        "holds rows, wanted one table": safetensors(rows=TABLE[0]),
        "no sound safetensors file": safetensors(rows=TABLE)[:-1],
    }
    for k, (message, content) in enumerate(other.items()):
        folder = table(monkeypatch, tmp_path / str(k), **{TABLE_NAME: content})
        with pytest.raises(DataError, match=message):
            WordLlama().encode(["a"], folder)


@pytest.mark.parametrize(
    "content", [b"", b"123", safetensors(x=np.arange(3) > 1), b"\x02" + bytes(9)]
)
def test_what_is_no_table_of_numbers_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match="here is no sound safetensors file"):
        parse_safetensors(content, "here")


def test_identities_tell_encoders_apart() -> None:
    encoders = [WordLlama(), WordLlama(8), HashedWords(), HashedWords(8)]
    assert len({encoder.identity() for encoder in encoders}) == 4


def test_hashed_words_are_counted_with_signs() -> None:
    vectors = HashedWords(512).encode(["oil oil oil oil grain", "oil", "grain", "", "Oil, OIL!"])
    oil, grain = vectors[1], vectors[2]
    assert [int(np.count_nonzero(vector)) for vector in (oil, grain)] == [1, 1]
    assert oil @ grain == 0
    assert np.allclose(vectors[0], (2 * oil + grain) / np.sqrt(5), rtol=1e-6)
    assert not vectors[3].any()
    assert np.array_equal(vectors[4], oil)
    # Signs are even: the sum over many words is near 0, its standard deviation 1 a root of n.
    words = [str(number) for number in range(4000)]
    assert abs(HashedWords(1).encode(words).mean()) < 5 / np.sqrt(4000)


def test_rows_become_of_unit_length_and_zeros_stay() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [1e150, -1e150]])
    assert not unit_length(rows[1:2]).any()
    assert np.allclose(unit_length(rows[2:]), [[0.70710678, -0.70710678]])
