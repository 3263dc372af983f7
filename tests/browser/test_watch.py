"""The page of one job: its curves are its records, as they come."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import expect

from driftfold_workers.jobs.job import State
from driftfold_workers.queue import queue
from driftfold_workers.redis_store import RedisJobStore
from tests.api.serving import claimed
from tests.browser.chromium import Watched
from tests.browser.stories import drawn, drawn_so_far, figure, gaps, record, story

pytestmark = pytest.mark.asyncio(loop_scope="session")

INK = """(figure, [name, from, to]) => {
  const { ctx, bbox } = figure.plot;
  const wanted = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const probe = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const pen = probe.getContext('2d', { willReadFrequently: true });
  pen.fillStyle = wanted;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
  const left = from === null ? bbox.left : figure.plot.valToPos(from, 'x', true) - 2;
  const right = to === null ? bbox.left + bbox.width : figure.plot.valToPos(to, 'x', true) + 2;
  probe.width = ctx.canvas.width;
  probe.height = ctx.canvas.height;
  pen.drawImage(ctx.canvas, 0, 0);
  const { data } = pen.getImageData(left, bbox.top, right - left, bbox.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 200 && Math.abs(data[at] - r) + Math.abs(data[at + 1] - g)
      + Math.abs(data[at + 2] - b) < 30) found += 1;
  }
  return found;
}"""

COUNT = """figure => {
  window.drawings = window.frames = 0;
  figure.plot.hooks.setData = [() => (window.drawings += 1)];
  const frame = () => ((window.frames += 1), requestAnimationFrame(frame));
  requestAnimationFrame(frame);
}"""


async def test_the_points_are_the_records_as_they_come(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "slow fleet")
    await told.write(100)
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 50)
    assert await drawn(page) == gaps(100)
    for _ in range(5):
        await told.write(40)
    await drawn_so_far(page, 150)
    assert await drawn(page) == gaps(300)
    assert await page.locator(figure()).evaluate(INK, ["--curve-0", None, None]) > 200
    await expect(page.locator(".progress")).to_have_text("150 / 300")
    assert await page.locator("progress").evaluate("bar => bar.value") == 0.5
    row = page.locator('.values tr[data-metric="round/accepted"] td')
    assert await row.all_inner_texts() == ["10", "150"]
    told_of = await page.locator(".plot").get_attribute("aria-label")
    assert told_of is not None
    assert told_of.startswith("gap against round. slow fleet: 150 points.")


async def test_metrics_axis_and_scale_can_be_chosen_and_sent_to_somebody(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "slow fleet")
    await told.write(60)
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 30)
    await page.get_by_role("checkbox", name="step_norm").check()
    await page.get_by_role("checkbox", name="gap").uncheck()
    await page.get_by_role("radio", name="virtual time").check()
    await page.get_by_role("checkbox", name="logarithmic").check()
    await drawn_so_far(page, 30, "round/step_norm")
    versions = range(1, 31)
    wanted = [[37.5 * v for v in versions], [1 / v for v in versions]]
    assert await drawn(page, "round/step_norm") == wanted
    await expect(page.locator(figure())).to_have_count(0)

    await page.reload()  # the address alone
    await drawn_so_far(page, 30, "round/step_norm")
    assert await drawn(page, "round/step_norm") == wanted
    scale = "figure => figure.plot.scales.y.distr"
    assert await page.locator(figure("round/step_norm")).evaluate(scale) == 3
    await expect(page.get_by_role("checkbox", name="logarithmic")).to_be_checked()


async def test_what_cannot_be_drawn_is_a_hole_in_the_curve_and_stands_in_the_table(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "diverges")
    values: list[float | str] = [1.0, "NaN", 0.5, -0.25, "Infinity", 0.125, "-Infinity"]
    for value in values:
        await told.append([record(told.last + 1), record(told.last + 2, value)])
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 7)
    assert (await drawn(page))[1] == [1.0, None, 0.5, -0.25, None, 0.125, None]
    await page.get_by_role("checkbox", name="logarithmic").check()
    negative = "figure => figure.plot.data[1][3] === null"
    await page.wait_for_function(
        f"figure => ({negative})(document.querySelector(figure))", arg=figure()
    )
    assert (await drawn(page))[1] == [1.0, None, 0.5, None, None, 0.125, None]
    row = page.locator('.values tr[data-metric="evaluation/gap"] td')
    assert await row.all_inner_texts() == ["−∞", "7"]
    label = await page.locator(".plot").get_attribute("aria-label")
    assert label is not None
    assert "3 points, 4 cannot be drawn" in label


@pytest.mark.parametrize("count", [1, 5])
async def test_a_run_without_virtual_time_is_drawn_too(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient, count: int
) -> None:
    """Its clients take no time, so that all records are at time 0."""
    page = watched.page
    told = await story(store, http, "instant")
    form = b'{"seq":%d,"kind":"evaluation","time":0.0,"version":%d,"values":{"gap":%d.5}}'
    await told.append([form % (seq, seq, seq) for seq in range(1, count + 1)])
    await page.goto(f"/#/jobs/{told.job}?axis=time")
    await drawn_so_far(page, count)
    assert await drawn(page) == [[0.0] * count, [seq + 0.5 for seq in range(1, count + 1)]]
    assert await page.locator(figure()).evaluate(INK, ["--curve-0", None, 0.1]) > count


async def test_attempts_and_takeovers_are_marked_where_they_happened(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "passed on")
    await told.write(100)
    await page.goto(f"/#/jobs/{told.job}")
    await drawn_so_far(page, 50)
    mark = ["--mark", None, None]
    assert await page.locator(figure()).evaluate(INK, mark) == 0
    how: dict[str, Any] = {"reason": "killed", "outcome": "child died (signal 9)"}
    await store.release(told.job, told.epoch, counted=True, attempts=5, **how)
    told.epoch = await claimed(store, told.job)
    await told.write(100)
    await drawn_so_far(page, 100)
    await expect(page.locator("section")).to_contain_text("attempt 2")
    # The line stands at round 50, where record 100 was, and its words to the left of it.
    async with asyncio.timeout(20):
        while await page.locator(figure()).evaluate(INK, ["--mark", 50, 50]) <= 50:
            await page.wait_for_timeout(50)
    assert await page.locator(figure()).evaluate(INK, ["--mark", 60, None]) == 0
    rows = page.get_by_role("table", name="Attempts at passed on").locator("tbody tr")
    await expect(rows).to_have_count(2)
    first, second = [await row.locator("td").all_inner_texts() for row in await rows.all()]
    assert (first[0], first[3:]) == ("1", ["child died (signal 9): killed", "1", "100"])
    assert (second[0], second[3:5]) == ("2", ["running", "101"])


async def test_a_finished_job_shows_its_result_and_files(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    page = watched.page
    told = await story(store, http, "done")
    await page.goto(f"/#/jobs/{told.job}")
    await told.write(600)
    folder = tmp_path / told.job
    folder.mkdir()
    (folder / "model.npz").write_bytes(b"x" * 20_000)
    result = {"ended": "rounds", "rounds": 300, "events": 4321, "time": 0.0}
    result["metrics_digest"] = 32 * "ab"
    await store.finish(told.job, told.epoch, State.SUCCEEDED, result=result)
    await expect(page.locator(".state")).to_have_text("✓ succeeded")
    shown = page.get_by_label("Result", exact=True)
    await expect(shown).to_contain_text("all rounds done")
    await expect(shown).to_contain_text("4,321")
    await expect(shown).to_contain_text("0 s")
    await expect(shown).to_contain_text(8 * "ab" + "…")
    await expect(page.get_by_role("button", name="Cancel job")).to_be_hidden()
    for name, begins in (("model.npz", b"x"), ("result", b'{"ended'), ("records", b'{"records')):
        href = await page.get_by_role("link", name=name, exact=True).get_attribute("href")
        answer = await http.get(f"/{href}")
        assert (answer.status_code, answer.content.startswith(begins)) == (200, True)
    assert await drawn(page) == gaps(600)


async def test_cancel_asks_first(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "unwanted")
    await told.write(10)
    await page.goto(f"/#/jobs/{told.job}")
    await page.get_by_role("button", name="Cancel job").click()
    await page.get_by_role("button", name="Keep it").click()
    assert (await store.get(told.job)).state is State.RUNNING
    await page.get_by_role("button", name="Cancel job").click()
    await page.get_by_role("button", name="Cancel the job").click()
    await expect(page.locator(".state")).to_have_text("■ canceling")
    assert await store.heartbeat(told.job, told.epoch, 60.0) == "cancel"
    await store.finish(told.job, told.epoch, State.CANCELED, reason="canceled by request")
    await expect(page.locator(".state")).to_have_text("■ canceled")
    await expect(page.locator("#said")).to_have_text("unwanted is canceled")


async def test_a_job_is_paused_and_resumed_by_keyboard(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "patient")
    await told.write(10)
    await page.goto(f"/#/jobs/{told.job}")
    await page.get_by_role("button", name="Pause job").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Go on")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Resume job")).to_be_visible()
    await expect(page.locator(".reason")).to_have_text("it is paused at the end of its round")
    assert await store.heartbeat(told.job, told.epoch, 60.0) == "pause"
    await store.release(
        told.job, told.epoch, reason="", counted=False, attempts=1, outcome="paused"
    )
    await expect(page.locator(".state")).to_have_text("‖ paused")
    await expect(page.locator("#said")).to_have_text("patient is paused")
    await expect(page.get_by_role("button", name="Pause job")).to_be_hidden()
    await page.get_by_role("button", name="Resume job").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".state")).to_have_text("… queued")
    await expect(page.get_by_role("button", name="Pause job")).to_be_focused()
    await claimed(store, told.job)
    await expect(page.locator(".state")).to_have_text("▶ running")


async def test_a_failure_says_why(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    told = await story(store, http, "fails")
    await watched.page.goto(f"/#/jobs/{told.job}")
    why = "RunError: <b>round 7</b> & nothing else"
    await store.finish(told.job, told.epoch, State.FAILED, reason=why)
    await expect(watched.page.locator(".reason")).to_have_text(why)  # text, not markup


async def test_a_job_that_is_not_there_and_one_that_goes(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    await page.goto("/#/jobs/no-such-job")
    await expect(page.locator("h1")).to_have_text("There is no such job")
    told = await story(store, http, "goes")
    await page.goto(f"/#/jobs/{told.job}")
    await expect(page.locator("h1")).to_have_text("goes")
    await store.finish(told.job, told.epoch, State.FAILED, reason="broken")
    await expect(page.locator(".state")).to_have_text("✗ failed")
    assert (await http.delete(f"/v1/jobs/{told.job}")).status_code == 204
    await page.reload()
    await expect(page.locator("h1")).to_have_text("There is no such job")


async def test_records_are_drawn_by_frames_however_many_come(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient
) -> None:
    page = watched.page
    told = await story(store, http, "much")
    names = [f"m{number}" for number in range(10)]
    values = ",".join(f'"{name}":{number}.5' for number, name in enumerate(names)).encode()
    form = b'{"seq":%d,"kind":"evaluation","time":%d,"version":%d,"values":{%b}}'
    lines = [form % (seq, seq, seq, values) for seq in range(1, 2001)]
    shown = ",".join(f"evaluation/{name}" for name in names)
    await page.goto(f"/#/jobs/{told.job}?show={shown}")
    await told.append(lines[:100])
    await drawn_so_far(page, 100, "evaluation/m9")
    await page.locator(figure("evaluation/m9")).evaluate(COUNT)
    for start in range(100, 2000, 100):
        await told.append(lines[start : start + 100])
    for name in names:
        await drawn_so_far(page, 2000, f"evaluation/{name}")
        assert len((await drawn(page, f"evaluation/{name}"))[1]) == 2000
    drawings, frames = await page.evaluate("[window.drawings, window.frames]")
    assert 0 < drawings <= frames + 1
    assert drawings < 1900


async def test_a_pause_is_counted_down_below_the_name(
    watched: Watched, store: RedisJobStore, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "FIRST_PAUSE", 25.0)
    told = await story(store, http, "stalled")
    why: dict[str, Any] = {"reason": "no room", "outcome": "failed"}
    await watched.page.goto(f"/#/jobs/{told.job}")
    await store.release(told.job, told.epoch, counted=False, attempts=9, back_off=True, **why)
    told.epoch = await claimed(store, told.job)
    await store.release(told.job, told.epoch, counted=False, attempts=9, back_off=True, **why)
    reason = watched.page.locator(".reason")
    await expect(reason).to_have_text(re.compile(r"^retry in 2\d s: no room$"))
    first = await reason.inner_text()
    await expect(reason).not_to_have_text(first)
    await expect(reason).to_have_text(re.compile(r"^retry in (2\d|1\d|\d) s: no room$"))
