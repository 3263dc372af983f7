"""Words counted in a few places that are drawn by their hashes."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.unit_length import unit_length
from driftfold.registry import register

_WORD = re.compile(r"[^\W_]+")


@register("hashed_words")
@dataclass(frozen=True)
class HashedWords(Encoder):
    """Each word adds 1 or -1 at one of d places, drawn by its hash; then a root, then length 1.

    Weinberger et al., "Feature hashing for large scale multitask learning" (2009), eq. 1, with the
    signed root of each sum, which keeps frequent words from drowning the others. Needs no files;
    words of like meaning are as far apart as any.

    Attributes
    ----------
    dimension
        Number d of places.

    Examples
    --------
    >>> vectors = HashedWords(64).encode(["Grain and oil", "oil, GRAIN and", "a ship"])
    >>> (vectors @ vectors.T).round(3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    dimension: Annotated[int, Gt(0)] = 1024

    def encode(self, texts: Sequence[str], folder: str | Path | None = None) -> Array:
        """Return the vectors; the folder is not used."""
        sums = np.zeros((len(texts), self.dimension))
        for row, text in zip(sums, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                number = _number(word)
                row[(number >> 1) % self.dimension] += 1 - 2 * (number & 1)
        return unit_length(np.sign(sums) * np.sqrt(np.abs(sums)))

    def identity(self) -> str:
        """Return kind, version and size."""
        return f"hashed_words 1 {self.dimension}"


@lru_cache(maxsize=1 << 16)
def _number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
