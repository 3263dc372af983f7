"""The digest of the run's own events."""

import asyncio
import hashlib
import struct

import pytest

from driftfold.kernel import VirtualLoop, now, run, sleep
from driftfold.kernel.trace import EventTrace

Events = list[tuple[float, int]]


def reference(events: Events) -> str:
    """Full blocks are chained by BLAKE2b-128; the digest chains what is left on top."""
    packed = [struct.pack("<dQ", time, key) for time, key in events]
    chain = b""
    while len(packed) >= EventTrace.BLOCK:
        block, packed = packed[: EventTrace.BLOCK], packed[EventTrace.BLOCK :]
        chain = hashlib.blake2b(chain + b"".join(block), digest_size=16).digest()
    return hashlib.blake2b(chain + b"".join(packed), digest_size=16).hexdigest()


def loop_here() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def test_keyed_sleeps_and_records_are_the_events_in_firing_order() -> None:
    async def sleeper(delay: float, key: int) -> None:
        await sleep(delay, key)
        await sleep(delay, key + 1)

    async def main() -> tuple[int, str]:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper(2.0, 10))
            group.create_task(sleeper(1.5, 2**63 - 2))
        loop_here().record(0)
        await sleep(0.0, 77)
        return loop_here().events, loop_here().digest()

    big = 2**63 - 2
    events = [(1.5, big), (2.0, 10), (3.0, big + 1), (4.0, 11), (4.0, 0), (4.0, 77)]
    assert run(main()) == (6, reference(events))


@pytest.mark.parametrize("asked_every", [7, 100, 5000])
def test_asking_for_the_digest_does_not_change_it(asked_every: int) -> None:
    events = [(number / 7, number % 1000) for number in range(3 * EventTrace.BLOCK + 5)]

    async def main() -> tuple[int, str]:
        last = now()
        for number, (time, key) in enumerate(events):
            if time > last:
                await sleep(time - last)
            last = now()
            loop_here()._trace.add(time, key)
            if number % asked_every == 0:
                loop_here().digest()
        return loop_here().events, loop_here().digest()

    assert run(main()) == (len(events), reference(events))


def test_keyed_sleeps_across_blocks() -> None:
    async def main() -> tuple[int, str, Events]:
        fired: Events = []

        async def sleeper(number: int) -> None:
            for hop in range(10):
                await sleep(0.1 * (1 + (number * 7 + hop) % 13), number)
                fired.append((now(), number))

        await asyncio.gather(*map(sleeper, range(1500)))
        return loop_here().events, loop_here().digest(), fired

    count, digest, fired = run(main())
    assert count == len(fired) == 15_000
    assert digest == reference(fired)


def test_observers_do_not_change_the_digest() -> None:
    async def world(observed: bool) -> str:
        async def observer() -> None:
            while True:
                await sleep(0.3)
                await asyncio.sleep(0.1)

        watching = asyncio.create_task(observer()) if observed else None
        for key in range(10):
            await sleep(0.7, key)
        if watching is not None:
            watching.cancel()
        return loop_here().digest()

    assert run(world(False)) == run(world(True))


def test_a_cancelled_keyed_sleep_is_no_event() -> None:
    async def main() -> int:
        task = asyncio.create_task(sleep_keyed(10.0))
        await sleep(1.0)
        task.cancel()
        await asyncio.wait([task])
        return loop_here().events

    async def sleep_keyed(delay: float) -> None:
        await sleep(1.0)
        await sleep(delay, 1)

    assert run(main()) == 0


def test_order_times_and_keys_all_matter() -> None:
    sequences: list[Events] = [
        [],
        [(0.0, 0)],
        [(0.0, 1)],
        [(1.0, 0)],
        [(1.0, 2), (1.0, 3)],
        [(1.0, 3), (1.0, 2)],
    ]
    digests = set()
    for events in sequences:
        trace = EventTrace()
        for time, key in events:
            trace.add(time, key)
        assert trace.digest() == reference(events)
        digests.add(trace.digest())
    assert len(digests) == len(sequences)


@pytest.mark.parametrize("count", [0, 5, EventTrace.BLOCK, 2 * EventTrace.BLOCK + 1])
def test_a_restored_trace_continues(count: int) -> None:
    events = [(float(number), number) for number in range(count + 5000)]
    whole, before = EventTrace(), EventTrace()
    for event in events[:count]:
        before.add(*event)
    after = EventTrace()
    after.restore(before.state())
    for event in events[count:]:
        after.add(*event)
    for event in events:
        whole.add(*event)
    assert (after.count, after.digest()) == (whole.count, whole.digest())


async def slept(key: int) -> None:
    await sleep(1.0, key)


@pytest.mark.parametrize("key", [-1, 2**63])
def test_a_key_out_of_range_is_an_error(key: int) -> None:
    async def record() -> None:
        loop_here().record(key)

    with pytest.raises(ValueError, match="2\\*\\*63 - 1"):
        run(slept(key))
    with pytest.raises(ValueError, match="2\\*\\*63 - 1"):
        run(record())


def test_a_key_that_is_no_integer_is_an_error() -> None:
    with pytest.raises(TypeError):
        run(slept(0.5))  # type: ignore[arg-type]
