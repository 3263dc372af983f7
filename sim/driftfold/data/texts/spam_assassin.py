"""SpamAssassin's public mails."""

import hashlib
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.data.base import Data, Dataset
from driftfold.data.catalogue import read_set
from driftfold.data.catalogue.gathering import scattered
from driftfold.data.texts.corpus import Corpus, embedded, numbered
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.mail_text import mail_text
from driftfold.data.texts.word_llama import WordLlama
from driftfold.registry import register
from driftfold.rng import Seed


@register("spam_assassin")
@dataclass(frozen=True)
class SpamAssassin(Data):
    """Vectors of 6,046 mails: ham (class 0) or spam (class 1), in five collections.

    The public corpus of SpamAssassin (2002, 2003). The domain of a mail is its collection: 0, 1
    easy ham, 2 hard ham, 3, 4 spam. Subject and text are encoded, not the other headers, which say
    where a collection was gathered. ``driftfold data get spam_assassin wordllama`` fetches them and
    the encoder's table. Collections take turns. Vectors are kept in the folder where it can be
    written.

    Attributes
    ----------
    encoder
        How texts become vectors.
    duplicates
        Whether to keep texts that occur before.
    limit
        Use only this many mails, or None for all.
    folder
        Where the file lies; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> SpamAssassin(folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: spam_assassin is not in nowhere: no spam_assassin.jsonl there; ...
    """

    encoder: Encoder = field(default_factory=WordLlama)
    duplicates: bool = False
    limit: Annotated[int, Gt(0)] | None = None
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the mails after checking them, and encode them; the seed is not used."""
        found = read_set("spam_assassin", self.folder)
        (name, content), *_ = found.files.items()
        mails = scattered(content, found.places[name])
        collections = [path.partition("/")[0] for path in mails]
        corpus = Corpus(
            name="spam_assassin",
            digest=hashlib.sha256(content).hexdigest(),
            texts=lambda: [mail_text(mail) for mail in mails.values()],
            labels=np.array([c.startswith("spam") for c in collections], dtype=np.int64),
            domain=numbered(collections),
        )
        return embedded(
            corpus,
            self.encoder,
            duplicates=self.duplicates,
            limit=self.limit,
            folder=self.folder,
            turns=True,
        )
