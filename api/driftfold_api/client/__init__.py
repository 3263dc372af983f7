"""The Python client of the service, for programs that wait and for programs of asyncio.

>>> client = Client("http://127.0.0.1:8000")
>>> client.url
'http://127.0.0.1:8000'
>>> client.close()
"""

from driftfold_api.client.asynchronous import AsyncClient
from driftfold_api.client.events import Event, Positions
from driftfold_api.client.synchronous import Client

__all__ = ["AsyncClient", "Client", "Event", "Positions"]
