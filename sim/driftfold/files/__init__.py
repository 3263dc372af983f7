"""Whole files below one place: a folder, or what fsspec reaches by a URL."""

from driftfold.files.base import PART, Entry, Files
from driftfold.files.local import LocalFiles
from driftfold.files.place import files_at
from driftfold.files.remote import RemoteFiles

__all__ = ["PART", "Entry", "Files", "LocalFiles", "RemoteFiles", "files_at"]
