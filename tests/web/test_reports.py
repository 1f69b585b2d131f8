"""Interactive reports: by mouse and by keyboard; on paper; without JavaScript as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sledlab as sl
from playwright.sync_api import Browser, Locator, Page
from sledlab.show.document import Document, Drawing, Text, page
from sledlab.show.plots import single_plot
from sledlab.show.series import MAX_BARS, Bar, Panel, Series, distribution_panel, to_json
from sledlab.studies.compare.plan import race_schedulers

from . import pages as browsing
from .test_pages import SMALL, sledlab

MAX_BYTES = 112_000
"""Maximum number of bytes that the script and the numbers of all figures add to a page."""

SCHEDULERS = len(race_schedulers())
INTERACTIVE_PLOTS = {"run": 6, "comparison": 5, "power": 4, "hybrid": 1, "replay": 1, "map": 1}
"""Plots that can be explored, by page."""

PICTURES = re.compile("<svg.*?</svg>", re.DOTALL)

HOSTILE = (
    "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">&amp;"
)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of each kind, and the same page with static images only."""
    folder = tmp_path_factory.mktemp("reports")
    record = Path(__file__).parents[2] / "sample" / "work" / "sort.work"
    commands = {
        "run": ("simulate", "--device", "mems-g2", "--trace", "sample:oltp-bank-a", "--scheduler", "sptf"),
        "comparison": ("compare", "--device", "mems-g2", *SMALL, "--speedup", "1,2,4", "--parallel", "2"),
        "power": ("power", "--device", "mems-g2", *SMALL, *POWER, "--parallel", "2"),
        "hybrid": ("hybrid", *SMALL, *HYBRID, "--parallel", "2"),
        "replay": ("smart", "replay", str(record), "--device", "mems-g2"),
    }
    for name, command in commands.items():
        sledlab(folder, *command, "--out", name)
        sledlab(folder, *command, "--out", f"{name}-static", "--static")
    for place, options in (("map", ()), ("map-static", ("--static",))):
        (folder / place).mkdir()
        sledlab(folder, "device", "seek-map", "mems-g2", "--save", f"{place}/report.html", *options)
    return folder


POWER = ("--power", "never,fixed", "--timeout", "1,40", "--startup", "0.5,1", "--load", "1,2")
HYBRID = ("--mems-mb", "64,128", "--segment-kb", "8,16", "--at-mb", "64", "--at-segment-kb", "8")


@pytest.fixture
def open_report(chromium: Browser) -> Iterator[Any]:
    """Open pages in a window; the console must be empty, and no address requested."""
    opened_pages = []
    with ExitStack() as windows:

        def open_in_window(file: Path, **options: Any) -> Page:
            window = {"width": 1200, "height": 900}
            opened_pages.append(
                windows.enter_context(browsing.open_page(chromium, file, viewport=window, **options))
            )
            return opened_pages[-1].page

        yield open_in_window
    assert [
        each.complaints + each.requested_urls
        for each in opened_pages
        if each.complaints or each.requested_urls
    ] == []


def report(pages: Path, name: str) -> Path:
    return pages / name / "report.html"


def plot(page: Page, heading: str, index: int = 0) -> Locator:
    """Find a plot of the figure with a heading."""
    figures = page.locator("figure", has=page.locator("h3", has_text=heading))
    return figures.first.locator(".live").nth(index)


def shown_range(locator: Locator) -> list[float]:
    return [float(each) for each in (locator.locator(".live-plot").get_attribute("data-shown") or "").split()]


def drag(page: Page, locator: Locator, start_share: float, end_share: float) -> None:
    """Drag from one share of the width of a plot to another."""
    box = locator.locator(".u-over").bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start_share * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + end_share * box["width"], middle, steps=5)
    page.mouse.up()


def without_last_digits(picture: str) -> str:
    """A picture whose positions have three decimals: further ones depend on what was laid out before.

    Names of clipped areas are hashes of positions.
    """
    rounded_picture = re.sub(r"\d+\.\d{4,}", lambda match: f"{float(match[0]):.3f}", picture)
    return re.sub(r"\bp[0-9a-f]{10}\b", "", rounded_picture)


@pytest.mark.parametrize("name", INTERACTIVE_PLOTS)
def test_each_figure_is_drawn_once(name: str, pages: Path) -> None:
    interactive_page, static_page = (
        report(pages, each).read_text("utf-8") for each in (name, f"{name}-static")
    )
    figures = re.findall("<figure.*?</figure>", interactive_page, re.DOTALL)
    interactive_figures = [figure for figure in figures if "<script" in figure]
    assert interactive_figures
    assert not PICTURES.findall("".join(interactive_figures))
    assert all("<table" in figure for figure in interactive_figures)
    pictures, interactive_page_pictures = (
        [without_last_digits(picture) for picture in PICTURES.findall(page)]
        for page in (static_page, interactive_page)
    )
    assert len(pictures) == len(figures)
    assert [each for each in pictures if each in interactive_page_pictures] == interactive_page_pictures
    assert "<script" not in static_page
    assert len(interactive_page.encode()) - len(static_page.encode()) <= MAX_BYTES


@pytest.mark.parametrize("name", INTERACTIVE_PLOTS)
def test_all_figures_with_data_are_explored(name: str, pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, name))
    assert window.locator(".live").count() == INTERACTIVE_PLOTS[name]


def test_mouse_shows_values_under_pointer(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "run"))
    response = plot(window, "Response over time")
    response.locator(".u-over").hover()
    assert re.fullmatch(r"simulated time: [\d.]+ s", response.locator(".live-place").inner_text())
    values = response.locator(".live-chips span").all_inner_texts()
    assert all(float(value) > 0 for value in values)
    # Others of the same time follow.
    queue = plot(window, "Queue length")
    place = response.locator(".live-place").inner_text()
    assert re.fullmatch(rf"{re.escape(place)}: waiting [\d.,]+", queue.locator(".live-place").inner_text())


def test_linked_plots_zoom_together(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "run"))
    response, queue, times = (plot(window, each) for each in ("Response over", "Queue", "Response times"))
    full_range, times_range = shown_range(response), shown_range(times)
    drag(window, response, 0.3, 0.5)
    low, high = shown_range(response)
    assert full_range[0] < low < high < full_range[1]
    assert shown_range(queue) == pytest.approx([low, high], rel=0.02)
    assert shown_range(times) == times_range
    queue.locator(".u-over").dblclick()
    assert shown_range(response) == pytest.approx(full_range)
    drag(window, queue, 0.1, 0.2)
    queue.get_by_role("button", name="Show all").click()
    assert shown_range(response) == pytest.approx(full_range)


def test_plots_are_explored_by_keyboard(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "run"))
    response = plot(window, "Response over time")
    full_range = shown_range(response)
    response.locator(".live-plot").focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        window.keyboard.press(key)
    place = response.locator(".live-place").inner_text()
    announcement = response.locator(".live-aloud").text_content() or ""
    assert announcement.startswith(place)
    assert "mean" in announcement
    window.keyboard.press("+")
    low, high = shown_range(response)
    assert high - low == pytest.approx((full_range[1] - full_range[0]) / 2, rel=0.1)
    window.keyboard.press("-")
    window.keyboard.press("+")
    window.keyboard.press("0")
    assert shown_range(response) == pytest.approx(full_range)


@pytest.mark.parametrize("input_method", ["mouse", "keyboard"])
def test_every_scheduler_can_be_picked(input_method: str, pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "comparison"))
    figures = [plot(window, each) for each in ("Mean response", "Fairness", "99 % answered", "Energy")]
    first = figures[0].locator(".live-chips button")
    assert first.count() == SCHEDULERS
    assert len(set(first.locator("b").all_inner_texts())) == SCHEDULERS
    first.first.focus()
    for place in range(SCHEDULERS):
        chips = [each.locator(".live-chips button").nth(place) for each in figures]
        pressed_before = chips[0].get_attribute("aria-pressed")
        if input_method == "mouse":
            chips[0].click()
        else:
            assert chips[0].evaluate("each => each === document.activeElement")
            window.keyboard.press("Space")
            window.keyboard.press("Tab")
        assert all(each.get_attribute("aria-pressed") != pressed_before for each in chips)


def test_button_switches_the_logarithmic_axis(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "run"))
    response = plot(window, "Response over time")
    button = response.get_by_role("button", name="Logarithmic")
    pixels = "each => each.querySelector('canvas').toDataURL()"
    pressed_before, pixels_before = button.get_attribute("aria-pressed"), response.evaluate(pixels)
    button.press("Enter")
    assert button.get_attribute("aria-pressed") != pressed_before
    assert response.evaluate(pixels) != pixels_before
    button.click()
    assert response.evaluate(pixels) == pixels_before


def test_phases_of_nodes_are_explored(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "replay"))
    nodes = plot(window, "Node by node")
    nodes.locator(".u-over").hover()
    assert re.match(r"node \d, .+: from [\d.]+ s", nodes.locator(".live-place").inner_text())
    nodes.locator(".live-plot").focus()
    places_shown = set()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowRight"):
        window.keyboard.press(key)
        places_shown.add(nodes.locator(".live-place").inner_text())
    assert len(places_shown) == 4
    assert "compute" in (nodes.locator(".live-aloud").text_content() or "")
    full_range = shown_range(nodes)
    drag(window, nodes, 0.2, 0.4)
    assert shown_range(nodes)[1] - shown_range(nodes)[0] < 0.3 * (full_range[1] - full_range[0])


def test_named_bars_show_their_texts(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "run"))
    energy = plot(window, "Energy of the device")
    energy.locator(".u-over").hover()
    assert "% of energy" in energy.locator(".live-place").inner_text()
    energy.locator(".live-plot").focus()
    bar_names = []
    for key in ("ArrowUp",) * 5 + ("ArrowDown",) * 4:
        window.keyboard.press(key)
        bar_names.append(energy.locator(".live-place").inner_text().partition(":")[0])
    assert bar_names[-5:] == ["seek", "access", "idle", "inactive", "start-up"]
    assert "% of time" in (energy.locator(".live-aloud").text_content() or "")


def test_map_shows_time_to_each_place(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "map"))
    map_plot = window.locator(".live")
    map_plot.locator(".u-over").hover()
    map_plot.locator(".live-plot").focus()
    seek_map = sl.seek_map("mems-g2")
    for key in ("ArrowRight", "Shift+ArrowRight", "ArrowDown", "+", "ArrowUp", "ArrowUp", "Shift+ArrowLeft"):
        window.keyboard.press(key)
        matched = re.match(
            r"x = (-?\d+), y = (-?\d+): ([\d.]+) ms", map_plot.locator(".live-place").inner_text()
        )
        assert matched
        column, row = list(seek_map.x_bit).index(int(matched[1])), list(seek_map.y_bit).index(int(matched[2]))
        assert float(matched[3]) == pytest.approx(seek_map.ms[row, column], rel=1e-3)


def test_tables_can_be_copied(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "comparison"))
    clipboard = "{value: {writeText: async text => window.copied = text}}"
    window.evaluate(f"Object.defineProperty(navigator, 'clipboard', {clipboard})")
    tables = window.locator("table:visible")
    window.locator(".copy-table:visible button").first.click()
    header, *rows = window.evaluate("window.copied").split("\n")
    assert header.split("\t") == [
        each.strip() for each in tables.first.locator("thead tr > *").all_inner_texts()
    ]
    assert len(rows) == tables.first.locator("tbody tr").count()


@pytest.mark.parametrize("name", sorted(set(INTERACTIVE_PLOTS) - {"map"}))
def test_page_links_to_its_tables(name: str, pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, name))
    links = [each.get_attribute("href") for each in window.locator("footer a").all()]
    assert links
    assert all((pages / name / str(link)).is_file() for link in links)


def test_backticks_mark_code(tmp_path: Path) -> None:
    html = page(Document("page", "title", [Text("`sort` on <b>`x`</b>")]))
    assert "<code>sort</code> on &lt;b&gt;<code>x</code>&lt;/b&gt;" in html


@pytest.mark.parametrize("name", INTERACTIVE_PLOTS)
def test_paper_has_plots_without_controls(name: str, pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, name))
    window.emulate_media(media="print")
    assert window.locator(".live canvas:visible").count() == INTERACTIVE_PLOTS[name]
    assert not window.locator(".live-head button:visible, .figure-menu:visible").count()
    right_edges_script = (
        "[...document.querySelectorAll('.live canvas')].map(each => each.getBoundingClientRect().right)"
    )
    assert max(window.evaluate(right_edges_script)) <= window.evaluate("innerWidth")


@pytest.mark.parametrize("name", INTERACTIVE_PLOTS)
def test_pages_without_javascript_have_tables(name: str, pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, name), java_script_enabled=False)
    assert not window.locator(".live").count()
    assert window.locator("figure table").count() == INTERACTIVE_PLOTS[name]
    pictures = window.locator("figure > svg")
    assert all(pictures.nth(each).is_visible() for each in range(pictures.count()))


def test_failed_plot_is_replaced_by_tables(tmp_path: Path, chromium: Browser) -> None:
    panel = Panel("x", "y", [Series("a", "#0072b2", [1.0, 2.0])], [1.0, 2.0])
    drawing = Drawing(lambda: single_plot()[0], "t", panels=lambda: [panel])
    file = tmp_path / "page.html"
    html = page(Document("test", "a page", [drawing]))
    assert '"values":[1,2]' in html
    file.write_text(html.replace('"values":[1,2]', '"values":1'), "utf-8")
    with browsing.open_page(chromium, file) as opened:
        assert opened.page.locator("figure table").is_visible()
        assert opened.page.locator(".live").count() == 0
        assert opened.complaints != []


def test_text_has_enough_contrast_and_labels(pages: Path, open_report: Any) -> None:
    window = open_report(report(pages, "comparison"), reduced_motion="reduce")
    plot(window, "Mean response").locator(".u-over").hover()
    assert window.evaluate(CONTRAST) >= 4.5
    controls = "[...document.querySelectorAll('.live button, .live-plot')]"
    assert window.evaluate(f"{controls}.every(each => each.ariaLabel || each.textContent)")
    assert window.evaluate("document.getAnimations().length") == 0


CONTRAST = """() => {
    const light = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number).map(value => value / 255)
        .map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = element => {
        const color = getComputedStyle(element).backgroundColor;
        if (!color.endsWith(", 0)")) return color;
        return element.parentElement ? behind(element.parentElement) : "rgb(255, 255, 255)";
    };
    const words = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    return Math.min(...[...document.querySelectorAll(".live *")].filter(words).map(element => {
        const two = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a);
        return (two[0] + 0.05) / (two[1] + 0.05);
    }));
}"""


def test_names_are_text(tmp_path: Path, open_report: Any) -> None:
    bars = [Bar(0, 0.0, (1.0, 2.0))]
    panels = [
        Panel(HOSTILE, HOSTILE, [Series(HOSTILE, "#0072B2", [1.0, 2.0])], [1.0, 2.0]),
        Panel(
            HOSTILE,
            HOSTILE,
            [Series(HOSTILE, "#0072B2", [1.0, 2.0])],
            steps=[HOSTILE, "b"],
            marks=[(HOSTILE, 0.5)],
        ),
        Panel(
            "time (s)",
            HOSTILE,
            [Series(HOSTILE, "#0072B2", [])] * 2,
            steps=[HOSTILE],
            rows=[HOSTILE],
            bars=bars,
        ),
    ]
    assert "<" not in to_json(panels)
    drawing = Drawing(lambda: single_plot()[0], HOSTILE, HOSTILE, HOSTILE, panels=lambda: panels)
    file = tmp_path / "page.html"
    file.write_text(page(Document("test", "a page", [drawing])), "utf-8")
    window = open_report(file)
    window.locator(".live-plot").nth(1).focus()
    window.keyboard.press("ArrowRight")
    window.locator(".live-plot").nth(2).focus()
    window.keyboard.press("ArrowRight")
    assert window.title() == "a page · sledlab"
    assert window.locator("img").count() == 0
    names = window.locator(".live-chips b").all_inner_texts()
    assert names == [HOSTILE] * 2
    assert HOSTILE in window.locator(".live-place").nth(1).inner_text()
    assert HOSTILE in window.locator(".live-place").nth(2).inner_text()


@pytest.mark.slow("two runs of the command")
def test_names_of_traces_and_records_are_text(tmp_path: Path, open_report: Any) -> None:
    trace = tmp_path / "<script>document.title='broken'<#>.csv"
    trace.write_text(
        "time_us,op,offset_bytes,length_bytes\n"
        + "".join(f"{each * 900},R,{each * 4096},4096\n" for each in range(50))
    )
    sledlab(tmp_path, "simulate", "--device", "mems-g2", "--trace", trace.name, "--out", "run")
    sample = Path(__file__).parents[2] / "sample" / "work" / "sort.work"
    (tmp_path / "sort.work").write_text(
        sample.read_text("utf-8").replace('"internal sort"', '"<img src=x>"'), "utf-8"
    )
    sledlab(tmp_path, "smart", "replay", "sort.work", "--device", "mems-g2", "--out", "replay")
    for name, text in (("run", "<script>document.title="), ("replay", "<img src=x>")):
        window = open_report(tmp_path / name / "report.html")
        assert "broken" not in window.title() or text in window.title()
        assert window.locator("img").count() == 0
        assert text in window.locator("body").inner_text()


@pytest.mark.slow("two runs of the command")
def test_page_is_reproducible(pages: Path, tmp_path: Path) -> None:
    sledlab(tmp_path, "simulate", "--device", "mems-g2", *SMALL, "--out", "a")
    sledlab(tmp_path, "simulate", "--device", "mems-g2", *SMALL, "--out", "b")
    assert report(tmp_path, "a").read_bytes() == report(tmp_path, "b").read_bytes()


def test_largest_report_stays_within_size_limit() -> None:
    """The largest run and the largest timeline stay within the size limit of a page."""
    lines = [Series("value", "#0072B2", [1.2345 * each for each in range(1024)])] * 4
    shares = [100 * (each + 1) / 3000 for each in range(3000)]
    times = [Series("times", "#0072B2", shares, x=[1.001**each for each in range(3000)])] * 2
    bars = [
        Bar(each % 32, 1.2345678 * each, (0.12345, 0.23456, 0.34567, 0.45678)) for each in range(MAX_BARS)
    ]
    run_panels = [Panel("x", "y", [line], [0.1 * each for each in range(1024)]) for line in lines]
    page_bytes = len(
        page(
            Document("t", "t", [Drawing(lambda: single_plot()[0], "t", panels=lambda: [Panel("x", "y", [])])])
        )
    )
    empty_page_bytes = len(page(Document("t", "t", [])))
    assert page_bytes - empty_page_bytes + len(to_json([*run_panels, distribution_panel(times)])) <= MAX_BYTES
    assert (
        page_bytes - empty_page_bytes + len(to_json([Panel("x", "y", [], rows=["r"] * 32, bars=bars)]))
        <= MAX_BYTES
    )


def test_marks_are_drawn_at_their_values(tmp_path: Path, open_report: Any) -> None:
    """A mark changes the plot, except a mark without a place."""
    pictures = []
    for marks in ([], [("break-even", None)], [("break-even", 0.5)]):
        panel = Panel("x", "y", [Series("a", "#0072B2", [1.0, 2.0])], steps=["a", "b"], marks=marks)
        file = tmp_path / "page.html"
        file.write_text(
            page(Document("t", "t", [Drawing(lambda: single_plot()[0], "t", panels=[panel].copy)])), "utf-8"
        )
        canvas = open_report(file).locator("canvas")
        pictures.append(
            canvas.evaluate("each => each.getContext('2d').getImageData(0, 0, 500, 200).data.join()")
        )
    assert to_json([panel]).count("break-even") == 1
    assert pictures[0] == pictures[1] != pictures[2]
