"""Races and long runs in the page: memory, duration, progress and the button that stops a run."""

from __future__ import annotations

import pytest

from .laboratory import MILLION, Laboratory

COUNT_MESSAGES = """() => {
    window.messages = 0;
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (...message) {
        window.messages += 1;
        post.apply(this, message);
    };
}"""

MAX_MESSAGES = 600
"""Two messages to each of two workers in each of 120 steps, and some to begin and to end."""

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
    counts_before = counts()
    race_again(page, 50)
    counts_after = counts()
    assert counts_after["JSEventListeners"] - counts_before["JSEventListeners"] <= 50
    assert counts_after["Nodes"] - counts_before["Nodes"] <= 200
    assert counts_after["JSHeapUsedSize"] - counts_before["JSHeapUsedSize"] < 2e6


@pytest.mark.slow("a million requests, three times")
def test_race_on_a_trace_takes_few_steps(page):
    """A long race takes as long as its simulations while messages and drawings are few."""
    page.wait_for_summary()
    page.drop(MILLION)
    page.page.evaluate(COUNT_MESSAGES)
    page.tab("Race")
    page.wait_for_race(2)
    assert 0 < page.page.evaluate("window.messages") <= MAX_MESSAGES
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
