"""The laboratory in a page: every control by mouse and by keyboard, for everybody, without a network."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import sledlab as sl

from .laboratory import DEFAULT, DESK, PHONE, Laboratory, default_page, laboratory

MAX_BYTES = 2_500_000
VIEWS = ("Watch", "Race", "Design", "Yours")


def test_page_stays_within_size_limit():
    assert default_page().stat().st_size <= MAX_BYTES


def test_time_passes_by_mouse(page):
    page.wait_for_summary()
    start_s = page.time_s
    page.press("next choice")
    first_choice_s = page.time_s
    assert first_choice_s > start_s
    page.press("next choice")
    assert page.time_s > first_choice_s
    page.press("previous choice")
    assert page.time_s == first_choice_s
    page.press("Play")
    page.until(f"parseFloat(document.querySelector('.clock').textContent) > {first_choice_s + 0.001}")
    page.press("Pause")
    paused_s = page.time_s
    page.page.wait_for_timeout(100)
    assert page.time_s == paused_s
    page.press("Slowest")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 1")
    page.page.get_by_label("number of a request to go to").fill("7")
    page.press("Go")
    page.until("document.querySelector('#life-title').textContent.includes('#7,')")
    page.page.locator(".series .u-over").first.click(position={"x": 400, "y": 20})
    page.until("parseFloat(document.querySelector('.clock').textContent) > 1")


def test_time_passes_by_keyboard(page):
    page.wait_for_summary()
    keys = page.page.keyboard
    start_s = page.time_s
    keys.press("ArrowRight")
    first_choice_s = page.time_s
    assert first_choice_s > start_s
    keys.press("Shift+ArrowRight")
    assert page.time_s > first_choice_s
    keys.press("ArrowLeft")
    keys.press("Space")
    page.page.get_by_role("button", name="Pause").wait_for()
    keys.press("Space")
    page.page.get_by_role("button", name="Play").wait_for()
    speed = page.page.locator(".speed output")
    speed_before = speed.inner_text()
    keys.press("+")
    assert speed.inner_text() != speed_before
    keys.press("-")
    assert speed.inner_text() == speed_before
    keys.press("s")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 1")
    keys.press("End")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 5")
    keys.press("Home")
    page.until("parseFloat(document.querySelector('.clock').textContent) == 0")
    keys.press("ArrowRight")
    keys.press("t")
    page.page.get_by_role("region", name="The last choices").wait_for()
    keys.press("t")
    keys.press("h")
    keys.press("l")
    keys.press("j")
    assert page.page.evaluate("document.activeElement.placeholder") == "request"
    keys.press("Tab")
    keys.press("?")
    page.page.get_by_role("dialog").wait_for()
    keys.press("Escape")


def test_every_control_is_reachable_and_labeled(page):
    page.wait_for_summary()
    names = []
    for _ in range(60):
        page.page.keyboard.press("Tab")
        name = page.page.evaluate(
            "(e => e === document.body ? '' : (e.getAttribute('aria-label') || e.labels?.[0]?.textContent || "
            "e.textContent || '').trim())(document.activeElement)"
        )
        if name == "":
            break
        names.append(name)
    controls = "button:not(:disabled):not([tabindex='-1']), select, input:not([type=file])"
    count = page.page.locator(f".frame :is({controls}):visible").count()
    assert len(names) >= count, names


def test_selection_is_announced_to_screen_readers(page):
    page.press("next choice")
    announcement = page.page.locator("[aria-live=polite]").first.inner_text()
    assert "SPTF takes" in announcement
    assert "away" in announcement


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_views_violate_no_accessibility_rule(view, theme, page):
    page.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.wait_for_summary()
    page.tab(view)
    page.page.wait_for_timeout(500)
    assert page.violations() == []


@pytest.mark.parametrize("view", VIEWS)
def test_narrow_windows_have_one_column(view, chromium):
    with laboratory(chromium, window=PHONE) as page:
        page.wait_for_summary()
        page.tab(view)
        page.page.wait_for_timeout(500)
        assert page.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert page.message == ""


def test_page_plays_unless_reduced_motion_is_set(chromium):
    with laboratory(chromium) as page:
        page.wait_for_summary()
        start_s = page.time_s
        page.page.wait_for_timeout(200)
        assert page.time_s == start_s
    with laboratory(chromium, still=False) as page:
        page.until(f"parseFloat(document.querySelector('.clock')?.textContent) > {start_s + 0.001}")


def test_the_map_follows_the_sled(page):
    page.wait_for_summary()
    # The lightest column of the stage, as a share of its width.
    middle = """(canvas => {
        const [width, height] = [canvas.width - 100, canvas.height - 120];
        const pen = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
        pen.drawImage(canvas, -60, -40);
        const shown = pen.getImageData(0, 0, width, height).data;
        const light = new Float64Array(width);
        for (let spot = 0; spot < width * height; spot++) light[spot % width] += shown[4 * spot];
        return light.indexOf(Math.max(...light)) / width;
    })(document.querySelector('.stage canvas'))"""
    page.press("Slowest")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 1")
    page.until(f"{middle} < 0.2")
    page.page.get_by_label("number of a request to go to").fill("646")
    page.press("Go")
    page.until(f"{middle} > 0.7")


def test_other_models_are_watched(page):
    page.wait_for_summary()
    for label, value in (
        ("scheduler", "fcfs"),
        ("device", "atlas-10k"),
        ("requests", "cello"),
        ("device", "mems-g3"),
        ("parks", "immediate"),
    ):
        page.choose_and_wait(label, value)
        page.press("next choice")
        assert page.message == "", (label, value)
    page.press("Next start-up")
    page.page.locator("input[aria-label=load]").press("ArrowRight")
    page.page.wait_for_timeout(300)
    assert page.message == ""


ARRAY = """seed = 1
[device]
preset = "mems-g2"
[workload]
kind = "uniform"
mean_interarrival_ms = 0.62
blocks = 1
[system]
kind = "raid5"
devices = 4
[scheduler]
kind = "sptf"
[replay]
limit = 3000
"""


FCFS = """seed = 1
[device]
preset = "mems-g2"
[workload]
kind = "uniform"
mean_interarrival_ms = 0.62
blocks = 8
[replay]
limit = 3000
"""
OVERLOAD = "response times depend on the length of the run"


def slowest(experiment: str) -> dict[str, Any]:
    """The request with the longest response time."""
    rows = sl.run(sl.Experiment(experiment), requests=True).requests.iter_rows(named=True)
    return max(rows, key=lambda row: row["completion_ns"] - row["arrival_ns"])


@pytest.mark.parametrize("front", ["", "caching-disk", "mirror"])
def test_one_request_is_of_the_watched_run(front, page):
    experiment = f'{HYBRID.replace("8", "1")}[hybrid]\nkind = "{front}"\n' if front else ARRAY
    page.wait_for_summary()
    page.press("Slowest")
    page.until("document.querySelector('#life-title').textContent.includes('read 4 KB')")
    page.watch(experiment)
    assert page.request_title == ""
    page.press("Slowest")
    page.until("document.querySelector('#life-title').textContent.includes('request #')")
    row = slowest(experiment)
    name, operation, length = page.request_title.split(", ")
    assert name == f"request #{row['id']}"
    assert operation == f"{'read' if row['op'] == 'R' else 'write'} 512 B"
    assert "before its last access" in page.page.locator("[aria-labelledby=life-title] .legend").inner_text()
    taken_ms = (row["completion_ns"] - row["arrival_ns"]) / 1e6
    assert float(length.split()[0]) == pytest.approx(taken_ms, rel=0.01)


def test_candidates_of_an_array_can_be_followed(page):
    page.wait_for_summary()
    page.watch(ARRAY)
    page.press("Slowest")
    page.press("previous choice")
    number = page.page.locator(".choice tbody button").last
    access_number = number.inner_text()
    number.click()
    page.until(f"document.querySelector('#life-title').textContent.includes('access {access_number},')")
    assert "&r=" not in page.page.evaluate("location.hash")


def test_buffered_writes_are_explained(page):
    page.wait_for_summary()
    disk = HYBRID.replace("12.0", "5.0").replace("[system]", '[scheduler]\nkind = "sptf"\n[system]')
    page.watch(disk)
    page.page.keyboard.press("s")
    choice = page.page.locator(".choice")
    for _ in range(40):
        page.press("next choice")
        assert "−" not in choice.locator("tbody").inner_text(), "SPTF serves the nearest"
        if "buffer serves it without positioning" in choice.inner_text():
            return
    pytest.fail("no buffered write was chosen")


def test_the_list_shows_the_scheduler_of_an_alias(page):
    page.wait_for_summary()
    page.watch(ARRAY.replace("sptf", "c-look"))
    scheduler = page.page.get_by_role("combobox", name="scheduler", exact=True)
    assert scheduler.input_value() == "c-scan"
    page.tab("Yours")
    page.page.locator("#experiment").fill(ARRAY.replace("sptf", "mine:Mine"))
    page.press("Watch it")
    page.page.locator(".message").wait_for()
    assert scheduler.input_value() == "mine:Mine"


def test_overload_is_stated(page):
    page.wait_for_summary()
    warning = page.page.locator(".overload:visible")
    assert warning.count() == 0
    page.tab("Yours")
    page.page.locator("#experiment").fill(FCFS)
    page.press("Run and answer")
    page.page.get_by_text("mean response time").wait_for()
    assert OVERLOAD in warning.inner_text()
    page.press("Watch it")
    page.wait_for_summary()
    assert OVERLOAD in warning.inner_text()
    page.tab("Race")
    page.until("document.querySelector('.verdict').textContent.startsWith('sptf answers soonest')")
    assert warning.count() == 0
    page.press("Add a runner")
    page.until("document.querySelector('.verdict').textContent.includes('fcfs is overloaded')")
    assert warning.count() == 1
    assert page.page.get_by_text("fcfs (overloaded)").count() == 4


HYBRID = """seed = 1
[device]
preset = "atlas-10k"
[workload]
kind = "uniform"
mean_interarrival_ms = 12.0
blocks = 8
[replay]
limit = 3000
"""


def slots(page) -> dict[str, int]:
    """What the page says of slots in front: how many there are of each."""
    entries = page.page.locator(".slots .legend").first.locator("> span").all_inner_texts()
    return {name: int(count.replace(",", "")) for name, count in (each.split() for each in entries)}


@pytest.mark.parametrize(
    ("hybrid", "count", "heading"),
    [
        ("caching-disk", 30_840, "Front device"),
        ("write-buffer", 2048, "Front device"),
        ("mirror", 256, "Memory"),
    ],
)
def test_slots_of_a_hybrid_are_shown(hybrid, count, heading, page):
    page.watch(HYBRID)
    assert page.page.locator(".slots").count() == 0
    page.choose_and_wait("in front", hybrid)
    page.page.get_by_role("heading", name=heading).wait_for()
    assert slots(page)["free"] >= count - 1
    page.press("Slowest")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 0.1")
    slots_later = slots(page)
    assert set(slots_later) == {"free", "clean", "dirty", "filling", "destaging"}
    assert sum(slots_later.values()) == count
    assert slots_later["free"] < count
    label = page.page.get_by_role("img", name=f"{heading}").get_attribute("aria-label")
    assert f"{slots_later['dirty']} dirty" in label
    assert "Write-behind" in page.page.locator(".slots > .legend").inner_text()
    page.page.keyboard.press("Home")
    page.until("parseFloat(document.querySelector('.clock').textContent) == 0")
    assert slots(page)["free"] >= count - 1
    assert page.violations() == []


def test_slots_of_a_cache_are_shown(page):
    page.watch(HYBRID.replace("[replay]", '[cache]\nkind = "write-back"\n[replay]'))
    page.page.get_by_role("heading", name="Cache").wait_for()
    page.page.keyboard.press("End")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 30")
    assert slots(page)["clean"] + slots(page)["dirty"] > 100


def test_the_platter_brings_the_sector_under_the_head(chromium, tmp_path):
    experiment = sl.Experiment(HYBRID)
    rows = sl.run(experiment, requests=True).requests.iter_rows(named=True)
    seeking_reads = [row for row in rows if row["op"] == "R" and row["seek_x_ns"] > 0]
    row = seeking_reads[len(seeking_reads) // 2]
    transfer_start_s = (row["start_ns"] + row["overhead_ns"] + row["positioning_ns"]) / 1e9
    file = sl.view(experiment=experiment).write(tmp_path / "disk.html")
    label = "document.querySelector('.stage canvas')?.ariaLabel ?? ''"
    with laboratory(chromium, file, hash=f"#v=watch&t={transfer_start_s:.9f}") as page:
        page.until(f"{label}.includes('#{row['id']} at')")
        head, sector = map(float, re.findall(r"([0-9.]+)°", page.page.evaluate(label)))
        angle_difference = abs(head - sector)
        # A track of the Atlas has some 300 sectors; angles are shown to a tenth of a degree.
        assert min(angle_difference, 360 - angle_difference) <= 1.3
        page.press("next choice")
        assert f"#{row['id']} at" not in page.page.evaluate(label)
        page.press("Play")
        page.press("Pause")
        assert page.message == ""


def test_numbers_equal_the_native_core(page):
    page.wait_for_summary()
    page.tab("Yours")
    experiment = page.page.locator("#experiment").input_value()
    page.press("Run and answer")
    page.page.get_by_text("mean response time").wait_for()
    answer = page.page.locator(".yours").inner_text()
    native = sl.run(sl.Experiment(experiment))
    assert f"{native.response_time.p99:.3g} ms" in answer
    assert f"{native.response_time.mean:.3g} ms" in answer


def test_each_view_says_what_it_shows(page):
    sentences = []
    for view in VIEWS:
        page.tab(view)
        sentences.append(page.page.locator(".what").inner_text())
    assert len(set(sentences)) == len(VIEWS)
    assert [sentence for sentence in sentences if "mark" in sentence] == sentences[:1]


def test_legends_have_values_only_at_the_pointer(page):
    page.wait_for_summary()
    values = page.page.locator(".series .u-legend .u-value")
    assert [each for each in values.all() if each.is_visible()] == []
    page.page.locator(".series .u-over").first.hover()
    assert all(each.is_visible() and each.inner_text() != "–" for each in values.all())
    assert values.count() == 5, "time and values of both charts"
    page.page.locator(".clock").hover()
    assert [each for each in values.all() if each.is_visible()] == []


def test_shared_address_opens_at_the_same_time(page, chromium):
    page.wait_for_summary()
    page.choose_and_wait("scheduler", "sstf")
    page.press("Slowest")
    page.until("parseFloat(document.querySelector('.clock').textContent) > 1")
    page.press("Share")
    page.page.locator(".message").wait_for()
    address = page.page.evaluate("location.hash")
    with laboratory(chromium, hash=address) as other:
        other.wait_for_summary()
        other.until("parseFloat(document.querySelector('.clock').textContent) > 1")
        assert other.page.get_by_role("combobox", name="scheduler").input_value() == "sstf"
        assert other.time_s == page.time_s


def hash_time_s(page: Laboratory) -> float:
    return float(re.search(r"[#&]t=([\d.]+)", page.page.evaluate("location.hash"))[1])


def test_shared_instant_is_the_shown_one(chromium):
    with laboratory(chromium, hash="#v=watch&t=0.0153") as page:
        page.wait_for_summary()
        for control in ("next choice", "next choice", "previous choice"):
            page.press(control)
            assert hash_time_s(page) == pytest.approx(page.time_s, abs=1e-6)
        page.press("Play")
        page.until("parseFloat(document.querySelector('.clock').textContent) > 0.02")
        time_before_s = page.time_s
        page.press("Share")
        page.page.locator(".message").wait_for()
        assert time_before_s - 1e-6 <= hash_time_s(page) <= page.time_s + 1e-6


@pytest.mark.parametrize("t_s", [0.016050724, 0.032740398])
def test_link_opens_at_its_choice(t_s, chromium):
    rows = sl.run(sl.Experiment(DEFAULT.replace("20000", "100")), requests=True).requests
    (number,) = rows.filter(rows["start_ns"] == round(t_s * 1e9))["id"]
    with laboratory(chromium, hash=f"#v=watch&t={t_s}") as page:
        page.page.locator(".choice .chosen").get_by_text(f"#{number}", exact=True).wait_for()


@pytest.mark.parametrize("speedup", [3, 1.5, 32, 0.01])
def test_load_is_that_of_the_experiment(speedup, page):
    page.watch(FCFS.replace("3000", f"100\nspeedup = {speedup}"))
    factor = page.page.locator(".setup output").inner_text().removeprefix("× ")
    assert float(factor) == speedup
    assert page.page.get_by_label("load").get_attribute("aria-valuetext") == f"{factor} times the arrivals"


def run_and_answer(page: Laboratory, experiment: str) -> None:
    page.tab("Yours")
    page.page.locator("#experiment").fill(experiment)
    page.press("Run and answer")


def test_answer_has_the_garbage_collection_of_flash(page):
    page.wait_for_summary()
    experiment = FCFS.replace('"mems-g2"', '"ssd-tlc"\nprecondition = "random"')
    run_and_answer(page, experiment)
    table = page.page.locator(".yours table")
    table.wait_for()
    flash = sl.run(sl.Experiment(experiment)).summary["flash"]
    amplification, steady = (
        f"{flash[name]:.3g}" for name in ("write_amplification", "steady_write_amplification")
    )
    assert f"write amplification\t{amplification}; in the steady state {steady}\n" in table.inner_text()
    assert f"garbage collection\t{100 * flash['collection_share']:.3g} %" in table.inner_text()


def test_answer_of_a_replaced_run_is_not_shown(page):
    page.wait_for_summary()
    long_experiment, short_experiment = (FCFS.replace("3000", limit) for limit in ("9000000", "100"))
    run_and_answer(page, long_experiment)
    page.page.locator(".yours .progress-row").wait_for(state="visible")
    run_and_answer(page, short_experiment)
    page.page.locator(".yours .big").wait_for()
    page.page.wait_for_timeout(3000)
    assert "requests\t100\n" in page.page.locator(".yours table").inner_text()
    assert tomllib.loads(page.page.locator("#experiment").input_value()) == tomllib.loads(short_experiment)
    run_and_answer(page, long_experiment)
    page.page.locator(".yours .progress-row").wait_for(state="visible")
    page.tab("Watch")
    page.choose_and_wait("scheduler", "sptf")
    page.page.wait_for_timeout(3000)
    assert page.page.get_by_role("combobox", name="scheduler", exact=True).input_value() == "sptf"
    page.tab("Yours")
    assert page.page.locator(".yours progress").count() == 0


def test_error_of_a_replaced_run_is_not_shown(chromium, tmp_path):
    experiment = sl.Experiment(DEFAULT.replace("20000", "2000000"))
    file = sl.view(experiment=experiment).write(tmp_path / "long.html")
    # The run is opened at its end, which takes long: it is replaced before.
    with laboratory(chromium, file, hash="#v=watch&t=1200") as page:
        page.choose("scheduler", "fcfs")
        page.wait_for_summary()
        assert page.message == ""


def test_trace_chosen_again_is_replayed_whole(page):
    page.wait_for_summary()
    page.drop(
        "time_us,op,offset_bytes,length_bytes\n" + "".join(f"{n * 900},R,0,4096\n" for n in range(21_000))
    )
    page.tab("Watch")
    page.wait_for_summary()
    checksum = page.page.locator("#checksum").inner_text()
    page.choose_and_wait("requests", "uniform")
    assert page.page.locator("#checksum").inner_text() != checksum
    page.choose_and_wait("requests", "trace:dropped.csv")
    assert page.page.locator("#checksum").inner_text() == checksum


def test_unknown_request_is_answered_with_valid_range(page):
    page.watch(FCFS.replace("3000", "400\nwarmup = 100"))
    assert "400 requests, the first 100 of them warm-up" in page.page.locator("#series-title").inner_text()
    page.page.get_by_label("number of a request to go to").fill("5000")
    page.press("Go")
    page.page.locator(".message").wait_for()
    assert "No read or write has the number 5000: their numbers go from 0 to 399." in page.message


def test_notebook_shows_the_page_in_a_frame(chromium, tmp_path):
    notebook = tmp_path / "notebook.html"
    frame_html = sl.view(sl.workload("uniform"), "mems-g2", limit=500)._repr_html_()
    notebook.write_text(f"<!doctype html><title>A notebook</title><p class=tabs>A cell</p>{frame_html}")
    with laboratory(chromium, notebook) as page:
        frame = page.page.frame_locator("iframe")
        frame.locator("#checksum").wait_for()
        frame.get_by_role("button", name="Slowest").click()
        frame.get_by_role("button", name="next choice").click()
        assert frame.locator(".message").count() == 0
        assert page.complaints == []


def test_the_tour_of_a_first_visit_simulates_once(chromium):
    with laboratory(chromium, visited=False) as page:
        page.page.get_by_text("1 of 5").wait_for()
        page.wait_for_summary()
        assert page.page.locator("#checksum").get_attribute("data-run") == "1"
        assert page.message == ""


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_each_step_of_the_tour_shows_its_panel(window, chromium):
    with laboratory(chromium, visited=False, window=window) as page:
        for step, anchor in enumerate(("stage", "stage", "choice", "life", "places"), start=1):
            page.page.get_by_text(f"{step} of 5").wait_for()
            page.until(
                "(box => box && box.bottom <= innerHeight + 1 && box.bottom > innerHeight / 4)"
                f"(document.querySelector('[data-tour={anchor}]')?.getBoundingClientRect())"
            )
            page.press("Next" if step < 5 else "Done")


def test_the_tour_leads_to_the_edge(page):
    page.press("Tour")
    for step in range(1, 6):
        page.page.get_by_text(f"{step} of 5").wait_for()
        page.press("Next" if step < 5 else "Done")
    page.wait_for_race(2)
    assert page.message == ""
