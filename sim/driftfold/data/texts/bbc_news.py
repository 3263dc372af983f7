"""BBC News."""

import hashlib
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.catalogue.gathering import scattered
from driftfold.data.texts.corpus import Corpus, embedded, numbered
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.plain_text import decoded, spaced
from driftfold.data.texts.word_llama import WordLlama
from driftfold.registry import register
from driftfold.rng import Seed


@register("bbc_news")
@dataclass(frozen=True)
class BbcNews(Data):
    """Vectors of BBC News: 2,225 articles of 2004 and 2005, five classes.

    Business, entertainment, politics, sports, tech; Greene and Cunningham, "Practical solutions to
    the problem of diagonal dominance in kernel document clustering" (ICML 2006). ``driftfold data
    get bbc_news wordllama`` fetches them and the encoder's table. Classes take turns. Vectors are
    kept in the folder where it can be written.

    Attributes
    ----------
    encoder
        How texts become vectors.
    duplicates
        Whether to keep texts that occur before.
    limit
        Use only this many texts, or None for all.
    folder
        Where the file lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> BbcNews(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: bbc_news is not in nowhere: no bbc_news.jsonl there; run 'driftf...
    """

    encoder: Encoder = field(default_factory=WordLlama)
    duplicates: bool = False
    limit: Annotated[int, Gt(0)] | None = None
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the articles after checking them, and encode them; the seed is not used."""
        found = read_set("bbc_news", self.folder)
        (name, content), *_ = found.files.items()
        articles = scattered(content, found.places[name])
        corpus = Corpus(
            name="bbc_news",
            digest=hashlib.sha256(content).hexdigest(),
            texts=lambda: [spaced(decoded(article)) for article in articles.values()],
            labels=numbered([path.partition("/")[0] for path in articles]),
        )
        return embedded(
            corpus,
            self.encoder,
            duplicates=self.duplicates,
            limit=self.limit,
            folder=self.folder,
            turns=True,
        )
