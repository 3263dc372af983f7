"""From texts to vectors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from driftfold.arrays import Array
from driftfold.registry import family


@family("encoder")
class Encoder(ABC):
    """Turns each text into a vector, whatever the other texts are."""

    @abstractmethod
    def encode(self, texts: Sequence[str], folder: str | Path | None = None) -> Array:
        """Return vectors of length 1, shape (n, d), float32; zeros for a text without any word.

        `folder` is that of data sets, as for `data_folder`. Raises `DataError` when files of the
        encoder are missing there or not sound.
        """

    @abstractmethod
    def identity(self) -> str:
        """What the vectors depend on besides the texts: changes whenever they do."""
