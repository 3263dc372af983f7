"""A job store and real attempts, for the cases of the service."""

from tests.workers.conftest import behaviour, server, store

__all__ = ["behaviour", "server", "store"]
