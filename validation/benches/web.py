"""Speed of the core and of pages in a browser: replays, comparisons, reading, drawing, opening reports.

Times are those of a page in Debian's headless chromium without a GPU, compared with native times.
Prints medians and writes ``web.json``. Needs the page: `make web`.
"""

import base64
import gzip
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from result_files import write_rows

PROJECT = Path(__file__).parents[2]
sys.path[:0] = [str(PROJECT), str(PROJECT / "papers")]

import sledlab as sl  # noqa: E402
from playwright.sync_api import Browser  # noqa: E402
from sledlab import _native  # noqa: E402
from sledlab_papers import explorable  # noqa: E402

from tests.web.core import CORE, Core, core  # noqa: E402
from tests.web.laboratory import laboratory  # noqa: E402
from tests.web.pages import browser  # noqa: E402

RUNS = 5
REQUESTS = 1_000_000
LANES = ("fcfs", "c-scan", "sstf", "sptf")
REPLAY = """async ([toml]) => {
    const { run } = await core.open(toml);
    const begun = performance.now();
    while (!(await core.run(run, 200000)).done);
    const taken = performance.now() - begun;
    await core.close(run);
    return taken / 1e3;
}"""
RACE = """async (lanes) => {
    const begun = performance.now();
    for (const toml of lanes) await core.close(await finish(toml));
    return (performance.now() - begun) / 1e3;
}"""
WATCH = """async ([toml]) => {
    const { run } = await core.open(toml);
    const begun = performance.now();
    await core.watch(run, 0, 20000);
    const taken = performance.now() - begun;
    await core.close(run);
    return taken / 1e3;
}"""
DROP = """async ([text, toml]) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const begun = performance.now();
    await core.putTrace("dropped", bytes);
    const run = await finish(toml);
    await core.outcome(run);
    return (performance.now() - begun) / 1e3;
}"""
FIRST_PICTURE = (
    "performance.getEntriesByName('first-picture')[0].startTime"
    " - performance.getEntriesByType('navigation')[0].loadEventStart"
)
FRAMES = """new Promise(done => {
    const gaps = [];
    let before = performance.now();
    const frame = now => {
        gaps.push(now - before);
        before = now;
        if (gaps.length < 180) requestAnimationFrame(frame);
        else done(gaps.slice(10).sort((one, other) => one - other));
    };
    requestAnimationFrame(frame);
})"""

CHANGE = """new Promise(done => {
    const select = document.querySelector('select[data-key]');
    select.value = [...select.options].find(option => !option.selected).value;
    const begun = performance.now();
    new PerformanceObserver(list => done(list.getEntries()[0].startTime - begun)).observe({type: 'mark'});
    select.dispatchEvent(new Event('change'));
})"""


def experiment(scheduler: str, requests: int, workload: str = "", mean_ms: float = 0.6) -> str:
    """Return an experiment with random requests on a G2 sled."""
    workload_table = (
        workload or f'[workload]\nkind = "uniform"\nblocks = 1\nmean_interarrival_ms = {mean_ms}\n'
    )
    return (
        f'[device]\npreset = "mems-g2"\n[scheduler]\nkind = "{scheduler}"\n'
        f"{workload_table}[replay]\nlimit = {requests}\n"
    )


def native_s(toml: str) -> float:
    """Return the time of the same replay without a browser, in seconds."""
    native_experiment = _native.Experiment(toml, "bench")

    def measure_once() -> float:
        start_s = time.perf_counter()
        native_experiment.run()
        return time.perf_counter() - start_s

    return statistics.median(measure_once() for _ in range(RUNS))


def measure_script(page: Core, script: str, arguments: list[str]) -> float:
    """Return the time of a script in the page, in seconds."""
    return statistics.median(float(page.evaluate_script(script, arguments)) for _ in range(RUNS))


def trace_csv(requests: int) -> bytes:
    """Return a trace of reads and writes at evenly spread addresses."""
    lines = (f"{n * 900},{'RW'[n % 2]},{n * 7919 % 3_000_000 * 512},4096\n" for n in range(requests))
    return ("time_us,op,offset_bytes,length_bytes\n" + "".join(lines)).encode()


def first_picture_ms(browser: Browser) -> float:
    """Return the time from loading the page to the first picture of a run."""
    with laboratory(browser) as page:
        page.wait_for_summary()
        return float(page.page.evaluate(FIRST_PICTURE))


def frame_ms(browser: Browser) -> float:
    """Return the 95th percentile of the time between frames, with more than 5,000 requests queued."""
    with laboratory(browser) as page:
        page.crowd()
        page.press("Play")
        gaps = page.page.evaluate(FRAMES)
        return float(gaps[int(len(gaps) * 0.95)])


def trace_race_s(browser: Browser) -> float:
    """Return the time of a race of two on a trace of a million requests, with its drawings."""
    with laboratory(browser) as page:
        page.wait_for_summary()
        page.drop(trace_csv(REQUESTS).decode())
        start_s = time.perf_counter()
        page.tab("Race")
        page.wait_for_race(2)
        return time.perf_counter() - start_s


def ready_ms(browser: Browser, report: Path) -> float:
    """Return the time until all figures of a report are interactive."""
    page = browser.new_page()
    page.goto(report.as_uri())
    page.wait_for_function("document.documentElement.dataset.live")
    ready_after_ms = float(page.evaluate("document.documentElement.dataset.live"))
    page.close()
    return ready_after_ms


def first_answer_ms(browser: Browser, figure: Path, name: str) -> float:
    """Return the time from a changed assumption of an explorable figure to its first answer."""
    page = browser.new_page()
    page.goto(f"{figure.as_uri()}#{name}")
    page.locator("html[data-stage=done]").wait_for(state="attached")
    answer_after_ms = float(page.evaluate(CHANGE))
    page.close()
    return answer_after_ms


Row = tuple[str, float, str, str]
"""The name of a figure, its value, its unit and its target."""


def core_figures(page: Core) -> Iterator[Row]:
    """Return the figures of the core alone."""
    yield "the core, compressed", len(gzip.compress(CORE.read_bytes(), 9)) / 1e3, "kB", "500"
    for scheduler, target, mean_ms in (("fcfs", "3", 1.2), ("sptf", "1.5", 0.6)):
        toml = experiment(scheduler, REQUESTS, mean_ms=mean_ms)
        replay_s = measure_script(page, REPLAY, [toml])
        yield f"replay under {scheduler} in a worker", REQUESTS / replay_s / 1e6, "M requests/s", target
        yield f"replay under {scheduler}, native", REQUESTS / native_s(toml) / 1e6, "M requests/s", ""
    experiments = [experiment(scheduler, 100_000) for scheduler in LANES]
    yield (
        "a race of 4 x 100,000 requests, one after another",
        measure_script(page, RACE, experiments),
        "s",
        "1",
    )
    yield "a window of 20,000 choices", measure_script(page, WATCH, [experiment("sptf", 100_000)]), "s", ""
    trace_base64 = base64.b64encode(trace_csv(REQUESTS)).decode()
    dropped_experiment = experiment("sptf", REQUESTS, '[trace]\nfile = "dropped"\n')
    yield (
        "a trace of a million requests, dropped and answered",
        measure_script(page, DROP, [trace_base64, dropped_experiment]),
        "s",
        "3",
    )


def page_figures(chromium: Browser, folder: Path) -> Iterator[Row]:
    """Return the figures of pages: waiting times of readers."""
    report = folder / "report.html"
    sl.simulate(sl.workload("uniform"), "mems-g2", limit=100_000).report(report)
    measures = (
        ("from the page being loaded to its first picture", lambda: first_picture_ms(chromium), "500"),
        ("95 % of frames within, 5,000 requests waiting", lambda: frame_ms(chromium), "20"),
        ("a report of a run that can be explored", lambda: ready_ms(chromium, report), "500"),
    )
    for label, measure, target in measures:
        yield label, statistics.median(measure() for _ in range(RUNS)), "ms", target
    figure = folder / "explore.html"
    figure.write_text(explorable.page(), encoding="utf-8")
    for name in explorable.declarations():
        label = f"{name}, from a changed assumption to its first answer"
        yield (
            label,
            statistics.median(first_answer_ms(chromium, figure, name) for _ in range(RUNS)),
            "ms",
            "2000",
        )
    race_s = statistics.median(trace_race_s(chromium) for _ in range(RUNS))
    yield "a race of two on a trace of a million requests, with its drawings", race_s, "s", ""


def main() -> None:
    """Measure, print and write the results."""
    with tempfile.TemporaryDirectory() as directory, browser() as chromium:
        folder = Path(directory)
        rows = [*core_figures(core(chromium, folder)), *page_figures(chromium, folder)]
    write_rows("web", [dict(zip(("what", "value", "unit", "target"), row, strict=True)) for row in rows])


if __name__ == "__main__":
    main()
