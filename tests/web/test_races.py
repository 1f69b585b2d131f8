"""Races and long runs in the page: memory, duration, progress and the button that stops a run."""

from __future__ import annotations

import pytest

from .laboratory import Laboratory

MILLION = "\n".join(
    ["time_us,op,offset_bytes,length_bytes"]
    + [f"{n * 900},{'R' if n % 3 else 'W'},{(n * 7919 % 800_000) * 4096},4096" for n in range(1_000_000)]
)
"""A trace of a million requests that the first device serves in time."""

DROP = """text => {
    const files = new DataTransfer();
    files.items.add(new File([text], 'million.csv'));
    const drop = new DragEvent('drop', {dataTransfer: files, bubbles: true});
    document.querySelector('.drop').dispatchEvent(drop);
}"""

SLOW = """seed = 1
[device]
preset = "mems-g2"
[workload]
kind = "uniform"
mean_interarrival_ms = 2.0
[replay]
limit = 30000000
"""
"""So many requests that no machine simulates them in half a second."""


def race_again(page: Laboratory, count: int) -> None:
    for _ in range(count):
        page.press("Race again")
        page.until("document.querySelector('.verdict').textContent.startsWith('Running')")
        page.wait_for_race(2)


@pytest.mark.slow("fifty races")
def test_memory_is_flat_over_fifty_races(page):
    page.wait_for_summary()
    page.page.emulate_media(reduced_motion="reduce")
    page.tab("Race")
    page.wait_for_race(2)
    tools = page.page.context.new_cdp_session(page.page)
    tools.send("Performance.enable")

    def counts() -> dict[str, float]:
        for _ in range(2):
            tools.send("HeapProfiler.collectGarbage")
        return {each["name"]: each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}

    race_again(page, 5)
    before = counts()
    race_again(page, 50)
    after = counts()
    assert after["JSEventListeners"] - before["JSEventListeners"] <= 50
    assert after["Nodes"] - before["Nodes"] <= 200
    assert after["JSHeapUsedSize"] - before["JSHeapUsedSize"] < 2e6


@pytest.mark.slow("a million requests, twice")
def test_race_on_a_trace_takes_at_most_twice_its_simulation(page):
    """The bound is loose, since a busy machine runs one runner after the other; it was 500 times before."""
    page.wait_for_summary()
    page.tab("Yours")
    page.page.evaluate(DROP, MILLION)
    page.page.locator(".yours .big").wait_for()
    alone_ms = page.page.evaluate("performance.now()")
    page.press("Run and answer")
    page.until("document.querySelector('.yours .progress-row')")
    page.page.locator(".yours .big").wait_for()
    alone_ms = page.page.evaluate("performance.now()") - alone_ms
    race_ms = page.page.evaluate("performance.now()")
    page.tab("Race")
    page.wait_for_race(2)
    race_ms = page.page.evaluate("performance.now()") - race_ms
    # Two runners on one processor take twice as long as one.
    assert race_ms <= 4 * alone_ms + 2000, (race_ms, alone_ms)
    page.until("document.querySelectorAll('.curves canvas').length == 4")


def test_long_run_shows_progress_and_stops(page):
    page.wait_for_summary()
    page.tab("Yours")
    page.page.locator("#experiment").fill(SLOW)
    page.press("Run and answer")
    page.page.locator(".yours .progress-row").wait_for(state="visible", timeout=3000)
    page.page.locator(".yours .progress-row").get_by_role("button", name="Stop").click()
    page.until("document.querySelector('.yours').textContent.includes('The run was stopped.')")


def test_overloaded_runner_shows_its_rate(page):
    page.watch(SLOW.replace("2.0", "0.2").replace("30000000", "3000"))
    page.tab("Race")
    page.wait_for_race(2)
    page.until("document.querySelectorAll('.runner .big').length == 2")
    assert all("requests/s" in text for text in page.page.locator(".runner .big").all_inner_texts())
