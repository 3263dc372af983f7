"""Texts that are published in a training and a test part."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from driftfold.arrays import Ints
from driftfold.data.catalogue import read_set
from driftfold.data.texts.corpus import Corpus, numbered
from driftfold.data.texts.tab_table import parse_tab

Labelling: TypeAlias = Callable[[Sequence[str], Sequence[str]], tuple[Ints, Ints | None]]
"""From names of classes, and all names that there are, to classes and collections."""


def read_part(
    name: str,
    stem: str,
    split: Literal["train", "test"],
    folder: str | None,
    labelling: Labelling = lambda words, known: (numbered(words, known), None),
) -> Corpus:
    """Read a part of a set whose files are STEM-train.tab and STEM-test.tab.

    Classes are those of the training texts, in alphabetical order, unless `labelling` says
    otherwise. Raises `DataError` as `read_set` does.
    """
    wanted = [f"{stem}-train"] + [f"{stem}-test"] * (split == "test")
    found = read_set(name, folder, only=wanted)
    tables = [parse_tab(content, found.places[file]) for file, content in found.files.items()]
    (known, trained), (words, texts) = tables[0], tables[-1]
    labels, domain = labelling(words, known)
    return Corpus(
        name=f"{name}-{split}",
        digest=hashlib.sha256(found.files[f"{stem}-{split}.tab"]).hexdigest(),
        texts=lambda: texts,
        labels=labels,
        domain=domain,
        seen=() if split == "train" else trained,
    )
