"""Texts as published, where they are there: `driftfold data get NAME wordllama`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.arrays import Array
from driftfold.data import R8, R52, BbcNews, Data, Dataset, MiniLm, Newsgroups, SpamAssassin
from driftfold.data.catalogue import data_folder, read_set, survey
from driftfold.data.catalogue.gathering import scattered
from driftfold.data.texts.byte_pairs import parse_byte_pairs
from driftfold.data.texts.mail_text import mail_text
from driftfold.registry import kind_of
from driftfold.rng import Seed

pytestmark = pytest.mark.realdata


def loaded(data: Data) -> Dataset:
    states = {status.entry.name: status for status in survey()}
    for name in (kind_of(data), "wordllama"):
        if states[name].state == "missing":
            pytest.skip(f"{name} is not there: {states[name].entry.advice}")
    return data.load(Seed(0))


def right(train: Dataset, test: Dataset) -> float:
    """Share of the test samples that least squares with a ridge of 1 classifies rightly."""
    assert train.y is not None
    assert test.y is not None
    wanted = np.eye(int(train.y.max()) + 1)[train.y]
    gram = train.x.T @ train.x + np.eye(train.x.shape[1])
    found: Array = np.linalg.solve(gram, train.x.T @ wanted)
    return float(((test.x @ found).argmax(axis=1) == test.y).mean())


@pytest.mark.parametrize(
    ("kind", "counts", "classes", "share"),
    [
        (R8, (5423, 2172), 8, 0.9586),
        (R52, (6450, 2547), 52, 0.8779),
        (Newsgroups, (11273, 7514), 20, 0.7104),
    ],
)
def test_sets_of_two_parts(kind: Any, counts: Sequence[int], classes: int, share: float) -> None:
    train, test = loaded(kind()), loaded(kind("test"))
    assert (len(train.x), len(test.x)) == tuple(counts)
    assert train.y is not None
    assert len(np.unique(train.y)) == classes
    # Measured by the same lines; a text or two at a boundary may fall otherwise.
    assert abs(right(train, test) - share) < 2e-3
    whole = loaded(kind(duplicates=True))
    assert len(whole.x) == {8: 5485, 52: 6532, 20: 11293}[classes]
    assert np.allclose((whole.x**2).sum(axis=1), 1, atol=1e-6)


def test_bbc_news() -> None:
    data = loaded(BbcNews(duplicates=True))
    assert data.y is not None
    assert np.bincount(data.y).tolist() == [510, 386, 417, 511, 401]
    assert len(loaded(BbcNews()).x) == 2125


def test_spam_assassin() -> None:
    data = loaded(SpamAssassin(duplicates=True))
    assert data.y is not None
    assert data.domain is not None
    assert np.bincount(data.y).tolist() == [4150, 1896]
    assert np.bincount(data.domain).tolist() == [2500, 1400, 250, 500, 1396]


def test_newsgroups_in_seven_hierarchies() -> None:
    data = loaded(Newsgroups(labels="hierarchy"))
    assert data.y is not None
    assert data.domain is not None
    assert np.bincount(data.y).tolist() == [480, 2907, 582, 2386, 2369, 598, 1951]
    assert len(np.unique(data.domain[data.y == 1])) == 5  # groups of comp


def test_newsgroups_in_two_halves_of_four_subjects() -> None:
    """Each half has all four, and its share of the documented table."""
    data = loaded(Newsgroups(labels="subject"))
    assert data.y is not None
    assert data.domain is not None
    cells = np.bincount(data.y + 4 * data.domain).tolist()
    assert cells == [1743, 1189, 1183, 1109, 1164, 1197, 1186, 842]
    assert len(loaded(Newsgroups(labels="subject", domain=1)).x) == sum(cells[4:])


def test_minilm_gives_the_documented_similarities() -> None:
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    if not (data_folder() / "minilm").exists():
        pytest.skip("minilm is not there: run 'driftfold data get minilm'")
    vectors = MiniLm().encode(texts)
    alike = (vectors @ vectors.T)[np.triu_indices(3, 1)]
    assert np.abs(alike - [0.6660, 0.1046, 0.1411]).max() < 6e-5


def test_texts_are_cut_as_by_the_tokenizer_of_the_table() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    loaded(SpamAssassin(limit=1))
    found = read_set("wordllama")
    description = found.files["l2_supercat_tokenizer_config.json"]
    theirs = tokenizers.Tokenizer.from_str(description.decode())
    ours = parse_byte_pairs(description, Path("here"))
    (mails,) = read_set("spam_assassin").files.values()
    texts = [mail_text(mail) for mail in list(scattered(mails, "here").values())[::20]]
    for text in texts:
        if not any(mark in text for mark in ("<s>", "</s>", "<unk>")):  # marks of theirs
            assert ours.cut(text) == theirs.encode(text, add_special_tokens=False).ids
