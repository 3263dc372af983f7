"""Reuters news agency texts, classes R8 and R52."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.texts.corpus import embedded
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.split_corpus import read_part
from driftfold.data.texts.word_llama import WordLlama
from driftfold.registry import register
from driftfold.rng import Seed


@register("r8")
@dataclass(frozen=True)
class R8(Data):
    """Vectors of Reuters R8: 5,485 training or 2,189 test texts of eight classes, half of one.

    Texts of one topic of Reuters-21578 (Lewis 1997), in the split and the spelling "all terms" of
    Cardoso-Cachopo (2007). ``driftfold data get r8 wordllama`` fetches them and the encoder's
    table. Vectors are kept in the folder where it can be written.

    Attributes
    ----------
    split
        Which texts.
    encoder
        How texts become vectors.
    duplicates
        Whether to keep texts that occur before, or also among the training texts.
    limit
        Use only this many texts from the start, or None for all.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> R8(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: r8 is not in nowhere: no reuters-r8-train.tab there; run 'driftf...
    """

    split: Literal["train", "test"] = "train"
    encoder: Encoder = field(default_factory=WordLlama)
    duplicates: bool = False
    limit: Annotated[int, Gt(0)] | None = None
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the texts after checking them, and encode them; the seed is not used."""
        return embedded(
            read_part("r8", "reuters-r8", self.split, self.folder),
            self.encoder,
            duplicates=self.duplicates,
            limit=self.limit,
            folder=self.folder,
        )


@register("r52")
@dataclass(frozen=True)
class R52(Data):
    """Vectors of Reuters R52: 6,532 training or 2,568 test texts of 52 classes, from 2 to 2,840.

    As `R8`, with more topics.

    Attributes
    ----------
    split
        Which texts.
    encoder
        How texts become vectors.
    duplicates
        Whether to keep texts that occur before, or also among the training texts.
    limit
        Use only this many texts from the start, or None for all.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> R52(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: r52 is not in nowhere: no reuters-r52-train.tab there; run ...
    """

    split: Literal["train", "test"] = "train"
    encoder: Encoder = field(default_factory=WordLlama)
    duplicates: bool = False
    limit: Annotated[int, Gt(0)] | None = None
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the texts after checking them, and encode them; the seed is not used."""
        return embedded(
            read_part("r52", "reuters-r52", self.split, self.folder),
            self.encoder,
            duplicates=self.duplicates,
            limit=self.limit,
            folder=self.folder,
        )
