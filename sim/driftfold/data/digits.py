"""Handwritten digits of 8 x 8 pixels, which come with the package."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftfold.data.base import Data, Dataset
from driftfold.data.idx_format import read_idx
from driftfold.data.included import checked
from driftfold.data.pixels import Pixels, features
from driftfold.registry import register
from driftfold.rng import Seed

FOLDER = Path(__file__).parent / "optical_digits"
SHA256 = {
    "images-idx3-ubyte.gz": "c41c947a1014aa9bb82e371b01f16724f9ef929893351173edcc47aa0fc03930",
    "labels-idx1-ubyte.gz": "147c9192405199869317e6d9c62ea444f9770c3f8c6dd65035ba3a3690cc5460",
}
_TOP = 16  # a pixel counts the black points of 4 x 4


@register("digits")
@dataclass(frozen=True)
class Digits(Data):
    """1,797 handwritten digits, 8 x 8 grey pixels, ten classes of 174 to 183.

    Alpaydin and Kaynak, "Optical recognition of handwritten digits" (UCI, 1998), its test part as
    scikit-learn has it; CC BY 4.0. The folder ``optical_digits`` beside this file has the notice.
    They are not MNIST: digits of 13 other people, with 17 shades of grey.

    Attributes
    ----------
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised`` (see `driftfold.data.pixels`).

    Examples
    --------
    >>> data = Digits().load(Seed(0))
    >>> data.x.shape, data.shape, np.bincount(data.y).tolist()
    ((1797, 64), (8, 8), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180])
    """

    pixels: Pixels = "unit"

    def load(self, seed: Seed) -> Dataset:
        """Read the files after checking them; the seed is not used."""
        images, labels = (checked(FOLDER / name, digest) for name, digest in SHA256.items())
        pictures = read_idx(images, dimensions=3)
        y = read_idx(labels, dimensions=1).astype(np.int64)
        x = features(pictures, self.pixels, top=_TOP)
        return Dataset(x=x, y=y, shape=pictures.shape[1:])
