"""A small sentence encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from driftfold.arrays import Array
from driftfold.data.catalogue import entry_of, read_set
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.safetensors_format import parse_safetensors
from driftfold.data.texts.transformer import encoded
from driftfold.data.texts.unit_length import unit_length
from driftfold.data.texts.word_pieces import parse_word_pieces
from driftfold.registry import register

_HEADS = 12


@register("minilm")
@dataclass(frozen=True)
class MiniLm(Encoder):
    """all-MiniLM-L6-v2: the mean of what six layers make of a text's pieces, 384 numbers.

    Reimers and Gurevych, "Sentence-BERT" (2019); Wang et al., "MiniLM" (2020). Computed in float32
    by NumPy alone, some texts a second on one core: a set takes minutes to an hour, once.
    ``driftfold data get minilm`` fetches the weights.

    Attributes
    ----------
    pieces
        How many pieces of a text count, from its start, with one mark at either end.

    Examples
    --------
    >>> MiniLm().encode(["a text"], folder="nowhere")
    Traceback (most recent call last):
    driftfold.errors.DataError: minilm is not in nowhere: no model.safetensors, vocab.txt there; ...
    """

    pieces: Annotated[int, Ge(3), Le(512)] = 256

    def encode(self, texts: Sequence[str], folder: str | Path | None = None) -> Array:
        """Read the weights after checking them, and return the vectors."""
        found = read_set("minilm", folder)
        (model, content), (words, vocabulary) = found.files.items()
        weights = parse_safetensors(content, found.places[model])
        pieces = parse_word_pieces(vocabulary, found.places[words])
        width = weights["embeddings.word_embeddings.weight"].shape[1]
        means = np.zeros((len(texts), width))
        for mean, text in zip(means, texts, strict=True):
            numbers = pieces.cut(text, self.pieces)
            if len(numbers) > 2:  # more than the marks at its ends
                mean[:] = encoded(weights, numbers, _HEADS).mean(axis=0, dtype=np.float64)
        return unit_length(means)

    def identity(self) -> str:
        """Return kind, version, length and the checksums of the files."""
        (form,) = entry_of("minilm").forms
        return f"minilm 1 {self.pieces} {' '.join(file.sha256 for file in form.files)}"
