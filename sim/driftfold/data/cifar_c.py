"""CIFAR-10-C and CIFAR-100-C, one corruption at one severity at a time."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le

from driftfold.data.base import Data, Dataset
from driftfold.data.corrupted_images import SEVERITIES, Corruption, read_corrupted
from driftfold.data.pixels import Pixels
from driftfold.registry import register
from driftfold.rng import Seed


@register("cifar10_c")
@dataclass(frozen=True)
class Cifar10C(Data):
    """CIFAR-10-C: the 10,000 test images of CIFAR-10 under one corruption at one severity.

    Hendrycks and Dietterich, "Benchmarking neural network robustness to common corruptions and
    perturbations" (ICLR 2019). Rows are as those of `Cifar10`; row i is always the same image.
    `open_corrupted` opens many corruptions at once without reading them in.

    Attributes
    ----------
    corruption
        Which one.
    severity
        1 (mild) to 5.
    limit
        Use only this many images from the start, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised``.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Cifar10C("fog", severity=3, folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: cifar10_c is not in nowhere: no CIFAR-10-C/fog.npy, ...
    """

    corruption: Corruption = "gaussian_noise"
    severity: Annotated[int, Ge(1), Le(SEVERITIES)] = 1
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the images after checking the file; the seed is not used."""
        return read_corrupted(
            "cifar10_c", self.corruption, self.severity, self.limit, self.pixels, self.folder
        )


@register("cifar100_c")
@dataclass(frozen=True)
class Cifar100C(Data):
    """CIFAR-100-C: the 10,000 test images of CIFAR-100 under one corruption at one severity.

    As `Cifar10C`, with the 100 fine classes.

    Attributes
    ----------
    corruption
        Which one.
    severity
        1 (mild) to 5.
    limit
        Use only this many images from the start, or None for all.
    pixels
        Scaling: ``unit`` ([0, 1]), ``centred`` or ``standardised``.
    folder
        Where the files lie; None asks DRIFTFOLD_DATA, then the user's cache.

    Examples
    --------
    >>> Cifar100C("snow", folder="nowhere").load(Seed(0))
    Traceback (most recent call last):
    driftfold.errors.DataError: cifar100_c is not in nowhere: no CIFAR-100-C/snow.npy, ...
    """

    corruption: Corruption = "gaussian_noise"
    severity: Annotated[int, Ge(1), Le(SEVERITIES)] = 1
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"
    folder: str | None = None

    def load(self, seed: Seed) -> Dataset:
        """Read the images after checking the file; the seed is not used."""
        return read_corrupted(
            "cifar100_c", self.corruption, self.severity, self.limit, self.pixels, self.folder
        )
