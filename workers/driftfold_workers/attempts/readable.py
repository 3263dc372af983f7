"""Waiting for a descriptor, beside asyncio's transports: they read on while nobody takes it."""

import asyncio


async def until_readable(file: int) -> None:
    """Wait until there is something to read from a descriptor, or its other end is gone."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(file, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(file)
