"""Samples from a NumPy archive."""

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Gt

from driftfold.arrays import Array, Ints
from driftfold.data.base import Data, Dataset
from driftfold.data.picture_rows import picture_rows
from driftfold.data.pixels import Pixels, features
from driftfold.errors import DataError
from driftfold.registry import register
from driftfold.rng import Seed

_MOST = 2**24  # tables of all classes and all owners are made
_WANTED = "write one with numpy.savez(path, x=features, y=labels)"


@register("npz")
@dataclass(frozen=True)
class Npz(Data):
    """Arrays ``x`` (n, ...) and, where they are, ``y``, ``owner`` and ``domain`` (n,) of an .npz.

    Bytes in ``x`` are taken for pixels and scaled: (n, H, W) and (n, H, W, ch) for pictures of up
    to 4 channels, those with colours laid in rows plane by plane. Other numbers are used as they
    are, each sample flattened into one row. Objects (pickles) are refused.

    Attributes
    ----------
    path
        The file.
    limit
        Use only this many samples from the start, or None for all.
    pixels
        Scaling of bytes: ``unit`` ([0, 1]), ``centred`` or ``standardised``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "three.npz"
    >>> np.savez(path, x=np.eye(3), y=[0, 1, 1])
    >>> Npz(str(path), limit=2).load(Seed(0)).y
    array([0, 1])
    """

    path: str
    limit: Annotated[int, Gt(0)] | None = None
    pixels: Pixels = "unit"

    def load(self, seed: Seed) -> Dataset:
        """Read the file; the seed is not used."""
        arrays = self._read()
        if "x" not in arrays:
            raise DataError(
                f"{self.path} holds {', '.join(sorted(arrays)) or 'nothing'} but no array x; "
                f"{_WANTED}"
            )
        x = arrays["x"]
        if x.size == 0 or x.ndim == 0 or x.dtype.kind not in "buif":
            raise DataError(
                f"x in {self.path} has shape {x.shape} and type {x.dtype}; numbers of shape "
                f"(n, ...) were wanted; {_WANTED}"
            )
        if self.limit is not None and self.limit > len(x):
            raise DataError(
                f"{self.path} holds {len(x)} samples, fewer than the limit of {self.limit}; "
                "lower the limit or leave it out"
            )
        shape = _shape(x)
        if x.dtype == np.uint8:
            laid = x[: self.limit] if shape is None else picture_rows(x[: self.limit], shape)
            rows = features(laid, self.pixels)
        else:
            rows = x[: self.limit].reshape(len(x[: self.limit]), -1).astype(np.float64)
        if not np.isfinite(rows).all():
            raise DataError(
                f"x in {self.path} has values that are not finite; remove those samples"
            )
        return Dataset(
            x=rows,
            y=self._numbers(arrays, "y", len(x)),
            owner=self._numbers(arrays, "owner", len(x)),
            domain=self._numbers(arrays, "domain", len(x)),
            shape=shape,
        )

    def _read(self) -> dict[str, Array]:
        path = Path(self.path)
        try:
            with path.open("rb") as file:  # NumPy leaves a file open that it cannot read
                archive = np.load(file, allow_pickle=False)
                if not isinstance(archive, np.lib.npyio.NpzFile):
                    raise DataError(f"{path} holds one bare array, not an .npz archive; {_WANTED}")
                return {name: archive[name] for name in archive.files}
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(
                f"cannot read {path} ({reason}); an .npz file was wanted there; {_WANTED}"
            ) from None
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"{path} is no sound .npz file ({error}); {_WANTED}") from None

    def _numbers(self, arrays: dict[str, Array], name: str, count: int) -> Ints | None:
        """Labels, owners or domains: whole numbers from 0, one a sample."""
        if name not in arrays:
            return None
        values = arrays[name]
        if values.shape != (count,) or values.dtype.kind not in "ui" or (values < 0).any():
            raise DataError(
                f"{name} in {self.path} has shape {values.shape} and type {values.dtype}; whole "
                f"numbers from 0 of shape ({count},) were wanted; {_WANTED}"
            )
        if values.max() >= _MOST:
            raise DataError(
                f"{name} in {self.path} goes up to {values.max()}; number classes and owners "
                f"0, 1, 2, ... (below {_MOST})"
            )
        numbers: Ints = values[: self.limit].astype(np.int64)
        return numbers


def _shape(x: Array) -> tuple[int, ...] | None:
    """Shape of the pictures that x holds, None if it holds none."""
    coloured = x.ndim == 4 and x.shape[-1] <= 4
    return x.shape[1:] if x.dtype == np.uint8 and (x.ndim == 3 or coloured) else None
