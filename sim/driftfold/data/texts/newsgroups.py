"""20 Newsgroups."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from driftfold.arrays import Ints
from driftfold.data.base import Data, Dataset
from driftfold.data.texts.corpus import embedded, numbered
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.split_corpus import read_part
from driftfold.data.texts.word_llama import WordLlama
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

_HALF = 2  # groups at least that each half of a subject has


@register("newsgroups")
@dataclass(frozen=True)
class Newsgroups(Data):
    """Vectors of 20 Newsgroups: 11,293 training or 7,528 test messages of 20 classes.

    Lang, "NewsWeeder: learning to filter netnews" (ICML 1995), split by date and in the spelling
    "all terms" of Cardoso-Cachopo (2007). ``driftfold data get newsgroups wordllama`` fetches them
    and the encoder's table. Classes take turns. Vectors are kept in the folder where it can be
    written.

    Attributes
    ----------
    split
        Which messages.
    labels
        ``group``: the 20 groups are the classes, and the domain of a message is its hierarchy, one
        of alt, comp, misc, rec, sci, soc, talk. ``hierarchy``: the other way round, so that a
        class's domains may drift. ``subject``: the four hierarchies of four groups and more are the
        classes, comp, rec, sci and talk; the first half of each one's groups, in alphabetical
        order, is domain 0 and the other half domain 1, so that both have all classes and no group
        in common; other messages are left out.
    domain
        Use only messages of this domain, or all for None: what a model is trained on before it
        meets the others.
    encoder
        How texts become vectors.
    duplicates
        Whether to keep texts that occur before, or also among the training texts.
    limit
        Use only this many texts, or None for all.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Newsgroups(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: newsgroups is not in nowhere: no 20newsgroups-train.tab there; ...
    """

    split: Literal["train", "test"] = "train"
    labels: Literal["group", "hierarchy", "subject"] = "group"
    domain: Annotated[int, Ge(0)] | None = None
    encoder: Encoder = field(default_factory=WordLlama)
    duplicates: bool = False
    limit: Annotated[int, Gt(0)] | None = None
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the messages after checking them, and encode them; the seed is not used."""
        return embedded(
            read_part("newsgroups", "20newsgroups", self.split, self.folder, self._labelling),
            self.encoder,
            duplicates=self.duplicates,
            limit=self.limit,
            folder=self.folder,
            turns=True,
        )

    def _labelling(self, words: Sequence[str], known: Sequence[str]) -> tuple[Ints, Ints]:
        group = numbered(words, known)
        hierarchy = numbered([_top(word) for word in words], [_top(word) for word in known])
        if self.labels == "subject":
            labels, domain = _subjects(sorted(set(known)), group)
        elif self.labels == "hierarchy":
            labels, domain = hierarchy, group
        else:
            labels, domain = group, hierarchy
        if self.domain is None:
            return labels, domain
        if not (domain == self.domain).any():
            raise DataError(
                f"newsgroups has no messages of domain {self.domain} with labels = "
                f"{self.labels!r}; the last one is {int(domain.max())}"
            )
        return np.where(domain == self.domain, labels, -1), domain


def _top(group: str) -> str:
    return group.partition(".")[0]


def _subjects(groups: Sequence[str], number: Ints) -> tuple[Ints, Ints]:
    """Classes, or -1, and domains of messages, from the numbers of their groups.

    >>> groups = ["a.1", "b.1", "b.2", "b.3", "b.4", "b.5", "c.1", "c.2", "c.3", "c.4"]
    >>> labels, domain = _subjects(groups, np.arange(10))
    >>> labels.tolist(), domain.tolist()
    ([-1, 0, 0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    """
    labels, domains = np.full(len(groups), -1), np.zeros(len(groups), dtype=np.int64)
    tops = [_top(group) for group in groups]
    large = [top for top in sorted(set(tops)) if tops.count(top) >= 2 * _HALF]
    for label, top in enumerate(large):
        own = [i for i, other in enumerate(tops) if other == top]
        labels[own] = label
        domains[own[(len(own) + 1) // 2 :]] = 1
    return labels[number], domains[number]
