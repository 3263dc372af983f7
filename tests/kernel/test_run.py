"""`run` from start to end, alone and inside other programs."""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import AsyncIterator

import pytest

from driftfold import kernel
from driftfold.kernel import VirtualLoop, now, run, sleep


def test_the_public_face() -> None:
    assert kernel.__all__ == ["Sleeper", "VirtualLoop", "launch", "now", "run", "sleep"]
    assert kernel.__doc__ is not None
    for name in kernel.__all__:
        assert getattr(kernel, name).__doc__


def test_the_kernel_imports_the_standard_library_only() -> None:
    code = (
        "import sys; before = set(sys.modules); import driftfold.kernel;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - sys.stdlib_module_names <= {"driftfold"}


def test_what_is_left_is_cancelled_and_may_clean_up() -> None:
    cleaned: list[tuple[str, float]] = []

    async def background(name: str) -> None:
        try:
            await sleep(1e9)
        finally:
            await sleep(1.0)
            cleaned.append((name, now()))

    async def main() -> str:
        kept.extend(asyncio.create_task(background(n), name=n) for n in ("task-10", "task-9"))
        await sleep(5.0)
        return "result"

    kept: list[asyncio.Task[None]] = []
    assert run(main()) == "result"
    assert cleaned == [("task-9", 6.0), ("task-10", 6.0)]


def test_asynchronous_generators_are_closed() -> None:
    closed = []

    async def ticks() -> AsyncIterator[int]:
        try:
            while True:
                await sleep(1.0)
                yield 1
        finally:
            await sleep(1.0)
            closed.append(now())

    async def main() -> None:
        kept.append(ticks())
        await anext(kept[0])

    kept: list[AsyncIterator[int]] = []
    run(main())
    assert closed == [2.0]


def test_only_a_coroutine_runs() -> None:
    with pytest.raises(TypeError, match="wants a coroutine"):
        run(42)  # type: ignore[arg-type]


def test_not_inside_a_running_loop() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match="running event loop"):
            run(asyncio.sleep(1.0))
        loop = VirtualLoop()
        coroutine = asyncio.sleep(1.0)
        with pytest.raises(RuntimeError):
            loop.run_until_complete(coroutine)
        coroutine.close()
        loop.close()
        await sleep(1.0)
        assert now() == 1.0

    run(main())


def test_one_run_after_another() -> None:
    async def main() -> float:
        await sleep(1.0)
        return now()

    assert [run(main()), run(main(), start=10.0), run(main())] == [1.0, 11.0, 1.0]


def test_in_a_thread_of_a_real_asyncio_program() -> None:
    async def simulated(hops: int) -> float:
        for _ in range(hops):
            await sleep(1e6)
        return now()

    async def real() -> list[float]:
        return await asyncio.gather(
            *(asyncio.to_thread(run, simulated(hops)) for hops in (10, 2000, 3))
        )

    assert asyncio.run(real()) == [1e7, 2e9, 3e6]


def test_code_written_for_virtual_time_runs_on_a_real_loop() -> None:
    async def main() -> bool:
        before = now()
        await sleep(0.001, key=5)
        await sleep(0.0)
        return before + 0.001 <= now()

    assert asyncio.run(main())


def test_a_simulation_in_another_thread_does_not_lend_its_clock() -> None:
    inside, done = threading.Event(), threading.Event()

    async def simulated() -> None:
        inside.set()
        done.wait(timeout=60)

    async def real() -> float:
        await sleep(0.001)
        return now() - asyncio.get_running_loop().time()

    thread = threading.Thread(target=run, args=(simulated(),))
    thread.start()
    inside.wait(timeout=60)
    try:
        assert asyncio.run(real()) <= 0.0
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("fails", [False, True])
def test_the_collector_s_pace_is_the_caller_s_again_afterwards(fails: bool) -> None:
    async def main() -> tuple[int, int, int]:
        await sleep(1.0)
        seen.append(gc.get_threshold())
        if fails:
            raise KeyError
        return gc.get_threshold()

    seen: list[tuple[int, int, int]] = []
    before = gc.get_threshold()
    gc.set_threshold(555, 5, 5)
    try:
        if fails:
            with pytest.raises(KeyError):
                run(main())
        else:
            run(main())
        assert seen[0][0] > 555
        assert gc.get_threshold() == (555, 5, 5)
    finally:
        gc.set_threshold(*before)


def test_cycles_do_not_pile_up_in_a_long_run() -> None:
    class Node:
        alive = 0

        def __init__(self) -> None:
            self.me = self
            Node.alive += 1

        def __del__(self) -> None:
            Node.alive -= 1

    async def main() -> int:
        most = 0
        for _ in range(200_000):
            Node()
            await sleep(1.0)
            most = max(most, Node.alive)
        return most

    # One object of garbage an event, swept every 65,536 events; twice that leaves room.
    assert run(main()) < 140_000


def test_a_closed_loop_does_not_run() -> None:
    loop = VirtualLoop()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon(print)
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1.0, print)
    with pytest.raises(RuntimeError, match="closed"):
        loop.run_forever()


def test_stop_ends_run_forever() -> None:
    loop = VirtualLoop()
    seen: list[float] = []
    loop.call_later(1.0, lambda: seen.append(loop.time()))
    loop.call_later(2.0, loop.stop)
    loop.call_later(3.0, lambda: seen.append(loop.time()))
    loop.run_forever()
    assert (loop.time(), seen) == (2.0, [1.0])
    loop.call_later(2.0, loop.stop)
    loop.run_forever()
    loop.close()
    assert seen == [1.0, 3.0]
