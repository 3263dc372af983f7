"""Means of rows that stand for pieces of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array
from driftfold.data.catalogue import entry_of, read_set
from driftfold.data.texts.byte_pairs import parse_byte_pairs
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.safetensors_format import parse_safetensors
from driftfold.data.texts.unit_length import unit_length
from driftfold.errors import DataError
from driftfold.registry import register


@register("wordllama")
@dataclass(frozen=True)
class WordLlama(Encoder):
    """WordLlama: the mean of a fixed row of 256 numbers for each piece of the text, of length 1.

    Miller, "WordLlama: recycled token embeddings from large language models" (2024), release 0.4.
    ``driftfold data get wordllama`` fetches the table; texts are cut as its tokenizer does.

    Attributes
    ----------
    pieces
        How many pieces of a text count, from its start.

    Examples
    --------
    >>> WordLlama().encode(["a text"], folder="nowhere")
    Traceback (most recent call last):
    driftfold.errors.DataError: wordllama is not in nowhere: no l2_supercat_256.safetensors, ...
    """

    pieces: Annotated[int, Gt(0)] = 512

    def encode(self, texts: Sequence[str], folder: str | Path | None = None) -> Array:
        """Read the table after checking it, and return the vectors."""
        found = read_set("wordllama", folder)
        (weights, table), (words, description) = found.files.items()
        rows = _rows(parse_safetensors(table, found.places[weights]), found.places[weights])
        pairs = parse_byte_pairs(description, found.places[words])
        if max(pairs.numbers.values()) >= len(rows):
            raise DataError(
                f"{found.places[weights]} has {len(rows)} rows, fewer than {found.places[words]} "
                "numbers pieces; obtain both again"
            )
        means = np.zeros((len(texts), rows.shape[1]))
        for mean, text in zip(means, texts, strict=True):
            pieces = pairs.cut(text, self.pieces)
            if pieces:
                mean[:] = rows[pieces].mean(axis=0, dtype=np.float64)
        return unit_length(means)

    def identity(self) -> str:
        """Return kind, version, length and the table's checksums."""
        (form,) = entry_of("wordllama").forms
        return f"wordllama 1 {self.pieces} {' '.join(file.sha256 for file in form.files)}"


def _rows(arrays: dict[str, Array], where: object) -> Array:
    tables = [array for array in arrays.values() if array.ndim == 2]
    if len(arrays) != 1 or not tables:
        raise DataError(f"{where} holds {', '.join(arrays) or 'nothing'}, wanted one table")
    return tables[0]
