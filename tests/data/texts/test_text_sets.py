from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import R8, R52, BbcNews, Dataset, HashedWords, Newsgroups, SpamAssassin
from driftfold.data.catalogue.gathering import gathered
from driftfold.data.texts import corpus
from driftfold.errors import DataError
from driftfold.rng import Seed
from tests.data.tiny import tiny_set

HASHED = HashedWords(32)


def tab(rows: Sequence[tuple[str, str]]) -> bytes:
    head = "Category\tText\nd\tstring\nclass\t\n\n"
    return (head + "".join(f"{name}\t{text}\n" for name, text in rows)).encode()


TRAIN = [("earn", "profit up"), ("acq", "firms merge"), ("earn", "profit up"), ("ship", "a storm")]
TEST = [("ship", "to sea"), ("acq", "firms merge"), ("earn", "loss")]


def vectors(*texts: str) -> Array:
    return HASHED.encode(texts).astype(np.float64)


def reuters(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, **changes: bytes
) -> Mapping[str, bytes]:
    contents = {f"reuters-{name}-train.tab": tab(TRAIN), f"reuters-{name}-test.tab": tab(TEST)}
    tiny_set(monkeypatch, folder, name, {**contents, **changes})
    return contents


@pytest.mark.parametrize("kind", [R8, R52])
def test_reuters(kind: type[R8 | R52], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = {R8: "r8", R52: "r52"}[kind]
    reuters(monkeypatch, tmp_path, name)
    train = kind(encoder=HASHED, folder=str(tmp_path)).load(Seed(0))
    assert np.array_equal(train.x, vectors("profit up", "firms merge", "a storm"))
    assert train.x.dtype == np.float64
    assert train.y is not None
    assert (train.y.tolist(), train.domain, train.shape) == ([1, 0, 2], None, None)
    test = kind("test", encoder=HASHED, folder=str(tmp_path)).load(Seed(0))
    assert test.y is not None
    assert test.y.tolist() == [2, 1]  # numbered as in training; one is a training text
    assert np.array_equal(test.x, vectors("to sea", "loss"))
    for split, count in (("train", 4), ("test", 3)):
        every = kind(split, HASHED, duplicates=True, folder=str(tmp_path)).load(Seed(0))  # type: ignore[arg-type]
        assert len(every.x) == count
    few = kind(encoder=HASHED, limit=2, folder=str(tmp_path)).load(Seed(0))
    assert np.array_equal(few.x, train.x[:2])
    with pytest.raises(DataError, match=f"{name}-train holds 3 samples, fewer than the limit of 4"):
        kind(encoder=HASHED, limit=4, folder=str(tmp_path)).load(Seed(0))


def test_a_class_that_training_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tab([("oil", "spill")])
    reuters(monkeypatch, tmp_path, "r8", **{"reuters-r8-test.tab": other})
    with pytest.raises(DataError, match="a text has the class 'oil', which is not known"):
        R8("test", HASHED, folder=str(tmp_path)).load(Seed(0))


def test_vectors_are_kept_for_the_same_texts_and_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reuters(monkeypatch, tmp_path, "r8")
    data = R8(encoder=HASHED, folder=str(tmp_path))
    first = data.load(Seed(0)).x
    (kept,) = (tmp_path / "vectors").iterdir()

    def refuse(*_: object) -> Array:
        raise AssertionError("encoded again")

    with monkeypatch.context() as patch:
        patch.setattr(HashedWords, "encode", refuse)
        assert np.array_equal(data.load(Seed(0)).x, first)
        for other in (R8(encoder=HashedWords(33), folder=str(tmp_path)),):
            with pytest.raises(AssertionError, match="encoded again"):
                other.load(Seed(0))
    whole = kept.read_bytes()
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 1  # within the vectors
    for damaged in (b"", whole[:-40], bytes(broken)):
        kept.write_bytes(damaged)
        assert np.array_equal(data.load(Seed(0)).x, first)
        assert kept.read_bytes() == whole
    reuters(monkeypatch, tmp_path, "r8", **{"reuters-r8-train.tab": tab(TRAIN[1:])})
    assert len(data.load(Seed(0)).x) == 3
    assert len(list((tmp_path / "vectors").iterdir())) == 2


def test_a_folder_that_cannot_be_written_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reuters(monkeypatch, tmp_path, "r8")
    (tmp_path / "vectors").write_text("a file in its place")
    assert len(R8(encoder=HASHED, folder=str(tmp_path)).load(Seed(0)).x) == 3


def test_a_text_without_a_word_is_zeros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"reuters-r8-train.tab": tab([("earn", ""), ("acq", "x")])}
    reuters(monkeypatch, tmp_path, "r8", **contents)
    assert not R8(encoder=HASHED, folder=str(tmp_path)).load(Seed(0)).x[0].any()


GROUPS = [
    ("comp.graphics", "pixel"),
    ("comp.graphics", "colour"),
    ("comp.sys", "disk"),
    ("rec.autos", "car"),
    ("sci.med", "cure"),
]


def test_newsgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"20newsgroups-train.tab": tab(GROUPS), "20newsgroups-test.tab": tab(GROUPS[3:])}
    tiny_set(monkeypatch, tmp_path, "newsgroups", contents)
    data = Newsgroups(encoder=HASHED, folder=str(tmp_path)).load(Seed(0))
    assert data.y is not None
    assert data.domain is not None
    assert data.y.tolist() == [0, 1, 2, 3, 0]  # classes take turns
    assert data.domain.tolist() == [0, 0, 1, 2, 0]
    assert np.array_equal(data.x, vectors("pixel", "disk", "car", "cure", "colour"))
    other = Newsgroups(labels="hierarchy", encoder=HASHED, folder=str(tmp_path)).load(Seed(0))
    assert other.y is not None
    assert other.domain is not None
    assert (other.y.tolist(), other.domain.tolist()) == (data.domain.tolist(), data.y.tolist())
    assert np.array_equal(other.x, data.x)
    test = Newsgroups("test", encoder=HASHED, duplicates=True, folder=str(tmp_path)).load(Seed(0))
    assert test.y is not None
    assert test.y.tolist() == [2, 3]


def test_subjects_of_newsgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves of a subject's groups are domains with the same classes; small ones are left out."""
    groups = [f"rec.{word}" for word in ("autos", "cycles", "golf", "hockey", "rowing")]
    groups += [f"sci.{word}" for word in ("bio", "math", "med", "space")] + ["misc.forsale"]
    train = [(group, group) for group in groups]
    contents = {"20newsgroups-train.tab": tab(train), "20newsgroups-test.tab": tab(train[-4:-1])}
    tiny_set(monkeypatch, tmp_path, "newsgroups", contents)

    def subjects(split: Any = "train", domain: int | None = None) -> Dataset:
        data = Newsgroups(split, "subject", domain, HASHED, duplicates=True, folder=str(tmp_path))
        return data.load(Seed(0))

    both, first, second = subjects(), subjects(domain=0), subjects(domain=1)
    for data, sizes in ((both, [5, 4]), (first, [3, 2]), (second, [2, 2])):
        assert data.y is not None
        assert np.bincount(data.y).tolist() == sizes
    assert set(map(tuple, first.x.tolist())) == {tuple(vectors(g)[0]) for g in groups[:3]} | {
        tuple(vectors(g)[0]) for g in groups[5:7]
    }
    assert first.domain is not None
    assert not first.domain.any()
    test = subjects("test")
    assert test.y is not None
    assert test.domain is not None
    assert (test.y.tolist(), test.domain.tolist()) == ([1, 1, 1], [0, 1, 1])
    with pytest.raises(DataError, match="no messages of domain 2 with labels = 'subject'"):
        subjects(domain=2)


def test_bbc_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a/tech/1.txt": b"a chip", "a/business/2.txt": b"5 \xa3", "a/tech/2.txt": b"a\nchip "}
    tiny_set(monkeypatch, tmp_path, "bbc_news", {"bbc_news.jsonl": gathered(files)})
    data = BbcNews(encoder=HASHED, folder=str(tmp_path)).load(Seed(0))
    assert data.y is not None
    assert data.y.tolist() == [0, 1]
    assert np.array_equal(data.x, vectors("5 £", "a chip"))
    assert len(BbcNews(HASHED, duplicates=True, folder=str(tmp_path)).load(Seed(0)).x) == 3


def test_spam_assassin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        f"data/{collection}/{k}.txt": f"Received: here\nSubject: {collection[:4]}\n\n{k}".encode()
        for k, collection in enumerate(("easy-ham-1", "hard-ham-1", "spam-1", "spam-2"))
    }
    files["data/spam-2/9.txt"] = b"Received: there\nSubject: spam\n\n3"
    tiny_set(monkeypatch, tmp_path, "spam_assassin", {"spam_assassin.jsonl": gathered(files)})
    data = SpamAssassin(encoder=HASHED, folder=str(tmp_path)).load(Seed(0))
    assert data.y is not None
    assert data.domain is not None
    assert data.y.tolist() == [0, 0, 1, 1]
    assert data.domain.tolist() == [0, 1, 2, 3]
    assert np.array_equal(data.x, vectors("easy 0", "hard 1", "spam 2", "spam 3"))


def test_texts_are_told_by_64_bits() -> None:
    marks = corpus.fingerprints(["a", "b", "a", ""])
    assert marks[0] == marks[2]
    assert len({int(mark) for mark in marks}) == 3
