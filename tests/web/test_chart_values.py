"""The values in every chart of a report and of the laboratory equal the results of the run."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledlab as sl
from sledlab.show.palette import SKY

from .laboratory import Laboratory
from .pages import OpenedPage, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

EXPERIMENT = """seed = {seed}
[device]
preset = "{device}"
[workload]
kind = "uniform"
mean_interarrival_ms = {gap_ms}
blocks = 8
read_share = {reads}
[scheduler]
kind = "{scheduler}"
[replay]
limit = {limit}
warmup = {warmup}
{more}
"""
ZERO_TIMES = '[cache]\nkind = "write-back"\naccess_us = 0\nbus_mb_s = 1e9\n'
"""A cache that answers immediately."""

DEFAULTS = {
    "seed": 1,
    "device": "mems-g2",
    "gap_ms": 0.62,
    "reads": 0.67,
    "scheduler": "sptf",
    "limit": 3000,
    "warmup": 0,
    "more": "",
}

RUNS: dict[str, dict[str, object]] = {
    "long": {"limit": 20_000},
    "warm-up": {"limit": 4000, "warmup": 2000},
    "one request": {"limit": 1},
    "two requests": {"limit": 2, "reads": 1.0},
    "few requests": {"limit": 100, "seed": 4},
    "idle periods": {"limit": 3, "gap_ms": 200.0},
    "some times are zero": {"more": ZERO_TIMES},
    "all times are zero": {"limit": 100, "reads": 0.0, "more": ZERO_TIMES},
    "equal times": {"device": "ram", "limit": 500, "gap_ms": 5.0},
}

SHARES = (1, 10, 50, 90, 99, 99.9, 99.99, 100)
ROUNDING = 6e-4
"""Maximum relative rounding error of numbers of four digits in pages."""
PIXELS = 380
"""Minimum width of a plot of a report."""


def experiment(name: str, **changes: object) -> str:
    return EXPERIMENT.format(**(DEFAULTS | RUNS[name] | changes))


@cache
def simulate(name: str, **changes: object) -> sl.Result:
    return sl.run(sl.Experiment(experiment(name, **changes)), requests=True)


def save_csv(page: OpenedPage, menu: Locator) -> list[list[dict[str, str]]]:
    """Return the tables of the plots of a figure, as its menu saves them."""
    menu.locator("summary").click()
    with page.page.expect_download() as saved:
        menu.get_by_role("button", name="CSV").click()
    tables = saved.value.path().read_text("utf-8").split("\n\n")
    return [list(csv.DictReader(table.splitlines())) for table in tables]


def column(rows: Sequence[dict[str, str]], name: str) -> list[float | None]:
    return [float(row[name]) if row[name] else None for row in rows]


def quantile(times: Sequence[float | None], shares: Sequence[float | None], share: float) -> float:
    """Return the first time within which a share, in percent, is answered."""
    return next(
        time
        for time, percent in zip(times, shares, strict=True)
        if time is not None and percent is not None and percent >= share * (1 - 1e-9)
    )


ABSENT_COLORS = """([canvas, colors]) => {
    const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
    pen.drawImage(canvas, 0, 0);
    const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    const isNear = (at, color) => pixels[at + 3] > 100 && [0, 1, 2].every(channel =>
        Math.abs(pixels[at + channel] - parseInt(color.slice(1 + 2 * channel, 3 + 2 * channel), 16)) < 30);
    const places = Array.from({length: pixels.length / 4}, (_, place) => 4 * place);
    return colors.filter(color => !places.some(at => isNear(at, color)));
}"""
"""Script that returns the given colors that no pixel of a plot has."""


def absent_colors(page: OpenedPage, canvas: Locator, colors: Iterable[str]) -> list[str]:
    absent: list[str] = page.page.evaluate(ABSENT_COLORS, [canvas.element_handle(), sorted(colors)])
    return absent


@pytest.mark.parametrize("name", RUNS)
def test_charts_of_a_report_show_its_results(name: str, tmp_path: Path, chromium: Browser) -> None:
    result = simulate(name)
    # The curve of means covers that of the slowest where both are equal.
    covered_colors = {SKY} if result.series["mean_response_ms"] == result.series["max_response_ms"] else set()
    file = tmp_path / "report.html"
    result.report(file)
    with open_page(chromium, file, viewport={"width": 1200, "height": 900}, accept_downloads=True) as page:
        figures = page.page.locator("figure")
        headings = [each.locator("h3").inner_text() for each in figures.all()]
        tables = {
            heading: save_csv(page, figure.locator(".figure-menu"))[0]
            for heading, figure in zip(headings, figures.all(), strict=True)
        }
        for figure in figures.all():
            data = figure.locator("script[type='application/json']").text_content() or ""
            colors = {part[:7] for part in data.split('"color":"')[1:]}
            hidden = absent_colors(page, figure.locator("canvas"), colors)
            assert set(hidden) <= covered_colors, figure.locator("h3").inner_text()
        assert page.complaints == []
    check_distribution(result, tables.pop("Response times"))
    check_series(result, tables.pop("Response over time"), slowest="max_response_ms", mean="mean_response_ms")
    check_series(result, tables.pop("Throughput"), completed="throughput_iops")
    check_series(result, tables.pop("Queue length"), waiting="queue_length")
    check_parts(result, tables.pop("Time of a request"))
    check_energy(result, tables.pop("Energy of the device"))
    assert tables == {}


def check_distribution(result: sl.Result, rows: list[dict[str, str]]) -> None:
    """Check that every share is at its time, within a pixel of the axis, and as in the report's table."""
    times = column(rows, "response time (ms)")
    kinds = [name for name in rows[0] if name != "response time (ms)"]
    for kind in kinds:
        name = kind.removesuffix("s")
        curve = result.cdf[name]
        positive_ms = [time for time in curve["response_ms"] if time > 0]
        pixel_log = math.log(positive_ms[-1] / positive_ms[0]) / PIXELS if positive_ms else 0.0
        percents = column(rows, kind)
        for share in SHARES:
            true_ms = quantile(curve["response_ms"], [100 * each for each in curve["share"]], share)
            assert quantile(times, percents, share) == pytest.approx(
                true_ms, rel=math.expm1(pixel_log) + ROUNDING, abs=0
            ), f"{share} % of {kind}"
        response_time = {"all": result, "read": result.read, "write": result.write}[name].response_time
        for share, reported_ms in (
            (50, response_time.p50),
            (99, response_time.p99),
            (100, response_time.max),
        ):
            # Percentiles are middles of bins, curves have their ends: 0.05 %.
            assert quantile(times, percents, share) == pytest.approx(
                reported_ms, rel=math.expm1(pixel_log) + ROUNDING + 1e-3, abs=0
            )


def check_series(result: sl.Result, rows: list[dict[str, str]], **columns: str) -> None:
    """Check that a chart over time has every value of the time series, and a gap for every missing value."""
    assert column(rows, "simulated time (s)") == pytest.approx(result.series["time_s"], rel=1e-6)
    for label, name in columns.items():
        values = result.series[name]
        drawn_values = column(rows, label)
        assert [value is None for value in drawn_values] == [value is None for value in values], name
        assert [value or 0.0 for value in drawn_values] == pytest.approx(
            [value or 0.0 for value in values], rel=ROUNDING
        )


def check_parts(result: sl.Result, rows: list[dict[str, str]]) -> None:
    drawn_ms = {row["time by part"]: float(row["mean per request (ms)"]) for row in rows}
    means_ms = {"in queue": result.queue_time_ms, "positioning": result.positioning_time_ms}
    for name, value in means_ms.items():
        assert drawn_ms[name] == pytest.approx(value, rel=ROUNDING)


def check_energy(result: sl.Result, rows: list[dict[str, str]]) -> None:
    (name,) = [name for name in rows[0] if name.startswith("energy (")]
    unit_j = {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "µJ": 1e-6}[name.removeprefix("energy (").rstrip(")")]
    total_j = sum(float(row[name]) * unit_j for row in rows)
    assert total_j == pytest.approx(result.energy.total, rel=ROUNDING)


def test_missing_throughput_is_a_gap(tmp_path: Path, chromium: Browser) -> None:
    result = simulate("warm-up")
    rates = result.series["throughput_iops"]
    mean = result.series["mean_response_ms"]
    first_known = next(index for index, value in enumerate(mean) if value is not None)
    rates_with_gap = [None] * first_known + rates[first_known:]
    result_with_gap = replace(result, series={**result.series, "throughput_iops": rates_with_gap})
    result_with_gap.plot("throughput")
    result_with_gap.report(tmp_path / "report.html")
    with open_page(chromium, tmp_path / "report.html", accept_downloads=True) as page:
        figure = page.page.locator("figure", has=page.page.locator("h3", has_text="Throughput"))
        rows = save_csv(page, figure.locator(".figure-menu"))[0]
    assert column(rows, "completed")[:first_known] == [None] * first_known


@pytest.mark.parametrize("name", RUNS)
def test_charts_of_the_laboratory_show_its_results(name: str, page: Laboratory) -> None:
    page.watch(experiment(name))
    queue, response = save_csv(page, page.page.locator(".series + .figure-menu"))
    result = simulate(name)
    rows = result.requests
    times_ms = (rows["completion_ns"] - rows["arrival_ns"]) / 1e6
    longest_ms = [value for value in column(response, "longest: response, ms") if value is not None]
    assert max(longest_ms) == pytest.approx(times_ms.max(), rel=1e-12)
    assert max(longest_ms) == pytest.approx(result.response_time.max, rel=1e-9)
    all_requests = simulate(name, warmup=0).requests
    end_s = float(all_requests["completion_ns"].max()) / 1e9
    waiting_counts = [value or 0.0 for value in column(queue, "requests waiting, mean: waiting")]
    waited_s = float((all_requests["start_ns"] - all_requests["arrival_ns"]).sum()) / 1e9
    assert sum(waiting_counts) * end_s / len(waiting_counts) == pytest.approx(waited_s, rel=1e-9, abs=1e-12)
    first_s = float(rows["completion_ns"].min()) / 1e9
    values_before_first = [
        row["longest: response, ms"]
        for row in response
        if float(row["simulated time, s"]) < first_s - end_s / len(waiting_counts)
    ]
    assert set(values_before_first) <= {""}
    canvas = page.page.locator(".series canvas").nth(1)
    # The curve of means covers that of the longest where both are equal.
    is_covered = column(response, "mean: response, ms") == column(response, "longest: response, ms")
    assert absent_colors(page, canvas, ["#d55e00"]) == (["#d55e00"] if is_covered else [])


@pytest.mark.parametrize("name", RUNS)
def test_charts_of_a_race_show_its_results(name: str, page: Laboratory) -> None:
    page.watch(experiment(name))
    page.tab("Race")
    page.wait_for_race(2)
    page.until("document.querySelector('.verdict').textContent != 'Running …'")
    menus = page.page.locator(".curves .figure-menu")
    distribution, queue, energy, places = (save_csv(page, menus.nth(place))[0] for place in range(4))
    for scheduler in ("c-scan", "sptf"):
        result = simulate(name, scheduler=scheduler)
        curve = result.cdf["all"]
        (shares,) = [each for each in distribution[0] if each.startswith(scheduler)]
        for share in SHARES:
            true_ms = quantile(curve["response_ms"], [100 * each for each in curve["share"]], share)
            shown_ms = quantile(
                column(distribution, "response time, ms"), column(distribution, shares), share
            )
            assert shown_ms == pytest.approx(true_ms, rel=1e-9), f"{share} % of {scheduler}"
        all_requests = simulate(name, scheduler=scheduler, warmup=0).requests
        begin_s = (
            all_requests.filter(all_requests["id"] == result.requests["id"].min())["arrival_ns"][0] / 1e9
        )
        end_s = begin_s * (result.requests["id"].min() > 0) + result.elapsed_s
        for rows, final_value in ((queue, 0.0), (energy, result.energy.total)):
            (values,) = [each for each in rows[0] if each.startswith(scheduler)]
            known_points = [
                (float(row["simulated time, s"]), float(row[values])) for row in rows if row[values]
            ]
            assert known_points[-1] == pytest.approx((end_s, final_value), rel=1e-6), scheduler
            if rows is energy:
                assert all(before <= after + 1e-12 for (_, before), (_, after) in pairwise(known_points))
        (values,) = [each for each in places[0] if each.startswith(scheduler)]
        means_ms = [value for value in column(places, values) if value is not None]
        queue_ms = (result.requests["start_ns"] - result.requests["arrival_ns"]) / 1e6
        assert min(means_ms) <= queue_ms.mean() <= max(means_ms) + 1e-9
        assert max(means_ms) <= queue_ms.max()
