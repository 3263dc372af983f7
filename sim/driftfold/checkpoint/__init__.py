"""Snapshots of a run: saved durably under a URL, and trusted only when whole."""

from driftfold.checkpoint.base import CheckpointStore, Snapshot
from driftfold.checkpoint.disk import DiskStore
from driftfold.checkpoint.fingerprint import Fingerprint, take_fingerprint
from driftfold.checkpoint.memory import MemoryStore
from driftfold.checkpoint.remote import RemoteStore
from driftfold.checkpoint.url import add_scheme, open_store

__all__ = [
    "CheckpointStore",
    "DiskStore",
    "Fingerprint",
    "MemoryStore",
    "RemoteStore",
    "Snapshot",
    "add_scheme",
    "open_store",
    "take_fingerprint",
]
