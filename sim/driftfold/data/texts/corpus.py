"""Labelled texts, and the data set that their vectors make."""

import hashlib
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from driftfold.arrays import Array, Ints
from driftfold.data.base import Dataset
from driftfold.data.catalogue import data_folder
from driftfold.data.catalogue.writing import write_whole
from driftfold.data.limit import within
from driftfold.data.taking_turns import taking_turns
from driftfold.data.texts.encoder import Encoder
from driftfold.errors import DataError
from driftfold.npz import read_npz, write_npz

_VERSION = 1  # of how texts are taken from their files
_DAMAGED = (OSError, ValueError, EOFError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Corpus:
    """Texts of a set or of a part of it.

    Attributes
    ----------
    name
        Set and part, as a file name.
    digest
        Of the files that the texts are from.
    texts
        Returns the texts, n of them.
    labels, domain
        Class and collection of each, shape (n,); the class of a text that is left out is -1.
    seen
        Texts of another part that are not to be met again.
    """

    name: str
    digest: str
    texts: Callable[[], Sequence[str]]
    labels: Ints
    domain: Ints | None = None
    seen: Sequence[str] = ()


def numbered(words: Sequence[str], known: Sequence[str] | None = None) -> Ints:
    """Number words by their place among `known` ones, by default their own, in alphabetical order.

    >>> numbered(["b", "a", "b"]).tolist(), numbered(["b"], ["a", "b", "c"]).tolist()
    ([1, 0, 1], [1])
    """
    place = {word: number for number, word in enumerate(sorted(set(known or words)))}
    try:
        return np.array([place[word] for word in words], dtype=np.int64)
    except KeyError as error:
        raise DataError(f"a text has the class {error}, which is not known; obtain it again") from (
            None
        )


def fingerprints(texts: Sequence[str]) -> Array:
    """64-bit numbers by which equal texts are told, shape (n,), uint64."""
    hashes = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(hashes), "<u8")


def embedded(
    corpus: Corpus,
    encoder: Encoder,
    *,
    duplicates: bool,
    limit: int | None,
    folder: str | None,
    turns: bool = False,
) -> Dataset:
    """Return the vectors of the texts as a data set.

    Parameters
    ----------
    corpus, encoder
        What is encoded, and how.
    duplicates
        Whether to keep texts that occur before, or among those `seen` elsewhere.
    limit
        How many texts are used, from the start, or None.
    folder
        Of data sets, where vectors are kept.
    turns
        Whether classes, or their collections, take turns; where a file has them one by one.
    """
    vectors, marks = _vectors(corpus, encoder, folder)
    kept = np.ones(len(vectors), dtype=bool)
    if not duplicates:
        _, first = np.unique(marks, return_index=True)
        kept[:] = False
        kept[first] = True
        kept &= ~np.isin(marks, fingerprints(corpus.seen))
    kept &= corpus.labels >= 0
    rows = np.flatnonzero(kept)
    if turns:
        groups = corpus.labels
        if corpus.domain is not None:
            groups = groups * (int(corpus.domain.max()) + 1) + corpus.domain
        rows = taking_turns(groups, kept)
    rows = rows[: within(limit, len(rows), corpus.name)]
    domain = None if corpus.domain is None else corpus.domain[rows]
    return Dataset(x=vectors[rows].astype(np.float64), y=corpus.labels[rows], domain=domain)


def _vectors(corpus: Corpus, encoder: Encoder, folder: str | None) -> tuple[Array, Array]:
    """Vectors (n, d) and fingerprints (n,) of the texts, kept where the folder can be written."""
    told = f"{_VERSION}\n{corpus.name}\n{corpus.digest}\n{encoder.identity()}"
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    path = data_folder(folder) / "vectors" / f"{corpus.name}-{digest}.npz"
    kept = _kept(path, len(corpus.labels))
    if kept is None:
        texts = corpus.texts()
        kept = encoder.encode(texts, folder), fingerprints(texts)
        arrays = {"vectors": kept[0], "fingerprints": kept[1]}
        with suppress(DataError):  # a folder that others look after: encoded again next time
            write_whole(path, partial(write_npz, arrays=arrays))
    return kept


def _kept(path: Path, count: int) -> tuple[Array, Array] | None:
    try:
        with path.open("rb") as file:
            arrays, _ = read_npz(file)
        vectors, marks = arrays["vectors"], arrays["fingerprints"]
    except (*_DAMAGED, KeyError):
        return None
    sound = len(vectors) == len(marks) == count and bool(np.isfinite(vectors).all())
    return (vectors, marks) if sound else None
