"""Descriptors of the tiles of a real slide, which comes with the package."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from driftfold.data.base import Data, Dataset
from driftfold.data.descriptors import RIDGE, Descriptor, covariances, tiles_of
from driftfold.data.limit import within
from driftfold.data.pictures import decode
from driftfold.data.spd_rows import rows_of
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

FILE = Path(__file__).parent / "colon_slide" / "ihc.png"
SHA256 = "f8dd1aa387ddd1f49d8ad13b50921b237df8e9b262606d258770687b0ef93cef"


@register("colon_tiles")
@dataclass(frozen=True)
class ColonTiles(Data):
    """SPD matrices, 9 x 9, of tiles of one stained slide of colonic glands (512 x 512 RGB).

    They stand in for PathMNIST: the same kind of tissue and size of matrix, but of one slide and
    without labels; call results "colon slide tiles". The folder ``colon_slide`` beside this file
    tells the source.

    Attributes
    ----------
    tile
        Side of a tile, in pixels.
    stride
        Distance of tiles, in pixels: 28 gives 324 of them, 8 gives 3,721, 4 gives 14,884,
        3 gives 26,244. Below 28 they overlap.
    samples
        How many of them, drawn at random, or "all" in order.
    descriptor
        Recipe of a matrix: ``grey`` or ``colour`` (see `driftfold.data.descriptors`).
    root
        Whether to take each matrix's square root, as the RFedAGS experiments do.
    ridge
        Multiple of the identity that is added, or None for the recipe's own.

    Examples
    --------
    >>> ColonTiles().load(Seed(0)).x.shape
    (324, 81)
    """

    tile: Annotated[int, Ge(6), Le(512)] = 28
    stride: Annotated[int, Ge(1), Le(512)] = 28
    samples: Annotated[int, Gt(0)] | Literal["all"] = "all"
    descriptor: Descriptor = "colour"
    root: bool = False
    ridge: Annotated[float, Ge(0)] | None = None

    def load(self, seed: Seed) -> Dataset:
        """Cut the slide and describe its tiles; the seed says which, if not all are wanted."""
        tiles = tiles_of(decode(read_slide(FILE), FILE), self.tile, self.stride)
        if self.samples != "all":
            count = within(self.samples, len(tiles), "the colon slide cut like this")
            tiles = tiles[seed.stream("tiles").subsets(0, 0, len(tiles), count)]
        ridge = RIDGE[self.descriptor] if self.ridge is None else self.ridge
        made = covariances(tiles, self.descriptor)
        return Dataset(x=rows_of(made, root=self.root, ridge=ridge, source="the colon slide"))


def read_slide(path: Path) -> bytes:
    """Read the file of the slide, if it is what was published with the package."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot read {path} ({error.strerror}), which is part of driftfold; install it again"
        ) from None
    got = hashlib.sha256(content).hexdigest()
    if got != SHA256:
        raise DataError(
            f"{path} has SHA-256 {got}, not {SHA256}: it was changed; install driftfold again"
        )
    return content
