"""20 Newsgroups."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt

from driftfold.arrays import Ints
from driftfold.data.base import Data, Dataset
from driftfold.data.texts.corpus import embedded, numbered
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.split_corpus import read_part
from driftfold.data.texts.word_llama import WordLlama
from driftfold.registry import register
from driftfold.rng import Seed


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
        class's domains may drift.
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
    labels: Literal["group", "hierarchy"] = "group"
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
        hierarchy = numbered(
            [w.partition(".")[0] for w in words], [k.partition(".")[0] for k in known]
        )
        return (group, hierarchy) if self.labels == "group" else (hierarchy, group)
